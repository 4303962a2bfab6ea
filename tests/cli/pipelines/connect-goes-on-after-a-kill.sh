# SPDX-License-Identifier: Apache-2.0
# connect.mk, killed in the middle, upstream settings changed and put back: the same bytes; other checkpoints are not taken up.
set -- connect TRAIN_IMAGES=4096 EPOCHS=3 CURVE_EPOCHS=2
graph "$@" OUT=whole -j2
kill_graph 'net-1.*checkpoint' "$@" OUT=cut
graph "$@" OUT=cut TRAIN_IMAGES=300
graph "$@" OUT=cut
for f in net-1.mcz net-2.mcz 1-2/permutation.mcz 1-2/curve-aligned.mcz 1-2/table.tsv; do
    same whole/$f cut/$f
done
is "$(find cut whole -name '*.checkpoint')" ''
