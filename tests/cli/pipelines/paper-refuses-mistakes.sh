# SPDX-License-Identifier: Apache-2.0
# paper.mk refuses mistakes and missing data before any work; MISSING=skip skips cases without data.

# refused TEXT SETTING...: refused with TEXT before any work
refuses() {
    ! (graph paper "${@:2}") >out.refused || die "passes: ${*:2}"
    has_words errors "$1" || die "${*:2}: $(cat errors)"
    [ ! -s log ] && [ ! -e out ] || die "${*:2}: $(cat log)"
}
refuses "'SCALES'*not a setting" SCALES=.1
for own in DATA=cifar10 NET=mlp SEEDS='1 2' FROM=x CURVE_SEED=1; do refuses "each case sets ${own%%=*}" "$own"; done
refuses "PART: 'mlp-cifar10'*not one*mlp-synth " PART=mlp-cifar10
refuses "EXPERIMENTS: 'connekt'*not one" EXPERIMENTS=connekt
refuses "DATA_SETS: 'mnist'*not one" DATA_SETS=mnist
for name in OUT SUFFIX PUBLISHED; do
    for value in 'a b' 'a`touch run`'; do refuses "$name*not contain spaces*shell metacharacters" "$name=$value"; done
done
for c in : ',' % \'; do refuses "OUT*not contain" "OUT=a${c}b"; done
for name in OUT PUBLISHED; do refuses "start*'-' (got '-a')" "$name=-a"; done
refuses 'PUBLISHED*not contain' 'PUBLISHED=a$$(touch run)'
refuses "NETS*different names*letters*digits (got 'mlp:8')" NETS=mlp:8
refuses "DEVICE must*cuda:N (got 'cpu;touch run')" 'DEVICE=cpu;touch run'
refuses "THREADS*whole number, at least 1 (got '1;touch run')" 'THREADS=1;touch run'
refuses "NET: unknown network 'resnet33'" NETS='mlp resnet33'
refuses 'SCHEDULE: --schedule: unknown value' SCHEDULE=foo
refuses "ALIGN*command (got 'missing.py')" ALIGN=missing.py
for root in / // /. /tmp/..; do refuses "OUT must not" OUT=$root; done
[ ! -e run ] || die 'a part of a name was run'
refuses "MISSING: 'no'*not one*stop skip" MISSING=no
for name in EPOCHS CURVE_EPOCHS ROBUST_EPOCHS; do refuses "$name*whole number, at least 0 (got '1.5')" $name=1.5; done
refuses 'make -i ignores failures' -i
# data
refuses 'no data*mlp-cifar100 robust-mlp-cifar100: set CIFAR10_DIR' DATA_SETS='synth cifar100' \
    PART='mlp-synth mlp-cifar100 robust-mlp-cifar100'
refuses 'no data for ' DATA_SETS='cifar10 tiny-imagenet'
HOME=/nowhere refuses "CIFAR10_DIR*existing folder (got '~/data')" DATA_SETS=cifar10 CIFAR10_DIR='~/data'
graph paper -n DATA_SETS='synth cifar100' PART='mlp-synth mlp-cifar100'
graph paper DATA_SETS='synth cifar100' PART='mlp-synth mlp-cifar100' MISSING=skip EXPERIMENTS=connect TRAIN_IMAGES=64
grep -q '^paper.mk: skipped: no data for mlp-cifar100$' log || die "$(cat log)"
[ -e out/mlp-synth/table.tsv ] && [ ! -e out/mlp-cifar100 ] || die "$(ls out)"
# help
graph paper help
grep -q '^SCALE  *1  *fraction' log || die "$(cat log)"
graph paper parts
expect_equal "$(paste -sd ' ' log)" 'mlp-synth bound-mlp-synth'
