# SPDX-License-Identifier: Apache-2.0
# mc-corr and mc-hungarian report dead units of many groups in one line; -v lists them.
fixture pair

mc-train -q -t 1 --net mlp:4,4,4,4,4,4,4,4,4 --data data.mcz --epochs 0 -o deep.mcz
py <<'END'
s = mcz.read("deep.mcz")
t = {k: v.copy() for k, v in s.tensors.items()}
for k in list(t)[:-2]:  # unit 1 of every layer except the last never fires
    t[k][1] = -1 if t[k].ndim == 1 else 0
mcz.write("deep.mcz", s.kind, s.meta, t)
END
acts deep.mcz deep.mcz -o deep-m.mcz
mc-corr deep-m.mcz -o deep-c.mcz 2>err
grep -qE '^mc-corr: ([0-9]+) units of a and \1 of b, in 9 groups, have almost no variance: correlation 0 \(-v lists them\)$' err
[ "$(wc -l <err) $(mc-corr -v deep-m.mcz 2>&1 >x.mcz | grep -c 'almost no variance')" = '1 9' ]
mc-hungarian deep-c.mcz -o x.mcz 2>err
[ "$(grep -c 'in 9 groups, have almost no variance: matched with the remaining units' err) $(mc-hungarian -v deep-c.mcz 2>&1 >x.mcz | grep -c ' have almost no variance: ')" = '1 9' ]
