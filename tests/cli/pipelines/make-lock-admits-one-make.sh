# SPDX-License-Identifier: Apache-2.0
# One make in an OUT: a second one is refused and told whose it is; after a make was killed alone the next one waits for
# the jobs that it left; killed at any moment, the results are those of a run that was not.

graph() {
    exec ${now:-} make -f "$MC_ROOT/pipelines/$1.mk" BIN="$MC_BUILD/bin" DATA=synth DATA_FLAGS='--size 8' TRAIN_IMAGES=256 \
        TEST_IMAGES=64 NET=mlp:bn,4 LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1 RUN="$PWD/job" "${@:2}"
}
files='net-1.mcz net-2.mcz net-3.mcz 1-2/permutation.mcz 1-2/curve-aligned.mcz 1-3/curve-aligned.mcz 1-2/table.tsv table.tsv
    training.tsv'
# a job that notes its like beside it, and begins when `open` is there
cat >job <<'END'
#!/bin/bash
place=running.$(cksum <<<"$*" | tr ' ' _)
mkdir "$place" || echo "two jobs: $*" >>twice
touch begun
until [ -e open ] || [ ! -e job ]; do sleep .02; done
rc=0
"$@" || rc=$?
rmdir "$place"
exit $rc
END
chmod +x job

graph connect OUT=out >log 2>&1 &
make=$!
until [ -e begun ]; do sleep .02; done
for g in connect pam; do
    (now='timeout 600' && graph $g OUT=out) >out.second 2>err && die 'two makes in one OUT'
    grep -q "^.*: \*\*\* OUT=\"out\": make $make (connect.mk) on $(uname -n) has been at work there since 20..-..-.. " err ||
        die "$(cat err)"
    [ ! -s out.second ] || die "$(cat out.second)"
done
(graph connect OUT=out -n) >log.n || die 'make -n is refused'
[ "$(cut -d ' ' -f 1 out/.lock)" = $make ] || die "make -n took OUT"
(graph connect OUT=other -n) >log.n && [ ! -e other ] || die 'make -n makes something'

# terminated, it takes its jobs with it
rm begun
graph connect OUT=term >log 2>&1 &
term=$!
until [ -e begun ]; do sleep .02; done
kill $term
wait $term || true
(now='timeout 600' && graph connect OUT=term RUN=) >log 2>&1 || die "$(cat log)"
! grep waiting log || die 'a job outlives a make that was terminated'

# killed alone, and started again at once
kill -9 $make
wait $make 2>/dev/null || true
graph connect OUT=out >log 2>told &
make=$!
until [ -s told ]; do sleep .02; done
grep -q '^OUT="out": waiting for what an earlier make started and left running (.*): .*[0-9] (job)' told || die "$(cat told)"
[ ! -s log ] || die "it did not wait: $(cat log)"
touch open
wait $make || die "$(cat log told)"
(graph connect OUT=out) >log
! grep '^mc-' log || die 'a third run works'

# killed before the lock was taken for it, a make does not keep it
mkdir tree
cp -R "$MC_ROOT/pipelines" tree
mv tree/pipelines/lock.sh tree/pipelines/own-lock.sh
printf '#!/bin/bash\n[ "$1" = -c ] || { kill -9 $PPID; sleep .2; }\nexec "${0%%/*}/own-lock.sh" "$@"\n' >tree/pipelines/lock.sh
chmod +x tree/pipelines/lock.sh
rc=0
(MC_ROOT=tree && graph connect OUT=orphan) >log 2>&1 || rc=$?
is $rc 137
sleep .5
(now='timeout 600' && graph connect OUT=orphan RUN= orphan/test.mcz) >log 2>&1 || die "$(cat log)"

# no locks on this file system: told, not refused
mkdir bin
printf '#!/bin/sh\nexit 71\n' >bin/flock
chmod +x bin/flock
(PATH=$PWD/bin:$PATH && graph connect OUT=unlocked unlocked/net-1.mcz) >log 2>err || die "$(cat err)"
[ "$(<err)" = 'OUT="unlocked": there are no locks on this file system: two makes there would go unnoticed' ] || die "$(cat err)"

# a make within a make of the same OUT is its part
printf 'inner:\n\t+$(MAKE) -f %s/pipelines/connect.mk BIN=%s/bin NET=mlp:4 DATA_FLAGS= EPOCHS=0 TRAIN_IMAGES=64 OUT=sub sub/net-1.mcz\ninclude %s/pipelines/common.mk\n' \
    "$MC_ROOT" "$MC_BUILD" "$MC_ROOT" >outer.mk
timeout 600 make -f outer.mk BIN="$MC_BUILD/bin" OUT=sub inner >log 2>&1 && [ -s sub/net-1.mcz ] || die "$(cat log)"

# where nothing may be written nothing is locked: all is there, or the job says what it cannot
other='setpriv --reuid 65534 --clear-groups'
chmod a+rx . "$TMP"
chmod a-w out
if $other test -x "$MC_BUILD/bin/mc-info" -a -r "$MC_ROOT/pipelines/connect.mk" -a -r out/net-1.mcz 2>/dev/null; then
    (now=$other && graph connect OUT=out) >log 2>&1 || die "$(cat log)"
fi
chmod u+w out

# killed alone many times
(graph connect OUT=whole PAIRS='1:2 1:3' -j2) >log 2>&1 || die "$(cat log)"
for ((i = 0; i < 10; i++)); do
    graph connect OUT=cut PAIRS='1:2 1:3' -j2 >log 2>&1 &
    sleep $((RANDOM % 2)).$((RANDOM % 10))
    kill -9 $! 2>/dev/null || true
    rc=0
    wait $! 2>/dev/null || rc=$?
    [ $rc = 137 ] || [ $rc = 0 ] || die "start $i failed by itself, status $rc: $(cat log)"
done
(graph connect OUT=cut PAIRS='1:2 1:3' -j2) >log 2>&1 || die "$(cat log)"
for f in $files; do same whole/$f cut/$f; done
[ ! -e twice ] || die "$(cat twice)"
