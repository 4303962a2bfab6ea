# SPDX-License-Identifier: Apache-2.0
# An output appears whole or not at all: a size limit, a signal in the middle and a killed run
# leave the old file as it was; a closed pipe ends a program quietly; a failure goes down the pipe.
. "$MC_ROOT/tests/cli/lib.bash"
samples=$MC_ROOT/formats/samples
data=$samples/good-dataset.mcz
large() { mc-train -q --data "$data" --no-augment --net mlp:20000 --epochs 1 "$@"; } # 0.5 MB

large -o a.mcz
cp a.mcz old.mcz
large >b.mcz
same a.mcz b.mcz # a pipe, a file and another run get the same bytes
large | cat >b.mcz
same a.mcz b.mcz
no_temporaries

# a limit on the size of files, which is a signal to those who do not know it
rc=0
(ulimit -f 200 && large -o a.mcz) 2>err || rc=$?
[ $rc = 1 ] || die "over the limit: status $rc"
grep -qx "mc-train: cannot write 'a.mcz': File too large" err || die "$(cat err)"
same a.mcz old.mcz
no_temporaries
fails 1 "cannot write '/dev/full': No space left on device" large -o /dev/full
fails 1 "'none/a.mcz': No such file or directory" large -o none/a.mcz
fails 1 "Is a directory" large -o .

# a closed pipe
{
    rc=0
    large 2>err || rc=$?
    echo $rc >status
} | head -c 1 >/dev/null
[ "$(cat status)" = 141 ] || die "a closed pipe: status $(cat status)"
[ ! -s err ] || die "a closed pipe: $(cat err)"

# killed in the middle: by a signal that can be caught nothing stays; after SIGKILL the next run clears up
mkfifo pipe
cat >feed.py <<'E2'
import os, signal, sys, time
import mcz, zstandard
with open(sys.argv[1], "rb") as f:
    objects = [raw for _, raw in mcz._objects(mcz._decoded(f))]
p = zstandard.ZstdCompressionParameters.from_level(1, write_checksum=1, write_content_size=0)
z = zstandard.ZstdCompressor(compression_params=p).compressobj()
with open("pipe", "wb", 0) as f:
    for raw in objects[:2]:
        f.write(z.compress(raw) + z.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    time.sleep(60)
E2
for signal in TERM INT HUP KILL; do
    PYTHONPATH=$MC_ROOT/formats/python /usr/bin/python3 feed.py "$data" &
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

# a failing first stage fails the last one, without pipefail, and alone says why
head -c 300 "$samples/good-moments.mcz" | mc-corr 2>err1 | mc-hungarian 2>err2 |
    mc-permute - "$samples/good-weights.mcz" -o pb.mcz 2>err3 && die "a truncated stream passed"
grep -qx 'mc-corr: stdin: header: truncated' err1 || die "$(cat err1)"
[ ! -s err2 ] && [ ! -s err3 ] || die "$(cat err2 err3)"
: | mc-plot path -o x.svg 2>err1 && die "an empty table passed"
[ ! -s err1 ] || die "$(cat err1)"
[ ! -e pb.mcz ] || die "wrote pb.mcz"
