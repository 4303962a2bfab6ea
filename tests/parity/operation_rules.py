# SPDX-License-Identifier: Apache-2.0
"""Operations with settings that decide whether an axis may be permuted, each in a network around it.

    operation_rules.py [WORD...]     the operations, or those whose expression contains a WORD

CASES has an expression of x (N, 4, 6, 3) and the units that must be found before it, some of 4, 6 and 3; more are an error, and
so are outputs that a permutation changes (derived_groups.outputs_kept, in float64, for batches of 2 and 7). y has the shape of
x, p is a parameter (4, 6, 3), s (3, 3) a square one. Prints one line per operation; exit status 1 if one is not as expected."""
import copy
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

import derived_groups
import mcz
import mcz.torch

ALL, NONE = {4, 6, 3}, set()
CASES = {
    # shapes
    "x.transpose(-1, 1)": ALL, "x.movedim(1, -1)": ALL, "x.flatten(1, 2)": ALL, "x.unsqueeze(-1).squeeze(-1)": ALL,
    "x[:, :1]": {6, 3}, "x[:, 2:2]": NONE, "torch.cat([x[:, :0], x], 1)": ALL, "x.narrow(1, 0, 4)": ALL,
    "torch.cat([x, x[..., :0].flatten(1)[:, :, None, None].expand(-1, 0, 6, 3)], 1)": ALL,
    "x.unfold(2, 2, 2)": {4, 3}, "x.unbind(-1)[1]": {4, 6}, "x.expand(len(x), 4, 6, 3)": ALL, "x.repeat(1, 1, 1, 1)": ALL,
    "x.flip(-1)": {4, 6}, "x.roll(1, -2)": {4, 3}, "x.diff(dim=1)": {6, 3}, "x.cumsum(-1)": {4, 6},
    "F.pad(x, (0, 0, 1, 1))": {4, 3, 6}, "F.pad(x, (1, 1, 0, 0), mode='replicate')": {4, 6}, "F.pad(x, (0, 0, -1, 0))": {4, 3},
    "torch.diagonal(x @ s, 0, -2, -1)": {3}, "torch.diag_embed(x)": ALL,
    "torch.stack([x, y], -1)": ALL, "x.mT.contiguous().view(len(x), 4, 18)": ALL, "F.pixel_shuffle(x, 2)": NONE,
    "F.channel_shuffle(x, 2)": {2, 4, 6, 3}, "F.channel_shuffle(x.flatten(2), 2)": {2, 4, 6, 3},
    "F.channel_shuffle(x[..., None], 2)": {2, 4, 6, 3},
    # constants
    "x + torch.zeros(3, dtype=x.dtype)": ALL, "x * torch.ones(6, 1, dtype=x.dtype).tril()": {4, 3},
    "x @ (s + torch.eye(3, dtype=x.dtype))": ALL, "x * torch.arange(3, dtype=x.dtype)": {4, 6},
    "x * torch.linspace(0, 1, 6, dtype=x.dtype)[:, None]": {4, 3}, "x + x.new_full((4, 1, 1), 2.)": ALL,
    "x[:, :, :, torch.arange(3)]": ALL, "x[:, [1, 0, 2, 3]]": {6, 3}, "(x @ s).tril()": {4, 3}, "torch.full_like(x, 2.) * x": ALL,
    # products
    "x @ s": ALL, "torch.einsum('...ij,jk->...ik', x, s)": ALL, "torch.einsum('bcij,jj->bci', x, s)": ALL,
    "torch.einsum('bcij,cij->bc', x, p)": ALL, "torch.tensordot(x, s, ([3], [0]))": ALL, "torch.inner(x, s)": ALL,
    "F.linear(x, s)": ALL, "F.bilinear(x, y, s[:, :, None] * s[:, None])": ALL,
    "F.cosine_similarity(x, y, 1)": ALL, "torch.cdist(x, y)": ALL,
    # sums and norms
    "x - x.mean(1, keepdim=True)": ALL, "x.amax((-1, 1))": ALL, "x.logsumexp(-1)": ALL, "x.median(2).values": ALL,
    "torch.linalg.norm(x, dim=(-2, -1))": ALL, "torch.linalg.vector_norm(x, dim=1)": ALL, "x.var(-1)": ALL,
    "F.layer_norm(x, (6, 3), p[0], p[1])": ALL, "F.layer_norm(x, (3,), s[0].abs())": ALL,
    "F.batch_norm(x, None, None, p[:, 0, 0], p[:, 1, 0], True)": ALL, "F.instance_norm(x)": ALL, "x.softmax(2)": ALL,
    "F.group_norm(x, 1)": ALL, "F.group_norm(x, 4)": ALL, "F.normalize(x, dim=1)": ALL, "F.prelu(x, p[:, 0, 0])": ALL,
    "F.local_response_norm(x, 2)": NONE, "F.rms_norm(x, (3,))": ALL, "torch.aminmax(x, dim=1)[0]": ALL,
    # convolutions and pools: channels 4, positions (6, 3)
    "F.conv2d(x, p[:, :4, :1, None], stride=(2, 1), padding=(3, 0))": {4, 3},
    "F.conv2d(x, k11)": ALL, "F.conv2d(x, k11, stride=(1, 2))": {4, 6}, "F.conv2d(x, k11, padding=(1, 0))": {4, 3},
    "F.conv2d(x, k11, padding='same', dilation=2)": ALL, "F.conv2d(x, k31, padding=(1, 0))": {4, 3},
    "F.conv_transpose2d(x, k11)": ALL, "F.conv_transpose2d(x, k11, stride=(1, 2))": {4, 6},
    "F.conv_transpose2d(x, k11, stride=2, output_padding=1)": {4}, "F.avg_pool2d(x, (2, 1))": {4},
    "F.max_pool2d(x, 2, ceil_mode=True)": {4}, "F.adaptive_avg_pool2d(x, 1)": {4}, "F.interpolate(x, scale_factor=2)": {4},
    "F.unfold(x, 2)": {4}, "torch.fft.rfft(x, dim=2).abs()": {4, 3}, "torch.fft.fft2(x).abs()": {4},
    "F.grid_sample(x, g.expand(len(x), 2, 5, 2).tanh(), align_corners=False)": {4},
    # numbers of places
    "x.sort(-1).values": ALL, "x.sort(-1, descending=True).values": ALL, "y.gather(-1, x.argsort(-1))": ALL,
    "x.topk(2, -1).values": ALL, "x.topk(2, -1, sorted=False).values.sum(-1)": ALL, "y.gather(1, x.topk(1, 1).indices)": ALL,
    "x.relu().topk(2, -1).indices.to(x.dtype)": {4, 6}, "x.argmax(2).to(x.dtype)": {4, 3}, "x.max(2).values": ALL,
    "F.one_hot(x.argmax(-1), 3).to(x.dtype) * y": ALL, "F.one_hot(x.argmax(-1), 5).to(x.dtype)": {4, 6},
    "x.index_select(-1, torch.tensor([2, 0]))": {4, 6}, "x.index_add(1, torch.tensor([1, 0]), y[:, :2])": {6, 3},
    "torch.zeros_like(x).scatter(-1, x.topk(2, -1).indices, 1.)": ALL,
    "torch.zeros_like(x).scatter_add(-1, x.argsort(-1), y)": ALL, "x.cummax(1).values": {6, 3},
    "x.argsort(-1).argsort(-1).to(x.dtype) * y": ALL, "y.gather(-1, x.argsort(-1).argsort(-1)) * x": ALL,
    "x.index_put((torch.arange(1),), p)": ALL,
}


