# SPDX-License-Identifier: Apache-2.0
# paper.mk: cases with PAM and under attack, killed twice, resume to the bytes of an uninterrupted run.
set -- paper NETS=tinyten PART='tinyten-synth robust-tinyten-synth' EXPERIMENTS='connect pam robust' DATA_FLAGS='--size 16' \
    TRAIN_IMAGES=128 TEST_IMAGES=40 POINTS=5 PERMUTATION_EPOCHS=2 EVAL_FLAGS='--samples 64 --bn-samples 64' \
    PAM_FLAGS='--select-images 64 --draws 4' ATTACK=pgd:steps=1
graph "$@" OUT=whole
kill_graph 'net-2.*checkpoint' "$@" OUT=cut
kill_graph 'curve-pam-unaligned*checkpoint' "$@" OUT=cut
graph "$@" OUT=cut
for f in tinyten-synth/{net-2.mcz,table.tsv,pam.tsv,training.tsv,saved.tsv,1-2/curve-pam-aligned.mcz} \
    robust-tinyten-synth/{robust.tsv,midpoint.tsv,1-2/curve-aligned.mcz} tinyten-synth/length; do
    same whole/$f cut/$f
done
expect_equal "$(find cut whole -name '*.checkpoint')" ''
expect_equal "$(sed 1d cut/tinyten-synth/pam.tsv | wc -l) $(sed 1d cut/tinyten-synth/1-2/curve-aligned.tsv | wc -l)" '8 5'
graph "$@" OUT=cut
expect_equal "$(count_programs)" ''
