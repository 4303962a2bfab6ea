# SPDX-License-Identifier: Apache-2.0
# connect.mk, killed and restarted, writes the same bytes. A checkpoint of other settings is removed, not resumed. A
# result and its settings are stored as one step, so that a kill between them does not mix results up.
set -- connect TRAIN_IMAGES=4096 EPOCHS=3 CURVE_EPOCHS=2
graph "$@" OUT=whole -j2
kill_graph 'net-1.checkpoint' "$@" OUT=cut
graph "$@" OUT=cut
for f in net-1.mcz net-2.mcz 1-2/permutation.mcz 1-2/curve-aligned.mcz 1-2/table.tsv; do same whole/$f cut/$f; done
expect_equal "$(find cut whole -name '*.checkpoint')" ''

# killed, then a setting of the training or of the data changed: the same as a fresh run
for setting in EPOCHS=2 LR=.05 TRAIN_IMAGES=3000; do
    rm -rf cut plain
    kill_graph 'net-1.checkpoint' "$@" OUT=cut
    graph "$@" OUT=cut $setting CHANGE=yes cut/net-1.mcz
    graph "$@" OUT=plain $setting plain/net-1.mcz
    same plain/net-1.mcz cut/net-1.mcz
done

# a setting changed and changed back: the checkpoint and the log of the trial are removed
rm -rf cut
kill_graph 'net-1.checkpoint' "$@" OUT=cut
kill_graph 'net-1.checkpoint' "$@" EPOCHS=400 CHANGE=yes OUT=cut
graph "$@" OUT=cut CHANGE=yes cut/net-1.mcz
same whole/net-1.mcz cut/net-1.mcz
sed 's/,"images_per_second".*//' cut/net-1.log.json >log.before
! (graph "$@" EPOCHS=400 OUT=cut) >output 2>&1 || die 'a trial discards a network'
graph "$@" OUT=cut cut/net-1.mcz
expect_equal "$(count_programs)" ''
sed 's/,"images_per_second".*//' cut/net-1.log.json | same log.before -
expect_equal "$(find cut -name '*.checkpoint' -o -name '*~*')" ''

printf '#!/bin/sh\n"$@" && kill -9 $PPID\n' >job
chmod +x job
matrices() { graph connect OUT=few TRAIN_IMAGES=64 EPOCHS=1 few/1-2/matrices.mcz CORR_FLAGS= "$@"; }
matrices
cp few/1-2/matrices.mcz .
for gone in '' '*'; do
    [ -z "$gone" ] || rm -f few/1-2/matrices*
    ! (matrices CORR_FLAGS='--measure l2' RUN_LIGHT="$PWD/job") >output 2>&1 || die 'not killed'
    matrices
    same matrices.mcz few/1-2/matrices.mcz
done
# the program replaced the result, and make was killed before it stored the settings
moments() { graph connect OUT=few TRAIN_IMAGES=64 EPOCHS=1 few/1-2/moments.mcz ALIGN_IMAGES= "$@"; }
moments
cp few/1-2/moments.mcz .
! (moments ALIGN_IMAGES=20 RUN="$PWD/job") >output 2>&1 || die 'not killed'
! cmp -s moments.mcz few/1-2/moments.mcz || die 'killed before it was replaced'
moments
same moments.mcz few/1-2/moments.mcz

# a mistyped setting costs nothing once it is corrected
matrices
! (matrices CORR_FLAGS='--measure none') >output 2>&1 || die 'a misspelled setting passes'
matrices -n
expect_equal "$(count_programs)" ''
matrices
expect_equal "$(count_programs)" ''
expect_equal "$(find few -name '*~*')" ''

# the make of a pair refuses a network whose own make was killed in this way; the make of everything trains it again
small_graph() { graph connect OUT=few TRAIN_IMAGES=64 CHANGE=yes "$@"; }
small_graph EPOCHS=1 shared
cp few/net-1.mcz .
! (small_graph EPOCHS=2 RUN="$PWD/job" net-1) >output 2>&1 || die 'not killed'
! cmp -s net-1.mcz few/net-1.mcz || die 'killed before it was replaced'
! (small_graph EPOCHS=1 PAIRS=1:2 pair) >output 2>&1 || die 'a pair of another network was made'
expect_words output 'net-*.mcz*missing*other settings'
small_graph EPOCHS=1 few/1-2/moments.mcz
same net-1.mcz few/net-1.mcz
! (small_graph -i) >output 2>&1 || die 'make -i'
grep -q 'make -i ignores failures' output || die "$(cat output)"
