# SPDX-License-Identifier: Apache-2.0
# Without PyTorch: groups behave as their page specifies, and an error lists every row that does not fit. CIFAR's Python and
# binary versions give the same stream, and a pickle cannot run code. mcz.torch reports that PyTorch is missing.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
$python - <<'END'
import os
import mcz, numpy as np
from mcz import groups, nesting
from refusal import expect_error, has_words

shapes = {"fc1.weight": (6, 4), "fc1.bias": (6,), "fc2.weight": (3, 12), "qkv": (24, 8)}
rows, sizes = groups.rows({"h": {"out": ["fc1.*:0"], "in": ["fc2.weight:1"], "size": 6}}, shapes)
assert sizes == {"h": 6}
assert {r[:7] for r in rows} == {("fc1.weight", 0, 0, 6, 1, "h", 1), ("fc1.bias", 0, 0, 6, 1, "h", 1), (
    "fc2.weight", 1, 0, 6, 2, "h", 1)}
groups.write("g.tsv", rows)
assert open("g.tsv").readline() == "tensor\taxis\toffset\tcount\tblock\tgroup\n"
assert groups.rows("g.tsv", shapes) == (rows, sizes)
p = np.array([2, 0, 1, 5, 4, 3])
at = {r.tensor: groups.gather(shapes[r.tensor][r.axis], [r], {"h": p}) for r in rows}
assert (at["fc1.bias"] == p).all() and (at["fc2.weight"] == [4, 5, 0, 1, 2, 3, 10, 11, 8, 9, 6, 7]).all()
# channels within a head move first, then the heads with their channels
nested = [("qkv", 0, 0, 3, 8, "heads"), *(("qkv", 0, 8 * i, 8, 1, name) for i, name in enumerate(("first", "second", "third")))]
rows, _ = groups.rows(nested, shapes)
assert [r[7:9] for r in rows] == [("", 0), ("heads", 0), ("heads", 1), ("heads", 2)]
groups.write("heads.tsv", rows)
assert open("heads.tsv").read().startswith("tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\n"
                                           "qkv\t0\t0\t3\t8\theads\t-\t-\nqkv\t0\t0\t8\t1\tfirst\theads\t0\n")
assert groups.read("heads.tsv") == groups.rows("heads.tsv", shapes)[0] == rows
groups.write("old.tsv", nested)  # as before 0.3.0
assert groups.rows("old.tsv", shapes)[0] == rows
reverse, same = np.arange(8)[::-1], np.arange(8)
index = groups.gather(24, rows, {"heads": [1, 2, 0], "first": same, "second": reverse, "third": same})
assert (index == np.concatenate([8 + reverse, np.arange(16, 24), np.arange(8)])).all(), index

def refused(words, g):
    try:
        groups.rows(g, shapes)
    except mcz.Error as e:
        assert all(has_words(e, w) for w in words), e
    else:
        assert False, words

refused(["unknown tensor \"fc3\"", "\"h\": 6 units expected*\"fc2.weight\"*got 3", "axis 2"], [
    ("fc1.bias", 0, 0, 6, 1, "h"), ("fc3", 0, 0, 6, 1, "h"), ("fc2.weight", 0, 0, 3, 1, "h"), ("fc1.bias", 2, 0, 6, 1, "h")])
for outer in ("heads", 2), ("third", 1):
    refused(["group \"second\"*in unit 1 of \"heads\"*within and unit"], [
        *rows[:2], rows[2]._replace(within=outer[0], unit=outer[1]), rows[3]])
assert groups.rows(rows[1:2], shapes)[0] == [rows[1]._replace(within="")]  # without the rows around it
refused(["group \"heads\"*not in a unit*within and unit"], [rows[0]._replace(within="first"), *rows[1:]])
refused(["overlaps another row"], [("qkv", 0, 0, 3, 8, "a"), ("qkv", 0, 4, 8, 1, "b")])
refused(["overlaps another row"], [("qkv", 0, 0, 3, 8, "a")] * 2)
refused(["indices 0 to 27"], [("qkv", 0, 0, 7, 4, "a")])
refused(["\"none:0\"", "\"fc1.weight\"", "unknown key inn"], {"a": {"out": ["none:0", "fc1.weight"], "inn": []}})
refused(["hold 5 units"], {"a": {"out": ["fc1.bias:0"], "size": 5}})
refused(["no groups"], [])
# a row of a group with signs may leave them out
gate = [groups.Row("fc1.weight", 0, 0, 6, 1, "h"), groups.Row("fc2.weight", 1, 0, 6, 2, "h", allows="signed")]
assert groups.rows(gate, shapes)[0] == gate and nesting.allows_of(gate) == nesting.allows_of(gate[::-1]) == {"h": "signed"}
refused(["\"h\": allows centred and permutation"], [gate[0], gate[1]._replace(allows="centred")])
refused(["\"h\": allows centred and signed"], [gate[1], gate[0]._replace(allows="centred")])
refused(["\"first\": allows signed and permutation"], [rows[0], *(
    groups.Row("qkv", 0, 8 * i + 4 * k, 4, 1, name, allows=allows) for i, name in enumerate(("first", "second", "third"))
    for k, allows in enumerate(("signed", "permutation")))])
