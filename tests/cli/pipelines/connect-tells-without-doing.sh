# SPDX-License-Identifier: Apache-2.0
# connect.mk: make -n and help do nothing and tell what would be done, with which settings.
graph connect -n
grep -q '^mc-train' log && [ ! -e out ] || die 'make -n does something'
graph connect help
grep -q '^  NET  *tinyten  *a network of mc-train' log && grep -q '^  PAIRS ' log && [ ! -e out ] || die "$(cat log)"
grep -q '^  POINTS  *65 ' log || die 'the paper measures 65 points'
# nothing trained: no picture of training
graph connect -n NET=mlp:8 EPOCHS=0 CURVE_EPOCHS=0 OUT=untrained
grep -q 'mc-train' log && ! grep -q 'mc-plot log' log || die "$(cat log)"
# what looks like a setting inside of one, quotes, blanks
graph connect -n OUT=dry RUN='env A=B' TRAIN_FLAGS="--x 'a b' c=d"
grep -q "^env A=B mc-train .*--net 'mlp:bn,16' " log && grep -qF "'\''a b'\'' c=d" log || die "$(cat log)"
