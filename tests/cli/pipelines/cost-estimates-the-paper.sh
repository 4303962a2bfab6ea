# SPDX-License-Identifier: Apache-2.0
# paper.mk cost estimates jobs and hours of each experiment at the given rates, also without data; it makes no file.
paper() {
    make -f "$MC_ROOT/pipelines/paper/paper.mk" BIN="$MC_BUILD/bin" DATA_SETS="synth cifar10" NETS=tinyten PAIRS=1:2 POINTS=3 \
        THREADS=1 OUT=out TRAIN_IMAGES=3600 TEST_IMAGES=100 "$@" >log 2>errors || die "$(cat log errors)"
}
costs() { paper cost PART='tinyten-synth robust-tinyten-synth' EXPERIMENTS='connect robust' "$@"; }
cell() { awk -v row="$1" -v column="$2" '$1 == row { print $column }' log; }

costs RATES=tinyten=1:10 EPOCHS=10 CURVE_EPOCHS=5 ROBUST_EPOCHS=2
[ ! -e out ] || die 'cost made a file'
# two networks of ten hours each and two curves of five; four paths of three points, 3600 images twice and 100
expect_equal "$(cell tinyten-synth 3)" "$(awk 'BEGIN { printf "%.2f", 2 * 10 + 2 * 5 + (4 * 3 * (3600 + 3600 + 100) + 2 * 720) / 10 / 3600 }')"
# six times as long with five attack steps and two epochs each; robust points take seventeen times as long
expect_equal "$(cell robust-tinyten-synth 3)" "$(awk 'BEGIN { printf "%.2f", 4 * 2 * 6 + (4 * 3 * (3600 + 17 * 3700) + 2 * 3 * (7 * 3600 + 17 * 3700) + 2 * 720) / 10 / 3600 }')"
expect_equal "$(awk '/^in all/ { print $3 }' log)" $(($(cell tinyten-synth 2) + $(cell robust-tinyten-synth 2)))
all=$(cell tinyten-synth 2)
paper -n PART=tinyten-synth EXPERIMENTS=connect
expect_equal "$all" "$(grep -c '^mc-' log)"
# finished jobs do not count
make -s -f "$MC_ROOT/pipelines/connect.mk" BIN="$MC_BUILD/bin" DATA=synth NET=tinyten THREADS=1 OUT=out/tinyten-synth \
    TRAIN_IMAGES=3600 TEST_IMAGES=100 out/tinyten-synth/{train,test}.mcz
costs RATES=tinyten=1:10
expect_equal "$(cell tinyten-synth 2)" $((all - 2))
# figures and grid share the networks at their ends, which are made first; without data
paper cost RATES=tinyten=1:10 EPOCHS=10 CURVE_EPOCHS=5 PART='figures-tinyten-cifar10 grid-tinyten-cifar10' PAIRS='1:2 3:4' OUT=none
expect_equal "$(awk '{ print $1 }' log | sed 1d | paste -sd ,)" tinyten-cifar10,figures-tinyten-cifar10,grid-tinyten-cifar10,in
expect_equal "$(cell tinyten-cifar10 3)" "$(awk 'BEGIN { printf "%.2f", 4 * 10 + 2 * 2 * 5 + 2 * (4 * 3 * (3600 + 3600 + 100) + 2 * 720) / 10 / 3600 }')"
# figures trains the second pair's curves, which have another seed there
expect_equal "$(cell figures-tinyten-cifar10 3)" "$(awk 'BEGIN { printf "%.2f", 2 * 5 + 2 * (4 * 3 * (3600 + 3600 + 100) + 2 * 720) / 10 / 3600 }')"
# measured if no rate is given
costs EPOCHS=1
grep -Eq '^cost: measured RATES=tinyten=[0-9.e+]+:[0-9.e+]+$' errors || die "$(cat errors)"
# an experiment that fails has no cost
! (costs RATES=tinyten=1:10 EXPERIMENTS=connect POINTS=1) >refused || die 'the cost of a graph that is refused'
! grep '^in all' log || die "$(cat log)"
