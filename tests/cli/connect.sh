# SPDX-License-Identifier: Apache-2.0
# connect.mk: the whole experiment; a second run does nothing; changed settings redo what they decide and
# nothing else; a mistyped one costs nothing; killed and restarted, the same bytes, side by side too.
# Several pairs: pairs.sh.
. "$MC_ROOT/tests/cli/lib.bash"

connect() {
    make -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DATA=synth TRAIN_IMAGES=512 TEST_IMAGES=200 \
        NET=mlp:bn,16 LR=0.02 EPOCHS=2 CURVE_EPOCHS=2 POINTS=3 THREADS=1 OUT=out "$@"
}
# jobs ARGUMENTS...: the programs that a run starts
jobs() { connect "$@" >log && { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'; }

connect -n >log
grep -q '^mc-train' log && [ ! -e out ] || die 'make -n does something'
connect help >log
grep -q '^  NET  *tinyten  *a network of mc-train' log && grep -q '^  PAIRS ' log && [ ! -e out ] || die "$(cat log)"
connect >log
[ "$(sed 1d out/1-2/table.tsv | cut -f 1 | paste -sd ' ')" = \
    'line-unaligned curve-unaligned line-aligned curve-aligned' ]
for f in path signature training; do [ -s out/1-2/$f.svg ] && [ -s out/1-2/$f.png ]; done
awk -F '\t' 'NF != 9 { exit 1 }' out/1-2/table.tsv || die "$(cat out/1-2/table.tsv)"
for f in path signature training; do same out/$f.svg out/1-2/$f.svg; done
[ -z "$(jobs)" ] || die "a second run works: $(cat log)"
[ -z "$(connect -n | grep '^mc-')" ] || die 'make -n would work again'
[ "$(jobs POINTS=5)" = 'mc-eval4 mc-plot4 ' ] || die "$(cat log)"
[ "$(jobs POINTS=5 CURVE_EPOCHS=1)" = 'mc-bezier2 mc-eval2 mc-plot8 ' ] || die "$(cat log)"
# what is of the curves alone trains no end
for setting in CURVE_LR=.05 CURVE_BATCH=64; do
    connect -n POINTS=5 CURVE_EPOCHS=1 $setting >log
    grep -q "^mc-bezier .*--seed" log && ! grep '^mc-\(data\|train\|acts\)' log || die "$setting: $(cat log)"
done
[ "$(grep -c -- '--batch 64 ' log)" = 2 ] || die "$(cat log)"
connect help | grep -q '^  POINTS  *65 ' || die 'the paper measures 65 points'
set -- POINTS=5 CURVE_EPOCHS=1
[ "$(jobs "$@" MESSAGES=-v)" = '' ] || die "$(cat log)"
[ "$(jobs "$@" TEST_IMAGES=100)" = 'mc-data1 mc-eval4 mc-plot4 ' ] || die "$(cat log)"
# of the alignment: from the stage on that the flags are for
[ "$(jobs "$@" TEST_IMAGES=100 HUNGARIAN_FLAGS=-v)" = 'mc-bezier2 mc-corr1 mc-eval2 mc-hungarian1 mc-permute1 mc-plot12 ' ] ||
    die "$(cat log)"
set -- "$@" TEST_IMAGES=100 HUNGARIAN_FLAGS=-v
[ "$(connect -n "$@" CORR_FLAGS='--measure correlation' | grep -c '^mc-\(acts\|corr --m\)')" = 1 ] || die 'mc-corr is not run again'
[ "$(connect -n "$@" ACTS_FLAGS='--batch 7' | grep -c '^mc-acts.*--batch 7')" = 1 ] || die 'mc-acts is not run again'

connect "$@" NET=mpl >log 2>&1 && die 'an unknown network passes'
connect "$@" HUNGARIAN_FLAGS=--nothing >log 2>&1 && die 'an unknown option passes'
rm out/1-2/table.tsv
connect "$@" RUN=false >log 2>&1 && die 'a job that fails passes'
[ ! -e out/1-2/table.tsv ] || die 'a table that failed is there'
[ "$(jobs "$@")" = '' ] || die "a mistake cost work: $(cat log)"
[ -s out/1-2/table.tsv ]
# refused TEXT SETTING...: before anything is done
refused() {
    local text=$1
    shift
    connect "$@" >out.refused 2>err && die "passes: $*"
    grep -qF "$text" err || die "$*: $(cat err)"
    [ ! -s out.refused ] || die "$*: $(cat out.refused)"
}
refused "no setting 'EPOCH'" EPOCH=3
refused 'PAIRS="1:1": two different seeds a pair' SEEDS='1 1'
refused 'SEEDS="1 2 3": two seeds' SEEDS='1 2 3'
refused 'SEEDS and PAIRS: one of them' SEEDS='1 2' PAIRS=1:2
for pairs in 1 1:2:3:4 :1:2 1:2: 1:x 1-2; do refused "PAIRS=\"1:2 $pairs\": two different seeds a pair" PAIRS="1:2 $pairs"; done
refused 'a pair is there twice' PAIRS='1:2 1:2:7'
refused 'PAIRS="": a pair of seeds' PAIRS=
refused "no setting 'CURVE_SEED'" CURVE_SEED=1
for name in EPOCHS CURVE_EPOCHS BATCH CURVE_BATCH POINTS THREADS DATA_SEED; do
    for value in abc 1.5 -1 '1 2' ''; do refused "$name=\"$value\": a whole number is wanted" "$name=$value"; done
done
for name in TRAIN_IMAGES TEST_IMAGES ALIGN_IMAGES; do refused "$name=\"1k\": a whole number is wanted" "$name=1k"; done
for name in LR CURVE_LR; do
    for value in abc .1x '.1 .2' ''; do refused "$name=\"$value\": a number is wanted" "$name=$value"; done
done
refused 'OUT="out": out/net-1.mcz was trained without an attack: another OUT is wanted' TRAIN_FLAGS='--attack pgd'
connect -n LR=1e-2 CURVE_LR=1/50 >log || die "$(cat log)"
for name in 'a b' a:b a,b "a'b" 'a%b' ''; do refused "OUT=\"$name\": a folder's name" OUT="$name"; done
# a source tree that is not built, beside some folder called bin
mkdir -p bare/bin bare/tree
cp -R "$MC_ROOT/pipelines" bare/tree
env PATH=/usr/bin:/bin make -f bare/tree/pipelines/connect.mk OUT=bare/out >out.refused 2>err && die 'works without programs'
grep -q 'there are no programs yet: run make' err && [ ! -s out.refused ] && [ ! -e bare/out ] || die "$(cat err)"
# what looks like a setting inside of one, quotes, blanks
connect -n OUT=dry RUN='env A=B' TRAIN_FLAGS="--x 'a b' c=d" >log 2>&1 || die "$(cat log)"
grep -q "^env A=B mc-train .*--net 'mlp:bn,16' " log && grep -qF "'\''a b'\'' c=d" log || die "$(cat log)"

# a network's file counts by what is in it
set -- OUT=file NET=./net.json EPOCHS=0 TRAIN_IMAGES=64 TEST_IMAGES=50 file/net-1.mcz
cp "$MC_ROOT/formats/samples/example_net.json" net.json
[ "$(jobs "$@")" = 'mc-data1 mc-train1 ' ] || die "$(cat log)"
touch -d 'next year' net.json
[ "$(jobs "$@")" = '' ] || die "$(cat log)"
sed -i 's/"net": "example"/"net": "mine"/' net.json
[ "$(jobs "$@")" = 'mc-train1 ' ] || die "$(cat log)"
mc-info file/net-1.mcz | grep -q mine
connect -n "$@" file/1-2/path.svg | grep -q -- "--title 'net on synth"

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
# nothing trained: no picture of training
make -n -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DATA=synth NET=mlp:8 EPOCHS=0 OUT=untrained >log
grep -q 'mc-train' log && ! grep -q 'mc-plot log' log || die "$(cat log)"
