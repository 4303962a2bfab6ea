# SPDX-License-Identifier: Apache-2.0
# soup.mk, killed in a training and restarted, writes the same bytes. The pairs' matrices can be made on several machines.
set -- soup TRAIN_IMAGES=4096 EPOCHS=3
graph "$@" OUT=whole
kill_graph 'net-2.checkpoint' "$@" OUT=cut
graph "$@" OUT=cut shared
for pair in 1:2 2:3; do graph "$@" PAIRS=$pair OUT=cut pair; done
expect_equal "$(count_programs) $(find cut -name '*joint*' | wc -l)" 'mc-acts1 mc-corr1  0'
graph "$@" OUT=cut
for f in joint.mcz mean-joint-repaired.mcz mean-unaligned-reestimated.mcz soup.tsv; do same whole/$f cut/$f; done
expect_equal "$(find cut whole -name '*.checkpoint' -o -name '*~*')" ''
