# SPDX-License-Identifier: Apache-2.0
# mc-train --val measures the network after every epoch as mc-eval does. The written bytes are those without --val, also after
# a kill. Data that do not fit are refused before the training.
fixture resumed
mc-data synth --split test --samples 200 --size 16 -o test.mcz
# same_loss NETWORK LOG: expects the log's last loss on --val to be that of mc-eval
same_loss() {
    expect_equal "$(printf %.5g "$(field "$2" epoch val_loss | tail -n 1)")" \
        "$(printf %.5g "$(column <(mc-eval --data test.mcz "$1") test.loss)")"
}
train() { $launcher mc-train --net $net --data d.mcz --epochs 4 --seed 5 -t 2 "$@"; }

train -v --val test.mcz --log-json val.json -o out.mcz 2>messages
same whole.mcz out.mcz
same_loss out.mcz val.json
expect_equal "$(field val.json epoch val_loss | wc -l)" 4
same <(strip_times whole.json) <(sed 's/,"val_.*/}/' val.json)
measured=", val loss [0-9.]+, val accuracy $(printf %.2f "$(field val.json epoch val_accuracy | tail -n 1)")%"
grep -qE "epoch 4/4: loss [0-9.]+, accuracy [0-9.]+%$measured, lr " messages || die "$(cat messages)"
grep -qE "^mc-train: 4 epochs, loss [0-9.]+, accuracy [0-9.]+%$measured in .*: out.mcz$" messages || die "$(cat messages)"
# the statistics are those of training, the weights those of the epoch
train -q --stop-after 2 --val test.mcz --log-json two.json -o two.mcz
same half.mcz two.mcz
expect_equal "$(strip_times two.json)" "$(strip_times val.json | head -n 2)"
# resumed, with and without a log and --val
kill_when '[ -e ck ]' train -q --val test.mcz --checkpoint ck --log-json log.json -o out.mcz
train -q --val test.mcz --checkpoint ck --resume --log-json log.json -o out.mcz
same whole.mcz out.mcz
same <(strip_times val.json) <(strip_times log.json)
train -q --val test.mcz --checkpoint half.ck --resume --log-json rest.json -o out.mcz
same whole.mcz out.mcz
expect_equal "$(field rest.json epoch val_loss)" "$(field val.json epoch val_loss | tail -n 2)"
train -q --checkpoint half.ck --resume -o out.mcz
same whole.mcz out.mcz
# the training may use another ReLU, augmentation and attack; the measurement uses none of them
mc-train -q --net mlp:bn,8 --data d.mcz --epochs 1 --huber 1 --attack pgd:steps=1 --val test.mcz --log-json huber.json -o huber.mcz
same_loss huber.mcz huber.json
# the picture
mc-plot log run=rest.json whole.json -o log.svg
expect_equal "$(svg_texts log.svg | tail -n 3 | paste -sd ' ')" 'run whole run, val'
svg_texts log.svg | grep -qx 'loss' || die "$(svg_texts log.svg)"
mc-plot log - <val.json >log.svg
expect_equal "$(svg_texts log.svg | tail -n 2 | paste -sd ' ')" '- -, val'

mc-data synth --samples 20 -o large.mcz
py <<'END'
d = mcz.read("test.mcz")
mcz.write("classes.mcz", d.kind, dict(d.meta, classes=11, class_names=["c"] * 11), d.tensors)
mcz.write("shapes.mcz", d.kind, dict(d.meta, name="shapes"), d.tensors)
END
new="mc-train --net mlp:8 --data d.mcz --checkpoint no.ck -o no.mcz"
fails_unchanged 3 'large.mcz*3x32x32*network*3x16x16' $new --val large.mcz
fails_unchanged 3 'classes.mcz*11 classes*network*10' $new --val classes.mcz
fails_unchanged 3 'whole.mcz*dataset expected*weights' $new --val whole.mcz
fails_unchanged 1 'none.mcz' $new --val none.mcz
usage_error '--val*pipe*file' $new --val <(cat test.mcz)
usage_error '--val*no effect*--epochs 0' $new --epochs 0 --val test.mcz
expect_message 'mc-train: warning: shapes.mcz*shapes*trained on synth' mc-train -q --net mlp:8 --data d.mcz --epochs 1 --val shapes.mcz

# a training does not end because its measurement fails
head -c -100 test.mcz >cut.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 2 -t 1 -o plain.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 2 -t 1 --val cut.mcz --log-json cut.json -o out.mcz 2>errors
expect_words errors 'mc-train: warning: --val*left out in epoch 2: cut.mcz'
expect_equal "$(grep -c '"val_loss":null' cut.json)" 2
same_content plain.mcz out.mcz
