# SPDX-License-Identifier: Apache-2.0
# A resumed run's log holds each epoch once, wherever its writer was killed; what is sound of it stays, speeds too.
fixture logs

# resumed after 4 epochs: from a log that was killed inside a line, is ahead of its checkpoint, has lost lines, or
# is of something else; what is sound of it stays, speeds too
head -n 4 whole.json >4.json
sed 's/"images_per_second":[^}]*/"images_per_second":12345/' 4.json >marked.json
for log in "$(cat marked.json)" "$(cat marked.json; sed -n 5p whole.json | head -c 60)" \
    "$(cat marked.json; sed -n 5p whole.json; sed -n 6p whole.json | head -c 30)"; do
    printf '%s' "$log" >log.json
    [ "$log" != "$(cat marked.json)" ] || echo >>log.json
    cp half.ck now
    train_logged --checkpoint now --resume --log-json log.json -o out.mcz
    same whole.mcz out.mcz
    same <(strip_times whole.json) <(strip_times log.json)
    same marked.json <(head -n 4 log.json)
done
for log in "" "$(head -n 2 marked.json)" "$(head -n 3 marked.json | sed 's/"loss":/"loss":9/')" '{"event":"ep' \
    '{"event":"something else"}'; do
    printf '%s' "$log" >log.json
    cp half.ck now
    train_logged --checkpoint now --resume --log-json log.json -o out.mcz
    same <(strip_times whole.json) <(strip_times log.json)
done
# finished already, and begun anew
train_logged --checkpoint now --resume --log-json log.json -o out.mcz
same <(strip_times whole.json) <(strip_times log.json)
train_logged --log-json log.json -o out.mcz
same <(strip_times whole.json) <(strip_times log.json)
