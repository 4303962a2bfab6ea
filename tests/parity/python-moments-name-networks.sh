# SPDX-License-Identifier: Apache-2.0
# mcz.torch.moments identifies its networks by the content ids of their streams: those that mc-convert --groups makes, for
# any name of the group file, or those of the streams in weights=. mc-permute therefore warns only about other networks.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$PWD OMP_NUM_THREADS=1
cat >nets.py <<'END'
import torch
from torch import nn

class Net(nn.Module):  # names out of order, a counter, a scalar, an integer mask, a buffer of float16
    def __init__(self, seed, width=12):
        super().__init__()
        torch.manual_seed(seed)
        self.up, self.norm = nn.Conv2d(3, width, 3, 2), nn.BatchNorm2d(width)
        self.Down, self.rate = nn.Linear(width * 9, 10), nn.Parameter(torch.rand(()))
        self.register_buffer("mask", torch.ones(4, dtype=torch.int64))
        self.register_buffer("short", torch.rand(3).half())
        self(torch.rand(8, 3, 8, 8))

    def forward(self, x):
        return self.Down(torch.relu(self.norm(self.up(x))).flatten(1))

GROUPS = {"hidden": {"out": ["up.*:0", "norm.*:0"], "in": ["Down.weight:1"], "size": 12, "at": "norm"}}
END
$python - <<'END'
import mcz.torch, nets, torch
from mcz import groups, safetensors
x = torch.rand(40, 3, 8, 8, generator=torch.Generator().manual_seed(5))
a, b, c = (nets.Net(seed) for seed in (1, 2, 3))
for net, path in zip((a, b, c), "abc"):
    net.eval()
    safetensors.write(path + ".safetensors", {k: v.numpy() for k, v in net.state_dict().items() if v.is_floating_point()})
rows, _ = groups.rows(nets.GROUPS, {k: v.shape for k, v in a.state_dict().items()})
groups.write("rows.tsv", rows)
groups.write("another name.txt", rows)
mcz.torch.moments(a, b, x.split(20), nets.GROUPS, "m.mcz")
mcz.torch.moments(a, b, x.split(20), "rows.tsv", "file.mcz", at={"hidden": "norm"})
END
for n in a b c; do mc-convert -q $n.safetensors --groups rows.tsv -o $n.mcz; done
mc-convert -q b.safetensors --groups 'another name.txt' | same_content - b.mcz
mc-convert -q b.safetensors --groups <(cat rows.tsv) | same_content - b.mcz
for m in m file; do
    mc-corr -q $m.mcz | mc-hungarian -q -o p.mcz
    expect_message '' mc-permute p.mcz b.mcz
    for other in a c; do expect_message "mc-permute: warning: p.mcz*another network*$other.mcz" mc-permute p.mcz $other.mcz; done
done
expect_message '' mc-corr --signature --perm p.mcz m.mcz
# bfloat16 batches; the networks' own streams, and another network's
$python - <<'END'
import mcz, mcz.torch, nets, torch
from refusal import expect_error
x = torch.rand(40, 3, 8, 8)
a, b = nets.Net(1).eval(), nets.Net(2).eval()
for n in a, b:
    n.up.register_forward_pre_hook(lambda m, x: x[0].float())
half = [x.to(torch.bfloat16)]
mcz.torch.moments(a, b, half, nets.GROUPS, "h.mcz")
mcz.torch.moments(a, b, half, nets.GROUPS, "w.mcz", weights=("a.mcz", "b.mcz"))
assert mcz.read("w.mcz").inputs == mcz.read("h.mcz").inputs == [mcz.read(f).id for f in ("a.mcz", "b.mcz")] + [
    mcz.read("h.mcz").inputs[2]]
expect_error(["c.mcz: weights*another network (8 tensors differ: Down.bias, Down.weight, norm.running_mean, ...)"],
     lambda: mcz.torch.moments(a, b, half, nets.GROUPS, "none.mcz", weights=("a.mcz", "c.mcz")))
expect_error(["2 weights streams expected, one per network*got 1"], lambda: mcz.torch.moments(
    a, b, half, nets.GROUPS, "none.mcz", weights=["a.mcz"]))
END
[ ! -e none.mcz ] || die 'an output was written'

# networks that have a graph
mc-data synth --size 8 --samples 40 -q -o few.mcz
cat >plain.py <<'END'
import torch
from torch import nn
def net(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 9), nn.ReLU(), nn.Linear(9, 10))
END
for s in 1 2; do
    $python -m mcz.torch export "plain:net($s)" --data few.mcz -o net.json --weights $s.safetensors
    mc-convert $s.safetensors --net ./net.json --data few.mcz -o $s.mcz
done
$python -c '
import mcz.torch, plain, torch
mcz.torch.moments(plain.net(1), plain.net(2), [torch.rand(30, 3, 8, 8)], {
    "1": {"out": ["1.*:0"], "in": ["3.weight:1"], "at": "2"}}, "g.mcz", weights=("1.mcz", "2.mcz"))'
mc-corr -q g.mcz | mc-hungarian -q -o q.mcz
expect_message '' mc-permute q.mcz 2.mcz
expect_message 'mc-permute: warning: q.mcz*another network*1.mcz' mc-permute q.mcz 1.mcz
