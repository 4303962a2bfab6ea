# SPDX-License-Identifier: Apache-2.0
# mc-convert and mcz.safetensors.read accept sharded safetensors: an index, or a folder that contains one index or one file.
# Shards that disagree with their index are refused with one line, by both in the same words.
py <<'END'
import os
from mcz import safetensors
draw = np.random.RandomState(1)
tensors = {"%s.%s" % (layer, kind): draw.randn(*shape).astype("f4") for layer in ("c", "a", "b")
           for kind, shape in (("weight", (6, 5)), ("bias", (6,)))}
safetensors.write("whole.safetensors", tensors)
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\na.weight\t0\t0\t6\t1\tg\n")
open("h.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\nb.weight\t0\t0\t6\t1\tg\n")
shards = {"c.weight": 1, "a.bias": 1, "b.weight": 2, "c.bias": 2, "a.weight": 3, "b.bias": 3}

def name(i):
    return i if isinstance(i, str) else "m-%d.safetensors" % i

def save(folder, places=shards, index=None, text=None):
    os.mkdir(folder)
    for i in sorted({i for of in places.values() for i in (of if isinstance(of, list) else [of])}):
        safetensors.write("%s/%s" % (folder, name(i)), {k: tensors.get(k, np.zeros(1, "f4")) for k, of in places.items()
                                                         if i == of or isinstance(of, list) and i in of})
    index = {k: name(i) for k, i in shards.items()} if index is None else index
    with open(folder + "/m.safetensors.index.json", "w") as f:
        f.write(text or json.dumps({"metadata": {"total_size": 1}, "weight_map": index}))

def changed(**more):
    return {**{k: name(i) for k, i in shards.items()}, **{k.replace("_", "."): v for k, v in more.items()}}

save("good")
save("unlisted", {**shards, "d": 2})
save("absent", index=changed(d="m-2.safetensors"))
save("moved", index=changed(b_bias="m-2.safetensors"))
save("twice", {**shards, "b.bias": [2, 3]})
save("lost", index=changed(b_bias="m-4.safetensors"))
save("out", index=changed(b_bias="../whole.safetensors"))
save("number", index=changed(b_bias=3))
save("other", index=changed(b_bias="m-3.bin"))
save("empty", index={})
save("nomap", text='{"metadata": {}}')
save("list", text='[1]')
save("text", text='weights')
save("cut", text='{"weight_map": {"a.bias": "m-1.safet')
save("repeated", text=json.dumps({"weight_map": changed()}).replace('"a.bias"', '"c.bias"'))
save("damaged")
os.truncate("damaged/m-2.safetensors", 200)
save("fifo")
os.remove("fifo/m-2.safetensors")
os.mkfifo("fifo/m-2.safetensors")
save("two")
os.rename("two/m.safetensors.index.json", "two/m.fp16.safetensors.index.json")
open("two/n.safetensors.index.json", "w").write("{}")
os.mkdir("single")
safetensors.write("single/x.safetensors", tensors)
open("single/._x.safetensors", "w").write("not a tensor")
os.mkdir("bare")
open("bare/pytorch_model.bin", "w").write("pickle")
END
mc-convert whole.safetensors --groups g.tsv -o whole.mcz
for in in good good/ good/m.safetensors.index.json single; do
    mc-convert $in --groups g.tsv -o x.mcz
    same_content x.mcz whole.mcz
done
(cd good && mc-convert m.safetensors.index.json --groups ../g.tsv -o ../x.mcz)
same_content x.mcz whole.mcz
mc-convert good --groups h.tsv -o h.mcz
mc-convert whole.safetensors --groups h.tsv | same_content - h.mcz
ln -s good link # as in Hugging Face's cache
mc-convert --from safetensors link --groups g.tsv | same_content - whole.mcz
# the output may be a new file of the folder, but not a shard
cp -r good mine
for i in 1 2; do mc-convert mine/m.safetensors.index.json --like whole.mcz -o mine/all.npz; done
fails_unchanged 2 "--output*input*same file 'mine/m-2.safetensors'" \
    mc-convert mine/m.safetensors.index.json --like whole.mcz -o mine/m-2.safetensors
fails_unchanged 2 "'mine/m-2.safetensors'*file*input folder 'mine'" mc-convert mine --like whole.mcz -o mine/m-2.safetensors

# one shard alone lacks tensors of the others; a file that no index names is not a shard
fails_unchanged 3 'mc-convert: good/m-1.safetensors*shard*good/m.safetensors.index.json*h.tsv: line 2: unknown tensor "b.weight"' \
    mc-convert good/m-1.safetensors --groups h.tsv -o no.mcz
(cd good && fails 3 'm-1.safetensors*shard*m.safetensors.index.json' \
    mc-convert m-1.safetensors --like ../whole.mcz -o ../no.mcz)
cp good/m-1.safetensors good/own.safetensors
mc-convert good/own.safetensors --groups h.tsv -o no.mcz 2>errors && die 'a missing tensor was accepted'
grep -q shard errors && die "$(cat errors)"
rm good/own.safetensors

# a folder, and its message
cat >refused <<'END'
unlisted unlisted/m.safetensors.index.json: "d"*m-2.safetensors*not in*index
absent absent/m.safetensors.index.json: "d"*missing*m-2.safetensors
moved moved/m.safetensors.index.json: "b.bias" must be in m-2.safetensors (found in m-3.safetensors)
twice twice/m.safetensors.index.json: holds "b.bias" more than once
lost open*'lost/m-4.safetensors': No such file
out out/m.safetensors.index.json: tensor "b.bias":*shard*.safetensors file*index's folder (got "../whole.safetensors")
number number/m.safetensors.index.json: tensor "b.bias":*shard*.safetensors file*index's folder
other other/m.safetensors.index.json: tensor "b.bias":*shard*.safetensors file*index's folder (got "m-3.bin")
empty empty/m.safetensors.index.json:*"weight_map"*names each tensor's shard*required
nomap nomap/m.safetensors.index.json:*"weight_map"*names each tensor's shard*required
list list/m.safetensors.index.json:*"weight_map"*names each tensor's shard*required
text text/m.safetensors.index.json: not an index*shards
cut cut/m.safetensors.index.json: not an index*shards
repeated repeated/m.safetensors.index.json: not an index*shards
damaged damaged/m-2.safetensors:
fifo fifo/m-2.safetensors: not a regular file
two two:*folder*2 indexes (name one: m.fp16.safetensors.index.json, n.safetensors.index.json)
bare bare:*folder without safetensors files
END
rm good/m.safetensors.index.json
echo 'good good: *folder*3 safetensors files*no index*m-1.safetensors, m-2.safetensors' >>refused
while read -r folder text; do
    fails_unchanged 3 "$text" mc-convert $folder --groups g.tsv -o no.mcz
done <refused
fails 1 "cannot open 'no.safetensors.index.json'" mc-convert no.safetensors.index.json --groups g.tsv
fails 1 "cannot open 'nowhere/'" mc-convert --from safetensors nowhere/ --groups g.tsv

mkdir again && mc-convert whole.mcz -o again/whole.safetensors
py <<'END'
from mcz import safetensors
from refusal import expect_error
whole = safetensors.read("whole.safetensors")
for path in "mine", "mine/m.safetensors.index.json", "single", "again":
    got = safetensors.read(path)
    assert set(got) == set(whole) and all((got[k] == whole[k]).all() for k in whole), path
for line in open("refused"):
    folder, text = line.rstrip("\n").split(" ", 1)
    expect_error([text], lambda: safetensors.read(folder))
END
