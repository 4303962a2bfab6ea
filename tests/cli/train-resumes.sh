# SPDX-License-Identifier: Apache-2.0
# Killed in the middle of an epoch and resumed: the same bytes as uninterrupted; a checkpoint of other
# settings is refused.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 2048 --seed 3 -o d.mcz
now=
train() { $now mc-train --net $net --data d.mcz --epochs 4 --seed 5 -t 2 "$@"; }
train --log-json whole.json -o whole.mcz

# kill_after COMMAND...: with SIGKILL, when its first checkpoint is there
kill_after() {
    now=exec # else the shell in between dies, and the program goes on
    "$@" --checkpoint ck --log-json log.json -o out.mcz &
    local pid=$! waited=0
    now=
    while [ ! -e ck ] && [ $((waited += 1)) -lt 6000 ]; do sleep .02; done
    kill -9 $pid 2>/dev/null || die 'it ended before it was killed'
    wait $pid 2>/dev/null && die 'it was not killed'
    [ ! -e out.mcz ] || die 'it was done before it was killed'
}
kill_after train
train --checkpoint ck --resume --log-json log.json -o out.mcz
same whole.mcz out.mcz
# the log of the resumed run tells the epochs of both
sed 's/,"images_per_second":[^}]*//' whole.json >w
sed 's/,"images_per_second":[^}]*//' log.json >l
same w l
# once more, in steps
train --stop-after 2 --checkpoint ck2 -o half.mcz
cp ck2 kept
fails 2 "checkpoint 'ck2' exists: --resume goes on from it" train --checkpoint ck2 -o no.mcz
same ck2 kept
train --checkpoint ck2 --resume -o out2.mcz
same whole.mcz out2.mcz
fails 3 'seed' train --checkpoint ck --resume --seed 6 -o no.mcz
fails 3 'epochs' train --checkpoint ck --resume --epochs 7 -o no.mcz
fails 3 'lr' train --checkpoint ck --resume --lr 0.01 -o no.mcz
[ "${MC_UNDER:-}" = valgrind ] || # one thread is all there is
    fails 3 'ck: was made with 2 threads, this run has 1' train --checkpoint ck --resume -t 1 -o no.mcz
[ "${MC_UNDER:-}" = valgrind ] || # it has the portable kernels already
    ONEDNN_MAX_CPU_ISA=SSE41 MC_ISA=portable fails 3 ', this run has portable' train --checkpoint ck --resume -o no.mcz
mc-data synth --samples 2048 --seed 4 -o other.mcz
fails 3 'data' train --checkpoint ck --resume --data other.mcz -o no.mcz
fails 3 'ends after 1' train --checkpoint ck --resume --stop-after 1 -o no.mcz
fails 1 'nowhere' train --checkpoint nowhere/ck -o no.mcz
head -c 20000 ck >cut
fails 3 'cut: ' train --checkpoint cut --resume -o no.mcz
[ ! -e no.mcz ]

# curves too
mc-train --net $net --data d.mcz --epochs 1 --seed 1 -t 2 -o a.mcz
curve() { $now mc-bezier --data d.mcz --epochs 3 -t 2 a.mcz whole.mcz "$@"; }
curve -o whole-curve.mcz
rm -f ck out.mcz
kill_after curve
curve --checkpoint ck --resume -o out.mcz
same whole-curve.mcz out.mcz
fails 3 'points' curve --control-points 2 --checkpoint ck --resume -o no.mcz
no_temporaries_but=$(find . -name '.out.mcz*' | wc -l) # a killed run may leave one
[ "$no_temporaries_but" -le 1 ]
