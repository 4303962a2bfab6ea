# SPDX-License-Identifier: Apache-2.0
# cost estimates jobs, hours, memory and disk of unfinished work from given or measured images/s; it makes no file.
cell() { awk -v row="$1" -v column="$2" '$1 == row { print $column }' log; }
"$MC_ROOT/pipelines/include/cost" --help >help
grep -q '^Usage: make -n ... | cost' help && [ "$(wc -L <help)" -le 120 ] || die "$(cat help)"
! (graph connect RATES=mlp:4=1 cost) >refused || die 'half a rate passes'
grep -qF "RATES must be NET=TRAINING:EVALUATION in images/s (got 'mlp:4=1')" errors || die "$(cat errors)"

# rates for 32 x 32: ten epochs of 3,600 images at one per second; two curves of five, and lines and curves at 3 points
settings=(NET=mlp:4 EPOCHS=10 CURVE_EPOCHS=5 RATES=mlp:4=1:10 TRAIN_IMAGES=3600 TEST_IMAGES=50)
graph connect "${settings[@]}" PAIRS="1:2 3:1" cost
[ ! -e out ] || die 'cost made a file'
expect_equal "$(awk '{ print $1, $2 }' log | sed 1d | paste -sd ,)" 'data 2,net-1 1,net-2 1,1-2 19,net-3 1,3-1 19,tables 6,in all'
expect_equal "$(cell net-1 3)" 10.00
pair='10 + (4 * 3 * (3600 + 3600 + 50) + 2 * 720) / 10 / 3600'
expect_equal "$(cell 1-2 3)" "$(awk "BEGIN { printf \"%.2f\", $pair }")"
expect_equal "$(awk '$1 == "in" { print $4 }' log)" "$(awk "BEGIN { printf \"%.2f\", 3 * 10 + 2 * ($pair) }")"
expect_equal "$(awk '$1 == "in" { print $3 }' log)" "$(awk '{ n += $1 == "in" ? 0 : $2 } END { print n }' log)"
# images are 3,072 bytes
expect_equal "$(cell data 5)" $(((3600 + 50) * 3072 / 1000000))
[ "$(cell net-1 4)" -ge 11 ] || die "memory without the images: $(cat log)"
graph connect "${settings[@]}" DATA_FLAGS='--size 16' cost
expect_equal "$(cell net-1 3)" 2.50
# measured rates
graph connect "${settings[@]}" RATES= cost
grep -Eq '^cost: measured RATES=mlp:4=[0-9.e+]+:[0-9.e+]+$' errors || die "$(cat errors)"

# finished jobs do not count, those of another setting do
settings=(NET=mlp:4 TRAIN_IMAGES=512 RATES=mlp:4=1:10)
graph connect "${settings[@]}"
before=$(files_here)
graph connect "${settings[@]}" cost
expect_equal "$(sed 1d log)" "$(printf '%-32s %6d %10.2f %10d %9d' 'in all' 0 0 0 0)"
graph connect "${settings[@]}" CURVE_EPOCHS=2 cost
expect_equal "$(awk '{ print $1, $2 }' log | sed 1d | paste -sd ,)" '1-2 8,tables 4,in all'
expect_equal "$(files_here | grep out/)" "$(grep out/ <<<"$before")"
# other data: train.mcz decides their number and size
py <<'PY'
r = np.random.default_rng(1)
x, y = r.integers(0, 256, (3600, 16, 64, 3), dtype=np.uint8), np.arange(3600) % 7
np.savez("d.npz", x_train=x, y_train=y, x_test=x[:50], y_test=y[:50])
PY
settings=(DATA=npz DATA_DIR=d.npz OUT=own NET=mlp:4 EPOCHS=10 CURVE_EPOCHS=5 RATES=mlp:4=1:10 TRAIN_IMAGES= TEST_IMAGES=50)
! (graph connect "${settings[@]}" cost) || die 'the cost of data of unknown size'
expect_words errors 'cost: own/train.mcz*missing*DATA=npz'
! grep '^in all' log || die 'an estimate without data'
graph connect "${settings[@]}" own/train.mcz
graph connect "${settings[@]}" cost
expect_equal "$(cell net-1 3)" 10.00
# a network for 16 x 16 images is measured on such images
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
settings=(NET=./blocks.json OUT=blocks EPOCHS=100000 TRAIN_IMAGES=3600 DATA_FLAGS='--size 16')
graph connect "${settings[@]}" cost
awk '$1 == "net-1" && $3 > 0 { n++ } END { exit !n }' log || die "$(cat log errors)"
