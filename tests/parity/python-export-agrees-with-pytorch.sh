# SPDX-License-Identifier: Apache-2.0
# Exported networks have PyTorch's logits in mc, and permuted networks have the same logits in PyTorch. Errors of export list
# every unsupported operation with its module, and leave no output; errors of load list every tensor that does not match.
# mcz.torch.moments agrees with mc-acts.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$PWD OMP_NUM_THREADS=1
logits=$MC_BUILD/tests/parity/test_convert
mc-data synth --size 16 --samples 64 -o few.mcz

cat >nets.py <<'END'
import torch
from torch import nn
from torch.nn import functional as F

class Block(nn.Module):  # batch norm before each convolution, a shortcut, addition in place
    def __init__(self, i, o, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(i), nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(o, eps=1e-3, momentum=.2), nn.Conv2d(o, o, 3, padding="same", bias=False)
        self.relu = nn.ReLU(inplace=True)  # used twice, in place
        self.shortcut = nn.Conv2d(i, o, 1, stride) if stride > 1 or i != o else nn.Identity()
        self.drop = 0.2

    def forward(self, x):
        y = self.relu(self.bn1(x))
        z = self.conv1(y)
        z = F.dropout(self.relu(self.bn2(z)), self.drop, training=self.training)
        z = self.conv2(z)
        z += self.shortcut(x)
        return z

class Many(nn.Module):
    def __init__(self, width=8, classes=10):
        super().__init__()
        self.register_buffer("mean", torch.tensor([.3, .25, .2]).view(1, 3, 1, 1))
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2, 1, ceil_mode=True))
        self.blocks = nn.Sequential(Block(width, width, 1), Block(width, 2 * width, 2))
        self.left, self.right = nn.Conv2d(2 * width, 5, 1), nn.Conv2d(2 * width, 7, (3, 1), padding=(1, 0))
        self.unused = nn.Linear(3, 3)
        self.hidden, self.bn, self.fc = nn.Linear(12 * 4, 20), nn.BatchNorm1d(20), nn.Linear(20, classes)
        self.drop = nn.Dropout(.3)

    def forward(self, x):
        x = (x - self.mean) / .25
        assert x.shape[1] == 3 and x.size(2) > 4
        x = self.blocks(self.stem(x))
        x = torch.cat([F.avg_pool2d(torch.relu(self.left(x)), 2, 1), F.max_pool2d(self.right(x).relu_(), 2, stride=1)], dim=1)
        x = F.adaptive_avg_pool2d(x, (2, 2))
        x = self.drop(torch.tanh(x) if x.shape[2] > 2 else x).view(x.size(0), -1)
        return F.log_softmax(self.fc(F.relu(self.bn(self.hidden(x)))), dim=1)

class Deep(nn.Module):  # a global mean after flatten(2); a sum of three
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList(nn.Conv2d(3, 6, 3, 2, 1) for _ in range(3))
        self.b, self.fc = nn.Conv2d(6, 9, 3, bias=False), nn.Linear(9, 10)

    def forward(self, x):
        x = sum(F.relu(a(x)) for a in self.a)
        return self.fc(F.relu(self.b(x)).flatten(2).mean(-1))

class Late(nn.Module):  # gates, channels-last layer norm, a layer scale, groups, activations, a constant factor
    def __init__(self):
        super().__init__()
        self.stem, self.depth = nn.Conv2d(3, 8, 4, 4), nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)
        self.layer_scale = nn.Parameter(torch.rand(8, 1, 1) + .5)
        self.squeeze, self.gate = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.grouped, self.fc = nn.Conv2d(8, 12, 3, groups=4), nn.Linear(12, 10)

    def forward(self, x):
        x = F.hardswish(self.stem(x))
        y = self.down(F.gelu(self.up(self.norm(self.depth(x).permute(0, 2, 3, 1))))).permute(0, 3, 1, 2)
        x = x + self.layer_scale * y
        x = torch.sigmoid(self.gate(F.silu(self.squeeze(x.mean((2, 3), keepdim=True))))) * x
        return self.fc(F.relu6(self.grouped(x)).mean((2, 3))) * .125

