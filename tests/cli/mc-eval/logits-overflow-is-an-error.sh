# SPDX-License-Identifier: Apache-2.0
# Logits that overflow are an error; the table has no nan and the JSON stays valid.
fixture three

py <<'END'
n = mcz.read("n2.mcz")
t = {k: v.copy() for k, v in n.tensors.items()}
last = [k for k in t if k.endswith("linear.weight")][-1]
t[last][:] = 3e38
mcz.write("huge.mcz", n.kind, n.meta, t)
END
mc-bezier -q --epochs 0 n1.mcz huge.mcz -o to-huge.mcz
# rows of the other networks are still written; each failing network is named
rc=0
mc-eval --data test.mcz huge.mcz n1.mcz huge.mcz n2.mcz -o table.tsv 2>errors || rc=$?
expect_equal "$rc $(<errors)" "1 $(printf 'mc-eval: huge.mcz: the loss on test is not finite\n%.0s' 1 2)"
mc-eval --data test.mcz n1.mcz n2.mcz | same table.tsv -
rc=0
mc-eval --json --data test.mcz n1.mcz huge.mcz >table.json 2>errors || rc=$?
expect_equal "$rc $(<errors)" '1 mc-eval: huge.mcz: the loss on test is not finite'
mc-eval --json --data test.mcz n1.mcz | same table.json -
fails 1 'huge.mcz:*loss*test*not finite' mc-eval --data test.mcz huge.mcz
fails 1 'huge.mcz:*loss*test*not finite' mc-eval --json --data test.mcz huge.mcz
fails 1 'loss*test*not finite*t = ' \
    mc-eval --data test.mcz --bn-data d.mcz --points 3 --summary s.none --json to-huge.mcz
[ ! -e s.none ]
