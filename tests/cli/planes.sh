# SPDX-License-Identifier: Apache-2.0
# planes.mk: three planes a pair from what connect.mk made, a second run does nothing, another setting makes only
# the planes anew.
. "$MC_ROOT/tests/cli/lib.bash"

graph() {
    make -f "$MC_ROOT/pipelines/$1.mk" BIN="$MC_BUILD/bin" DATA=synth TRAIN_IMAGES=512 TEST_IMAGES=200 \
        NET=mlp:bn,16 LR=0.02 EPOCHS=2 CURVE_EPOCHS=2 CURVE_LR=.3 POINTS=3 THREADS=1 OUT=out "${@:2}" >log 2>err ||
        die "$(cat log err)"
}
# jobs: the programs that the last run started
jobs() { { grep -o '^mc-[a-z]*' log || true; } | sort | uniq -c | awk '{ printf "%s ", $2 $1 }'; }
is() { [ "$1" = "$2" ] || die "'$1' is not '$2': $(cat log err)"; }
few='GRID=3 PLANE_IMAGES=100 PLANE_BN_IMAGES=128'

graph connect
graph planes $few
is "$(jobs)" 'mc-eval3 mc-plot6 '
graph planes $few
is "$(jobs)" ''
for p in networks curve-unaligned curve-aligned; do
    f=out/1-2/plane-$p
    is "$(wc -l <$f.tsv)" 10
    is "$(head -n 1 $f.tsv)" "$(printf 'x\ty\ttest.loss\ttest.accuracy')"
    [ -s $f.svg ] && [ -s $f.png ] && [ -s $f.marks.tsv ] || die "no $p"
done
is "$(column out/1-2/plane-networks.marks.tsv name | paste -sd ' ')" 'out/net-1.mcz out/net-2.mcz out/1-2/b-aligned.mcz'
# the aligned one is as far from the origin as it was, and nearer
awk -F '\t' 'NR == 3 { u = $3 } NR == 4 { if ($3 * $3 + $4 * $4 >= u * u) exit 1 }' out/1-2/plane-networks.marks.tsv
grep -q 'Pθ₂' out/1-2/plane-networks.svg
grep -q 'r(½)' out/1-2/plane-curve-aligned.svg
! grep -q 'Pθ₂' out/1-2/plane-curve-unaligned.svg
cp out/1-2/plane-networks.tsv before.tsv
graph planes ${few/GRID=3/GRID=2}
is "$(jobs)" 'mc-eval3 mc-plot6 '
is "$(wc -l <out/1-2/plane-networks.tsv)" 5
graph planes $few
same out/1-2/plane-networks.tsv before.tsv
[ -z "$(ls out/1-2/*.checkpoint 2>/dev/null)" ]
# the defaults ask for no more images than there are; what is not made yet is no error of make -n
asked() { graph planes -n OUT=none "$@" && grep -oE -- '--(test|bn)-samples [0-9]+' log | sort -u | paste -sd ' '; }
is "$(asked)" '--bn-samples 512 --test-samples 200'
is "$(asked TEST_IMAGES=9000 TRAIN_IMAGES=)" '--bn-samples 2000 --test-samples 2500'
is "$(asked TEST_IMAGES=)" '--bn-samples 512 --test-samples 2000'
is "$(asked DATA=folder DATA_DIR=x TEST_IMAGES=)" '--bn-samples 512'
is "$(cat err)" ''
if make -f "$MC_ROOT/pipelines/planes.mk" GIRD=3 OUT=out >log 2>&1; then die 'a misspelt setting went unheard'; fi
grep -q "no setting 'GIRD'" log
