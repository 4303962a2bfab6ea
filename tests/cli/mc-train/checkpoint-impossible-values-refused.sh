# SPDX-License-Identifier: Apache-2.0
# Training programs refuse to resume a checkpoint with values that no run writes.
fixture resumed
mc-train -q -t 2 --net mlp:bn,8 --data d.mcz --epochs 3 --stop-after 2 --checkpoint bn.ck -o bn.mcz
py <<'END'
def wrong(of, name, place, value):
    s = mcz.read(of)
    t = {k: v.copy() for k, v in s.tensors.items()}
    t[name][place] = value
    mcz.write("wrong.%s-%s-%s-%s" % (of, name, place, value), s.kind, s.meta, t)

for place, value in ((0, -1), (2, -1), (3, -1), (3, 1.01), (3, 1e30), (4, -1), (5, -1), (8, 2)):
    wrong("half.ck", "epochs", place, value)
v = mcz.read("bn.ck").tensors["statistics"]
wrong("bn.ck", "statistics", len(v) // 2, -1)  # the first variance: the means come before
END
train() { mc-train -q -t 2 --data d.mcz --resume "$@" -o no.mcz; }
for ck in wrong.half.ck-*; do
    fails_unchanged 3 "$ck: \"epochs\" holds results*epoch" train --net $net --epochs 4 --seed 5 --checkpoint "$ck"
done
for ck in wrong.bn.ck-*; do
    fails_unchanged 3 'running_var" holds*variance below 0' train --net mlp:bn,8 --epochs 3 --checkpoint "$ck"
done
train --net mlp:bn,8 --epochs 3 --checkpoint bn.ck
