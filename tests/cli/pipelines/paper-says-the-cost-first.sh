# SPDX-License-Identifier: Apache-2.0
# paper.mk cost: the jobs that make would do, their hours at these rates, and what is left when some are done; nothing is made.
costs() { graph paper cost NETS=tinyten TRAIN_IMAGES=3600 TEST_IMAGES=100 PART='tinyten-synth robust-tinyten-synth' GRAPHS='connect robust' "$@"; }
of() { awk -v row="$1" -v column="$2" '$1 == row { print $column }' log; }

costs RATES=tinyten=1:10 EPOCHS=10 CURVE_EPOCHS=5 ROBUST_EPOCHS=2
[ ! -e out ] || die 'it makes something'
# two networks of ten hours each and two curves of five; four paths of three points, 3600 images twice and 100
is "$(of tinyten-synth 3)" "$(awk 'BEGIN { printf "%.1f", 2 * 10 + 2 * 5 + (4 * 3 * (3600 + 3600 + 100) + 2 * 720) / 10 / 3600 }')"
# six times as long with five steps of an attack, two epochs each; robust points seventeen times
is "$(of robust-tinyten-synth 3)" "$(awk 'BEGIN { printf "%.1f", 4 * 2 * 6 + (4 * 3 * (3600 + 17 * 3700) + 2 * 3 * (7 * 3600 + 17 * 3700) + 2 * 720) / 10 / 3600 }')"
graph paper -n NETS=tinyten PART=tinyten-synth GRAPHS=connect
jobs=$(grep -c '^mc-' log)
costs RATES=tinyten=1:10
is "$(of tinyten-synth 2)" "$jobs"
is "$(awk '/^in all/ { print $3 }' log)" "$(awk -v a="$(of tinyten-synth 2)" -v b="$(of robust-tinyten-synth 2)" 'BEGIN { print a + b }')"
grep -q 'tinyten=1:10$' log || die "$(cat log)"
# what is done is not counted
graph paper NETS=tinyten PART=tinyten-synth GRAPHS=connect GOALS='train.mcz test.mcz' TRAIN_IMAGES=3600
costs RATES=tinyten=1:10
is "$(of tinyten-synth 2)" $((jobs - 2))
# measured where no rate is given
costs EPOCHS=1
grep -Eq ': tinyten=[0-9.e+]+:[0-9.e+]+$' log || die "$(cat log)"
# a graph that fails has no cost
! (costs RATES=tinyten=1:10 GRAPHS=pam CURVE_FLAGS='--stop-after 2') >out.refused || die 'the cost of a graph that is refused'
! grep '^in all' log || die "$(cat log)"
! (costs RATES=tinyten=1) >out.refused || die 'half a rate passes'
