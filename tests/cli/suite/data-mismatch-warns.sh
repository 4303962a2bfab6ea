# SPDX-License-Identifier: Apache-2.0
# Programs that run a network warn, one line per fact, about data of another set, with another normalisation or of a test
# split, and still write the result. Ordinary runs print no warning.
mc-data synth --samples 48 --size 8 -o synth.mcz
mc-data synth --samples 48 --size 8 --split test -o test.mcz
py <<'END'
d = mcz.read("synth.mcz")
def variant(path, **meta):
    mcz.write(path, d.kind, dict(d.meta, **meta), d.tensors)
grey = dict(mean=[.5, .5, .5], std=[.25, .25, .25])
variant("shapes.mcz", name="shapes")
variant("shapes-pgd.mcz", name="shapes-pgd")
variant("grey.mcz", **grey)
variant("both.mcz", name="shapes", **grey)
variant("unnamed.mcz", name="npz", mean=[.27, .27, .27]) # off by chance: a tenth of the deviation, 48 images
variant("pixels.mcz", name="mine", mean=[0, 0, 0], std=[1, 1, 1])
END
short='-q -t 1 --batch 16 --epochs 1 --lr .02'
train="mc-train $short --net mlp:bn,6"
for s in 1 2 3; do $train --data synth.mcz --seed $s -o $s.mcz; done
$train --data shapes.mcz --seed 4 -o shapes-net.mcz
$train --data synth.mcz --no-normalise -o raw-net.mcz
mc-permute --identity 1.mcz -o one.mcz
mc-bezier --epochs 0 1.mcz 2.mcz -o line.mcz
mc-info --graph 1.mcz >net.json
mc-convert 1.mcz -o 1.npz

# warns FACTS COMMAND...: the command succeeds, writes, and prints one warning with the words of each line of FACTS
warns() {
    "${@:2}" >out.warns 2>errors || die "${*:2}: status $?: $(cat errors)"
    [ -s out.warns ] || die "${*:2}: wrote nothing"
    expect_lines errors "${1:+$(sed "s/^/$2: warning: /" <<<"$1")}"
}
# check_uses DATA FACTS FIT: all programs that run networks on these data; FACTS are about any use, FIT about fitting to them
check_uses() {
    local data=$1 any=$2 fit=$3
    warns "$any" mc-acts -q -t 1 --data $data 1.mcz 2.mcz
    warns "$any" mc-acts -q -t 1 --raw --data $data 1.mcz
    warns "$any$fit" mc-bezier $short --data $data 1.mcz 2.mcz
    warns "$any$fit" mc-pam $short --permutation-epochs 1 --select-images 16 --data $data 1.mcz 2.mcz
    warns "$any$fit" mc-train $short --init 1.mcz --data $data
    warns "$any" mc-pgd -q -t 1 --steps 1 --eps 4/255 --data $data 1.mcz
    warns "$any" mc-permute -t 1 --verify $data one.mcz 1.mcz
    warns "$any" mc-eval -q -t 1 --data $data 1.mcz 2.mcz
    warns "$any" mc-eval -q -t 1 --data $data --line --bn average --points 3 1.mcz 2.mcz
    warns "$any$fit" mc-eval -q -t 1 --data synth.mcz --bn-data $data 1.mcz 2.mcz
    warns "$any$fit" mc-eval -q -t 1 --data synth.mcz --bn-data $data --grid 2 --plane {1,2,3}.mcz
    warns "$any$fit" mc-eval -q -t 1 --data synth.mcz --bn-data $data --points 3 line.mcz
    warns "$any$fit" mc-bezier -q -t 1 --point .5 --bn-data $data line.mcz
    warns "$any$fit" mc-repair -q -t 1 --data $data 1.mcz
    warns "$any$fit" mc-repair -q -t 1 --data $data 1.mcz --ends 1.mcz 2.mcz
}

other() { echo "$1: images*$2*trained*$3"; }
grey() { echo "$1: channel 0*mean 0.5*deviation 0.25*normalises*0.252*0.183"; }
for set in shapes shapes-pgd; do check_uses $set.mcz "$(other $set.mcz $set synth)" ''; done
check_uses grey.mcz "$(grey grey.mcz)" ''
check_uses both.mcz "$(other both.mcz shapes synth && grey both.mcz)" ''
check_uses test.mcz '' 'test.mcz: images*test split'
# streams without a name or normalisation, or with one measured on few images, are not compared
for data in synth unnamed pixels; do check_uses $data.mcz '' ''; done

# the second network's data set too, and each network's normalisation
two="$(other synth.mcz synth shapes)"
warns "$two" mc-acts -q -t 1 --data synth.mcz 1.mcz shapes-net.mcz
warns "$two" mc-bezier $short --data synth.mcz 1.mcz shapes-net.mcz
warns "$two" mc-pam $short --permutation-epochs 1 --select-images 16 --data synth.mcz 1.mcz shapes-net.mcz
warns "$two" mc-eval -q -t 1 --data synth.mcz --line --bn average --points 3 1.mcz shapes-net.mcz
warns "$two" mc-eval -q -t 1 --data synth.mcz --bn-data synth.mcz --grid 2 --plane {1,2,shapes-net}.mcz
warns "$two" mc-eval -q -t 1 --data synth.mcz --bn-data synth.mcz {1,2,shapes-net}.mcz
$train --data grey.mcz -o grey-net.mcz
warns 'synth.mcz: channel 0*mean 0.252*deviation 0.183*network normalises*0.5 and 0.25' \
    mc-eval -q -t 1 --data synth.mcz {1,grey-net}.mcz
# adversarial examples of the network's own set, only those, and a network without normalisation
mc-pgd -q -t 1 --steps 1 --eps 4/255 --data synth.mcz 1.mcz -o adv.mcz
warns '' mc-eval -q -t 1 --data adv.mcz 1.mcz
$train --data adv.mcz -o adv-net.mcz
warns '' mc-eval -q -t 1 --data synth.mcz adv-net.mcz
warns '' mc-eval -q -t 1 --data grey.mcz raw-net.mcz
# a graph file contains its normalisation; a built-in network has that of its data
warns "$(grey grey.mcz)" mc-train $short --net net.json --data grey.mcz
warns "$(grey grey.mcz)" mc-convert 1.npz --net net.json --data grey.mcz
warns '' mc-convert 1.npz --net mlp:bn,6 --data grey.mcz
warns '' mc-convert 1.npz --net net.json --data test.mcz
# a network trained further on another set belongs to that set
mc-train $short --init 1.mcz --data shapes.mcz -o tuned.mcz 2>/dev/null
warns '' mc-eval -q -t 1 --data shapes.mcz tuned.mcz
# data that do not fit are an error, not a warning
py <<'END'
d = mcz.read("synth.mcz")
mcz.write("classes.mcz", d.kind, dict(d.meta, name="shapes", classes=11, class_names=["c"] * 11), d.tensors)
END
fails 3 '11 classes*network*10' mc-eval -q -t 1 --data classes.mcz 1.mcz
fails 3 '11 classes*network*10' mc-bezier -q -t 1 --point .5 --bn-data classes.mcz line.mcz
# truncated data are an error
head -c -20 shapes.mcz >cut.mcz
fails 3 'cut.mcz: ' mc-acts -q -t 1 --data cut.mcz 1.mcz 2.mcz -o no.mcz
fails 3 'cut.mcz: ' mc-pgd -q -t 1 --steps 1 --eps 4/255 --data cut.mcz 1.mcz -o no.mcz
