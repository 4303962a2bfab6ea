# SPDX-License-Identifier: Apache-2.0
# A resumed run's log has each epoch once, wherever its writer was killed, and keeps sound lines with their speeds.
fixture logs

# Resumes after 4 epochs from logs that end within a line, are ahead of the checkpoint, lack lines, or are of another run.
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
# finished already, and restarted
train_logged --checkpoint now --resume --log-json log.json -o out.mcz
same <(strip_times whole.json) <(strip_times log.json)
train_logged --log-json log.json -o out.mcz
same <(strip_times whole.json) <(strip_times log.json)
