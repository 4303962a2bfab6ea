# SPDX-License-Identifier: Apache-2.0
# FROM=FOLDER: networks, data, permutations and curves of the same seed come from there; only curves of other seeds are trained.
set -- connect NET=mlp:bn,8 TRAIN_IMAGES=256 EPOCHS=1
graph "$@" PAIRS='1:2 3:4'
graph "$@" PAIRS='1:2:1 3:4:1' OUT=figures FROM=out
is "$(grep -o '^mc-train\|^mc-data\|^mc-hungarian\|^mc-bezier --data [^ ]* --seed [0-9]*' log | sort | uniq -c | tr -s ' ')" \
    ' 2 mc-bezier --data figures/train.mcz --seed 1'
for f in net-4.mcz 1-2/curve-aligned.mcz 1-2/curve-aligned.tsv 3-4/line-aligned.tsv 3-4/permutation.mcz train.mcz net-1.log.json; do same out/$f figures/$f; done
differ out/3-4/curve-aligned.mcz figures/3-4/curve-aligned.mcz
graph "$@" PAIRS='1:2:1 3:4:1' OUT=figures FROM=out
is "$(ran)" ''
# networks without data: these are made before what looks at them
mkdir bare
cp -p out/net-[12].* bare/
for goal in 'connect 1-2/moments' 'measures 1-2/moments-pre' 'subsets 1-2/moments-subset-all'; do
    graph "${goal% *}" "${@:2}" OUT=new FROM=bare "new/${goal#* }.mcz"
    [ -e "new/${goal#* }.mcz" ] || die "$goal is not made"
    rm -r new
done
# made with other settings they would go under a wrong name: refused, before anything is done
for s in 'net-1 EPOCHS=2 CURVE_EPOCHS=1' 'net-1 NET=mlp:bn,9' '1-2/curve-unaligned CURVE_LR=0.5' '1-2/moments ALIGN_IMAGES=64' \
    '1-2/permutation HUNGARIAN_FLAGS=-v' 'test TEST_IMAGES=64'; do
    ! (graph "$@" OUT=other FROM=out -n ${s#* }) >out.refused || die "FROM passes with ${s#* }"
    grep -qF "FROM=\"out\": out/${s%% *}.mcz was made with '" told || die "$s: $(cat told)"
done
! (graph grid NET=mlp:bn,8 TRAIN_IMAGES=256 EPOCHS=1 PAIRS='1:2 3:4' OUT=grid FROM=out -n CURVE_LR=0.5 GRID_LR=0.5) >out.refused ||
    die 'a grid with curves of another rate'
[ ! -e other ] && [ ! -e grid ] || die 'something is made'
! (graph "$@" OUT=other FROM=nowhere) >out.refused || die 'a folder that is not there passes'
grep -q 'FROM=nowhere: there is no nowhere/net-1.mcz' told || die "$(cat told)"
! (graph "$@" OUT=other FROM='a b') >out.refused && grep -qF "FROM=\"a b\": a folder's name" told || die "$(cat told)"
