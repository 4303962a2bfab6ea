# SPDX-License-Identifier: Apache-2.0
# robust.mk: networks and curves trained on adversarial examples, clean and robust tables and pictures; a second
# run does nothing, another attack makes what it decides; both kinds of statistics.
. "$MC_ROOT/tests/cli/lib.bash"

graph() {
    make -f "$MC_ROOT/pipelines/robust.mk" BIN="$MC_BUILD/bin" DATA=synth TRAIN_IMAGES=256 TEST_IMAGES=100 \
        NET=mlp:bn,16 LR=0.02 EPOCHS=2 CURVE_EPOCHS=1 POINTS=3 BATCH=64 THREADS=1 ATTACK=$attack "$@" >log ||
        die "$(cat log)"
}
# jobs: the programs that the last run started
jobs() { { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'; }
is() { [ "$1" = "$2" ] || die "'$1' is not '$2': $(cat log)"; }

attack=pgd:eps=4/255,step=2/255,steps=2
graph
is "$(jobs)" 'mc-acts1 mc-bezier4 mc-corr1 mc-data2 mc-eval6 mc-hungarian1 mc-permute1 mc-plot8 mc-train2 '
o=out-robust/1-2
for n in 1 2; do
    mc-info --json out-robust/net-$n.mcz | grep -q 'pgd:eps=0.0156862745,step=0.00784313725,steps=2' ||
        die 'a network that was not attacked'
done
# the same as by hand
mc-train -q --net mlp:bn,16 --no-normalise --data out-robust/train.mcz --seed 1 --epochs 2 --lr 0.02 --batch 64 \
    --schedule linear --attack $attack -t 1 -o by-hand.mcz
is "$(id by-hand.mcz)" "$(id out-robust/net-1.mcz)"
e="mc-eval -q --data out-robust/test.mcz --bn-data out-robust/train.mcz --points 3 -t 1 $o/curve-aligned.mcz"
$e | cut -f 2-3 | same - <(cut -f 4-5 $o/curve-aligned.tsv)
$e --attack $attack --bn-attack | cut -f 2-5 | same - <(cut -f 4-5,8-9 $o/curve-aligned-bn-attack.tsv)
cmp -s $o/curve-aligned-bn-attack.tsv $o/curve-aligned.tsv && die 'the statistics are the same'

rows='path line-unaligned curve-unaligned line-aligned curve-aligned curve-unaligned-bn-attack curve-aligned-bn-attack'
is "$(cut -f 1 $o/clean.tsv | paste -sd ' ')" "$rows"
is "$(cut -f 3 out-robust/robust.tsv | paste -sd ' ')" "$rows"
# robust means are under clean ones, and are those of the points
paste <(column $o/clean.tsv mean) <(column $o/robust.tsv mean) | awk '!($2 <= $1) { exit 1 }' ||
    die "$(cat $o/clean.tsv $o/robust.tsv)"
column $o/curve-aligned.tsv test.robust.accuracy | awk '{ s += $1 } END { printf "%.2f\n", s / NR }' |
    same - <(awk '$1 == "curve-aligned" { print $4 }' $o/robust.tsv)
column $o/curve-aligned.tsv test.accuracy | awk '{ s += $1 } END { printf "%.2f\n", s / NR }' |
    same - <(awk '$1 == "curve-aligned" { print $4 }' $o/clean.tsv)
for f in out-robust $o; do
    for k in clean robust; do [ -s $f/$k.svg ] && [ -s $f/$k.png ]; done
done
grep -q 'aligned, attacked statistics' $o/robust.svg
graph
is "$(jobs)" ''
graph EVAL_ATTACK=$attack,restarts=2
is "$(jobs)" 'mc-eval6 mc-plot8 '
graph -n ATTACK=pgd:steps=1
is "$(jobs)" 'mc-acts1 mc-bezier4 mc-corr1 mc-eval6 mc-hungarian1 mc-permute1 mc-plot8 mc-train2 '
# other networks are no part of this OUT
if make -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" NET=mlp:bn,16 OUT=out-robust >refused 2>&1; then die 'one OUT for both'; fi
grep -q 'OUT="out-robust": out-robust/net-1.mcz was trained with an attack: another OUT is wanted' refused || die "$(cat refused)"
# the settings of its own are listed, once each
make -f "$MC_ROOT/pipelines/robust.mk" help >help
is "$(grep -cE '^  (ATTACK|EVAL_ATTACK|EPOCHS|SCHEDULE|CURVE_LR|OUT) ' help)" 6
grep -qE '^  EPOCHS +200 ' help && grep -qE '^  SCHEDULE +linear ' help
if make -f "$MC_ROOT/pipelines/robust.mk" ATTACK= >refused 2>&1; then die 'no attack'; fi
grep -q 'one word is wanted' refused
