# SPDX-License-Identifier: Apache-2.0
# On a terminal of any width, progress is one line that is erased at the end. A training, or a long run, ends with one
# permanent line. A training, a collection and an attack print it without a terminal too.
script -qec true /dev/null </dev/null >/dev/null 2>&1 || exit 77
# show COLUMNS COMMAND: prints what a terminal of this width shows at the end; the raw bytes are in bytes
show() {
    # script adds a header and a footer
    script -qec "stty cols $1; $2" bytes </dev/null >/dev/null 2>&1 || die "$2: $(cat bytes)"
    sed -i '1d;$d' bytes
    /usr/bin/python3 "$MC_ROOT/tests/cli/lib/screen.py" "$1" <bytes | sed '/^$/d' >screen
}
# except the permanent line, which may wrap
widest() { sed 's/\r/\n/g; s/\x1b\[K//g' bytes | grep -v ': a.mcz$' | wc -L; }

mc-data synth --samples 600 -o d.mcz
train="mc-train --data d.mcz --net mlp:bn,48 --batch 16 --lr .01 -t 1 --epochs 3"
rate='in [0-9]+:[0-9]{2}, [0-9]+ images/s' trained='3 epochs, loss [0-9.]+, accuracy [0-9.]+%'
stays="mc-train: $trained $rate"
for columns in 80 60 30; do
    show $columns "$train -o a.mcz"
    [[ $(tr -d '\n' <screen) =~ ^$stays:\ a\.mcz$ ]] || die "$(cat screen)"
    [ "$(widest)" -lt "$columns" ] || die "$(widest) in $columns columns"
done
# all figures at 80 columns, and with words at 120
show 80 "$train -o a.mcz"
wanted='%  [0-9:]+ left  epoch [123]/3  loss [0-9.]+  accuracy [0-9.]+%  [0-9]+'
grep -qaE "mc-train: +[0-9]+$wanted/s" bytes || die "$(cat bytes)"
show 120 "$train -o a.mcz"
grep -qaE "mc-train: training +[0-9]+$wanted images/s" bytes || die "$(cat bytes)"
show 80 "$train --epochs 30 --val d.mcz -o a.mcz"
grep -qaE "mc-train: +[0-9]+%  [0-9:]+ left  epoch [0-9]+/30  loss [0-9.]+  accuracy [0-9.]+%  val [0-9.]+%(  [0-9]+/s)?.\[K" bytes || die "$(cat bytes)"
# a message in between starts on its own line
show 250 "$train -v -o a.mcz"
expect_equal "$(grep -c '^mc-train: epoch [123]/3: loss' screen)" 3
! grep -v '^mc-train: ' screen || die "$(cat screen)"
! grep ' left  ' screen || die "$(cat screen)"
# no progress without a terminal or with --no-progress; with -q or after an error also no permanent line
show 80 "$train --no-progress -o a.mcz"
[[ $(tr -d '\n' <screen) =~ ^$stays:\ a\.mcz$ ]] || die "$(cat screen)"
! grep -a ' left ' bytes || die 'progress with --no-progress'
show 80 "$train -q -o a.mcz"
[ ! -s screen ] || die "$(cat screen)"
# ends_with PATTERN COMMAND: without a terminal, the command prints this line alone, and with -q nothing
ends_with() {
    $2 >x.mcz 2>errors
    [[ $(<errors) =~ ^${2%% *}:\ $1$ ]] || die "$2: $(cat errors)"
    expect_message '' $2 -q
}
ends_with "$trained $rate: a\.mcz" "$train -o a.mcz"
ends_with "$trained $rate" "$train"
ends_with "$trained $rate" "mc-bezier --data d.mcz --batch 64 --epochs 3 -t 1 a.mcz a.mcz"
ends_with "$trained $rate" "mc-pam --data d.mcz --batch 64 --stage curve --epochs 3 -t 1 a.mcz a.mcz"
ends_with "120 images $rate" "mc-acts --data d.mcz -t 1 a.mcz a.mcz"
ends_with "600 images: accuracy .* $rate: adv\.mcz" "mc-pgd --data d.mcz -t 1 --steps 1 a.mcz -o adv.mcz"
for quick in 'mc-bezier --epochs 0 a.mcz a.mcz' 'mc-eval --data d.mcz a.mcz' 'mc-repair --data d.mcz a.mcz'; do expect_message '' $quick; done
rm a.mcz
if ( ulimit -f 1; $train -o a.mcz ) 2>errors; then die 'it fits'; fi
expect_equal "$(wc -l <errors)" 1
mc-data synth --samples 20 -o small.mcz
show 80 "mc-data synth --samples 20 -o small.mcz"
[ ! -s screen ] || die "of a moment's run: $(cat screen)"
show 80 "mc-data synth -t 1 --size 128 --samples 3000 -o large.mcz"
[[ $(<screen) =~ ^mc-data:\ 3000\ images\ $rate:\ large.mcz$ ]] || die "$(cat screen)"
