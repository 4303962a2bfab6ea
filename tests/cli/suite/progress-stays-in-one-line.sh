# SPDX-License-Identifier: Apache-2.0
# On a terminal of any width, progress is one line that is erased at the end; a long run ends with one permanent line.
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
for columns in 80 60 30; do
    show $columns "$train -o a.mcz"
    stays='mc-train: 3 epochs, loss [0-9.]+, accuracy [0-9.]+% in [0-9]+:[0-9]{2}: a\.mcz'
    [[ $(tr -d '\n' <screen) =~ ^$stays$ ]] || die "$(cat screen)"
    [ "$(widest)" -lt "$columns" ] || die "$(widest) in $columns columns"
done
# all figures at 80 columns, and with words at 120
show 80 "$train -o a.mcz"
wanted='%  [0-9:]+ left  epoch [123]/3  loss [0-9.]+  accuracy [0-9.]+%  [0-9]+'
grep -qaE "mc-train: +[0-9]+$wanted/s" bytes || die "$(cat bytes)"
show 120 "$train -o a.mcz"
grep -qaE "mc-train: training +[0-9]+$wanted images/s" bytes || die "$(cat bytes)"
# a message in between starts on its own line
show 250 "$train -v -o a.mcz"
expect_equal "$(grep -c '^mc-train: epoch [123]/3: loss' screen)" 3
! grep -v '^mc-train: ' screen
! grep ' left  ' screen
# no progress without a terminal, with -q or after an error
for quietly in "--no-progress" "-q"; do
    show 80 "$train $quietly -o a.mcz"
    [ ! -s screen ] || die "$quietly: $(cat screen)"
done
$train -o a.mcz 2>errors
[ ! -s errors ]
rm a.mcz
if ( ulimit -f 1; $train -o a.mcz ) 2>errors; then die 'it fits'; fi
mc-data synth --samples 20 -o small.mcz
show 80 "mc-data synth --samples 20 -o small.mcz"
[ ! -s screen ] || die "of a moment's run: $(cat screen)"
show 80 "mc-data synth -t 1 --size 128 --samples 3000 -o large.mcz"
[[ $(<screen) =~ ^mc-data:\ 3000\ images\ in\ [0-9:]+:\ large.mcz$ ]] || die "$(cat screen)"
