# SPDX-License-Identifier: Apache-2.0
# If a program gets a PyTorch or NumPy file instead of a stream, its message names the command that converts it.
py <<'PY'
import zipfile
with zipfile.ZipFile("net.pt", "w") as z: # as written by torch.save
    z.writestr("net/data.pkl", b"\x80\x02}q\x00.")
open("old.pth", "wb").write(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")
np.savez("w.npz", a=np.zeros(3))
open("w.safetensors", "wb").write(b"\x40" + bytes(7) + b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}          ' + bytes(4))
open("w.safetensors.index.json", "w").write('{"metadata": {}, "weight_map": {"a": "w-1.safetensors"}}')
PY
mc-data synth --samples 20 -o d.mcz
cp "$MC_ROOT/formats/samples/good-weights.mcz" a.mcz
by='convert it with safetensors.torch.save_file(net.state_dict(), FILE), or with python -m mcz.torch export'
for program in mc-info mc-permute\ --identity "mc-eval --data a.mcz" "mc-pgd --data a.mcz --eps .1" "mc-bezier --epochs 0 a.mcz"; do
    fails 3 "net.pt:*not an mcz stream*PyTorch pickle: $by" $program net.pt
    fails 3 "w.npz:*not an mcz stream*npz: convert weights*mc-convert, images*mc-data npz" $program w.npz
    fails 3 "old.pth:*not an mcz stream*PyTorch pickle: $by" $program old.pth
    fails 3 "w.safetensors:*not an mcz stream*safetensors: convert*mc-convert" $program w.safetensors
done
for f in net.pt old.pth; do
    fails 2 "$f: PyTorch pickles*read: $by" mc-convert --net mlp:8 --data a.mcz $f -o b.mcz
done
fails 3 "$by" mc-convert --from npz --net mlp:8 --data d.mcz net.pt -o b.mcz
fails 3 "w.safetensors.index.json:*not an mcz stream*index*safetensors shards: convert*mc-convert" mc-info w.safetensors.index.json
fails 3 "a.mcz: JSON expected*mcz stream*mc-info --graph" mc-train --net ./a.mcz --data d.mcz
