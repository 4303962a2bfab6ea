# SPDX-License-Identifier: Apache-2.0
# FROM=FOLDER copies networks, data, permutations and curves of the same seed; only curves of another seed are trained. The
# history of a stream decides whether its settings match; others are refused.
set -- connect NET=mlp:bn,8 TRAIN_IMAGES=256 EPOCHS=1
graph "$@" PAIRS='1:2 3:4'
graph "$@" PAIRS='1:2 3:4' CURVE_SEED=1 OUT=figures FROM=out
expect_equal "$(grep -o '^mc-train\|^mc-data\|^mc-hungarian\|^mc-bezier --data [^ ]* --seed [0-9]*' log | sort | uniq -c | tr -s ' ')" \
    ' 2 mc-bezier --data figures/train.mcz --seed 1'
for f in net-4.mcz 1-2/curve-aligned.mcz 1-2/curve-aligned.tsv 3-4/line-aligned.tsv 3-4/permutation.mcz train.mcz net-1.log.json; do same out/$f figures/$f; done
different_content out/3-4/curve-aligned.mcz figures/3-4/curve-aligned.mcz
graph "$@" PAIRS='1:2 3:4' CURVE_SEED=1 OUT=figures FROM=out
expect_equal "$(count_programs)$(grep -c '^cp ' log || true)" 0
# another FROM, with older files
graph "$@" LR=.05 OUT=other-rate other-rate/net-1.mcz other-rate/net-2.mcz
touch other-rate/*
graph "$@" LR=.05 OUT=moved FROM=other-rate moved/net-1.mcz
graph "$@" OUT=moved FROM=out CHANGE=yes moved/net-1.mcz
same out/net-1.mcz moved/net-1.mcz
# networks without data: the data are made before the programs that read them
mkdir bare
cp -p out/net-[12].* bare/
for goal in 'connect 1-2/moments' 'measures 1-2/moments-pre' 'subsets 1-2/moments-subset-all'; do
    graph "${goal% *}" "${@:2}" OUT=new FROM=bare "new/${goal#* }.mcz"
    [ -e "new/${goal#* }.mcz" ] || die "$goal is not made"
    rm -r new
done
# with another alignment, permutations and aligned curves are not copied
for setting in ALIGN_IMAGES=64 CORR_FLAGS=--measure=l2 ACTS_FLAGS=--at=pre; do
    graph "$@" -n PAIRS=1:2 OUT=other FROM=out $setting
    grep '^mc-\|^cp ' log | grep -v plot >made
    expect_equal "$(grep -c '^cp out/\(net-[12]\|1-2/curve-unaligned\|train\|test\).mcz' made) $(grep -c '^mc-hungarian\|^mc-acts' made)" '5 2'
    expect_equal "$(grep -c '^mc-train\|^mc-bezier --data.*net-2.mcz\|^cp .*/permutation.mcz\|^cp .*-aligned.mcz' made || :)" 0
done
# without settings, a replaced stage of the alignment counts too
mv out/settings kept
graph "$@" -n PAIRS=1:2 OUT=other FROM=out ALIGN='mc-hungarian -v'
expect_equal "$(grep -c '^cp out/1-2/\(permutation\|curve-aligned\).mcz' log || :) $(grep -c '^cp out/1-2/curve-unaligned.mcz' log)" '0 1'
mv kept out/settings
# streams of other settings would get a wrong name: refused before anything runs
for s in 'net-1 EPOCHS=1 EPOCHS=2 CURVE_EPOCHS=1' 'net-1 NET=mlp:bn,8 NET=mlp:bn,9' 'net-1 LR=0.02 LR=.3' \
    'net-1 attack=None TRAIN_FLAGS=--attack=pgd' 'net-1 momentum=0.9 TRAIN_FLAGS=--momentum=.8' \
    '1-2/curve-unaligned CURVE_LR=0.01 CURVE_LR=0.5' '1-2/curve-aligned dropout=None CURVE_FLAGS=--dropout=0' \
    'net-2 no-augment=None TRAIN_FLAGS=--no-augment' \
    'train DATA=synth DATA=cifar10' 'train DATA_SEED=1 DATA_SEED=9' 'test TEST_IMAGES=100 TEST_IMAGES=77' 'train TRAIN_IMAGES=256 TRAIN_IMAGES=100'; do
    read -ra words <<<"$s"
    ! (graph "$@" OUT=other FROM=out "${words[@]:2}") >out.refused || die "FROM passes with ${words[*]:2}"
    grep -F "FROM: 'out/${words[0]}.mcz' was made with another ${words[1]%=*}: " errors | grep -q ", got ${words[1]#*=}\$" || die "$s: $(cat errors)"
done
! (graph "$@" PAIRS=3:4 CURVE_SEED=3 OUT=other FROM=figures) >out.refused 2>&1 || die 'curves of another seed'
grep -q "'figures/3-4/curve-unaligned.mcz' was made with another seed: 3 expected, got 1" errors || die "$(cat errors)"
! (graph grid NET=mlp:bn,8 TRAIN_IMAGES=256 EPOCHS=1 PAIRS='1:2 3:4' OUT=grid FROM=out -n CURVE_LR=0.5 GRID_LR=0.5) >out.refused ||
    die 'a grid with curves of another rate'
[ ! -e other ] && [ ! -e grid ] || die 'a file was made'
! (graph "$@" OUT=other FROM=nowhere) >out.refused || die 'a folder that does not exist passes'
grep -q "FROM: 'nowhere/net-1.mcz' is missing" errors || die "$(cat errors)"