class Padded(nn.Module):  # zero-padded shortcuts, padding around and in averages, tanh, leaky ReLU, ELU, group norm
    def __init__(self):
        super().__init__()
        self.norm, self.conv, self.wide = nn.BatchNorm2d(5), nn.Conv2d(3, 5, 3, padding=1), nn.Conv2d(5, 13, 3, 2, 1)
        self.last, self.fc, self.groups = nn.Conv2d(13, 6, 3), nn.Linear(6, 10), nn.GroupNorm(3, 6)
        self.leaky, self.frame, self.average = nn.LeakyReLU(.2), nn.ZeroPad2d((1, 0, 2, 3)), nn.AvgPool2d(3, 2, 1)

    def forward(self, x):
        x = torch.tanh(self.norm(self.conv(self.frame(x))))
        x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 6, 2), "constant", 0) + self.wide(x)
        x = self.average(self.leaky(x))
        x = F.avg_pool2d(F.pad(x[..., ::1], (0, 0)), (2, 3), 1, (1, 0), ceil_mode=True)
        return self.fc(F.elu(F.leaky_relu(self.groups(F.pad(self.last(x), [0, 1])), inplace=True), .7).tanh().mean((2, 3)))

class Refused(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.act = nn.Conv2d(3, 4, 3, padding=2, dilation=2), nn.Softplus()
        self.up, self.fc = nn.Upsample(scale_factor=2), nn.Linear(4, 10)

    def forward(self, x):
        x = self.up(self.act(self.conv(x)))
        return self.fc(self.fc.weight[:4, :4].sum() * torch.fft.fft2(x).real.amax((2, 3)))

def shared():
    conv = nn.Conv2d(3, 3, 3, padding=1)
    return nn.Sequential(conv, nn.ReLU(), conv, nn.Flatten(), nn.Linear(768, 10))

class Sneaky(nn.Module):  # branches on its input
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(768, 10)

    def forward(self, x):
        return self.fc((x if len(x) == 2 else -x).flatten(1))
END
cat >save.py <<'END'
import sys
import mcz, torch, torch_nets, nets
torch.set_num_threads(1)
s = mcz.read("few.mcz")
x = torch.from_numpy(s.tensors["images"]) / 255
for name in "Many", "Deep", "Late", "Padded":
    torch.manual_seed(3)
    net = torch_nets.lived_in(getattr(nets, name)(), x[:32], 4)
    torch.save({"state_dict": {"module." + k: v for k, v in net.state_dict().items()}}, name + ".pt")
    torch.save(torch.from_numpy(torch_nets.logits(net, x)), name + ".logits")
END
PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity $python save.py
export PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity
for n in Many Deep Late Padded; do
    $python -m mcz.torch export nets:$n --state $n.pt --input 3,16,16 --classes 10 -o $n.json --weights $n.safetensors 2>>notes
    mc-convert $n.safetensors --net ./$n.json --data few.mcz -o $n.mcz
    # --state accepts the written weights and their stream; the deprecated sigmoid is not called
    for state in $([ $n = Many ] || echo $n.safetensors $n.mcz); do # Many has unused weights
        $python -W 'error:nn.functional.sigmoid is deprecated' -m mcz.torch export nets:$n --state $state --input 3,16,16 \
            --classes 10 --weights again.safetensors 2>>notes
        mc-convert again.safetensors --net ./$n.json --data few.mcz | same_content - $n.mcz
    done
    "$logits" $n.mcz few.mcz >$n.tsv
    mc-permute --random 5 $n.mcz -o $n-p.mcz
done
grep -q 'nets:Many: log_softmax is omitted' notes && grep -q 'omitted, because .*: unused$' notes || die "$(cat notes)"
$python - <<'END'
import mcz, numpy as np, torch, nets, torch_nets
from mcz import torch as mt
from refusal import expect_error
x = torch.from_numpy(mcz.read("few.mcz").tensors["images"]) / 255
for name, after in ("Many", lambda v: v.log_softmax(1)), ("Deep", lambda v: v), ("Late", lambda v: v), (
        "Padded", lambda v: v):
    expected = torch.load(name + ".logits").numpy()
    exported = after(torch.from_numpy(np.loadtxt(name + ".tsv"))).numpy()
    back = [getattr(nets, name)() for _ in range(2)]
    for net, path in zip(back, (name + ".mcz", name + "-p.mcz")):
        if name == "Many":
            net.unused = torch.nn.Identity()
        mt.load(net, path)
    assert expected.std() > .01
    for logits in exported, *(torch_nets.logits(net, x) for net in back):
        error = np.abs(logits - expected).max()
        assert error <= 1e-4 * max(1, np.abs(expected).max()), (name, error)
    moved = [not torch.equal(p, q) for p, q in zip(*(n.parameters() for n in back))]
    assert any(moved), "nothing was permuted"
    g = {n["name"]: n for n in __import__("json").load(open(name + ".json"))["nodes"]}
    if name == "Many":
        assert np.allclose(g["pixels"]["mean"], [.3, .25, .2]) and np.allclose(g["pixels"]["std"], .25)
        assert g["blocks.0.dropout"]["p"] == .2 and g["drop"]["p"] == .3 and g["blocks.0.bn2"]["momentum"] == .2

# a strict load counts the tensors that do not match, and names three of each kind; the exception has all names
expect_error(["2 missing (unused.weight, unused.bias)"], lambda: mt.load(nets.Many(), "Many.mcz"))
expect_error(["2 missing (conv.weight, conv.bias), 9 unknown (a.0.weight, a.0.bias, a.1.weight, ...)"], lambda: mt.load(
    torch.nn.Sequential(__import__("collections").OrderedDict(conv=torch.nn.Conv2d(1, 1, 1))), "Deep.mcz"))
wide = nets.Many(9)
try:
    mt.load(wide, "Many.mcz")
    assert False
except mcz.Error as e:
    assert "2 missing (unused.weight, unused.bias), 26 of another shape (stem.0.weight: (9, 3, 3, 3) expected, got " \
        "(8, 3, 3, 3); " in str(e), e
    assert len(e.names) == 28 and "blocks.1.bn1.running_var" in e.names, e.names
    assert str(e).count("expected, got") == 3 and str(e).endswith("...)"), e
expect_error(["weights expected*dataset"], lambda: mt.load(nets.Deep(), "few.mcz"))
mt.load(nets.Many(), "Many.mcz", strict=False)
# trailing axes of 1 may differ in number; other axes of 1 matter, except for vectors
row = torch.nn.Conv2d(3, 4, (1, 7), bias=False)
for shape in (4, 3, 7, 1), (4, 3, 7):
    expect_error(["weight: (4, 3, 1, 7) expected*got %s" % (shape,)], lambda: mt.load(row, {"weight": np.zeros(shape, "f4")}))
mt.load(torch.nn.Conv2d(3, 4, 1, bias=False), {"weight": np.zeros((4, 3), "f4")})
mt.load(torch.nn.Linear(3, 4, bias=False), {"weight": np.zeros((4, 3, 1, 1), "f4")})
scale = torch.nn.ParameterDict({"s": torch.nn.Parameter(torch.zeros(1, 4, 1, 1))})
assert mt.load(scale, {"s": np.arange(4, dtype="f4")})["s"].flatten().tolist() == [0, 1, 2, 3]
# a constant factor in the network's code cannot be loaded
s = mcz.read("Late.mcz")
assert np.allclose(s.tensors["times_0.125_1"], .125)
expect_error(["times_0.125_1:*network's constant*0.125*got 0.25"], lambda: mt.load(nets.Late(), {
    **s.tensors, "times_0.125_1": s.tensors["times_0.125_1"] * 2}))
# unsupported operations
for net, words in ((nets.Refused(), ["conv: conv2d: dilation (2, 2)", "act: Softplus is not supported in graphs",
                                     "up: Upsample is not supported in graphs", "fft"]),
                   (nets.shared(), ["conv2d: 0 is used twice"]), (nets.Sneaky(), ["branches on its input"]),):
    expect_error(["see docs/reference/modules.md"] + words, lambda: mt.export(net, (3, 16, 16), 10))
expect_error(["network*return 7 logits (got shape (10,))"], lambda: mt.export(nets.Deep(), (3, 16, 16), 7))
script = torch.nn.Sequential(torch.nn.Flatten(), torch.jit.script(torch.nn.Linear(768, 10)))
expect_error(["1: *TorchScript*before torch.jit.script"], lambda: mt.export(script, (3, 16, 16), 10))
assert script(torch.rand(2, 3, 16, 16)).shape == (2, 10), "hooks of the refused export are left"
# a module's first path names its nodes, wherever it runs
act = torch.nn.ReLU()
twice = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), act, torch.nn.Conv2d(4, 5, 3), act, torch.nn.Flatten(),
                            torch.nn.Linear(720, 10))
