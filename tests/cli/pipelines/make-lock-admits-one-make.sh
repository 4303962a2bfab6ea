# SPDX-License-Identifier: Apache-2.0
# OUT admits one make: a second one is refused and names the first. After a make was killed alone, the next one waits
# for its jobs. Killed at any moment, it resumes to the results of an undisturbed run.

stub_plot
graph() {
    exec ${launcher:-} make V=1 MESSAGES=-q -f "$MC_ROOT/pipelines/$1.mk" BIN="$bin" DATA=synth DATA_FLAGS='--size 8' TRAIN_IMAGES=256 \
        TEST_IMAGES=64 NET=mlp:bn,4 LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 THREADS=1 RUN="$PWD/job" "${@:2}"
}
files='net-1.mcz net-2.mcz net-3.mcz 1-2/permutation.mcz 1-2/curve-aligned.mcz 1-3/curve-aligned.mcz 1-2/table.tsv table.tsv
    training.tsv'
# a job that records overlapping jobs, and starts when `open` exists
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
    (launcher='timeout 600' && graph $g OUT=out) >out.second 2>err && die 'two makes in one OUT'
    expect_words err "make: OUT=out: in use*make $make*$(uname -n)"
    ! grep '^mc-' out.second || die 'the second make ran a program'
done
(graph connect OUT=out -n) >log.n || die 'make -n is refused'
(graph connect OUT=other -n) >log.n && [ ! -e other ] || die 'make -n made a file'

# a terminated make ends its jobs
rm begun
graph connect OUT=term >log 2>&1 &
term=$!
until [ -e begun ]; do sleep .02; done
kill $term
wait $term || true
(launcher='timeout 600' && graph connect OUT=term RUN=) >log 2>&1 || die "$(cat log)"
! grep waiting log || die 'a job outlives a make that was terminated'

# killed alone, and restarted at once
kill -9 $make
wait $make 2>/dev/null || true
graph connect OUT=out >log 2>errors &
make=$!
until [ -s errors ]; do sleep .02; done
expect_words errors 'make: OUT=out: waiting*make: *(job)'
! grep '^[^#]*mc-' log || die "it did not wait: $(cat log)"
touch open
wait $make || die "$(cat log errors)"
(graph connect OUT=out) >log
! grep '^mc-' log || die 'a third run ran a program'

# a file system without locks: a warning
mkdir bin
printf '#!/bin/sh\nexit 71\n' >bin/flock
chmod +x bin/flock
(PATH=$PWD/bin:$PATH && graph connect OUT=unlocked unlocked/net-1.mcz) >log 2>err || die "$(cat err)"
expect_lines err 'make: OUT=unlocked: *no locks'

# make was killed before the lock: another process has adopted its child
mkdir orphan
"$MC_ROOT/pipelines/include/one-make" $$ orphan 2>err && die 'locked for a process that is not make'
expect_lines err "make: OUT=orphan: process $$*make*got $(<"/proc/$$/comm")"
[ ! -e orphan/.lock ] || die 'a refused lock is held'

# killed alone many times
(graph connect OUT=whole PAIRS='1:2 1:3' -j2) >log 2>&1 || die "$(cat log)"
for ((i = 0; i < 4; i++)); do
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
