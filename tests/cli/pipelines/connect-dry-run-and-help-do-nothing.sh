# SPDX-License-Identifier: Apache-2.0
# connect.mk: make -n prints what would run and help prints the settings; neither makes a file.
graph connect -n
grep -q '^mc-train' log && [ ! -e out ] || die 'make -n does something'
graph connect help
grep -q '^NET  *tinyten  *network of mc-train' log && grep -q '^PAIRS ' log && [ ! -e out ] || die "$(cat log)"
grep -q '^POINTS  *65 ' log || die 'the paper measures 65 points'
# without training, no picture of it
graph connect -n NET=mlp:8 EPOCHS=0 CURVE_EPOCHS=0 OUT=untrained
grep -q 'mc-train' log && ! grep -q 'mc-plot log' log || die "$(cat log)"
# a RUN with an assignment is not a setting
graph connect -n OUT=dry RUN='env A=B' TRAIN_FLAGS="--val 'a b' --momentum=.8"
expect_equal "$(grep -c '^env A=B mc-train ' log) $(grep -c -- "--val 'a b' --momentum=.8" log)" '2 2'

# of existing files only those that another setting decides are remade; stored settings stay
graph connect TRAIN_IMAGES=64 OUT=made
find made -printf '%p %T@\n' | sort >before
graph connect TRAIN_IMAGES=64 OUT=made -n
expect_equal "$(count_programs)" ''
graph connect TRAIN_IMAGES=64 OUT=made POINTS=5 -n
expect_equal "$(count_programs)" 'mc-eval4 mc-plot4 '
find made -printf '%p %T@\n' | sort | diff before -
