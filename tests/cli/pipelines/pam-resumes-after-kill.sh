# SPDX-License-Identifier: Apache-2.0
# pam.mk resumes after a kill to the same bytes.
settings=(DATA_FLAGS='--size 8' CURVE_EPOCHS=2 PERMUTATION_EPOCHS=2 TRAIN_IMAGES=4096
    PAM_FLAGS='--outer 2 --permutation-lr 1 --select-images 256')

graph pam "${settings[@]}" OUT=whole
kill_graph 'curve-pam-*checkpoint' pam "${settings[@]}" OUT=cut
graph pam "${settings[@]}" OUT=cut
expect_equal "$(grep -c '^mc-train' log)" 0
for f in curve-pam-unaligned.mcz curve-pam-aligned.mcz b-pam-aligned.mcz pam.tsv objective.tsv; do
    same whole/1-2/$f cut/1-2/$f
done
expect_equal "$(find cut whole -name '*.checkpoint')" ''
