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
! (graph "$@" OUT=other FROM=nowhere) >out.refused || die 'a folder that is not there passes'
grep -q 'FROM=nowhere: there is no nowhere/net-1.mcz' told || die "$(cat told)"
! (graph "$@" OUT=other FROM='a b') >out.refused && grep -qF "FROM=\"a b\": a folder's name" told || die "$(cat told)"