# what the programs refuse in files is refused in rows too, so that no stream is written that they cannot read
for name in "", "a b", "a\nb", "a\tb", "é", "x" * 120:
    refused(["name*1 to 119 printable ASCII characters"], [("fc1.bias", 0, 0, 6, 1, name)])
groups.rows([("fc1.bias", np.int64(0), np.uint8(0), 6, 1, "x" * 119)], shapes)
for row in ("fc1.bias", 0, 0, 6, 1, "g", 1, 2), ("fc1.bias", 0, 0, 6, 1, "g", 1, "h", "0"), ("fc1.bias", 0., 0, 6, 1, "g"), ("fc1.bias", 0, 0, 6, True, "g"), ("fc1.bias", 0, 0, 6, 1, 7), ("fc1.bias", 0, 0, 6), (
        3, 0, 0, 6, 1, "g"):
    refused(["row (", "expected, with integers"], [row])
refused(["not fit axis -1"], [("fc1.bias", -1, 0, 6, 1, "g")])
refused(["overlaps another row"], [("qkv", 0, 0, 3, 8, "a"), ("qkv", 0, 0, 3, 2, "a")])
refused(["units*group \"heads\" contain different groups"], nested[:3])
refused(["\"third\"*counterpart*\"heads\""], nested[:3] + [("qkv", 0, 17, 7, 1, "third")])
shapes.update({"#": (6,), "a\tb": (6,), "none": (6, 0), "long": (2 * 65537,)})
refused(["\"#\"*not a name*group files*hold"], [("#", 0, 0, 6, 1, "g")])
refused(["\"a b\"*not a name*group files*hold"], [("a\tb", 0, 0, 6, 1, "g")])
refused(["not fit axis 0*\"none\""], [("none", 0, 0, 6, 1, "g")])
refused(["more*65536 groups"], [("long", 0, 2 * i, 2, 1, "g%d" % i) for i in range(65537)])
# limits of networks with rows: mcz.write refuses what mc-info does
def written(name, extra="", kind="weights"):
    symmetry = groups.text([(name, 0, 0, 6, 1, "h")]) + extra
    meta = {"net": "groups", "dataset": "", "symmetry": symmetry, **({"curve": "bezier", "points": 2} if kind == "curve" else {})}
    mcz.write("net.mcz", kind, meta, {p + name: np.ones(6, "f4") for p in (("0/", "1/") if kind == "curve" else ("",))})
    mcz.check("net.mcz")
for kind in "weights", "curve":
    written("n" * 95, kind=kind)
    expect_error(["name*at most 95 bytes"], lambda: written("n" * 96, kind=kind))
    expect_error(["\"symmetry\"*longer*2097152 bytes"], lambda: written("n", extra="#" * (2 << 20), kind=kind))
expect_error(["more*2147483648 parameters"], lambda: mcz.writing.check_declared("", {"a": [1 << 31], "b": [1]}))
mcz.writing.check_declared("", {"a": [(1 << 31) - 16], "b": [1]})
# axis 1 of parts, as rows and in files
shapes["w"] = (12, 6)
grouped = [("w", 0, 0, 2, 6, "g"), ("w", 1, 0, 6, 1, "h0", 2), ("w", 1, 6, 6, 1, "h1", 2)]
groups.write("parts.tsv", grouped)
assert [line.split("\t")[1] for line in open("parts.tsv")] == ["axis", "0", "1/2", "1/2"]
assert groups.read("parts.tsv") == [groups.Row(*r) for r in grouped]
rows, sizes = groups.rows("parts.tsv", shapes)
assert [r[:7] for r in rows] == [groups.Row(*r)[:7] for r in grouped] and groups.text(grouped) == open("parts.tsv").read()
assert groups.nesting(rows, shapes) == {"h0": ("g", 0), "h1": ("g", 1)}
index = groups.gather(12, rows[1:], {"h0": p, "h1": p[::-1]})
assert (index.reshape(2, 6) - [[0], [6]] == [p, p[::-1]]).all()
refused(["\"a\": axis 0*\"w\"", "counted over 2 parts"], [("w", 0, 0, 6, 1, "a", 2)])
refused(["counted over 5 parts"], [("w", 1, 0, 6, 1, "a", 5)])
refused(["indices 18 to 24*not fit axis 1"], [("w", 1, 18, 7, 1, "a", 4)])
refused(["\"a\": moves entries*\"w\" between*4 parts"], [("w", 1, 5, 2, 1, "a", 4)])
refused(["\"b\": moves entries*\"w\" between*4 parts"], [("w", 1, 0, 6, 1, "a", 4), ("w", 0, 0, 12, 1, "b")])
refused(["\"b\": axis 1*\"w\"*counted over*same parts"], [("w", 1, 0, 3, 1, "a", 4), ("w", 1, 3, 3, 1, "b")])
# one order in all units, within a unit of another group
tied = [("qkv", 0, 0, 2, 12, "kv"), ("qkv", 0, 0, 3, 4, "q"), *(("qkv", 0, 4 * r, 4, 1, "v") for r in range(3))]
second = [(*r[:2], r[2] + 12, *r[3:5], r[5] + "1") for r in tied[1:]]
rows, _ = groups.rows(tied + second, shapes)
assert groups.nesting(rows, shapes) == {"q": ("kv", 0), "v": ("kv", 0), "q1": ("kv", 1), "v1": ("kv", 1)}
assert nesting.places(rows, shapes)[-1] == (rows[-1], rows[0], 1, 8)
rows = rows[:len(tied)]
assert groups.nesting(rows[:2] + [r._replace(group="q3") for r in rows[4:]], shapes) == {"q": ("kv", 0), "q3": ("q", 2)}
try:
    groups.nesting(rows[:4], shapes)
    assert False
