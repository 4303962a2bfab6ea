# SPDX-License-Identifier: Apache-2.0
# connect.mk refuses each unknown or impossible setting in one line before anything runs, and existing work stays valid.
fixture connected
# refuses TEXT SETTING...: fails before it runs any program
refuses() {
    ! (graph connect "${@:2}") >out.refused || die "passes: ${*:2}"
    has_words errors "$1" || die "${*:2}: $(cat errors)"
    [ ! -s log ] || die "${*:2}: $(cat log)"
}
path='must not contain spaces or shell metacharacters'

rm out/1-2/table.tsv
! (graph connect RUN=false) >out.refused || die 'a job that fails passes'
[ ! -e out/1-2/table.tsv ] || die 'wrote a table that failed'
graph connect
expect_equal "$(count_programs)" ''
[ -s out/1-2/table.tsv ]
refuses "'EPOCH'*not a setting" EPOCH=3
refuses 'both splits would*same images' DATA=npz DATA_DIR=d.npz DATA_FLAGS='--arrays x,y'
refuses 'DATA*data set*mc-data: cifar10 cifar100 ' DATA=cifr10 OUT=none
refuses "DATA_DIR*existing folder*file (got 'missing')" DATA=cifar10 DATA_DIR=missing OUT=none
refuses 'DATA_DIR*folder*file*DATA=cifar10' DATA=cifar10 OUT=none
HOME=/nowhere refuses "DATA_DIR*existing folder*file (got '~/my data')" DATA=npz DATA_DIR='~/my data' OUT=none
refuses "unknown network 'tinytne'*mean 'tinyten'" NET=tinytne OUT=none
refuses 'SCHEDULE: --schedule: ' SCHEDULE=onecycl OUT=none
refuses 'CURVE_SCHEDULE: --schedule: ' CURVE_SCHEDULE=foo OUT=none
refuses "ALIGN*command (got 'missing.py')" ALIGN=missing.py
refuses 'SEEDS*PAIRS exclude each other' SEEDS='1 2' PAIRS=3:4
refuses 'FROM*another folder*OUT' FROM=out
refuses 'LR must*number' LR=1/0
refuses "up*64 widths*1 to 65536 expected" NET=mlp:x
refuses 'NET*existing file' NET=./none.json OUT=none
[ ! -e none ] || die 'a folder for data that do not exist'
mkdir -p pictures/a pictures/b
refuses 'DATA_DIR*folder*contains train*test' DATA=folder DATA_DIR=pictures
mkdir pictures/train pictures/val
graph connect -n DATA=folder DATA_DIR=pictures OUT=of-pictures
for pairs in 1 1:2:3 :1:2 1:2: 1:x 1-2 1:1; do refuses "(got '$pairs')" PAIRS="3:4 $pairs"; done
refuses 'PAIRS*pairs*different seeds' SEEDS='1 1'
refuses 'PAIRS*pairs*different seeds' SEEDS='1 2 3'
refuses 'PAIRS*different pairs' PAIRS='1:2 1:2'
refuses 'PAIRS*pairs*different seeds' PAIRS=
for name in EPOCHS CURVE_EPOCHS BATCH CURVE_BATCH POINTS THREADS DATA_SEED; do
    for value in abc 1.5 -1 '1 2' ''; do refuses "$name*whole number, at least" "$name=$value"; done
done
refuses "POINTS*whole number, at least 2 (got '1')" POINTS=1
for name in DEVICE PRECISION SCHEDULE CURVE_SCHEDULE; do
    for value in '' 'a b' 'cpu;touch run' '`touch run`' 'a"b'; do refuses "$name*one word" "$name=$value"; done
done
refuses 'MESSAGES must be -q or -v' 'MESSAGES=;touch run'
for name in TRAIN_IMAGES TEST_IMAGES ALIGN_IMAGES CURVE_SEED; do refuses "$name*whole number*empty" "$name=1k"; done
for name in LR CURVE_LR; do
    for value in abc .1x '.1 .2' ''; do refuses "$name must*number" "$name=$value"; done
done
expect_equal "$(! (graph connect POINTS=1 LR=x EPOCH=2) >/dev/null; grep -c '^check-settings: ' errors)" 3
graph connect -n LR=1e-2 CURVE_LR=1/50

ln -s / root
for root in / // /. /.. root; do refuses "OUT $path" OUT="$root"; done
for name in 'a b' a:b a,b "a'b" 'a%b' '' 'a`b' 'a;b' 'a(b' 'a)b' 'a*b' 'a\b' 'a"b' '~a' 'a#b' a=b 'a&b' 'a|b' 'a<b' 'a?b' 'a[b' 'a{b' \
    'a!b' -a $'a\nb' $'a\x01'; do
    refuses "OUT $path" OUT="$name"
done
refuses "FROM $path" FROM='a b'
[ ! -e run ] || die 'part of a setting was run'
