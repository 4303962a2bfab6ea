# SPDX-License-Identifier: Apache-2.0
# mc-pgd: examples in the ball, robust accuracy down the pipe, and nothing written that is not whole.
. "$MC_ROOT/tests/cli/lib.bash"

train=2000 test=400 epochs=5 size=16
small=
[ "${MC_UNDER:-}" != valgrind ] || train=600 test=60 epochs=8 size=8 small="--batch 60"
mc-data synth --samples $train --size $size -o train.mcz
mc-data synth --split test --samples $test --size $size -o test.mcz
for seed in 1 2; do
    mc-train -q -t 1 --net $net --data train.mcz --batch 32 --lr .03 --epochs $epochs --no-augment --seed $seed -o $seed.mcz
    epochs=1
done
p="mc-pgd -t 1 $small --data test.mcz"
robust() { $p -q "$@" 1.mcz | mc-eval -t 1 --data - 1.mcz | tail -n 1 | cut -f 3; }

# robust accuracy falls from the clean one as the radius grows, but for two standard errors
for eps in 0 2/255 4/255 8/255 16/255; do
    echo "$(robust --eps $eps --steps 10)"
done >accuracies
mc-eval -t 1 --data test.mcz 1.mcz | tail -n 1 | cut -f 3 >clean
same clean <(head -n 1 accuracies)
cat accuracies
awk -v n=$test '{ q = $1 / 100; v = q * (1 - q) / n
    if (NR > 1 && q - p > 2 * sqrt(v + w)) { print "rises to " $1; exit 1 }
    p = q; w = v; if (NR == 1) { q1 = q; v1 = v } }
    END { if (q1 - p <= 2 * sqrt(v1 + w)) { print "does not fall"; exit 1 } }' accuracies || die 'robust accuracy'

# what it says is what mc-eval measures; one line, or none; the log says the same
$p --eps 8/255 --steps 10 --log-json log 1.mcz -o adv.mcz 2>note
[ "$(wc -l <note)" = 1 ]
mc-eval -t 1 --data adv.mcz 1.mcz | tail -n 1 | cut -f 2,3 >eval
/usr/bin/python3 - "$MC_ROOT" $test <<'END'
import json, re, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
n = int(sys.argv[2])
adv, data = mcz.read("adv.mcz"), mcz.read("test.mcz")
x, clean = adv.tensors["images"], data.tensors["images"].astype(np.float32) / np.float32(255)
assert x.dtype == np.float32 and x.shape == clean.shape and (x >= 0).all() and (x <= 1).all()
far = np.abs(x.astype(np.float64) - clean).reshape(n, -1).max(1)
assert (far <= 8 / 255 + 1e-6).all() and far.mean() > 7 / 255
assert (adv.tensors["labels"] == data.tensors["labels"]).all()
assert adv.meta == {**data.meta, "name": "synth-pgd"}, adv.meta
lines = [json.loads(l) for l in open("log")]
last = lines[-1]
assert last["event"] == "done" and last["images"] == n and all(l["event"] == "batch" for l in lines[:-1])
loss, accuracy = map(float, open("eval").read().split())
assert abs(last["loss"] - loss) < 1e-3 * loss and abs(last["accuracy"] - accuracy) <= 100 / n + 1e-3
assert abs(last["distance"] - far.mean()) < 1e-5
said = re.match(r"mc-pgd: (\d+) images: accuracy (\S+)% -> (\S+)%, loss (\S+) -> (\S+), "
                r"mean l-infinity distance from the clean image (\S+)$", open("note").read().strip())
assert int(said[1]) == n and abs(float(said[3]) - last["accuracy"]) < .01, said
assert abs(float(said[2]) - float(open("clean").read())) < .01
assert abs(float(said[6]) - last["distance"]) < 1e-4
END
$p -q 1.mcz 2>note >x.mcz
[ ! -s note ]

# the same bytes twice, from a pipe and to one; other threads and batches only round otherwise
$p -q --eps 8/255 --steps 10 - <1.mcz | cat >x.mcz
same adv.mcz x.mcz
mc-pgd -q -t 1 $small --data - --eps 8/255 --steps 10 1.mcz <test.mcz >x.mcz
same adv.mcz x.mcz
$p -q --eps 8/255 --steps 10 --seed 2 1.mcz >other.mcz
[ "$(id other.mcz)" != "$(id adv.mcz)" ]
$p -q --no-history --eps 8/255 --steps 10 1.mcz >x.mcz
[ "$(id x.mcz)" = "$(id adv.mcz)" ] && ! cmp -s x.mcz adv.mcz
mc-pgd -q -t 2 --data test.mcz --eps 8/255 --steps 1 1.mcz >two.mcz
$p -q --eps 8/255 --steps 1 1.mcz >one.mcz
$p -q --eps 8/255 --steps 1 --batch 50 1.mcz >fifty.mcz
# and the first images are attacked like themselves
$p -q --eps 8/255 --steps 1 --samples $((test - 7)) 1.mcz >some.mcz
/usr/bin/python3 - "$MC_ROOT" $((test - 7)) <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
one = mcz.read("one.mcz").tensors["images"]
for name in "two", "fifty", "some":
    x = mcz.read(name + ".mcz").tensors["images"]
    assert len(x) == (int(sys.argv[2]) if name == "some" else len(one))
    off = np.abs(x - one[:len(x)]) > 1e-5
    print(name, off.mean())
    assert off.mean() < 1e-3, (name, off.mean()) # a sign of a gradient that is nearly nothing
END

