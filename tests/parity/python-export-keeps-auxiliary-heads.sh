# SPDX-License-Identifier: Apache-2.0
# Auxiliary heads, which a network returns only in training, become losses that only training uses. The state that mc-convert
# writes loads with strict=True, also after a permutation: all heads keep their outputs. torchvision's GoogLeNet too, if it is
# installed. If the heads cannot be traced, they are omitted with a note.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$PWD:$MC_ROOT/tests/parity OMP_NUM_THREADS=1
cat >heads.py <<'END_OF_PYTHON'
import torch
from torch import nn
from torch.nn import functional as F

class Side(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.bn, self.drop = nn.Conv2d(width, 7, 1), nn.BatchNorm2d(7), nn.Dropout(.7)
        self.fc1, self.fc2 = nn.Linear(7 * 4, 9), nn.Linear(9, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(F.adaptive_avg_pool2d(x, (2, 2))))).flatten(1)
        return self.fc2(self.drop(F.relu(self.fc1(x))))

class Inception(nn.Module):
    def __init__(self, labels=False):
        super().__init__()
        self.stem, self.a, self.b = nn.Conv2d(3, 6, 3), nn.Conv2d(6, 8, 3), nn.Conv2d(8, 6, 3)
        self.aux1, self.aux2, self.fc, self.labels = Side(6), Side(8), nn.Linear(14, 10), labels

    def forward(self, x):
        x = first = F.relu(self.stem(x))
        x = second = F.relu(self.a(x))
        x = torch.cat([F.relu(self.b(x)).mean((2, 3)), x.mean((2, 3))], 1)
        if not self.training:
            return self.fc(x)
        assert not self.labels, "labels are required in training"
        return self.fc(x), self.aux2(second), self.aux1(first)
END_OF_PYTHON
cat >check.py <<'END_OF_PYTHON'
import copy, sys
import mcz, mcz.torch, torch
from mcz.export import program
from refusal import expect_error

def network(text, seed):
    torch.manual_seed(seed)
    return program.network(text)

def heads(net, x):
    """All outputs in training, with the statistics and dropout of evaluation."""
    net.eval().training = True
    with torch.no_grad():
        return torch.cat(list(net(x)))

text, path = sys.argv[1:]
net, x = network(text, 1), torch.rand(4, *mcz.read(sys.argv[2] + ".mcz").meta["graph"]["input"])
state = mcz.safetensors.read(path + "-p.safetensors")
state = {k: torch.from_numpy(v.copy()) for k, v in state.items()}
expected, other = heads(net, x), network(text, 2)
assert expected.shape == (12, 10) and (heads(other, x) - expected).abs().max() > .01
other.load_state_dict(state, strict=True)
moved = [n for n, p in net.named_parameters() if not torch.equal(p, state[n])]
assert any("aux" in n for n in moved), "no auxiliary head was permuted"
error = (heads(other, x) - expected).abs().max().item()
assert error <= 1e-4 * expected.abs().max(), error
assert torch.equal(heads(mcz.torch.load(network(text, 3), path + "-p.mcz"), x), heads(other, x))
END_OF_PYTHON
check() { # NAME NETWORK SIDE HEADS
    mc-data synth --size "$3" --samples 32 -q -o "$1-data.mcz"
    $python -c 'import sys, torch; from mcz.export import program; torch.manual_seed(1)
torch.save(program.network(sys.argv[1]).state_dict(), sys.argv[2])' "$2" "$1.pt"
    $python -m mcz.torch export "$2" --state "$1.pt" --data "$1-data.mcz" -o "$1.json" --weights "$1.safetensors" 2>notes
    expect_lines notes "mcz.torch: $2: auxiliary outputs*losses*0.3*$4"
    mc-convert "$1.safetensors" --net "./$1.json" --data "$1-data.mcz" -o "$1.mcz"
    mc-permute --random 5 "$1.mcz" -o "$1-p.mcz"
    mc-convert "$1-p.mcz" -o "$1-p.safetensors"
    $python check.py "$2" "$1"
}
check small heads:Inception 12 'aux2.fc2, aux1.fc2'
mc-train -q -t 1 --net ./small.json --data small-data.mcz --epochs 1 --batch 16 -o trained.mcz
if $python -c 'import torchvision' 2>/dev/null; then
    check googlenet 'torchvision.models:googlenet(num_classes=10, aux_logits=True, init_weights=False)' 64 'aux2.fc2, aux1.fc2'
fi
$python -m mcz.torch export 'heads:Inception(labels=True)' --data small-data.mcz -o x.json 2>notes
grep -qx 'mcz.torch: heads:Inception(labels=True): omitted, because evaluation does not use them: aux1.bn, .*' notes ||
    die "$(cat notes)"
