# SPDX-License-Identifier: Apache-2.0
# mc-match --maps recovers planted maps of key heads whose query heads share rows: their order, the rotations of their channels, and
# the maps of the values act on the same entries. The search ends at the planted maps for every seed.
/usr/bin/python3 -c 'import numpy' 2>/dev/null || exit 77
cat >net.py <<'END'
import sys

import mcz.safetensors
import numpy as np
seed, values = map(int, sys.argv[1:])
KEYS, QUERIES, D, WIDTH = 3, 3, 4, 5
rows = ["tensor axis offset count block group within unit allows"]
def row(tensor, axis, offset, count, block, group, unit="-", allows="permutation"):
    rows.append(" ".join(map(str, (tensor, axis, offset, count, block, group, "-" if unit == "-" else "heads", unit, allows))))
inner = D if values else 1  # columns of o per query head
row("q", 0, 0, KEYS, QUERIES * D, "heads")
row("k", 0, 0, KEYS, D, "heads")
row("o", 1, 0, KEYS, QUERIES * inner, "heads")
if values:
    row("v", 0, 0, KEYS, D, "heads")
for h in range(KEYS):
    row("q", 0, h * QUERIES * D, QUERIES, D, f"order{h}", h)
    row("o", 1, h * QUERIES * inner, QUERIES, inner, f"order{h}", h)
    row("k", 0, h * D, D, 1, f"rotary{h}", h, "rotation")
    if values:
        row("v", 0, h * D, D, 1, f"v{h}", h, "orthogonal")
    for i in range(QUERIES):
        row("q", 0, (h * QUERIES + i) * D, D, 1, f"rotary{h}", h, "rotation")
        if values:
            row("o", 1, (h * QUERIES + i) * D, D, 1, f"v{h}", h, "orthogonal")
open("g.tsv", "w").write("\n".join(rows).replace(" ", "\t") + "\n")
draw = np.random.RandomState(seed)
shapes = {"q": (KEYS * QUERIES * D, WIDTH), "k": (KEYS * D, WIDTH), "o": (WIDTH, KEYS * QUERIES * inner)}
if values:
    shapes["v"] = (KEYS * D, WIDTH)
mcz.safetensors.write("a.safetensors", {k: draw.randn(*s).astype("f4") for k, s in shapes.items()})
END
for seed in 0 1 2 3 4 5 6 7 8; do
    for values in 0 1; do
        /usr/bin/python3 net.py $seed $values
        mc-convert -q a.safetensors --groups g.tsv -o a.mcz
        mc-permute --random $((seed + 1)) a.mcz -o moved.mcz
        mc-match -q --maps a.mcz moved.mcz -o p.mcz --log-json log.json
        py <<'END'
distance = float([json.loads(l) for l in open("log.json")][-1]["distance"])
assert distance < 1e-5, distance
END
    done
done
mc-match -q --maps -t 1 a.mcz moved.mcz | same_content - p.mcz
