# SPDX-License-Identifier: Apache-2.0
# connect.mk: the whole experiment; a second run does nothing; changed settings redo what they decide and
# nothing else; a mistyped one costs nothing; killed and restarted, the same bytes, side by side too.
. "$MC_ROOT/tests/cli/lib.bash"

connect() {
    make -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DATA=synth TRAIN_IMAGES=512 TEST_IMAGES=200 \
        NET=mlp:bn,16 LR=0.02 EPOCHS=2 CURVE_EPOCHS=2 POINTS=3 THREADS=1 OUT=out "$@"
}
# jobs ARGUMENTS...: the programs that a run starts
jobs() { connect "$@" >log && { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'; }

connect >log
[ "$(sed 1d out/1-2/table.tsv | cut -f 1 | paste -sd ' ')" = \
    'line-unaligned curve-unaligned line-aligned curve-aligned' ]
for f in path signature training; do [ -s out/1-2/$f.svg ] && [ -s out/1-2/$f.png ]; done
awk -F '\t' 'NF != 9 { exit 1 }' out/1-2/table.tsv || die "$(cat out/1-2/table.tsv)"
[ -z "$(jobs)" ] || die "a second run works: $(cat log)"
[ -z "$(connect -n | grep '^mc-')" ] || die 'make -n would work again'
[ "$(jobs POINTS=5)" = 'mc-eval4 mc-plot2 ' ] || die "$(cat log)"
[ "$(jobs POINTS=5 CURVE_EPOCHS=1)" = 'mc-bezier2 mc-eval2 mc-plot4 ' ] || die "$(cat log)"
[ "$(jobs POINTS=5 CURVE_EPOCHS=1 MESSAGES=-v)" = '' ] || die "$(cat log)"
connect POINTS=5 CURVE_EPOCHS=1 NET=mpl >log 2>&1 && die 'an unknown network passes'
[ "$(jobs POINTS=5 CURVE_EPOCHS=1)" = '' ] || die "a mistake cost work: $(cat log)"
connect EPOCH=3 2>err && die 'a misspelt setting passes'
grep -q "no setting 'EPOCH'" err
connect SEEDS='1 1' 2>/dev/null && die 'one network twice passes'

# killed in the middle, upstream settings changed, put back: other checkpoints are not taken up
connect OUT=whole TRAIN_IMAGES=4096 EPOCHS=3 -j2 >log
(
    setsid make -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DATA=synth TRAIN_IMAGES=4096 \
        TEST_IMAGES=200 NET=mlp:bn,16 LR=0.02 EPOCHS=3 CURVE_EPOCHS=2 POINTS=3 THREADS=1 OUT=cut >log2 2>&1 &
    pid=$!
    for ((i = 0; i < 3000; i++)); do
        [ -n "$(find cut -name 'net-1.*checkpoint' 2>/dev/null)" ] && break
        sleep .02
    done
    kill -9 -- -$pid
) 2>/dev/null
[ ! -e cut/1-2/table.tsv ] || die 'it was done before it was killed'
connect OUT=cut TRAIN_IMAGES=300 EPOCHS=3 >log
connect OUT=cut TRAIN_IMAGES=4096 EPOCHS=3 >log
for f in net-1.mcz net-2.mcz 1-2/permutation.mcz 1-2/curve-aligned.mcz 1-2/table.tsv; do
    same whole/$f cut/$f
done
[ -z "$(find cut whole -name '*.checkpoint')" ] || die 'checkpoints are left'
