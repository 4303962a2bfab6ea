# SPDX-License-Identifier: Apache-2.0
# A log holds each epoch once and whole lines only, wherever its writer was killed; one program writes it at a
# time, and what reads it passes over a torn last line.
. "$MC_ROOT/tests/cli/lib.bash"
mc-data synth --samples 300 --seed 3 -o d.mcz
train() { mc-train -q --net mlp:8 --no-augment --data d.mcz --epochs 6 --seed 5 -t 1 "$@"; }
epochs() { sed -n 's/.*"event":"epoch","epoch":\([0-9]*\),.*}$/\1/p' "$1" | tr '\n' ' '; }
bare() { sed 's/,"images_per_second":[^}]*//' "$1"; }

train --log-json whole.json -o whole.mcz
[ "$(epochs whole.json)" = "1 2 3 4 5 6 " ] || die "$(cat whole.json)"
train --stop-after 4 --checkpoint ck --log-json first.json -o half.mcz

# resumed after 4 epochs: from a log that was killed inside a line, is ahead of its checkpoint, has lost lines, or
# is of something else; what is sound of it stays, speeds too
head -n 4 whole.json >4.json
sed 's/"images_per_second":[^}]*/"images_per_second":12345/' 4.json >marked.json
for log in "$(cat marked.json)" "$(cat marked.json; sed -n 5p whole.json | head -c 60)" \
    "$(cat marked.json; sed -n 5p whole.json; sed -n 6p whole.json | head -c 30)"; do
    printf '%s' "$log" >log.json
    [ "$log" != "$(cat marked.json)" ] || echo >>log.json
    cp ck now
    train --checkpoint now --resume --log-json log.json -o out.mcz
    same whole.mcz out.mcz
    same <(bare whole.json) <(bare log.json)
    same marked.json <(head -n 4 log.json)
done
for log in "" "$(head -n 2 marked.json)" "$(head -n 3 marked.json | sed 's/"loss":/"loss":9/')" '{"event":"ep' \
    '{"event":"something else"}'; do
    printf '%s' "$log" >log.json
    cp ck now
    train --checkpoint now --resume --log-json log.json -o out.mcz
    same <(bare whole.json) <(bare log.json)
done
# finished already, and begun anew
train --checkpoint now --resume --log-json log.json -o out.mcz
same <(bare whole.json) <(bare log.json)
train --log-json log.json -o out.mcz
same <(bare whole.json) <(bare log.json)

# a second program is refused and changes nothing
cp log.json kept.json
fails 1 "another program is writing the log 'log.json'" flock log.json mc-train -q --net mlp:8 --data d.mcz \
    --epochs 1 --log-json log.json -o no.mcz
same kept.json log.json
[ ! -e no.mcz ] || die "wrote no.mcz"

# lines are appended, behind what somebody else appends
train --epochs 300 --log-json both.json -o out.mcz &
until grep -q '}$' both.json 2>/dev/null; do sleep .01; done
kill -STOP $! 2>/dev/null || true
echo '{"event":"note"}' >>both.json
kill -CONT $! 2>/dev/null || true
wait $!
[ "$(epochs both.json)" = "$(seq 300 | tr '\n' ' ')" ] || die "epochs $(epochs both.json)"
grep -qx '{"event":"note"}' both.json || die "the note is lost"

# what a full disk took of a line is taken back
rc=0
(ulimit -f 1 && train --epochs 30 --log-json cut.json -o /dev/null) 2>err || rc=$?
[ "$rc $(cat err)" = "1 mc-train: cannot write 'cut.json': File too large" ] || die "$rc $(cat err)"
[ -z "$(tail -c 1 cut.json)" ] || die "a torn line: $(tail -n 1 cut.json)"
grep -q '"epoch":2,' cut.json || die "$(cat cut.json)"

# a torn line is passed over
{ cat 4.json; sed -n 5p whole.json | head -c 70; } >torn.json
cp 4.json same.json
mc-plot log x=torn.json -o torn.svg
mc-plot log x=same.json -o same.svg
same torn.svg same.svg
table() { awk -v network=n -v data=d -f "$MC_ROOT/pipelines/spread.awk" -f "$MC_ROOT/pipelines/training.awk" name=n "$1"; }
same <(table torn.json) <(table same.json)
printf '{"event":"epoch","ep' >torn.json
fails 3 "torn.json: is cut short" mc-plot log torn.json -o x.svg