except mcz.Error as e:
    assert "\"v\" is not within the same unit" in str(e), e
for size in 0, 1, -6, 2.5, "6":
    refused(["group \"a\": \"size\"*integer*at least 2 (got %r)" % size], {"a": {
        "out": ["fc1.bias:0"], "size": size}})

class Broken:  # fails when it is written
    def __str__(self):
        raise ValueError
before = open("g.tsv").read(), set(os.listdir("."))
try:
    groups.write("g.tsv", [("fc1.bias", 0, 0, 6, 1, "h"), (Broken(), 0, 0, 6, 1, "h")])
    assert False
except ValueError:
    assert (open("g.tsv").read(), set(os.listdir("."))) == before
for text, words in ("tensor axis\n", "first line"), ("tensor\taxis\toffset\tcount\tblock\tgroup\nx\t0\t-1\t2\t1\tg\n", "line 2"), (
        "tensor\taxis\toffset\tcount\tblock\tgroup\nx\t1/\t0\t2\t1\tg\n", "line 2"), (
        "tensor\taxis\toffset\tcount\tblock\tgroup\twithin\nx\t0\t0\t2\t1\tg\t-\n", "first line*within unit allows"), (
        "tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\nx\t0\t0\t2\t1\tg\th\t-\n", "line 2"), (
        "tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\tallows\nx\t0\t0\t2\t1\tg\t-\t-\tmirrored\n", "line 2"):
    with open("bad.tsv", "w") as f:
        f.write(text)
    refused(["bad.tsv", words], "bad.tsv")
END

fixture cifar10
$python - <<'END'
import os, pickle, numpy as np
os.makedirs("set/cifar-10-batches-py")
for name in ["data_batch_%d" % i for i in range(1, 6)] + ["test_batch"]:
    raw = np.fromfile("set/cifar-10-batches-bin/%s.bin" % name, np.uint8).reshape(-1, 3073)
    batch = {"batch_label": "b", "labels": raw[:, 0].tolist(), "data": raw[:, 1:].copy(), "filenames": []}
    with open("set/cifar-10-batches-py/" + name, "wb") as f:  # as Python 2 wrote them: text as bytes
        pickle.dump({k.encode(): v for k, v in batch.items()}, f, 2)
names = open("set/cifar-10-batches-bin/batches.meta.txt").read().split()
with open("set/cifar-10-batches-py/batches.meta", "wb") as f:
    pickle.dump({b"label_names": [n.encode() for n in names]}, f, 2)
END
for split in test train; do
    $python -m mcz.data cifar10-python set --split $split -o p.mcz
    mc-data cifar10 set --split $split -o c.mcz
    same_content p.mcz c.mcz
done
$python -c 'import os, pickle
class Evil:
    def __reduce__(self): return os.system, ("touch run",)
pickle.dump(Evil(), open("set/cifar-10-batches-py/test_batch", "wb"))'
fails 3 'test_batch: unsafe pickle: calls posix.system' $python -m mcz.data cifar10-python set --split test
[ ! -e run ] || die 'a pickle was run'
fails 1 'No such file' $python -m mcz.data cifar100-python set

mkdir none && echo 'raise ImportError("none")' >none/torch.py
PYTHONPATH=none:$PYTHONPATH fails 1 'mcz.torch: PyTorch*required (none)' $python -m mcz.torch export m:n --input 3,8,8 --classes 10 -o x
echo '__version__ = "2.3.1+cpu"' >none/torch.py
PYTHONPATH=none:$PYTHONPATH fails 1 'mcz.torch: PyTorch 2.4*required (got 2.3.1+cpu)' $python -m mcz.torch export m:n --input 3,8,8 --classes 10 -o x