names = [n["name"] for n in mt.export(twice, (3, 16, 16), 10)[0]["nodes"]]
assert names == ["pixels", "0", "1", "2", "1_2", "4", "5", "loss"], names
END
rm -f x.json
$python -m mcz.torch export nets:Refused --input 3,16,16 --classes 10 -o x.json 2>err && die 'an unsupported network was exported'
grep -q '^mcz.torch: nets:Refused: [0-9]* problems (see docs/reference/modules.md, or use mcz.torch.groups):$' err &&
    [ "$(grep -c '^  ' err)" -ge 4 ] || die "$(cat err)"
[ ! -e x.json ] || die 'an output was written'
fails 1 'state.pt:*file*torch.save: load*net.load_state_dict(torch.load(PATH))' $python -c '
import sys, mcz.torch, torch
try:
    mcz.torch.load(torch.nn.Linear(1, 1), "state.pt")
except mcz.Error as e:
    sys.exit("mcz.torch: " + str(e))'
fails 3 'has no Missing' $python -m mcz.torch export nets:Missing --input 3,16,16 --classes 10 -o x.json
cat >broken.py <<'END'
import sys, torch
class Needy(torch.nn.Module):
    def __init__(self, width, depth):
        super().__init__()
def broken():
    return {}["no such\nkey"]
