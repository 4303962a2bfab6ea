# SPDX-License-Identifier: Apache-2.0
# mc-convert reads files of other writers: compressed, other versions, byte orders and float types, counts of batch norm.
fixture converted

py <<'END'
import io
import zipfile
a = mcz.read("a.mcz").tensors
counts = {n[:-12] + "num_batches_tracked": np.array(7) for n in a if n.endswith("running_mean")}
np.savez_compressed("deflated.npz", **a, **counts)
with zipfile.ZipFile("orders.npz", "w") as z:
    for i, (name, v) in enumerate(a.items()):
        f = io.BytesIO()
        np.lib.format.write_array(f, np.asfortranarray(v), version=[(1, 0), (2, 0), (3, 0)][i % 3])
        z.writestr(name + ".npy", f.getvalue())
half = {n: v.astype(np.float16) for n, v in a.items()}
tiny = np.array([0x0001, 0x83ff, 0x0400, 0x8000, 0x7bff, 0xfbff, 0x3c01, 0x0200] * 2, np.uint16).view(np.float16)
half["layers.0.conv.bias"] = tiny
np.savez("half.npz", **half)
np.savez("double.npz", **{n: v.astype(np.float64) + 1e-12 for n, v in a.items()})
nets = {"half": half, "double": {n: (v.astype(np.float64) + 1e-12).astype(np.float32) for n, v in a.items()}}
for name, t in nets.items():
    np.savez("want-%s.npz" % name, **{n: v.astype(np.float32) for n, v in t.items()})
# bfloat16 is the upper half of a float32
bf = {n: (np.ascontiguousarray(v).view(np.uint32) & 0xffff0000).view(np.float32) for n, v in a.items()}
np.savez("want-bf16.npz", **bf)
import json, struct
head, at, data = {}, 0, b""
for n, v in bf.items():
    raw = (v.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    head[n] = {"dtype": "BF16", "shape": list(v.shape), "data_offsets": [at, at + len(raw)]}
    at, data = at + len(raw), data + raw
head = json.dumps(head).encode()
open("bf16.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + data)
END
for f in deflated orders; do
    mc-convert $f.npz --like a.mcz -o x.mcz 2>note
    same_content a.mcz x.mcz
    [ ! -s note ] || die "$f.npz: $(cat note)"
done
for f in half.npz double.npz bf16.safetensors; do
    mc-convert $f --like a.mcz --f32 -o x.mcz 2>note
    mc-convert want-${f%.*}.npz --like a.mcz -o y.mcz
    same_content x.mcz y.mcz
    [ "$(wc -l <note)" = 1 ] || die "$f: $(cat note)"
done
grep -q '50 tensors of bfloat16 became float32' note || die "$(cat note)"
mc-convert -q double.npz --like a.mcz -o x.mcz 2>note
[ ! -s note ] || die "-q: $(cat note)"
