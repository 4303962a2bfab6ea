# SPDX-License-Identifier: Apache-2.0
# paper.mk: mistakes, and parts whose data are not given, are refused before anything is done; MISSING=skip passes over those.

# refused TEXT SETTING...: before anything is done
refused() {
    ! (graph paper "${@:2}") >out.refused || die "passes: ${*:2}"
    grep -qF -- "$1" told || die "${*:2}: $(cat told)"
    [ ! -s log ] && [ ! -e out ] || die "${*:2}: $(cat log)"
}
refused "no setting 'SCALES'" SCALES=.1
for own in DATA=cifar10 NET=mlp SEEDS='1 2' FROM=x; do refused "no setting '${own%%=*}'" "$own"; done
refused "there is no part 'mlp-cifar10' (there are: mlp-synth " PART=mlp-cifar10
refused "there is no graph 'connekt'" GRAPHS=connekt
refused "there is no data set 'mnist'" DATA_SETS=mnist
for name in OUT SUFFIX PUBLISHED; do refused "$name=\"a b\": a name without blanks" "$name=a b"; done
for c in : ',' % \'; do refused "OUT=\"a${c}b\": names without" "OUT=a${c}b"; done
refused 'NETS="mlp:8": names without' NETS=mlp:8
for name in OUT SUFFIX PUBLISHED; do refused "$name=\"a\`touch run\`\": a name without" "$name=a\`touch run\`"; done
for name in OUT PUBLISHED; do refused "$name=\"-a\": a name without blanks, a dash" "$name=-a"; done
refused 'PUBLISHED="a$(touch run)": a name without' 'PUBLISHED=a$(touch run)'
refused 'GOALS="a;b": names without' 'GOALS=a;b'
refused 'DEVICE="cpu;touch run": a word of letters' cost 'DEVICE=cpu;touch run'
refused 'THREADS="1;touch run": a whole number' cost 'THREADS=1;touch run'
for root in / // /. /tmp/..; do refused "a folder's name is wanted" OUT=$root; done
[ ! -e run ] || die 'a part of a name was run'
refused 'MISSING="no": stop or skip' MISSING=no
refused 'EPOCHS="1.5": a whole number' EPOCHS=1.5
# data
refused 'CIFAR100_DIR: wanted for mlp-cifar100 robust-mlp-cifar100; ' DATA_SETS='synth cifar100' PART='mlp-synth mlp-cifar100 robust-mlp-cifar100'
refused 'CIFAR10_DIR TINY_IMAGENET_DIR: wanted for ' DATA_SETS='cifar10 tiny-imagenet'
HOME=/nowhere refused 'CIFAR10_DIR="/nowhere/data": there is no such folder' DATA_SETS=cifar10 CIFAR10_DIR='~/data'
graph paper -n DATA_SETS='synth cifar100' PART='mlp-synth mlp-cifar100'
graph paper DATA_SETS='synth cifar100' PART='mlp-synth mlp-cifar100' MISSING=skip GRAPHS=connect GOALS=train.mcz TRAIN_IMAGES=64
grep -q '^paper.mk: skipped, as CIFAR100_DIR is not given: mlp-cifar100$' log || die "$(cat log)"
[ -e out/mlp-synth/train.mcz ] && [ ! -e out/mlp-cifar100 ] || die "$(ls out)"
# help
graph paper help
grep -q '^  SCALE  *1  *the fraction' log && grep -q '^  \* mlp-synth$' log || die "$(cat log)"
