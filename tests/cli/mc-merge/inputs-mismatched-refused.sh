# SPDX-License-Identifier: Apache-2.0
# mc-merge refuses networks that differ, damaged networks, and wrong weights; nothing is written.
# It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
mc-data synth --samples 16 -o data.mcz
for n in 3 4; do mc-train -q -t 1 --net mlp:$n --data data.mcz --epochs 0 -o $n.mcz; done

fails_with 2 'missing: operand A.mcz, operand B.mcz (see --help)' mc-merge
fails_with 2 'missing: operand B.mcz (see --help)' mc-merge 3.mcz
fails_with 2 'only one input can be standard input' mc-merge - 3.mcz - <3.mcz
fails_with 2 '--weights must have one number per network (got 3 for 2 networks)' mc-merge --weights 1,1,1 3.mcz 3.mcz
fails_with 2 "--weights: one weight must be greater than 0 (got '0,0')" mc-merge --weights 0,0 3.mcz 3.mcz
for w in -1,2 '' '1,' ',1' 1,,1 x,1 1e10,1 nan,1; do usage_error "mc-merge: --weights: '" mc-merge "--weights=$w" 3.mcz 3.mcz; done
fails_with 3 '3.mcz and 4.mcz: different networks (mlp:3, mlp:4): node "layers.0.linear" has a different "out"' mc-merge 3.mcz 3.mcz 4.mcz -o x.mcz
fails_with 3 "$samples/good-dataset.mcz: weights expected, got dataset: train with mc-train first, or check the order of the operands" mc-merge 3.mcz "$samples/good-dataset.mcz" -o x.mcz
fails_with 3 "$samples/good-curve.mcz: weights expected, got curve: extract weights with mc-bezier --point T --bn-data FILE" mc-merge "$samples/good-curve.mcz" 3.mcz -o x.mcz
fails_with 1 "cannot open 'nothing.mcz': No such file or directory" mc-merge 3.mcz nothing.mcz -o x.mcz
head -c -1 3.mcz >cut.mcz
fails_unchanged 3 'cut.mcz: *truncated' mc-merge 3.mcz cut.mcz -o x.mcz
fails_unchanged 3 'cut.mcz: *truncated' mc-merge cut.mcz 3.mcz -o x.mcz
py <<'END'
s = mcz.read("3.mcz")
for name, value in ("nan", np.nan), ("inf", np.inf):
    t = {k: v.copy() for k, v in s.tensors.items()}
    next(iter(t.values())).reshape(-1)[1] = value
    mcz.write(name + ".mcz", s.kind, s.meta, t)
END
# also with weight 0
for n in nan inf; do
    fails_with 3 "$n.mcz: \"layers.0.linear.weight\" holds a value that is not finite" \
        mc-merge --weights 1,0 3.mcz $n.mcz -o x.mcz
    fails_with 3 "$n.mcz: \"layers.0.linear.weight\" holds a value that is not finite" mc-merge $n.mcz 3.mcz -o x.mcz
done
# networks without a graph: the same rows are required
py <<'END'
from mcz import safetensors
safetensors.write("n.safetensors", {"w": np.ones((4, 2), "<f4")})
for name, axis, count in ("rows", 0, 4), ("other", 1, 2):
    open(name + ".tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\nw\t%d\t0\t%d\t1\tg\n" % (axis, count))
END
for n in rows other; do mc-convert n.safetensors --groups $n.tsv -o $n.mcz; done
fails_with 3 'rows.mcz and other.mcz: different networks (groups, groups): their groups are declared differently' mc-merge rows.mcz other.mcz -o x.mcz
fails_with 3 'rows.mcz and 3.mcz: different networks (groups, mlp:3): one has no graph' mc-merge rows.mcz 3.mcz -o x.mcz
