# SPDX-License-Identifier: Apache-2.0
"""Write a small network whose groups allow maps of every kind, as a.safetensors, a16.safetensors (float16) and ab.safetensors
(bfloat16), and its group file g.tsv: two heads of four units on a stream of six, a signed layer with a gate that has no signs, two
rotations of pairs, two signs of pairs, and tensors of more dimensions."""
import mcz.safetensors
import numpy as np

rows = []
def row(tensor, axis, offset, count, block, group, within="-", unit="-", allows="permutation"):
    rows.append("\t".join(map(str, (tensor, axis, offset, count, block, group, within, unit, allows))) + "\n")
for t, axis in ("emb", 1), ("q", 1), ("o", 0), ("up", 1), ("down", 0), ("gate", 1), ("c", 0), ("d", 1), ("r", 1), ("bias", 0), ("t", 1):
    row(t, axis, 0, 6, 1, "stream", allows="centred")
for t, axis in ("q", 0), ("o", 1):
    row(t, axis, 0, 2, 4, "heads")
for unit in range(2):
    for t, axis in ("q", 0), ("o", 1):
        row(t, axis, 4 * unit, 4, 1, "head%d" % unit, "heads", unit, "orthogonal")
for t, axis in ("up", 0), ("down", 1):
    row(t, axis, 0, 5, 1, "mlp", allows="signed")
row("gate", 0, 0, 5, 1, "mlp")
row("r", 0, 1, 4, 2, "rotary", allows="rotation")
row("t", 0, 1, 4, 1, "turned", allows="half-turn")
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\tallows\n" + "".join(rows))
draw = np.random.RandomState(1)
shapes = {"emb": (7, 6), "q": (8, 6), "o": (6, 8), "up": (5, 6), "down": (6, 5), "gate": (5, 6), "c": (6, 3, 2), "d": (3, 6, 2), "r": (9, 6), "bias": (6,),
          "t": (6, 6)}
net = {k: draw.randn(*s).astype("f4") for k, s in shapes.items()}
mcz.safetensors.write("a.safetensors", net)
mcz.safetensors.write("a16.safetensors", {k: v.astype("f2") for k, v in net.items()})
mcz.safetensors.write("ab.safetensors", {k: (v.view("u4") >> 16).astype("u2") for k, v in net.items()}, dtypes=dict.fromkeys(net, "bfloat16"))
