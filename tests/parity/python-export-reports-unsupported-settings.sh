# SPDX-License-Identifier: Apache-2.0
# The exporter lists every setting that graphs do not support, with the module's path: None for a number, values out of
# range, arguments of functions. It replaces eps=0 by the smallest number, and notes this and modules that act in training
# only. Modules keep their modes.
need_torch 2.4
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

class Zero(Calls):  # before a layer of zeros
    def __init__(self, call):
        super().__init__(call)
        self.fc = nn.Linear(196, 10)
        nn.init.zeros_(self.fc.weight)

    def forward(self, x):
        return self.fc(self.call(self.conv(x)).flatten(1))

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
def refused(net, *words):
    expect_error(["see docs/reference/modules.md", *words], lambda: export(net))

refused(nets.Tiny(nn.BatchNorm2d(4, momentum=None)), "norm: batch_norm: momentum=None, the mean of all batches, is not")
refused(nets.Tiny(nn.SyncBatchNorm(4, momentum=None)), "norm: batch_norm: momentum=None, ")
refused(nets.Tiny(nn.BatchNorm2d(4, momentum=1.5)), "norm: batch_norm: \"momentum\" ")
refused(nets.Tiny(nn.BatchNorm2d(4, affine=False)), "norm: batch_norm: weight and bias are required (affine=True)")
refused(nets.Tiny(nn.BatchNorm2d(4, track_running_stats=False)), "norm: batch_norm: running statistics are required")
refused(nets.Tiny(nn.InstanceNorm2d(4)), "norm: InstanceNorm2d is not supported in graphs: see docs/reference/modules.md, or use mcz.torch.groups")
both = nets.Calls(nn.Dropout(1.))
both.fc = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6, momentum=None), nn.Softplus(),
                        nn.Linear(6, 10))
refused(both, "3 problems (see docs/reference/modules.md, or use mcz.torch.groups):\n  call: dropout: \"p\" ", "\n  fc.1: batch_norm: momentum=None",
        "\n  fc.2: Softplus is not supported in graphs")
long = nets.Calls(nn.Sequential())
long.call.add_module("x" * 92, nn.Sequential(nn.ReLU()))
refused(long, "call.%s.0: relu: \"name\" is longer than 95 bytes" % ("x" * 92))
# constants that training changes, a scale that is used twice, arguments by name
own = lambda *shape: nn.Parameter(torch.ones(shape))
for call, word in ((lambda x, g=own(4): x * g.view(1, -1, 1, 1), "mul: its factor"), (lambda x, g=own(4, 1, 1): x - (g - 1), "sub: a constant"),
                   (lambda x, g=own(1): x / g, "div: its divisor"), (lambda x: x.transpose(dim0=2, dim1=3), "transpose: ")):
    refused(nets.Calls(call), word)
twice = nets.Calls(nn.Module())
twice.call.g = own(4, 1, 1)
twice.call.forward = lambda x: (x * twice.call.g).relu() * twice.call.g
refused(twice, "call.g is used twice")
@torch.no_grad()
def stopped(x):
    return x.relu()
expect_error("other gradients of conv.weight, conv.bias", lambda: export(nets.Calls(stopped)))
@torch.no_grad()
def gate(x):
    return x.mean((2, 3), keepdim=True).sigmoid()
expect_error("other gradients of conv.weight, conv.bias", lambda: export(nets.Calls(lambda x: x * gate(x))))
# exchanged rows and columns, also if later weights are 0
refused(nets.Zero(lambda x: x.transpose(2, 3)), "exchanged rows and columns")
refused(nets.Zero(lambda x: x * x.transpose(2, 3)), "mul: shapes")
export(nets.Zero(lambda x: x.transpose(2, 3).relu().transpose(2, 3)))
# a tensor that is used before and after its dropout
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.one, self.two, self.drop = nn.Conv2d(3, 4, 3), nn.Linear(4, 10), nn.Linear(4, 10), nn.Dropout(.5)
    def forward(self, x):
        with torch.no_grad():  # of pixels: nothing to train
            x = x - .5
        h = self.conv(x).mean((2, 3))
        return self.one(self.drop(h)) + self.two(h)
nodes = {n["name"]: n["in"] for n in export(Twice())[0]["nodes"]}
assert nodes["one"] == ["drop"] and nodes["two"] == nodes["drop"] != ["drop"], nodes
# momentum=0 is a number
graph, _, notes = export(nets.Tiny(nn.BatchNorm2d(4, momentum=0)))
assert [n["momentum"] for n in graph["nodes"] if n["op"] == "batchnorm"] == [0] and not notes, notes

