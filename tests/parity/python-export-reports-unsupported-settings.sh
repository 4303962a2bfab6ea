# SPDX-License-Identifier: Apache-2.0
# The exporter names each setting of PyTorch that no node has, with its module's path, all at once: None for a number,
# values out of the graph's range, arguments of functions. eps=0 becomes the smallest number and is reported, as is a module
# that works in training only. Modules keep their modes.
# Needs python3-torch (PYTHON: another Python that has it); skipped without.
python=${PYTHON:-/usr/bin/python3}
$python -c 'import torch' 2>/dev/null || { echo 'python3-torch is not installed'; exit 77; }
[ "${MC_UNDER:-}" != valgrind ] || exit 77
export PYTHONPATH=$PYTHONPATH:$PWD OMP_NUM_THREADS=1
cat >nets.py <<'END'
import torch
from torch import nn
from torch.nn import functional as F

class Tiny(nn.Module):
    def __init__(self, norm=None):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 4, 3), norm or nn.BatchNorm2d(4, eps=0), nn.Linear(4, 10)

    def forward(self, x):
        return self.fc(self.norm(self.conv(x)).mean((2, 3)))

class Calls(nn.Module):  # a function between two layers
    def __init__(self, call):
        super().__init__()
        self.conv, self.fc, self.call = nn.Conv2d(3, 4, 3), nn.Linear(4, 10), call

    def forward(self, x):
        return self.fc(self.call(self.conv(x)).mean((2, 3)))

class Noise(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x) if self.training else x
END
$python - <<'END'
import copy, mcz.torch, torch, nets
from torch import nn
from torch.nn import functional as F
from refusal import expect_error

def export(net):
    return mcz.torch.export(net, (3, 9, 9), 10)
def expect_refusal(net, *words):
    expect_error(["has no node:", *words], lambda: export(net))

expect_refusal(nets.Tiny(nn.BatchNorm2d(4, momentum=None)), "norm: batch_norm: momentum=None: ")
expect_refusal(nets.Tiny(nn.SyncBatchNorm(4, momentum=None)), "norm: batch_norm: momentum=None: ")
expect_refusal(nets.Tiny(nn.BatchNorm2d(4, momentum=1.5)), "norm: batch_norm: \"momentum\" must be a number from 0 to 1 (got 1.5)")
expect_refusal(nets.Tiny(nn.BatchNorm2d(4, affine=False)), "norm: batch_norm: without weight and bias (affine=False)")
expect_refusal(nets.Tiny(nn.BatchNorm2d(4, track_running_stats=False)), "norm: batch_norm: without running statistics")
both = nets.Calls(nn.Dropout(1.))
both.fc = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6, momentum=None), nn.Softplus(),
                        nn.Linear(6, 10))
expect_refusal(both, "call: dropout: \"p\" must be a number from 0 to below 1 (got 1.0)", "fc.1: batch_norm: momentum=None",
        "fc.2: softplus: no node")
long = nets.Calls(nn.Sequential())
long.call.add_module("x" * 92, nn.Sequential(nn.ReLU()))
expect_refusal(long, "call.%s.0: relu: \"name\" is longer than 95 bytes" % ("x" * 92))
# momentum=0 is a number
graph, _, notes = export(nets.Tiny(nn.BatchNorm2d(4, momentum=0)))
assert [n["momentum"] for n in graph["nodes"] if n["op"] == "batchnorm"] == [0] and not notes, notes

mean = nets.Tiny(nn.BatchNorm2d(4)).norm
for call, words in (
        (lambda x: F.batch_norm(x, None, None, training=True), "without running statistics"),
        (lambda x: torch.div(x, 2, rounding_mode="floor"), "div: rounding_mode='floor'"),
        (lambda x: x.detach(), "detach: it stops the gradient"),
        (lambda x: x.to(torch.bfloat16).float(), "to: returns torch.bfloat16"),
        (lambda x: x.to(torch.float64).float(), "to: returns torch.float64"),
        (lambda x: torch.add(x, x, alpha=2), "add: times alpha=2"),
        (lambda x: F.gelu(x, approximate="tanh"), "gelu: approximate='tanh'"),
        (lambda x: F.avg_pool2d(x, 3, padding=1), "count_include_pad"),
        (lambda x: F.max_pool2d(x, 2, dilation=2), "max_pool2d: dilation (2, 2)")):
    expect_refusal(nets.Calls(call), "(the network itself): ", words)
