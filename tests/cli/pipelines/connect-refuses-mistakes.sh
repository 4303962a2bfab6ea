# SPDX-License-Identifier: Apache-2.0
# connect.mk: a mistyped setting is refused before anything is done, and costs no work.
fixture connected
# refused TEXT SETTING...: before anything is done
refused() {
    ! (graph connect "${@:2}") >out.refused || die "passes: ${*:2}"
    grep -qF "$1" told || die "${*:2}: $(cat told)"
    [ ! -s log ] || die "${*:2}: $(cat log)"
}

for mistake in NET=mpl HUNGARIAN_FLAGS=--nothing; do
    ! (graph connect $mistake) >out.refused || die "$mistake passes"
done
rm out/1-2/table.tsv
! (graph connect RUN=false) >out.refused || die 'a job that fails passes'
[ ! -e out/1-2/table.tsv ] || die 'a table that failed is there'
graph connect
is "$(ran)" ''
[ -s out/1-2/table.tsv ]
refused "no setting 'EPOCH'" EPOCH=3
refused 'both splits would be of the same images' DATA=npz DATA_DIR=d.npz DATA_FLAGS='--arrays x,y'
refused 'DATA="cifr10": a data set of mc-data is wanted: cifar10 cifar100 ' DATA=cifr10 OUT=none
refused 'DATA="cifr10": a data set of mc-data is wanted: ' cost DATA=cifr10 OUT=none
refused 'DATA_DIR="none": there is no such folder or file' cost DATA=cifar10 DATA_DIR=none OUT=none
refused 'DATA_DIR: where the files of DATA=cifar10 lie is wanted' DATA=cifar10 OUT=none
HOME=/nowhere refused 'DATA_DIR="/nowhere/my data": there is no such folder or file' DATA=npz DATA_DIR='~/my data' OUT=none
refused "no network is called 'tinytne', did you mean 'tinyten'?" NET=tinytne OUT=none
refused "NET=\"mlp:x\": mlp: 'x' are not up to 64 widths" NET=mlp:x
refused 'POINTS="1": both ends' POINTS=1
refused 'NET="./none.json": there is no such file' NET=./none.json OUT=none
[ ! -e none ] || die 'a folder for data that are not there'
mkdir -p pictures/a pictures/b
refused 'DATA_DIR="pictures": both splits would be of the same images' DATA=folder DATA_DIR=pictures
mkdir pictures/train pictures/val
graph connect -n DATA=folder DATA_DIR=pictures OUT=of-pictures
refused 'PAIRS="1:1": two different seeds a pair' SEEDS='1 1'
refused 'SEEDS="1 2 3": two seeds' SEEDS='1 2 3'
refused 'SEEDS and PAIRS: one of them' SEEDS='1 2' PAIRS=1:2
for pairs in 1 1:2:3:4 :1:2 1:2: 1:x 1-2; do refused "PAIRS=\"1:2 $pairs\": two different seeds a pair" PAIRS="1:2 $pairs"; done
refused 'a pair is there twice' PAIRS='1:2 1:2:7'
refused 'PAIRS="": a pair of seeds' PAIRS=
refused "no setting 'CURVE_SEED'" CURVE_SEED=1
for name in EPOCHS CURVE_EPOCHS BATCH CURVE_BATCH POINTS THREADS DATA_SEED; do
    for value in abc 1.5 -1 '1 2' ''; do refused "$name=\"$value\": a whole number is wanted" "$name=$value"; done
done
for name in DEVICE PRECISION SCHEDULE CURVE_SCHEDULE; do
    for value in '' 'a b' 'cpu;touch run' '`touch run`' 'a"b'; do refused "$name=\"$value\": a word of letters" "$name=$value"; done
done
refused 'MESSAGES=";touch run": -q or -v is wanted' 'MESSAGES=;touch run'
ln -s / root
for root in / // /. /.. "$PWD/$(dirname "$PWD" | sed 's,[^/]*,..,g')/.." root; do refused "a folder's name is wanted" OUT="$root"; done
rm root
[ ! -e run ] || die 'a part of a setting was run'
for name in TRAIN_IMAGES TEST_IMAGES ALIGN_IMAGES; do refused "$name=\"1k\": a whole number is wanted" "$name=1k"; done
for name in LR CURVE_LR; do
    for value in abc .1x '.1 .2' ''; do refused "$name=\"$value\": a number is wanted" "$name=$value"; done
done
refused 'OUT="out": out/net-1.mcz was trained without an attack: another OUT is wanted' TRAIN_FLAGS='--attack pgd'
graph connect -n LR=1e-2 CURVE_LR=1/50
for name in 'a b' a:b a,b "a'b" 'a%b' '' 'a`b' 'a;b' 'a(b' 'a)b' 'a*b' 'a\b' 'a"b' '~a' 'a#b' a=b 'a&b' 'a|b' 'a<b' 'a?b' 'a[b' 'a{b' 'a!b' / // -a 'a$(touch run)' $'a\nb' $'a\x01'; do refused "OUT=\"$name\": a folder's name" OUT="$name"; done
[ ! -e run ] || die 'a part of a name was run'
