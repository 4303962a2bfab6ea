# SPDX-License-Identifier: Apache-2.0
# Any signal that can be caught ends a program and leaves no file; after SIGKILL the next run removes the temporary file.
samples=$MC_ROOT/formats/samples
data=$samples/good-dataset.mcz

large -o a.mcz
cp a.mcz old.mcz
# a data set without end
/usr/bin/python3 - "$data" >start.mcz <<'E2'
import sys
import stream_tools, zstandard
z = stream_tools.compressor()
for raw in stream_tools.objects(sys.argv[1])[:2]:
    sys.stdout.buffer.write(z.compress(raw) + z.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
E2
ulimit -c 0
# signals that stop a program or do not affect it, and the one that makes write() fail
others='CHLD CONT STOP TSTP TTIN TTOU URG WINCH XFSZ'
# sanitizers report these themselves
[ "$MC_UNDER" != sanitize ] || others+=' ILL BUS FPE SEGV'
n=0
for signal in {1..8} {10..31} RTMIN RTMIN+9 RTMAX 9; do
    [[ $signal != [0-9]* ]] || signal=$(kill -l "$signal")
    [[ " $others " != *" $signal "* ]] || continue
    rm -f pipe
    mkfifo pipe
    exec {feed}<>pipe
    cat start.mcz >&$feed
    # a shell ignores SIGINT and SIGQUIT in background jobs, and ignored signals stay ignored
    env --default-signal mc-acts --raw --data pipe "$samples/good-weights.mcz" -o a.mcz {feed}<&- &
    program=$!
    for _ in $(seq 400); do
        [ -z "$(find . -name '.a.mcz.*.mcz-tmp')" ] || break
        sleep 0.05
    done
    [ -n "$(find . -name '.a.mcz.*.mcz-tmp')" ] || die "$signal: no temporary appeared"
    kill -$signal $program
    rc=0
    wait $program || rc=$?
    exec {feed}<&-
    [ $rc = $((128 + $(kill -l "$signal"))) ] || die "$signal: status $rc"
    [ $signal = KILL ] || no_temporaries
    same a.mcz old.mcz
    n=$((n + 1))
done
[ $n -ge 20 ] || die "only $n signals were sent"
[ "$(find . -name '.a.mcz.*.mcz-tmp' | wc -l)" = 1 ] || die "SIGKILL left no temporary"
large -o a.mcz
same a.mcz old.mcz
no_temporaries