norm = nets.Tiny()
norm.norm.forward = lambda x: F.batch_norm(x, norm.norm.running_mean, norm.norm.running_var, norm.norm.weight,
                                           norm.norm.bias, training=True)
expect_refusal(norm, "norm: batch_norm: it normalises by the batch in evaluation too")
class Over(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc, self.dim = nn.Linear(243, 10), dim
    def forward(self, x):
        return F.log_softmax(self.fc(x.flatten(1)), self.dim)
expect_refusal(Over(0), "log_softmax: not of an image's logits")
assert export(Over(-1))[2] == export(Over(1))[2]
# the normalisation keeps a summand's factor
class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(243, 10)
    def forward(self, x):
        return self.fc(torch.sub(x, .125, alpha=2).flatten(1))
graph, _, _ = export(Shifted())
assert graph["nodes"][0]["mean"] == [.25] * 3, graph["nodes"][0]

# notes, and modes
graph, _, notes = export(nets.Tiny())
assert notes == ["norm: eps=0 becomes 1.17549e-38, which is the same unless a variance is 0"], notes
assert 0 < [n["eps"] for n in graph["nodes"] if n["op"] == "batchnorm"][0] < 1e-37
noisy = nets.Calls(nets.Noise())
assert export(noisy)[2] == ["Noise is left out: training here is without it"]
for quiet in nn.Identity(), nn.Sequential(), nn.ReLU(inplace=True):
    assert not export(nets.Calls(quiet))[2], quiet
fixed = nets.Tiny(nn.BatchNorm2d(4))
fixed.conv.requires_grad_(False)
assert export(fixed)[2] == ["fixed there (requires_grad=False), but trained here: conv"], export(fixed)[2]
fixed.requires_grad_(False)
assert export(fixed)[2] == ["fixed there (requires_grad=False), but trained here: all parameters"]
fixed.train()
fixed.norm.eval()
export(fixed)
mcz.torch.moments(fixed, copy.deepcopy(fixed), [torch.rand(2, 3, 9, 9)], {"g": {"out": ["conv.*:0"], "at": "conv"}}, "m.mcz")
assert fixed.training and fixed.conv.training and not fixed.norm.training, "modes have changed"
broken = nets.Tiny(nn.BatchNorm2d(4))
with torch.no_grad():
    broken.fc.weight[2, 3] = float("inf")
expect_error(["\"fc.weight\" holds a value that is not finite"], lambda: export(broken))
END
# a network with eps=0 computes the same here
mc-data synth --size 9 --samples 32 -q -o few.mcz
$python -c 'import torch, nets; torch.manual_seed(8); torch.save(nets.Tiny().state_dict(), "a.pt")'
$python -m mcz.torch export nets:Tiny --state a.pt --data few.mcz -o a.json --weights a.safetensors 2>err
expect_equal "$(cat err)" 'mcz.torch: nets:Tiny: norm: eps=0 becomes 1.17549e-38, which is the same unless a variance is 0'
mc-convert a.safetensors --net ./a.json --data few.mcz -o a.mcz
"$MC_BUILD/tests/parity/test_convert" a.mcz few.mcz >a.tsv
$python - <<'END'
import mcz, nets, numpy as np, torch
s, net = mcz.read("few.mcz"), nets.Tiny()
net.load_state_dict(torch.load("a.pt"))
mean, std = (torch.tensor(s.meta[k]).view(1, -1, 1, 1) for k in ("mean", "std"))
with torch.no_grad():
    there = net.eval()((torch.from_numpy(s.tensors["images"]) / 255 - mean) / std).numpy()
here = np.loadtxt("a.tsv")
assert there.std() > .01 and np.abs(there - here).max() <= 1e-5 * np.abs(there).max(), np.abs(there - here).max()
END
# and trains
mc-train -q --net ./a.json --data few.mcz --epochs 1 --no-augment -o trained.mcz
fails 3 'nets:Tiny(norm=3): ' $python -m mcz.torch export 'nets:Tiny(norm=3)' --input 3,9,9 --classes 10 -o x.json
[ ! -e x.json ] || die 'something was written'