mean = nets.Tiny(nn.BatchNorm2d(4)).norm
for call, words in (
        (lambda x: F.batch_norm(x, None, None, training=True), "running statistics are required"),
        (lambda x: torch.div(x, 2, rounding_mode="floor"), "div: rounding_mode='floor' is not supported"),
        (lambda x: x.detach(), "detach: stopping the gradient is not supported"),
        (lambda x: x.to(torch.bfloat16).float(), "to: conversion to torch.bfloat16 is not supported"),
        (lambda x: x.to(torch.float64).float(), "to: conversion to torch.float64 is not supported"),
        (lambda x: torch.add(x, x, alpha=2), "add: alpha=2 is not supported"),
        (lambda x: F.gelu(x, approximate="tanh"), "gelu: approximate='tanh' is not supported"),
        (lambda x: F.avg_pool2d(x, 3, divisor_override=2), "avg_pool2d: divisor_override=2 is not supported"),
        (lambda x: F.avg_pool2d(x, 2, 8, 1, ceil_mode=True), "avg_pool2d: shape (4, 2, 2) expected, got (4, 1, 1)"),
        (lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), "pad: mode='reflect' is not supported"),
        (lambda x: F.pad(x, (1, 1), value=2), "pad: only zeros can be padded (got 2)"),
        (lambda x: F.pad(x, (0, 0, -1, 0)), "pad: negative padding is not supported"),
        (lambda x: F.pad(x, (0, 0, 0, 0, 0, 0, 0, 1))[:2], "pad: only channels, rows and columns can be padded"),
        (lambda x: x[:, 1:].repeat(1, 2, 1, 1)[:, :4], "getitem: only whole rows and columns can be sliced, with a stride"),
        (lambda x: x[:, :, 1::2], "getitem: only whole rows and columns can be sliced, with a stride"),
        (lambda x: x[:, :, :-1], "getitem: only whole rows and columns can be sliced, with a stride"),
        (lambda x: x[:, [3, 2, 1, 0]], "getitem: an index that is not a slice is not supported"),
        (lambda x: F.softplus(x), "softplus() is not supported in graphs"),
        (lambda x: F.max_pool2d(x, 2, dilation=2), "max_pool2d: dilation (2, 2) is not supported")):
    refused(nets.Calls(call), "(the network itself): ", words)
norm = nets.Tiny()
norm.norm.forward = lambda x: F.batch_norm(x, norm.norm.running_mean, norm.norm.running_var, norm.norm.weight,
                                           norm.norm.bias, training=True)
refused(norm, "norm: batch_norm: it must use running statistics in evaluation")
class Over(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc, self.dim = nn.Linear(243, 10), dim
    def forward(self, x):
        return F.log_softmax(self.fc(x.flatten(1)), self.dim)
refused(Over(0), "log_softmax: its input must be the logits")
assert export(Over(-1))[2] == export(Over(1))[2]
# the normalisation includes alpha
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
assert export(noisy)[2] == ["Noise is omitted: mc-train does not apply it"]
for quiet in nn.Identity(), nn.Sequential(), nn.ReLU(inplace=True):
    assert not export(nets.Calls(quiet))[2], quiet
frozen = nets.Tiny(nn.BatchNorm2d(4))
frozen.conv.requires_grad_(False)
assert export(frozen)[2] == ["frozen (requires_grad=False), but mc-train trains them: conv"], export(frozen)[2]
frozen.requires_grad_(False)
assert export(frozen)[2] == ["frozen (requires_grad=False), but mc-train trains them: all parameters"]
frozen.train()
frozen.norm.eval()
export(frozen)
mcz.torch.moments(frozen, copy.deepcopy(frozen), [torch.rand(2, 3, 9, 9)], {"g": {"out": ["conv.*:0"], "at": "conv"}}, "m.mcz")
assert frozen.training and frozen.conv.training and not frozen.norm.training, "modes have changed"
broken = nets.Tiny(nn.BatchNorm2d(4))
with torch.no_grad():
    broken.fc.weight[2, 3] = float("inf")
expect_error(["\"fc.weight\"*not finite"], lambda: export(broken))
END
# a network with eps=0 has the same logits in mc
mc-data synth --size 9 --samples 32 -q -o few.mcz
$python -c 'import torch, nets; torch.manual_seed(8); torch.save(nets.Tiny().state_dict(), "a.pt")'
$python -m mcz.torch export nets:Tiny --state a.pt --data few.mcz -o a.json --weights a.safetensors 2>err
expect_lines err 'mcz.torch: nets:Tiny: norm: eps=0*1.17549e-38'
mc-convert a.safetensors --net ./a.json --data few.mcz -o a.mcz
"$MC_BUILD/tests/parity/test_convert" a.mcz few.mcz >a.tsv
$python - <<'END'
import mcz, nets, numpy as np, torch
s, net = mcz.read("few.mcz"), nets.Tiny()
net.load_state_dict(torch.load("a.pt"))
mean, std = (torch.tensor(s.meta[k]).view(1, -1, 1, 1) for k in ("mean", "std"))
with torch.no_grad():
    expected = net.eval()((torch.from_numpy(s.tensors["images"]) / 255 - mean) / std).numpy()
error = np.abs(expected - np.loadtxt("a.tsv")).max()
assert expected.std() > .01 and error <= 1e-5 * np.abs(expected).max(), error
END
# it can be trained
mc-train -q --net ./a.json --data few.mcz --epochs 1 --no-augment -o trained.mcz
fails 3 'nets:Tiny(norm=3): ' $python -m mcz.torch export 'nets:Tiny(norm=3)' --input 3,9,9 --classes 10 -o x.json
[ ! -e x.json ] || die 'an output was written'
