# SPDX-License-Identifier: Apache-2.0
# mc-match's objective never falls, and stops when no group changes. --init starts from a permutation; a result is a fixed
# point. The stream has each group's value, and the gap that proves its last assignment.
fixture pair

mc-match -v a.mcz b.mcz --log-json log.json -o p.mcz 2>errors
py <<'END'
log = [json.loads(l) for l in open("log.json")]
assert [l["event"] for l in log] == ["start"] + ["sweep"] * (len(log) - 1)
assert [l["sweep"] for l in log] == list(range(len(log))) and len(log) > 2
for x, y in zip(log, log[1:]):
    assert y["objective"] > x["objective"] and y["distance"] < x["distance"] or not y["changed"], (x, y)
assert all(l["changed"] for l in log[1:-1]) and not log[-1]["changed"]
assert log[-1]["objective"] == log[-2]["objective"] > log[0]["objective"]
a, b, p = (mcz.read(f) for f in ("a.mcz", "b.mcz", "p.mcz"))
apart = sum(np.square(a.tensors[k] - b.tensors[k], dtype=float).sum() for k in a.tensors if ".running_" not in k) ** .5
assert abs(apart / log[0]["distance"] - 1) < 1e-6
for g in p.meta["groups"]:
    assert 0 <= g["gap"] <= 1e-9 * g["value"] and g["value"] > 0 and abs(g["bound"] / g["value"] - 1) < 1e-9, g
assert p.inputs == [a.id, b.id] and p.history[-1]["tool"] == "mc-match"
END
expect_equal "$(grep -cE '^mc-match: start: objective [0-9.]+, distance [0-9.]+$' errors)" 1
expect_equal "$(grep -cE '^mc-match: sweep [0-9]+: objective [0-9.]+, distance [0-9.]+, [0-9]+ groups? changed$' errors)" $(($(wc -l <log.json) - 1))
expect_equal "$(grep -cE '^mc-match: layers\.[0-7]\.conv: [0-9]+ units, value [0-9.]+ \(mean [0-9.]+\), gap [0-9.e-]+, [0-9]+ in ties, [0-9]+ move$' errors)" 8

mc-match -q --init p.mcz a.mcz b.mcz --log-json again.json -o same.mcz
expect_equal "$(wc -l <again.json)" 2
expect_equal "$(field again.json start objective)" "$(field log.json sweep objective | tail -n 1)"
mc-permute p.mcz b.mcz -o x.mcz
mc-permute same.mcz b.mcz -o y.mcz
same_content x.mcz y.mcz
# to start from a permutation equals permuting B by it first
mc-permute --random 3 --perm-out r.mcz b.mcz -o x.mcz
mc-permute --identity b.mcz -o one.mcz
mc-match -q a.mcz b.mcz --init - --log-json r.json -o pr.mcz <r.mcz
mc-match -q a.mcz x.mcz --init one.mcz --log-json x.json -o px.mcz
expect_equal "$(field r.json start objective)" "$(field x.json start objective)"
mc-permute pr.mcz b.mcz -o y.mcz
mc-permute px.mcz x.mcz -o z.mcz
same_content y.mcz z.mcz
# a group on both axes of a tensor, for which a step could lower the objective
py <<'END'
import struct
text = json.dumps({"w": {"dtype": "F32", "shape": [20, 20], "data_offsets": [0, 1600]},
                   "v": {"dtype": "F32", "shape": [20, 2], "data_offsets": [1600, 1760]}}).encode()
for seed, name in enumerate("xy"):
    body = np.random.RandomState(seed).randn(440).astype("f4").tobytes()
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text + body)
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\nw\t0\t0\t20\t1\tg\nw\t1\t0\t20\t1\tg\nv\t0\t0\t20\t1\tg\n")
END
for n in x y; do mc-convert $n.safetensors --groups g.tsv -o $n.mcz; done
for seed in 1 2 3; do
    mc-permute --random $seed --perm-out r.mcz y.mcz -o q.mcz
    mc-match -q --init r.mcz x.mcz y.mcz --log-json both.json -o p.mcz
    field both.json '[a-z]*' objective | sort -c -g || die "$(cat both.json)"
done
# groups within units, both on both axes of a tensor: a step that lowers the objective is also undone inside the units
py <<'END'
import struct
H, d = 4, 3
rows = [("w", axis, 0, H, d, "heads") for axis in (0, 1)]
rows += [("w", axis, h * d, d, 1, "in%d" % h, 1, "heads", h) for h in range(H) for axis in (0, 1)]
mcz.groups.write("n.tsv", rows)
text = json.dumps({"w": {"dtype": "F32", "shape": [H * d] * 2, "data_offsets": [0, 4 * (H * d) ** 2]}}).encode()
for seed in range(12):
    body = np.random.RandomState(seed).randn((H * d) ** 2).astype("f4").tobytes()
    open("n%d.safetensors" % seed, "wb").write(struct.pack("<Q", len(text)) + text + body)
END
for seed in {0..11}; do mc-convert n$seed.safetensors --groups n.tsv -o n$seed.mcz; done
for seed in {0..5}; do
    mc-match -q n$seed.mcz n$((seed + 6)).mcz --log-json both.json -o p.mcz
    field both.json '[a-z]*' objective | sort -c -g || die "$(cat both.json)"
done
# a group counts as changed if only the units inside its units move
py <<'END'
import struct
H, d = 4, 3
rows = [("v", 0, 0, H, d, "heads")] + [("v", 0, h * d, d, 1, "in%d" % h, 1, "heads", h) for h in range(H)]
mcz.groups.write("i.tsv", rows)
v = np.random.RandomState(0).randn(H, d, 9).astype("f4")
text = json.dumps({"v": {"dtype": "F32", "shape": [H * d, 9], "data_offsets": [0, v.nbytes]}}).encode()
for name, x in ("i", v), ("j", v[:, ::-1]):
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text + x.tobytes())
END
for n in i j; do mc-convert $n.safetensors --groups i.tsv -o $n.mcz; done
mc-match -q i.mcz j.mcz --log-json inside.json -o p.mcz
expect_equal "$(field inside.json sweep changed | paste -sd' ')" '1 0'
