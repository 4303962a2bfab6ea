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
    "torch.diagonal(x @ y.mT, 0, -2, -1)": ALL, "torch.select_scatter(x, y[:, :, 0], 2, 1)": {4, 3},
    "x.repeat(1, 2, 1, 1)": ALL, "x.repeat_interleave(2, 1)": ALL, "torch.zeros_like(x).copy_(x)": ALL,
    "x[:, ::2]": {6, 3}, "x.flatten(0, 1)[:3]": {6, 3}, "F.pad(x, (0, 0, 0, 0, 1, 2))": ALL,
    "x.reshape(len(x), 9, 8)": NONE,
    # sums of entries that two orders of axes, or shifts, put next to each other
    "x.flatten(1, 2) + y.transpose(1, 2).flatten(1, 2)": {3},
    "(lambda f: F.pad(f, (0, 0, 0, 0, 3, 0)) + F.pad(f, (0, 0, 0, 0, 0, 3)))(x.flatten(0, 1)).amax(0, True)": {6, 3},
    # 4 = 2 blocks of 2. Blocks that an operation distinguishes stay in place; those that it combines have one order
    "x.unflatten(1, (2, 2)).sum(1).square().sum(1)": {4, 2, 6, 3},
    "(lambda z: z[:, 0] + z.cumsum(2)[:, 0])(x.unflatten(1, (2, 2)))": {6, 3},
    "(lambda z: z.cumsum(2)[:, 0] + z[:, 0])(x.unflatten(1, (2, 2)))": {6, 3},
    "(lambda z: torch.cat([z[:, 0] + y[:, :2], z[:, 1], z.sum(1)], 1))(x.unflatten(1, (2, 2)))": {2, 6, 3},
    # the same for z: 6 = 2 blocks of 3
    **{"(lambda z: %s)(x[:, :, :, 0].unflatten(2, (2, 3)))" % e: units for e, units in {
        "z.softmax(2).flatten(2)": {4, 6, 3}, "z.cumsum(2).flatten(2)": {4, 3},
        "z.flip(2).flatten(2)": {4, 3}, "z.cummax(2).values.flatten(2)": {4, 3},
        "z.index_add(2, torch.tensor([1, 0]), z).flatten(2)": {4, 3}, "z.gather(2, (z > 0).long()).flatten(2)": {4, 3},
        "z.scatter_add(2, (z > 0).long(), z).flatten(2)": {4, 3}, "F.layer_norm(z.mT, (2,)).mT.flatten(2)": {4, 6, 3},
        "F.instance_norm(z.flatten(0, 1).mT).mT.reshape(-1, 4, 6)": {4, 6, 3},
        "F.batch_norm(z.flatten(0, 1).mT, None, None, training=True).unflatten(0, (-1, 4)).flatten(2)": {4, 6, 3},
        "F.group_norm(z.flatten(0, 1).transpose(1, 2).flatten(0, 1), 1).reshape(-1, 4, 3, 2).mT.flatten(2)": {4, 6, 3},
        "(z[:, :, :, None] * z[:, :, None]).square().sum((-1, -2))": {4, 6, 3}, "z @ z.mT": {4, 6, 3},
        "(z @ z.mT).square().sum(-1)": {4, 6, 3}, "F.scaled_dot_product_attention(z, z, z).flatten(2)": {4, 6, 3},
        "F.scaled_dot_product_attention(y[..., :2], z.mT, z.mT)": {4, 6, 3},
        "torch.cdist(z, z).square().sum(-1)": {4, 6, 3}, "torch.einsum('ncid,ncjd->nci', z, z)": {4, 6, 3},
        "torch.tensordot(z[:, 0], z[:, 0], ([2], [2])).square().sum((2, 3))": {6, 3}}.items()},
    **{"(lambda w: (x + p) * %s.sum())(p[0, :, 0].unflatten(0, (2, 3)))" % e: {6, 3} for e in (
        "F.linear(w, w)", "F.conv1d(w.mT[None], w[..., None])", "F.bilinear(w, w, w[:, :, None] * w[:, None])")},
    "(lambda w: (x + p) * w.index_put((w.sum(1).argsort(),), w).view(6, 1))(p[0, :, 0].unflatten(0, (2, 3)))": {3},
    "torch.stack([x, y], -1)": ALL, "x.mT.contiguous().view(len(x), 4, 18)": ALL, "F.pixel_shuffle(x, 2)": NONE,
    "F.channel_shuffle(x, 2)": {2, 4, 6, 3}, "F.channel_shuffle(x.flatten(2), 2)": {2, 4, 6, 3},
    "F.channel_shuffle(x[..., None], 2)": {2, 4, 6, 3},
    # constants
    "x + torch.zeros(3, dtype=x.dtype)": ALL, "x * torch.ones(6, 1, dtype=x.dtype).tril()": {4, 3},
    "x @ (s + torch.eye(3, dtype=x.dtype))": ALL, "x * torch.arange(3, dtype=x.dtype)": {4, 6},
    "x * torch.linspace(0, 1, 6, dtype=x.dtype)[:, None]": {4, 3}, "x + x.new_full((4, 1, 1), 2.)": ALL,
    "x[:, :, :, torch.arange(3)]": ALL, "x[:, [1, 0, 2, 3]]": {6, 3}, "(x @ s).tril()": {4, 3}, "torch.full_like(x, 2.) * x": ALL,
    "x + x[..., torch.arange(-1, 2)]": {4, 6}, "x.flatten(2) + torch.linspace(0, 1, 18, dtype=x.dtype)": {4},
    "x @ s * F.embedding(torch.tensor([0, 1, 1]), s).sum(0)": {4, 6},
    # products
    "x @ s": ALL, "torch.einsum('...ij,jk->...ik', x, s)": ALL, "torch.einsum('bcij,jj->bci', x, s)": ALL,
    "torch.einsum('bcij,cij->bc', x, p)": ALL, "torch.tensordot(x, s, ([3], [0]))": ALL, "torch.inner(x, s)": ALL,
    "x @ p.mT + p.flatten(0, 1)[:12].square().sum()": {2, 6, 3},
    "F.linear(x, s)": ALL, "F.bilinear(x, y, s[:, :, None] * s[:, None], p[0, 0])": ALL,
    "F.cosine_similarity(x, y, 1)": ALL, "torch.cdist(x, y)": ALL,
    "torch.view_as_complex(x[..., :2].contiguous()).real": {4, 6},
    # attention: 4 heads, 6 positions. Query heads 0 and 1 read head 0 of the keys, 2 and 3 head 1
    "F.scaled_dot_product_attention(x, y, y, p[..., :1] + p[..., 1:2].mT)": ALL,
    "F.scaled_dot_product_attention(x, x, y, is_causal=True)": {4, 3},
    "F.scaled_dot_product_attention(x, y[:, :2], y[:, 2:], enable_gqa=True)": {4, 2, 6, 3},
    # sequences of 6 steps
    "torch.rnn_tanh(x.flatten(0, 1), x.new_zeros(1, 4 * len(x), 3), [s, s], False, 1, 0., False, False, True)[0]"
    ".unflatten(0, (-1, 4))": {4, 3},
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
    "F.conv2d(x * s[0], k31 * s[0][:, None], padding=(1, 0))": {4},
    "F.conv_transpose2d(x, k11)": ALL, "F.conv_transpose2d(x, k11, stride=(1, 2))": {4, 6},
    "F.conv_transpose2d(x, k11, stride=2, output_padding=1)": {4}, "F.avg_pool2d(x, (2, 1))": {4},
    "F.max_pool2d(x, 2, ceil_mode=True)": {4}, "F.adaptive_avg_pool2d(x, 1)": {4}, "F.interpolate(x, scale_factor=2)": {4},
    "F.fold(x.flatten(2), (7, 3), (2, 1))": {4}, "F.fold(x.flatten(2), (6, 3), 1)": {4},
    "F.pairwise_distance(x, y, p=1.)": ALL, "torch.cdist(x, y, p=1.)": ALL,  # this p is not a probability
    "F.unfold(x, 2)": {4}, "torch.fft.rfft(x, dim=2).abs()": {4, 3}, "torch.fft.fft2(x).abs()": {4},
    "F.grid_sample(x, g.expand(len(x), 2, 5, 2).tanh(), align_corners=False)": {4},
    # numbers of places
    "x.sort(-1).values": ALL, "x.sort(-1, descending=True).values": ALL, "y.gather(-1, x.argsort(-1))": ALL,
    "x.topk(2, -1).values": ALL, "x.topk(2, -1, sorted=False).values.sum(-1)": ALL,
    "x.topk(4, 2, sorted=False).values": {4, 3}, "y.gather(1, x.topk(1, 1).indices)": ALL,
    "x.relu().topk(2, -1).indices.to(x.dtype)": {4, 6}, "x.argmax(2).to(x.dtype)": {4, 3}, "x.max(2).values": ALL,
    "y.gather(-1, x.max(-1, keepdim=True).indices)": ALL,
    "F.one_hot(x.argmax(-1), 3).to(x.dtype) * y": ALL, "F.one_hot(x.argmax(-1), 5).to(x.dtype)": {4, 6},
    "x.index_select(-1, torch.tensor([2, 0]))": {4, 6}, "x.index_add(1, torch.tensor([1, 0]), y[:, :2])": {6, 3},
    "torch.zeros_like(x).scatter(-1, x.topk(2, -1).indices, 1.)": ALL,
    # all numbers are written to one place, where the last one remains
    "torch.zeros_like(x).scatter(-1, y.argmax(-1, keepdim=True).expand(-1, -1, -1, 3), x)": {4, 6},
    "torch.zeros_like(x).scatter_add(-1, x.argsort(-1), y)": ALL, "x.cummax(1).values": {6, 3},
    "x.argsort(-1).argsort(-1).to(x.dtype) * y": ALL, "y.gather(-1, x.argsort(-1).argsort(-1)) * x": ALL,
    "x.index_put((torch.arange(1),), p)": ALL,
    "F.embedding((x * 100).long().argmax(-1), s)": {4, 6},
    "F.embedding((x * 100).type_as(torch.zeros(1, dtype=torch.long)).argmax(-1), s)": {4, 6},
    "F.embedding((x.relu() + y.sum(-1, keepdim=True)).argmax(-1), s)": {4, 6},
    "F.embedding(F.linear(x.relu(), p.mean((0, 1))[None], p.mean().reshape(1)).squeeze(-1).argmax(-1), p.mean(0))": {4, 3},
    "(x.argmax(-1) == y.argmax(-1)).to(x.dtype)": ALL, "F.embedding(x.argmax(-1), s)": ALL,
    # if all 3 numbers are 0, the first is the largest
    "x.gather(-1, (y.relu() @ s).argmax(-1, keepdim=True))": {4, 6},
    # two sorts of 6 N vectors: the matrices p of one, mixed among the places of the other, have one order of 6
    "(lambda a, b: (lambda d, e: ((p[d[0]].permute(1, 2, 0) @ (a[d[1]] @ b[e[1]].T)) ** 2).mean((0, 2))[None])"
    "(a.argmax(-1).sort(), b.argmax(-1).sort()))(x.mean(3).mT.flatten(0, 1), y.mean(3).mT.flatten(0, 1))": ALL,
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