class Odd(torch.nn.Module):
    def forward(self, x):
        return self.none
def linear():
    return torch.nn.Linear(3, 10)
END
printf 'x = (\n' >torn.py
printf 'raise KeyError("at once")\n' >raises.py
echo no state >state.pt
$python -c 'import torch; torch.save({"other": torch.zeros(3)}, "other.pt")'
export="$python -m mcz.torch export --input 3,1,1 --classes 10 -o x.json"
fails 3 'broken:Needy:*create*network: TypeError: ' $export broken:Needy
fails 3 'broken:Needy(width=3):*create*network: TypeError: ' $export 'broken:Needy(width=3)'
fails 3 "broken:broken:*create*network: KeyError: 'no such\\nkey' (broken.py:6)" $export broken:broken
fails 3 'broken:Odd:*run*image*shape 3,1,1: AttributeError: *(broken.py:9)' $export broken:Odd
fails 3 'import torn: SyntaxError: ' $export torn:Net
fails 3 "import raises: KeyError: 'at once' (raises.py:1)" $export raises:Net
for state in state other; do fails 3 "broken:linear:*load $state.pt: " $export --state $state.pt broken:linear; done
[ ! -e x.json ] || die 'an output was written'
fails 3 'net.py:Mine: a module*not a file: write net:Mine' $python -m mcz.torch export net.py:Mine --input 3,16,16 --classes 10 -o x.json
fails 3 './d/net.py:Mine(n=2): a module*write d.net:Mine(n=2)' $python -m mcz.torch export './d/net.py:Mine(n=2)' --input 3,16,16 --classes 10 -o x.json
fails 3 'cannot import nowhere' $python -m mcz.torch export nowhere:Net --input 3,16,16 --classes 10 -o x.json

