# SPDX-License-Identifier: Apache-2.0
# docs/reference/modules.md names every module of torch.nn. Its column "in graphs" agrees with the functions that export
# supports, and with what export does with each module. Its column "by groups" agrees with mcz.torch.groups, for every module
# between 2-D convolutions that it does not call derived, and for a few others.
need_torch 2.15
OMP_NUM_THREADS=1 $python - "$MC_ROOT/docs/reference/modules.md" <<'END_OF_PYTHON'
import re, sys
import torch
from torch import nn
import mcz.torch
from mcz.export.torch_functions import ALIASES, TABLE

names, groups = {"yes": set(), "no": set()}, {}
for line in open(sys.argv[1]):
    cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
    if len(cells) >= 3 and "`" in cells[0]:
        found = set(re.findall(r"`(\w+)`", cells[0]))
        kind = "no" if re.match("no\\b", cells[1]) else "yes"
        assert not found & (names["yes"] | names["no"]), "named twice: %s" % found
        names[kind] |= found
        groups.update({n: re.match("derived|stays|by hand|no|", cells[2])[0] for n in found})

functions = {n for n in names["yes"] if n[0].islower()}
supported = set(TABLE) - {"detach"}  # refused with its own reason
assert functions == supported, "the page and TABLE differ: %s" % sorted(functions ^ supported)
assert not names["no"] & (supported | set(ALIASES)), names["no"] & supported

skipped = ("Module", "Container", "RNNBase", "RNNCellBase", "NLLLoss2d", "LinearCrossEntropyOptions")
modules = {n for n in nn.modules.__all__ if not n.endswith("Loss") and not n.startswith("Lazy") and n not in skipped}
missing = modules - names["yes"] - names["no"]
assert not missing, "not on the page: %s" % sorted(missing)

class Around(nn.Module):
    def __init__(self, module):
        super().__init__()
        width = module.eval()(torch.rand(2, 4, 8, 8)).shape[1]
        self.conv, self.module, self.fc = nn.Conv2d(3, 4, 3), module, nn.Linear(width, 10)

    def forward(self, x):
        return self.fc(self.module(self.conv(x)).flatten(2).mean(2))

ARGUMENTS = {
    "Conv2d": (4, 4, 3), "ConvTranspose2d": (4, 4, 3), "SyncBatchNorm": (4,), "BatchNorm2d": (4,), "GroupNorm": (2, 4),
    "InstanceNorm2d": (4,), "LocalResponseNorm": (2,), "CrossMapLRN2d": (2,), "Hardtanh": (0, 6), "Threshold": (.1, 0),
    "GLU": (3,), "Softmax": (1,), "Softmin": (1,), "MaxPool2d": (2,), "AvgPool2d": (3, 2, 1), "AdaptiveAvgPool2d": (3,),
    "AdaptiveMaxPool2d": (4,), "LPPool2d": (2, 2), "FractionalMaxPool2d": (2, 3), "ZeroPad2d": (1,), "ConstantPad2d": (1, 0),
    "ReflectionPad2d": (1,), "ReplicationPad2d": (1,), "CircularPad2d": (1,), "Upsample": (None, 2),
    "UpsamplingNearest2d": (None, 2), "UpsamplingBilinear2d": (None, 2), "PixelShuffle": (1,), "PixelUnshuffle": (8,),
    "ChannelShuffle": (2,), "RMSNorm": (8,), "Unflatten": (1, (2, 2))}
tried = {"yes": set(), "no": set()}
plain = "ReLU LeakyReLU ReLU6 Sigmoid Tanh SiLU Hardswish Hardsigmoid GELU PReLU RReLU ELU CELU SELU Mish Softplus Softsign " \
    "Softshrink Hardshrink Tanhshrink LogSigmoid Softmax2d Dropout Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout " \
    "Identity Sequential"
for name in list(ARGUMENTS) + plain.split():
    kind = "yes" if name in names["yes"] else "no"
    try:
        mcz.torch.export(Around(getattr(nn, name)(*ARGUMENTS.get(name, ()))), (3, 10, 10), 10)
        assert kind == "yes", "%s is exported, but the page says no" % name
    except mcz.Error as e:
        assert kind == "no", "%s: the page says yes: %s" % (name, e)
        assert "see docs/reference/modules.md" in str(e), e
    tried[kind].add(name)
assert len(tried["yes"]) > 20 and len(tried["no"]) > 25, tried

def by_groups(name):
    """The answer of mcz.torch.groups for the units before a module: derived, stays or refused."""
    try:
        found = mcz.torch.groups(Around(getattr(nn, name)(*ARGUMENTS.get(name, ()))), torch.rand(2, 3, 10, 10))
    except mcz.Error:
        return "refused"
    return "derived" if any(r.tensor == "conv.weight" and r.axis == 0 for r in found.rows) else "stays"

ARGUMENTS.update({"Unfold": (2,)})
others = [n for n in groups if groups[n] != "derived" and (n in ARGUMENTS or n in plain.split())]
assert len(others) >= 4, others
for name in others + ["Unfold", "GroupNorm", "PReLU", "ChannelShuffle", "CircularPad2d"]:
    assert by_groups(name) == {"derived": "derived", "stays": "stays"}.get(groups[name], "refused"), name
END_OF_PYTHON