class Around(nn.Module):
    """An operation between two layers. All entries of its output are read by the last layer."""

    def __init__(self, expression):
        super().__init__()
        self.function = eval("lambda x, y, p, s, g, k11, k31: " + expression, {"torch": torch, "F": F})
        shapes = {"first": (7, 4, 6, 3), "second": (7, 4, 6, 3), "p": (4, 6, 3), "s": (3, 3), "g": (1, 2, 5, 2),
                  "k11": (4, 4, 1, 1), "k31": (4, 4, 3, 1), "a": (72,), "b": (72,)}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.randn(shape)))
        with torch.no_grad():
            out = self.operation(torch.rand(2, 7))
        self.mask, self.last = nn.Parameter(torch.randn(out.shape[1:])), nn.Parameter(torch.randn(*out.shape[1:], 5))

    def operation(self, x):
        x, y = (F.linear(x, w.flatten(1).T, b).unflatten(-1, (4, 6, 3))
                for w, b in ((self.first, self.a), (self.second, self.b)))
        return self.function(x, y, self.p, self.s, self.g, self.k11, self.k31)

    def forward(self, x):
        y = torch.tanh(self.operation(x) * self.mask)
        return torch.tensordot(y.flatten(1), self.last.flatten(0, -2), 1) if y.numel() else x


def example(n, seed=0):
    return torch.rand(n, 7, generator=torch.Generator().manual_seed(seed))


def found(net, g):
    """(units found before an operation, largest difference of outputs)."""
    units = {r.count * (r.block if r.axis < 3 else 1) for r in g.rows if r.tensor == "first"}
    net = derived_groups.randomize(copy.deepcopy(net), 5)
    return units, derived_groups.outputs_kept(net, example, g.rows, g.sizes) if g.sizes else 0.


def main(*words):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    bad = 0
    for expression, expected in CASES.items():
        if words and not any(w in expression for w in words):
            continue
        torch.manual_seed(0)
        try:
            net = Around(expression).eval()
            units, difference = found(net, mcz.torch.groups(net, example(2), unused="keep"))
            wrong = "" if units == expected else "%s expected" % (sorted(expected) or "none")
            wrong += "" if difference <= derived_groups.TOLERANCE else " outputs differ by %.2g" % difference
        except Exception as e:
            units, wrong = NONE, "%s: %s" % (type(e).__name__, str(e).split("\n")[0])
        bad += bool(wrong)
        print(expression, sorted(units), "WRONG: " + wrong if wrong else "ok", sep="\t", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
