# SPDX-License-Identifier: Apache-2.0
# In every experiment, OUT/settings remembers the settings: a make that leaves them out does nothing new, also after a kill. Another
# value that would discard a network, a curve or a checkpoint stops before any work, until CHANGE=yes.
set -- DATA=synth NET=mlp:8 TRAIN_IMAGES=128 TEST_IMAGES=40 LR=0.02 EPOCHS=1 CURVE_EPOCHS=1 POINTS=3 THREADS=1
settings=("$@")
launcher=
stub_plot
run() { $launcher make V=1 -f "$MC_ROOT/pipelines/$1.mk" BIN="$bin" "${@:2}" >log 2>errors; }
bare() { run "$@" || die "$*: $(cat log errors)"; }
state() { find "$1" ! -name '.lock*' -printf '%p %s %T@\n' | sort; }
# nothing_made EXPERIMENT SETTING...: the make succeeds and runs no program
nothing_made() {
    bare "$@"
    ! grep '^mc-\|include/measured' log || die "$*: runs a program"
}
# refused OUT WORDS EXPERIMENT SETTING...: the make stops, names WORDS and CHANGE=yes, and changes nothing
refused() {
    local before
    before=$(state "$1")
    ! run "${@:3}" OUT="$1" || die "passes: ${*:3}"
    expect_words errors "$2"
    expect_words errors 'CHANGE=yes*another OUT'
    ! grep '^mc-\|include/measured' log || die "$*: runs a program"
    [ "$(state "$1")" = "$before" ] || die "${*:3}: $(state "$1" | diff - <(echo "$before"))"
}
for g in connect averaged bound grid intervals measures middle pam planes soup methods subsets robust; do
    out=out own=()
    case $g in
    bound) own=(POINTS=3) ;;
    grid) own=(GRID_LR='0.01 0.02' GRID_BATCH=64) ;;
    pam) own=(PERMUTATION_EPOCHS=1 PAM_FLAGS='--select-images 64 --draws 2') ;;
    planes) own=(GRID=3 PLANE_IMAGES=40 PLANE_BN_IMAGES=64) ;;
    soup | methods) own=(SEEDS='1 3') ;;
    subsets) own=(SUBSETS='50 all') ;;
    robust) out=out-robust own=("${settings[@]}" ATTACK='pgd:eps=8/255,steps=1' TRAIN_FLAGS='--momentum 0.8') ;;
    connect) own=("${settings[@]}" PAIRS=1:3) ;;
    esac
    bare $g OUT=$out "${own[@]}"
    grep -q '^mc-\|measured' log || die "$g makes nothing"
    nothing_made $g OUT=$out
    refused $out "NET=mlp:4 (was*net-1.mcz" $g NET=mlp:4
    [ $g != connect ] || (here=$PWD && cd "$MC_ROOT/pipelines" && # where make names its scripts without a folder
        ! make -f connect.mk BIN="$bin" OUT="$here/out" NET=mlp:4 >"$here/log" 2>"$here/errors") || die 'passes in pipelines/'
    expect_words errors 'net-1.mcz'
    refused $out "EPOCHS=2 (was*net-1.mcz" $g EPOCHS=2
done
# experiments of one OUT keep each other's results; a replaced stage counts in all of them
nothing_made pam OUT=out
for stage in 'subsets ACTS=env mc-acts' 'measures MEASURE=env mc-corr'; do
    bare ${stage%% *} -n OUT=out "${stage#* }"
    ! grep "^${stage#*env } " log || die "$stage: the old stage runs"
    grep -q "^${stage#*=} " log || die "$stage: the new stage does not run"
done
[ "$(grep -c '^env mc-corr --measure l2' log)" = 2 ] || die "$(cat log)"
grep -qx 'PAIRS=1:3' out/settings && grep -qx 'SEEDS=1 3' out/settings || die "$(cat out/settings)"
grep -qx 'TRAIN_FLAGS=--momentum 0.8' out-robust/settings || die "$(cat out-robust/settings)"
for g in connect soup robust; do nothing_made $g OUT="out$(sed -n s/robust/-robust/p <<<$g)"; done
bare connect OUT=out cost RATES=mlp:8=900:4000
grep -q '^in all  *0 ' log || die "the estimate ignores the settings: $(cat log)"
bare connect OUT=out report
grep -q 'mlp:8' out/report.html || die 'the report ignores the settings'

