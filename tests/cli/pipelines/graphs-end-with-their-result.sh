# SPDX-License-Identifier: Apache-2.0
# An experiment prints one line per result while it runs. At its end, also if nothing was left to do, it prints the main table, the
# pictures, the report and the time. With V=1 it prints commands that work when pasted into another folder.
set -- DATA=synth NET='./my net.json' TRAIN_IMAGES=64 TEST_IMAGES=40 LR=0.02 EPOCHS=1 CURVE_EPOCHS=1 POINTS=3 THREADS=1
cp "$MC_ROOT/formats/samples/example_net.json" 'my net.json'
stub_plot
run() { make --no-print-directory -f "$MC_ROOT/pipelines/$1.mk" BIN="$bin" "${@:2}" >log 2>errors || die "$(cat log errors)"; }
# ends WORDS: the last lines of the log
ends() { tail -n 3 log | expect_words - "$1"; }
run connect OUT=out "$@"
! grep '^mc-' log || die 'prints commands'
jobs=$(grep -c '^\[' log)
grep -qx "\[1/$jobs\] mc-data out/train.mcz" log && grep -q "^\[$jobs/$jobs\] " log || die "$(cat log)"
grep -q '^path  *end_a ' log && grep -q '^curve-aligned ' log || die "no table: $(cat log)"
ends "Pictures: out/1-2/path.svg out/1-2/signature.svg out/1-2/training.svg"
ends 'Report: *the goal report writes out/report.html'
ends "Time: * s, $jobs results made"
for _ in 1 2; do
    run connect OUT=out report
    grep -q '^curve-aligned ' log || die "no table: $(cat log)"
    ends 'Report: *out/report.html'
    ends 'Time: * s, no results made'
done
run connect OUT=out -s
expect_equal "$(cat log)" ''
# your own stage is named by its program, also if it fails
make --no-print-directory -f "$MC_ROOT/pipelines/connect.mk" BIN="$bin" "$@" OUT=own ALIGN=/bin/false >log 2>errors && die 'false passes'
grep -q '^\[.*\] false own/1-2/permutation.mcz$' log || die "$(cat log errors)"
# several pairs: deviations in the same cell
run connect OUT=out PAIRS='1:2 1:3' -j2
grep -q '^network *data *path *pairs *end_a *end_b ' log && grep -q '^my net .* curve-aligned .* ± ' log || die "$(cat log)"
ends 'Pictures: out/path.svg out/signature.svg out/training.svg'
run planes OUT=out PAIRS=1:2 GRID=3 PLANE_IMAGES=40 PLANE_BN_IMAGES=40
ends 'Pictures: out/1-2/plane-networks.svg'
run soup OUT=out SEEDS='1 2'
grep -q '^my net .* mean-joint ' log || die "$(cat log)"
run connect OUT=out PAIRS=1:2 pair
ends 'Time:'

run connect OUT=pasted "$@" V=1
mkdir -p other/pasted/1-2
sed '/^path  *end_a/,$d; /^\[/d' log >other/commands
cp 'my net.json' other
(cd other && env -i PATH="$bin:$PATH" bash -euo pipefail commands) >output 2>&1 || die "$(cat output other/commands)"
for f in train.mcz net-1.mcz 1-2/curve-aligned.mcz table.tsv 1-2/table.tsv 1-2/path.svg; do same pasted/$f other/pasted/$f; done
