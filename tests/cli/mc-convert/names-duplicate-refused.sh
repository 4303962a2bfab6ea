# SPDX-License-Identifier: Apache-2.0
# mc-convert refuses duplicate names in npz and safetensors files, rows of groups, rules of a map and graph files, and
# tensors that a map gives the same name.
fixture converted
py <<'END'
import io, struct, warnings, zipfile
warnings.simplefilter("ignore")
a = dict(np.load("a.npz"))
np.savez("twice.npz", **a)
with zipfile.ZipFile("twice.npz", "a") as z:
    f = io.BytesIO()
    np.save(f, a["dense.bias"] + 1)
    z.writestr("dense.bias.npy", f.getvalue())
one = '{"dtype":"F32","shape":[4],"data_offsets":[%d,%d]}'
def raw(path, entries, n):
    text = ("{" + ",".join('"%s":%s' % (k, one % (16 * i, 16 * i + 16)) for k, i in entries) + "}").encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + bytes(16 * n))
raw("twice.safetensors", [("v", 0), ("w", 1), ("v", 2)], 3)
raw("escaped.safetensors", [("v", 0), ("w", 1), ("\\u0076", 2)], 3)
raw("good.safetensors", [("v", 0), ("w", 1)], 2)
END
fails_unchanged 3 'twice.npz: holds "dense.bias" more than once' mc-convert twice.npz --like a.mcz -o x.mcz
rows='tensor\taxis\toffset\tcount\tblock\tgroup\nv\t0\t0\t4\t1\tg\nw\t0\t0\t4\t1\tg\n'
printf "$rows" >g.tsv
mc-convert good.safetensors --groups g.tsv -o g.mcz
for f in twice escaped; do
    fails_unchanged 3 "$f.safetensors: line 1, column" mc-convert $f.safetensors --groups g.tsv -o x.mcz
    grep -q 'duplicate object key' err.fails || die "$(cat err.fails)"
done
printf "$rows"'v\t0\t0\t4\t1\tg\n' >again.tsv
fails_unchanged 3 'again.tsv: line 4: overlaps line 2' mc-convert good.safetensors --groups again.tsv -o x.mcz
printf "$rows"'v\t0\t0\t4\t1\th\n' >again.tsv
fails_unchanged 3 'again.tsv: line 4: overlaps line 2' mc-convert good.safetensors --groups again.tsv -o x.mcz
printf 'w v\n' >one.map
grep -v ^w g.tsv >v.tsv
fails_unchanged 3 'good.safetensors:*map names more*one tensor "v"' \
    mc-convert good.safetensors --groups v.tsv --map one.map -o x.mcz
# a module twice: the second rule would apply never, or only to what the first one left
for second in 'layer1 c' 'layer1 b' 'layer1 -' '  layer1   other # again'; do
    printf 'layer1 b\nx y\n%s\n' "$second" >two.map
    fails_unchanged 3 'two.map: line 3: layer1 already*rule*line 1' mc-convert a.npz --like a.mcz --map two.map -o x.mcz
done
printf 'layer* b*\nlayer*.* c*.*\nlayer1 d\nother b*\n' >differ.map
fails 3 'differ.map: line 4: both names*same number*stars' mc-convert a.npz --like a.mcz --map differ.map
mc-info --graph a.mcz >net.json
sed 's/"classes"/"net": "again", &/' net.json >twice.json
fails_unchanged 3 'twice.json: line 1, column' mc-convert a.npz --net ./twice.json --data data.mcz -o x.mcz
