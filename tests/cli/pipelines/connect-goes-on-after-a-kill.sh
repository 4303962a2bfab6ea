# SPDX-License-Identifier: Apache-2.0
# connect.mk, killed in the middle, upstream settings changed and put back: the same bytes; other checkpoints are not taken up.
# Killed between a result and the settings that made it, it does not take that result for what other settings made.
set -- connect TRAIN_IMAGES=4096 EPOCHS=3 CURVE_EPOCHS=2
graph "$@" OUT=whole -j2
kill_graph 'net-1.*checkpoint' "$@" OUT=cut
graph "$@" OUT=cut TRAIN_IMAGES=300
graph "$@" OUT=cut
for f in net-1.mcz net-2.mcz 1-2/permutation.mcz 1-2/curve-aligned.mcz 1-2/table.tsv; do
    same whole/$f cut/$f
done
is "$(find cut whole -name '*.checkpoint')" ''

printf '#!/bin/sh\n"$@" && kill -9 $PPID\n' >job
chmod +x job
matrices() { graph connect OUT=few TRAIN_IMAGES=64 EPOCHS=1 few/1-2/matrices.mcz "$@"; }
matrices
cp few/1-2/matrices.mcz .
for gone in '' '*.mcz' '*'; do
    rm -f few/1-2/matrices$gone
    ! (matrices CORR_FLAGS='--measure l2' RUN_LIGHT="$PWD/job") >said 2>&1 || die 'not killed'
    matrices
    same matrices.mcz few/1-2/matrices.mcz
done
# what failed did not cost the old result its settings, nor is it counted
! (matrices CORR_FLAGS='--measure none') >said 2>&1 || die 'a misspelt setting passes'
matrices -n
! grep -q '^mc-corr' log || die 'what is there would be made again'
matrices
is "$(ran)" ''
is "$(find cut few -name '*.before')" ''

# nor does the make of a pair take a network whose own make was killed so; that of all makes it anew
few() { graph connect OUT=few TRAIN_IMAGES=64 "$@"; }
few EPOCHS=1 shared
cp few/net-1.mcz .
! (few EPOCHS=2 RUN="$PWD/job" net-1) >said 2>&1 || die 'not killed'
! cmp -s net-1.mcz few/net-1.mcz || die 'killed before it was replaced'
! (few EPOCHS=1 PAIRS=1:2 pair) >said 2>&1 || die 'a pair of another network was made'
grep -q 'net-1.mcz is missing, or was made with other settings' said || die "$(cat said)"
few EPOCHS=1 few/1-2/moments.mcz
same net-1.mcz few/net-1.mcz

# a checkpoint that is older than what the training ended with is nobody's; one that is newer is a training's
touch -d '1 hour ago' few/net-1.7.checkpoint few/1-2/curve-aligned.7.checkpoint
touch few/net-1.8.checkpoint
few EPOCHS=1 few/1-2/moments.mcz
is "$(find few -name '*.checkpoint' | sort)" $'few/1-2/curve-aligned.7.checkpoint\nfew/net-1.8.checkpoint' # there is no such curve
