# SPDX-License-Identifier: Apache-2.0
# Logits that overflow: an error, not a table with nan or JSON that is none.
fixture three

py <<'END'
n = mcz.read("n2.mcz")
t = {k: v.copy() for k, v in n.tensors.items()}
last = [k for k in t if k.endswith("linear.weight")][-1]
t[last][:] = 3e38
mcz.write("huge.mcz", n.kind, n.meta, t)
END
mc-bezier -q --epochs 0 n1.mcz huge.mcz -o to-huge.mcz
fails 1 'huge.mcz: the loss on test is not finite' mc-eval --data test.mcz n1.mcz huge.mcz
fails 1 'huge.mcz: the loss on test is not finite' mc-eval --json --data test.mcz huge.mcz
fails 1 'the loss on test is not finite at t = ' \
    mc-eval --data test.mcz --bn-data d.mcz --points 3 --summary s.none --json to-huge.mcz
[ ! -e s.none ]
