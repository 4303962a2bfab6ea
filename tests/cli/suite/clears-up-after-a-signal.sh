# SPDX-License-Identifier: Apache-2.0
# Killed in the middle by a signal that can be caught, a program leaves nothing; after SIGKILL the next run clears up.
samples=$MC_ROOT/formats/samples
data=$samples/good-dataset.mcz

large -o a.mcz
cp a.mcz old.mcz
mkfifo pipe
cat >feed.py <<'E2'
import sys, time
import damaged, zstandard
z = damaged.compressor()
with open("pipe", "wb", 0) as f:
    for raw in damaged.objects(sys.argv[1])[:2]:
        f.write(z.compress(raw) + z.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    time.sleep(60)
E2
for signal in TERM INT HUP USR1 USR2 ALRM XCPU PROF VTALRM IO PWR STKFLT SYS TRAP RTMIN RTMAX KILL; do
    /usr/bin/python3 feed.py "$data" &
    feeder=$!
    # a shell starts its background jobs with SIGINT ignored, and what is ignored stays so
    /usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' mc-acts --raw --data pipe "$samples/good-weights.mcz" -o a.mcz &
    program=$!
    for _ in $(seq 400); do
        [ -z "$(find . -name '.a.mcz.*.mcz-tmp')" ] || break
        sleep 0.05
    done
    [ -n "$(find . -name '.a.mcz.*.mcz-tmp')" ] || die "$signal: no temporary appeared"
    kill -$signal $program
    rc=0
    wait $program || rc=$?
    kill $feeder
    wait $feeder || true
    [ $rc = $((128 + $(kill -l $signal))) ] || die "$signal: status $rc"
    [ $signal = KILL ] || no_temporaries
    same a.mcz old.mcz
done
[ "$(find . -name '.a.mcz.*.mcz-tmp' | wc -l)" = 1 ] || die "SIGKILL left no temporary"
large -o a.mcz
same a.mcz old.mcz
no_temporaries
