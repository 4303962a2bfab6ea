# SPDX-License-Identifier: Apache-2.0
# A ResNet-20 with zero-padded shortcuts (option A) is exported, trained and aligned: the middle of each wider stage is the
# group of the narrower stage, and the zero channels on each side are two more groups. The permuted network has the same
# logits in PyTorch. The straight line, a learned curve, PAM and an attack accept it.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity OMP_NUM_THREADS=1
mc-data synth --size 16 --samples 96 -o data.mcz
$python -m mcz.torch export 'resnet_option_a:ResNet(depth=20, width=8)' --data data.mcz -o net.json 2>notes
[ ! -s notes ] || die "$(cat notes)"
for s in 1 2; do
    mc-train -q -t 1 --net ./net.json --data data.mcz --seed $s --batch 16 --epochs 1 --lr .02 -o $s.mcz
done
mc-acts -q --data data.mcz --samples 64 1.mcz 2.mcz | mc-corr -q | mc-hungarian -q -o p.mcz
mc-permute p.mcz 2.mcz -o p2.mcz
$python - <<'END_OF_PYTHON'
import mcz, mcz.torch, numpy as np, torch
from resnet_option_a import ResNet
p = mcz.read("p.mcz")
groups = {k: len(v) for k, v in p.tensors.items()}
streams = {k: n for k, n in groups.items() if "conv2" in k or k == "conv1"}
assert streams == {"conv1": 8, "layer2.0.conv2[0:4]": 4, "layer2.0.conv2[12:16]": 4, "layer3.0.conv2[0:8]": 8,
                   "layer3.0.conv2[24:32]": 8}, streams
assert sum(groups.values()) == 8 * 4 + 16 * 3 + 32 * 3 + 8 + 16, groups  # each block's inside, the stem, the zeros
assert all((v != np.arange(len(v))).any() for v in p.tensors.values()), "a group did not move"
x = torch.from_numpy(mcz.read("data.mcz").tensors["images"]) / 255
with torch.no_grad():
    b, pb = (mcz.torch.load(ResNet(width=8), f).eval()(x) for f in ("2.mcz", "p2.mcz"))
assert b.std() > .01 and (b - pb).abs().max() < 1e-4 * b.abs().max(), (b - pb).abs().max()
END_OF_PYTHON
mc-permute --verify data.mcz p.mcz 2.mcz >table
awk -F '\t' 'NR == 2 && $2 == 0 && $3 < 1e-4 * $4 { ok = 1 } END { exit !ok }' table || die "$(cat table)"
mc-bezier --epochs 0 1.mcz p2.mcz -o line.mcz
mc-eval -q -t 1 -p 3 -d data.mcz --bn-data data.mcz line.mcz >line.tsv
[ "$(wc -l <line.tsv)" = 4 ] || die "$(cat line.tsv)"
mc-bezier -q -t 1 -d data.mcz --epochs 1 --batch 16 1.mcz p2.mcz -o curve.mcz
mc-pam -q -t 1 -d data.mcz --epochs 1 --permutation-epochs 1 --select-images 32 --batch 16 1.mcz 2.mcz -o pam.mcz
mc-pgd -q -t 1 -d data.mcz --samples 16 1.mcz -o attack.mcz
for f in curve pam attack; do mc-info -q --check $f.mcz; done