# moments agree with mc-acts up to rounding; the matrices, the permutation and the permuted network are the same
mc-data synth --size 16 --samples 200 -o train.mcz
cat >seq.py <<'END'
import torch
from torch import nn
def net(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 12, 3, 2, 1), nn.ReLU(),
                         nn.Flatten(), nn.Linear(192, 20), nn.ReLU(), nn.Linear(20, 10))
GROUPS = {"0": {"out": ["0.*:0", "1.*:0"], "in": ["3.weight:1"], "at": "2"},
          "3": {"out": ["3.*:0"], "in": ["6.weight:1"], "size": 12, "at": "4"},
          "6": {"out": ["6.*:0"], "in": ["8.weight:1"], "at": "8:in"}}
END
for s in 1 2; do
    $python -m mcz.torch export "seq:net($s)" --data train.mcz -o seq.json --weights $s.safetensors
    mc-convert $s.safetensors --net ./seq.json --data train.mcz -o $s.mcz
done
mc-acts -q --samples 200 --data train.mcz 1.mcz 2.mcz -o acts.mcz
$python - <<'END'
import mcz, numpy as np, seq, torch
from mcz import groups, torch as mt
s = mcz.read("train.mcz")
mean, std = (torch.tensor(s.meta[k]).view(1, -1, 1, 1) for k in ("mean", "std"))
x = (torch.from_numpy(s.tensors["images"]) / 255 - mean) / std
mt.moments(seq.net(1), seq.net(2), [(b, None) for b in x.split(64)], seq.GROUPS, "m.mcz")
m, acts = mcz.read("m.mcz"), mcz.read("acts.mcz")
assert m.meta["groups"] == acts.meta["groups"] and len(m.tensors) == len(acts.tensors) == 15
for (k, a), (_, b) in zip(m.tensors.items(), acts.tensors.items()):
    assert a.shape == b.shape and np.abs(a - b).max() <= 1e-5 * np.abs(b).max() > 0, k
# rows and the dictionary give the same stream
rows, _ = groups.rows(seq.GROUPS, {k: v.shape for k, v in seq.net().state_dict().items()})
groups.write("groups.tsv", rows)
mt.moments(seq.net(1), seq.net(2), x.split(64), "groups.tsv", "again.mcz", at={"0": "2", "3": "4", "6": "8:in"})
assert mcz.read("again.mcz").id == m.id
END
mc-corr -q m.mcz -o m.c
mc-corr -q acts.mcz -o acts.c
agree 1e-5 m.c acts.c
mc-hungarian -q m.c -o p.mcz
mc-hungarian -q acts.c -o q.mcz
mc-permute p.mcz 2.mcz -o p2.mcz
$python - <<'END'
import mcz, numpy as np, seq, torch
from mcz import groups, torch as mt
from refusal import expect_error
p, q = mcz.read("p.mcz"), mcz.read("q.mcz")
assert all((p.tensors[k] == q.tensors[k]).all() for k in p.tensors) and any(
    (v != np.arange(len(v))).any() for v in p.tensors.values())
permuted = mt.permute(seq.net(2), p, seq.GROUPS)
for net in mt.load(seq.net(), "p2.mcz"), mt.permute(seq.net(2), "p.mcz", "groups.tsv"):
    assert all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), permuted.state_dict().values()))
