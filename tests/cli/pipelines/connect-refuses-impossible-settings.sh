# SPDX-License-Identifier: Apache-2.0
# connect.mk refuses each unknown or impossible setting in one line before anything runs, and existing work stays valid.
fixture connected
# refuses TEXT SETTING...: fails before it runs any program
refuses() {
    ! (graph connect "${@:2}") >out.refused || die "passes: ${*:2}"
    has_words errors "$1" || die "${*:2}: $(cat errors)"
    [ ! -s log ] || die "${*:2}: $(cat log)"
}
# refuses_each VALUE NAME*TEXT...: the same if all these settings have this value, with a line NAME*TEXT for each of them
refuses_each() {
    local value=$1 line settings=()
    shift
    for line; do settings+=("${line%%'*'*}=$value"); done
    refuses "check-settings: $1" "${settings[@]}"
    for line; do has_words errors "check-settings: $line" || die "${settings[*]}: no line '$line': $(cat errors)"; done
}
path='must not contain spaces or shell metacharacters'

rm out/1-2/table.tsv
! (graph connect RUN=false) >out.refused || die 'a job that fails passes'
[ ! -e out/1-2/table.tsv ] || die 'wrote a table that failed'
graph connect
expect_equal "$(count_programs)" ''
[ -s out/1-2/table.tsv ]
refuses "'EPOCH'*not a setting (did you mean EPOCHS?)" EPOCH=3
refuses "'XYZ'*not a setting (settings: OUT DATA " XYZ=3
refuses 'both splits would*same images' DATA=npz DATA_DIR=d.npz DATA_FLAGS='--arrays x,y'
refuses 'DATA*data set*did you mean cifar10?' DATA=cifar OUT=none
refuses 'DATA*data set*mc-data: cifar10 cifar100 ' DATA=xyz OUT=none
refuses "DATA_DIR*existing folder*file (got 'missing')" DATA=cifar10 DATA_DIR=missing OUT=none
refuses 'DATA_DIR*folder*file*DATA=cifar10*fetch.sh cifar10 FOLDER' DATA=cifar10 OUT=none
HOME=/nowhere refuses "DATA_DIR*existing folder*file (got '~/my data')" DATA=npz DATA_DIR='~/my data' OUT=none
refuses "unknown network 'tinytne'*mean 'tinyten'" NET=tinytne OUT=none
refuses 'SCHEDULE: --schedule: ' SCHEDULE=onecycl OUT=none
refuses 'CURVE_SCHEDULE: --schedule: ' CURVE_SCHEDULE=foo OUT=none
refuses "ALIGN*command (got 'missing.py')" ALIGN=missing.py
refuses 'SEEDS*PAIRS exclude each other' SEEDS='1 2' PAIRS=3:4
refuses 'FROM*another folder*OUT' FROM=out
refuses 'OUT*current folder' OUT=./.
refuses 'LR must*number' LR=1/0
refuses "up*64 widths*1 to 65536 expected" NET=mlp:x
refuses 'NET*existing file' NET=./none.json OUT=none
[ ! -e none ] || die 'a folder for data that do not exist'
mkdir -p pictures/a pictures/b
refuses 'DATA_DIR*folder*contains train*test' DATA=folder DATA_DIR=pictures
mkdir pictures/train pictures/val
graph connect -n DATA=folder DATA_DIR=pictures OUT=of-pictures
pairs='1 1:2:3 :1:2 1:2: 1:x 1-2 1:1'
refuses "PAIRS*(got '1')" PAIRS="3:4 $pairs"
for pair in $pairs; do has_words errors "PAIRS*(got '$pair')" || die "$pair: $(cat errors)"; done
refuses 'PAIRS*pairs*different seeds' SEEDS='1 1'
refuses 'PAIRS*pairs*different seeds' SEEDS='1 2 3'
refuses 'PAIRS*different pairs' PAIRS='1:2 1:2'
refuses 'PAIRS*pairs*different seeds' PAIRS=
for value in abc 1.5 -1 '1 2' ''; do
    refuses_each "$value" {EPOCHS,CURVE_EPOCHS,BATCH,CURVE_BATCH,POINTS,THREADS,DATA_SEED}'*whole number, at least'
done
refuses "POINTS*whole number, at least 2 (got '1')" POINTS=1
for value in '' 'a b' 'cpu;touch run' '`touch run`' 'a"b'; do
    refuses_each "$value" 'DEVICE*must*auto' 'PRECISION*must*f32' {SCHEDULE,CURVE_SCHEDULE}'*must*one'
done
refuses "DEVICE must*auto, cpu, cuda*cuda:N (got 'gpu0')" DEVICE=gpu0
# options of programs
refuses "TRAIN_FLAGS*'--momentun'*mean '--momentum'" TRAIN_FLAGS='--momentun .9'
refuses "EVAL_FLAGS*'--sampls'" EVAL_FLAGS='--full --sampls 3'
refuses 'CORR_FLAGS: --measure*none' CORR_FLAGS='--measure none'
refuses 'CURVE_FLAGS*quotation' CURVE_FLAGS="'"
graph connect -n ALIGN='env A=B mc-hungarian' HUNGARIAN_FLAGS=--own
(
    graph() { ! make -f "$MC_ROOT/pipelines/robust.mk" BIN="$MC_BUILD/bin" OUT=none "${@:2}" >log 2>errors || exit 0 && exit 1; }
    for name in ATTACK EVAL_ATTACK STRONG_ATTACK; do refuses "$name*unknown attack 'fgsm'*pgd" $name=fgsm; done
)
# paths with spaces
mkdir 'a b'
ln -s "$MC_ROOT/pipelines" 'a b/pipelines'
echo "include $MC_ROOT/pipelines/include/stages.mk" >'a b/mine.mk'
for graph in pipelines/connect pipelines/soup pipelines/pam mine; do
    ! make -f "a b/$graph.mk" >log 2>errors || die "$graph passes"
    expect_words errors 'path*must not contain spaces'
done
refuses 'MESSAGES must be -q or -v' 'MESSAGES=;touch run'
refuses_each 1k {TRAIN_IMAGES,TEST_IMAGES,ALIGN_IMAGES,CURVE_SEED}'*whole number*empty'
for value in abc .1x '.1 .2' ''; do refuses_each "$value" {LR,CURVE_LR}'*must*number'; done
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
