# SPDX-License-Identifier: Apache-2.0
# mc-pgd's examples are within the ball, and its message and log agree with mc-eval.
fixture examples

expect_equal "$(wc -l <note)" 1
mc-eval -t 1 --data test.mcz 1.mcz | tail -n 1 | cut -f 3 >clean
mc-eval -t 1 --data adv.mcz 1.mcz | tail -n 1 | cut -f 2,3 >eval
py $test <<'END'
import re
n = int(sys.argv[1])
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
summary = re.match(r"mc-pgd: (\d+) images: accuracy (\S+)% -> (\S+)%, loss (\S+) -> (\S+), "
                r"mean l-infinity distance from the clean image (\S+) in ", open("note").read().strip())
assert int(summary[1]) == n and abs(float(summary[3]) - last["accuracy"]) < .01, summary
assert abs(float(summary[2]) - float(open("clean").read())) < .01
assert abs(float(summary[6]) - last["distance"]) < 1e-4
END
expect_message '' $p -q 1.mcz