# l2, restarts, a target: nearer to it than without one, and no class is its own
$p -q --norm l2 --eps .5 1.mcz >l2.mcz
$p -q --steps 3 --log-json one.json 1.mcz >x.mcz
$p -q --steps 3 --restarts 3 --log-json three.json 1.mcz >x.mcz
$p -v --target 3 --log-json three-to.json 1.mcz 2>note >to.mcz
grep -q '% are taken for the target' note
$p -q --target=+1 --log-json next.json 1.mcz >next.mcz
$p -q --start clean --eps 0 1.mcz >same.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
clean = mcz.read("test.mcz").tensors["images"].astype(np.float32) / np.float32(255)
labels = mcz.read("test.mcz").tensors["labels"]
far = np.sqrt(((mcz.read("l2.mcz").tensors["images"].astype(np.float64) - clean) ** 2).sum((1, 2, 3)))
assert (far <= .5 + 1e-5).all() and far.mean() > .3
last = lambda name: json.loads(open(name + ".json").read().splitlines()[-1])
assert last("three")["loss"] >= last("one")["loss"] # the first start is the same
share = 100 * (labels == 3).mean()
assert last("three-to")["reached"] > share and last("next")["reached"] > 5
for name in "to", "next":
    assert (mcz.read(name + ".mcz").tensors["labels"] == labels).all()
assert (mcz.read("same.mcz").tensors["images"] == clean).all()
END

# a point of a curve; the curve itself is none
mc-bezier --epochs 0 1.mcz 2.mcz -o curve.mcz
mc-bezier --point .5 --bn-data train.mcz curve.mcz | $p -q - -o point.mcz
fails 3 'curve.mcz: is a curve; mc-bezier --point T makes a network of a point of it' $p curve.mcz
# examples of examples keep their name
mc-pgd -q -t 1 --data adv.mcz 2.mcz | mc-info | grep -q 'name  *synth-pgd$'

# what cannot be asked for
fails 2 '--data is needed' mc-pgd 1.mcz
fails 2 'needs the network to attack: WEIGHTS.mcz (see --help)' mc-pgd --data - <test.mcz
fails 2 'takes one network, 2 are given' $p 1.mcz 2.mcz
fails 2 "--eps: '-1'" $p --eps -1 1.mcz
fails 2 "--eps: 'nan'" $p --eps nan 1.mcz
fails 2 "--step: '-1/255'" $p --step=-1/255 1.mcz
fails 2 "eps 8 is in pixels of [0,1] and can be at most 1 (8 of 255 levels are 8/255)" $p --eps 8 1.mcz
fails 2 'step 2 is in pixels of [0,1]' $p --step 2 1.mcz
fails 2 "--eps: '8/0' is not a number" $p --eps 8/0 1.mcz
fails 2 "--steps: '0'" $p --steps 0 1.mcz
fails 2 '--restarts' $p --restarts 0 1.mcz
fails 2 '--restarts' $p --restarts 257 1.mcz
fails 2 "there is no 'l1' (there are: linf, l2)" $p --norm l1 1.mcz
fails 2 "there is no 'middle' (there are: random, clean)" $p --start middle 1.mcz
fails 2 "the attack's target 10 is no class" $p --target 10 1.mcz
fails 2 '--target' $p --target=+0 1.mcz
fails 2 '--target' $p --target cat 1.mcz
fails 2 '--samples' $p --samples 0 1.mcz
fails 2 'standard input' mc-pgd --data - -

# what does not fit, is cut or is no number: one line, and the old output stays
cp adv.mcz old.mcz
mc-data synth --samples 20 --size 12 -o small.mcz
fails 3 'small.mcz: images are 3x12x12' mc-pgd --data small.mcz 1.mcz -o old.mcz
fails 3 "holds $test images, $((test + 1)) are asked for" $p --samples $((test + 1)) 1.mcz -o old.mcz
fails 3 'is a dataset stream, not weights' $p test.mcz -o old.mcz
fails 3 'is a weights stream, not' mc-pgd --data 1.mcz 1.mcz -o old.mcz
for f in 1 test; do
    head -c $(($(stat -c %s $f.mcz) - 7)) $f.mcz >cut.mcz
    if [ $f = 1 ]; then
        fails 3 'cut.mcz: ' $p cut.mcz -o old.mcz
    else
        fails 3 'cut.mcz: ' mc-pgd --data cut.mcz --samples 3 1.mcz -o old.mcz
        fails 3 'cut.mcz: ' mc-pgd --data cut.mcz --samples 3 1.mcz -o new.mcz
    fi
done
mc-pgd --data cut.mcz 1.mcz 2>/dev/null | mc-info --check >/dev/null 2>&1 && die 'a complete stream of a failed run'
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
s = mcz.read("adv.mcz")
s.tensors["images"][5, 0, 0, 0] = np.nan
mcz.write("nan.mcz", s.kind, s.meta, s.tensors)
w = mcz.read("1.mcz")
for name in w.tensors: # finite, and too much for any sum
    if name.endswith("weight"):
        w.tensors[name] = np.full_like(w.tensors[name], 3e38)
mcz.write("huge.mcz", w.kind, w.meta, w.tensors)
END
fails 3 'nan.mcz: image 5 has a pixel that is not from 0 to 1' mc-pgd --data nan.mcz 1.mcz -o old.mcz
fails 3 "the network's loss on image 0 is not finite" $p huge.mcz -o old.mcz
same adv.mcz old.mcz
[ ! -e new.mcz ]
no_temporaries
fails 1 "cannot open 'nothing.mcz'" $p nothing.mcz
fails 1 'No space left on device' $p -q 1.mcz -o /dev/full
fails 1 'No space left on device' $p -q --log-json /dev/full 1.mcz -o x.mcz
