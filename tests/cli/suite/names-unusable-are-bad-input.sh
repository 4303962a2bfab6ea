# SPDX-License-Identifier: Apache-2.0
# Contents of files that a stream cannot hold are bad input: status 3, and one line that names the file.
py <<'END'
import struct
from mcz import safetensors
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\na\t0\t0\t4\t1\tg\n")
names = {"bell": "\a", "newline": "x\ny", "delete": "x\x7f", "empty": "", "long": "n" * 200}
for file, name in names.items():
    np.savez(file + ".npz", **{"a": np.zeros(4, "f4"), name or "x": np.zeros(2, "f4")})
    text = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}, name: {"dtype": "F16", "shape": [2], "data_offsets": [16, 20]}})
    open(file + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text.encode() + bytes(20))
for file, shape in ("shape", [1 << 47, 0, 4]), ("row", [1, 9 << 20]):
    size = 0 if 0 in shape else 36 << 20
    text = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}, "z": {"dtype": "F32", "shape": shape, "data_offsets": [16, 16 + size]}})
    with open(file + ".safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text.encode())
        f.truncate(8 + len(text) + 16 + size)
rows = {"net": "groups", "dataset": "", "symmetry": open("g.tsv").read()}

def write_full():
    """A stream whose history has no room for another run."""
    words = [["word", "x" * 1000]] * 1030
    for left in range(20000, 0, -20):
        history = [{"tool": "mc-other", "version": "1", "args": words + [["last", "x" * left]], "parents": []}]
        try:
            return mcz.write("full.mcz", "weights", rows, {"a": np.zeros(4, "f4")}, history=history)
        except mcz.Error:
            pass

write_full()
mcz.write("short.mcz", "weights", rows, {"a": np.ones(4, "f4")})
node = lambda op, name, **more: {"op": op, "name": name, "in": more.pop("of", []), **more}
for file, name in ("control", "a\x1b[2J"), ("nameless", ""), ("wide", "w" * 130):
    nodes = [node("normalise", "p", mean=[0, 0, 0], std=[1, 1, 1]), node("flatten", "f", of=["p"]),
             node("linear", name, of=["f"], out=10, bias=True), node("loss", "loss", of=[name], weight=1, train_only=False)]
    json.dump({"input": [3, 8, 8], "classes": 10, "nodes": nodes}, open(file + ".json", "w"))
END
for f in bell newline delete empty long shape row; do
    fails_unchanged 3 "$f.safetensors: " mc-convert $f.safetensors --groups g.tsv -o no.mcz
done
for f in bell newline delete long; do fails_unchanged 3 "$f.npz: " mc-convert $f.npz --groups g.tsv -o no.mcz; done
echo 'z -' >without.map
mc-convert -q row.safetensors --groups g.tsv --map without.map -o a.mcz
mc-info --check -q full.mcz
fails_unchanged 3 'full.mcz:*history*no room*run (--no-history)' mc-permute --random 1 full.mcz -o no.mcz
fails_unchanged 3 'full.mcz:*history*no room*run (--no-history)' mc-merge short.mcz full.mcz -o no.mcz
mc-merge --no-history short.mcz full.mcz -o m.mcz
mc-data synth --samples 20 --size 8 -o d.mcz
for f in control nameless wide; do fails_unchanged 3 "$f.json: " mc-train -q --net ./$f.json --data d.mcz --epochs 0 -o no.mcz; done
