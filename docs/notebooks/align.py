# SPDX-License-Identifier: Apache-2.0
# Source of align.ipynb; `make notebook` executes it.

# %% [markdown]
# # Align two PyTorch networks
#
# For PyTorch users. Two networks from different seeds learn the same task with their hidden units in different orders. This
# notebook aligns one with the other, draws the loss between them, and merges them. It runs in a minute on a CPU.
#
# mc's programs must be on `PATH`, and `mcz`, a recent PyTorch (tested with 2.15) and matplotlib must be installed
# ([installation](../guides/wheel.md)). First, a small synthetic data set, which replaces yours:

# %%
import matplotlib.pyplot as plt
import mcz.torch
import torch
from torch import nn
from torch.nn import functional as F

!mc-data synth --size 16 --samples 2000 -q -o train.mcz
!mc-data synth --size 16 --samples 500 --split test -q -o test.mcz

def batches(path):
    """A list of (inputs, labels), as a DataLoader yields them."""
    x, y = (torch.from_numpy(mcz.read(path).tensors[name]) for name in ("images", "labels"))
    return list(zip((x / 64 - 2).split(100), y.long().split(100)))

train, test = batches("train.mcz"), batches("test.mcz")
mcz.read("train.mcz")

# %% [markdown]
# ## Two networks
#
# Any module works if `torch.export` can record it. This one has group norms: channels move within a norm's group, and groups move as a whole.

# %%
class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(3, width, 3, padding=1), nn.GroupNorm(4, width)
        self.conv2, self.norm2 = nn.Conv2d(width, 2 * width, 3, padding=1), nn.GroupNorm(4, 2 * width)
        self.head = nn.Linear(2 * width * 16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))

def trained(seed):
    torch.manual_seed(seed)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
    for epoch in range(10):
        for i in torch.randperm(len(train)):
            x, y = train[i]
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    return net.eval()

@torch.no_grad()
def accuracy(net):
    return sum(float((net(x).argmax(1) == y).sum()) for x, y in test) / sum(len(y) for _, y in test)

a, b = trained(1), trained(2)
accuracy(a), accuracy(b)

# %% [markdown]
# ## Align
#
# `groups` derives from the module which units can change places, and checks it. A group norm with 4 blocks lets whole blocks
# change places, and also the channels within each block. Kernels, the image's channels and the classes stay in place.

# %%
groups = mcz.torch.groups(a, train[0][0])
print(groups.report())
groups

# %% [markdown]
# `align` runs both networks on the training data, and finds the permutation of b's units that correlates best with a's.

# %%
p = mcz.torch.align(a, b, train, groups)
p

# %% [markdown]
# ## The line between them
#
# A straight line in weight space from a (t = 0) to b (t = 1). `evaluate` measures loss and accuracy along it.

# %%
def draw(**paths):
    plt.figure(figsize=(5, 3))
    for name, rows in paths.items():
        plt.plot([r["t"] for r in rows], [r["test.loss"] for r in rows], ".-",
                 label="%s: barrier %.2f" % (name, rows.barrier("test.loss")))
    plt.xlabel("t")
    plt.ylabel("test loss")
    plt.legend()
    plt.show()

as_trained = mcz.torch.Curve(a, b, control_points=0).evaluate({"test": test}, points=11)
aligned = mcz.torch.Curve(a, b, p, control_points=0).evaluate({"test": test}, points=11)
draw(as_trained=as_trained, aligned=aligned)

# %% [markdown]
# The *barrier* is the height of the hill above the straight line between the two losses. Most of it came from the order of the
# units.
#
# ## Merge
#
# The mean of the two networks, first as trained, then aligned:

# %%
accuracy(mcz.torch.merge(a, b)), accuracy(mcz.torch.merge(a, b, p))

# %% [markdown]
# ## A curve
#
# A quadratic Bézier curve has one control point, which `train` moves so that the loss on the curve is low. It shows its
# progress if tqdm is installed.

# %%
curve = mcz.torch.Curve(a, b, p).train(train, epochs=5, optimizer=lambda points: torch.optim.AdamW(points, 3e-3))
learned = curve.evaluate({"test": test}, points=11)
draw(as_trained=as_trained, aligned=aligned, curve=learned)
curve, learned

# %% [markdown]
# `curve.point(.5)` is the network in the middle, `curve.save("curve.mcz")` writes it for mc's programs, and
# `mcz.torch.permute(b, p, groups)` permutes b itself. Next: [any module](../guides/any-module.md), and
# [every function](../reference/python.md).