# a result of another experiment's OUT, through FROM
nothing_of() { ! grep "^mc-$1" log || die "ran mc-$1"; }
bare connect OUT=copy FROM=out CURVE_SEED=7
nothing_of train
nothing_made connect OUT=copy

# confirmed: what depends on it is made again, and the new value is remembered; the old one is refused in turn
refused out 'CURVE_LR=0.5*curve-unaligned.mcz' connect CURVE_LR=0.5
bare connect OUT=out CURVE_LR=0.5 CHANGE=yes
nothing_of train
nothing_made connect OUT=out
refused out "CURVE_LR=0.01 (was '0.5')*curve-aligned.mcz" connect CURVE_LR=0.01
# a permutation that another experiment makes again outdates curves too
refused out 'curve-aligned.mcz' soup CURVE_LR=0.5 HUNGARIAN_FLAGS=-v out/1-3/curve-aligned.mcz
# cheap results need no confirmation
bare connect OUT=out POINTS=5
expect_equal "$(wc -l <out/1-3/line-aligned.tsv)" 6

# pairs with different settings in one OUT: each is compared with its own
for pair in 1:2=1 3:4=2; do bare connect OUT=both "${settings[@]}" PAIRS=${pair%=*} EPOCHS=${pair#*=} HUNGARIAN_FLAGS=; done
for pair in 1:2=1 3:4=2; do
    bare connect OUT=both PAIRS=${pair%=*} EPOCHS=${pair#*=}
    ! grep '^mc-[a-o]' log || die "$pair runs a program"
done
refused both "CURVE_EPOCHS=2 (was '1'), EPOCHS=1 (was '2') would remove both/net-3.mcz, both/net-4.mcz, both/3-4" connect PAIRS=3:4 EPOCHS=1 CURVE_EPOCHS=2
mkdir both/1-3
refused both "settings: OUT=both: EPOCHS=2 (was '1') would remove both/net-1.mcz" connect PAIRS='1:3'

# the story: killed, once without NET, then the right command again
rm -rf out
set -- connect "${settings[@]}" TRAIN_IMAGES=2000 EPOCHS=60 CHANGE=
bare "$@" OUT=whole whole/net-1.mcz
kill_graph net-1.checkpoint "$@" OUT=out
refused out 'NET=mlp:4*net-1.checkpoint (epoch * of 60)' connect NET=mlp:4
launcher='timeout -s KILL 3'
(bare connect OUT=out EPOCHS=60 TRAIN_IMAGES=2000 out/net-1.mcz) >output 2>&1 || :
launcher=
bare connect OUT=out out/net-1.mcz
same whole/net-1.mcz out/net-1.mcz
kill_graph curve-unaligned.checkpoint connect CURVE_EPOCHS=60 EPOCHS=60 TRAIN_IMAGES=2000 NET=mlp:8 OUT=out
refused out 'curve-unaligned.checkpoint' connect HUNGARIAN_FLAGS=-v CURVE_LR=.03
make -n -f "$MC_ROOT/pipelines/connect.mk" OUT=out CHECKED=out LOSSES=yes | CHANGE= JOBS=/dev/null "$MC_ROOT/pipelines/include/confirm" out || die 'a resumable checkpoint counts as lost'
bare connect OUT=out CURVE_EPOCHS=2 CHANGE=yes
expect_equal "$(find out -name '*.checkpoint')" ''
nothing_made connect OUT=out

# any text is remembered, and an experiment whose settings come before the memory is refused
bare connect -n OUT=out
bare connect OUT=out/x TRAIN_IMAGES=64 NET=mlp:4 EPOCHS=0 CURVE_EPOCHS=0 TRAIN_FLAGS='--momentum "0.9" # $$x' out/x/train.mcz
expect_words out/x/settings 'TRAIN_FLAGS=--momentum "0.9" # $x'
bare connect OUT=out/x -n
grep -qF "export TRAIN_FLAGS='--momentum \"0.9\" # \$x'" log || die "$(grep TRAIN_FLAGS log)"
printf '%s\n' 'SIZES ?= 1 2# sizes' "include $MC_ROOT/pipelines/include/stages.mk" >late.mk
echo SIZES=3 >>out/settings
! make -f late.mk OUT=out >log 2>errors || die 'a setting before the memory'
expect_words errors 'late.mk: include*remembered.mk before*SIZES'
