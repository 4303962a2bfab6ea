# SPDX-License-Identifier: Apache-2.0
# mc-permute moves groups within units, nested twice, as NumPy does. The inverse undoes it, and a composition equals
# both in turn. mc-match recovers groups that are nested once.
py <<'END'
import struct
from mcz import groups
# 3 blocks of 4 rows, each of 2 blocks of 2 rows, each with its rows; the same on a vector, after 2 fixed rows
rows = [("w", 0, 2, 3, 4, "outer"), ("v", 0, 0, 3, 4, "outer")]
for h in range(3):
    rows += [("w", 0, 2 + 4 * h, 2, 2, "mid%d" % h), ("v", 0, 4 * h, 2, 2, "mid%d" % h)]
    for k in range(2):
        rows += [("w", 0, 2 + 4 * h + 2 * k, 2, 1, "in%d%d" % (h, k)), ("v", 0, 4 * h + 2 * k, 2, 1, "in%d%d" % (h, k))]
rows += [("w", 1, 0, 5, 1, "columns")]
shapes = {"w": (14, 5), "v": (12,)}
groups.write("g.tsv", groups.rows(rows, shapes)[0])
groups.write("two.tsv", groups.rows([r for r in rows if r[5][:3] not in ("mid", "col")], shapes)[0])
draw = np.random.RandomState(1)
w, v = draw.randn(14, 5).astype("f4"), draw.randn(12).astype("f4")
text = json.dumps({"w": {"dtype": "F32", "shape": [14, 5], "data_offsets": [0, 280]},
                   "v": {"dtype": "F32", "shape": [12], "data_offsets": [280, 328]}}).encode()
open("net.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + w.tobytes() + v.tobytes())
END
mc-convert net.safetensors --groups g.tsv -o a.mcz
mc-permute --random 3 --perm-out p.mcz a.mcz -o pa.mcz
mc-permute --random 8 --perm-out q.mcz a.mcz -o qa.mcz
py <<'END'
a, b, p = (mcz.read(f + ".mcz") for f in ("a", "pa", "p"))
t = p.tensors
row = []
for h in t["outer"]:
    for k in t["mid%d" % h]:
        row += [4 * h + 2 * k + i for i in t["in%d%d" % (h, k)]]
row = np.array(row)
assert sorted(row) == list(range(12)) and (t["outer"] != range(3)).any() and (row % 4 // 2 != np.arange(12) % 4 // 2).any()
want = a.tensors["w"][np.r_[0, 1, 2 + row]][:, t["columns"]]
assert (b.tensors["w"] == want).all() and (b.tensors["v"] == a.tensors["v"][row]).all()
END
mc-permute --inverse p.mcz pa.mcz | same_content - a.mcz
mc-permute --inverse p.mcz -o back.mcz
mc-permute back.mcz pa.mcz | same_content - a.mcz
mc-permute q.mcz pa.mcz -o qpa.mcz
mc-permute --compose p.mcz q.mcz -o pq.mcz
mc-permute pq.mcz a.mcz | same_content - qpa.mcz
mc-permute --compose p.mcz back.mcz | same_content - <(mc-permute --identity a.mcz)
# mc-match recovers groups nested once, from any order
mc-convert net.safetensors --groups two.tsv -o a.mcz
for seed in 1 2 3; do
    mc-permute --random $seed a.mcz -o q.mcz
    mc-match -q a.mcz q.mcz | mc-permute - q.mcz | same_content - a.mcz
    mc-permute --random 9 --perm-out r.mcz a.mcz -o ra.mcz
    mc-match -q --init r.mcz a.mcz q.mcz | mc-permute - q.mcz | same_content - a.mcz
done