x = torch.rand(5, 3, 16, 16)
assert torch.allclose(permuted.eval()(x), seq.net(2).eval()(x), atol=1e-5)
# a tensor with two names is permuted once
tied = torch.nn.ModuleDict({"a": torch.nn.Linear(4, 6), "b": torch.nn.Linear(4, 6)})
tied["b"].weight = tied["a"].weight
old = tied["a"].weight.detach().clone()
mt.permute(tied, {"g": [1, 2, 0, 3, 5, 4]}, {"g": {"out": ["*.weight:0"]}})
assert torch.equal(tied["b"].weight, old[[1, 2, 0, 3, 5, 4]])

expect_error(["\"3\"*only*permutation", "\"6\" is only"], lambda: mt.permute(seq.net(), p, {"0": seq.GROUPS["0"]}))
expect_error(["\"0\": 12 units expected*got 8"], lambda: mt.permute(seq.net(), p, {
    **seq.GROUPS, "0": seq.GROUPS["3"], "3": seq.GROUPS["0"]}))
expect_error(["group \"0\": each unit*occur once"], lambda: mt.permute(seq.net(), {
    **p.tensors, "0": np.zeros(8, "i4")}, seq.GROUPS))
expect_error(["\"0\": 8 units expected*got 1"], lambda: mt.permute(seq.net(), {**p.tensors, "0": np.int32(0)}, seq.GROUPS))
# weights must be float32 or narrower
mcz.write("wide.mcz", "weights", {}, {"weight": np.zeros((3, 4), "f8")})
expect_error(["wide.mcz: tensor \"weight\" must*float32, float16 or bfloat16"], lambda: mt.load(torch.nn.Linear(4, 3, bias=False), "wide.mcz"))
expect_error(["no module \"9\", \"x:in\""], lambda: mt.moments(seq.net(), seq.net(), [x], {
    "0": {"out": ["0.*:0"], "at": ["9", "x:in"]}}, "no.mcz"))
expect_error(["runs more than once"], lambda: mt.moments(torch.nn.Sequential(*[torch.nn.Linear(4, 4)] * 2), torch.nn.Sequential(
    *[torch.nn.Linear(4, 4)] * 2), [torch.rand(3, 4)], {"g": {"out": ["0.*:0"], "at": "0"}}, "no.mcz"))
# groups within units: the group in the first unit has "at", and the outer group has none
heads = {"heads": {"out": ["0.*:0"], "size": 2, "at": "0"}}
rows, _ = groups.rows(heads, {k: v.shape for k, v in seq.net().state_dict().items()})
rows += [(t, 0, 4 * h, 4, 1, "in%d" % h) for h in range(2) for t in ("0.weight", "0.bias")]
for at, words in (({"heads": "0", "in0": "1"}, "unexpected \"at\" of \"heads\": the groups within its units have it"),
                  ({"in1": "1"}, "\"at\", the module that shows the units, is missing for \"in0\""),
                  ({"in0": "1[4:14]"}, "at \"1[4:14]\", of shape (8, 8, 8): indices out of range")):
    expect_error([words], lambda: mt.moments(seq.net(1), seq.net(2), [x], rows, "no.mcz", at=at))
expect_error(["\"in0\"*not within*same unit"], lambda: mt.moments(
    seq.net(1), seq.net(2), [x], rows + [("3.bias", 0, 0, 4, 1, "in0")], "no.mcz", at={"in0": "1"}))
deep = [("0.bias", 0, 0, 2, 4, "o"), ("0.bias", 0, 0, 2, 2, "m0"), ("0.bias", 0, 4, 2, 2, "m1"),
        *(("0.bias", 0, 2 * i, 2, 1, "i%d" % i) for i in range(4))]
expect_error(["group \"i0\": groups*nested one level deep"], lambda: mt.moments(
    seq.net(1), seq.net(2), [x], deep, "no.mcz", at={"i0": "1"}))
mt.moments(seq.net(1), seq.net(2), [x], rows, "in.mcz", at={"in0": "1"})
s = mcz.read("in.mcz")
assert [g.get("unit") for g in s.meta["groups"]] == [None, 0, 1] and [t["count"] for t in s.meta["taps"]] == [8]
import os
assert not os.path.exists("no.mcz")
END
