#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Networks in PyTorch whose groups are nested in special ways (formats/exchange/groups.md):

    regnet  two blocks of grouped convolutions: groups on axis 1 of the parts of a weight
    norm    a convolution in a residual block whose group norm has the blocks of the stream: one order of rows and of inputs
    gqa2, gqa3  attention with 2 or 3 query heads per key head, as in LLaMA; groups tied over the query heads of a key head
    tied    the same without rotary positions: queries and keys of a key head share an order
    shared  two layers with one table of positions per head, as in T5: one group of heads with four groups in each unit

    make NET                  write NET.safetensors and NET.tsv
    logits NET FILE           print the relative difference of FILE's outputs and NET's in float64
    permute NET P FILE        write NET's tensors, permuted with mcz.torch.permute, to FILE
    moments NET FILE M        write the moments of NET's network and FILE's"""
import sys

import torch
from torch import nn
from torch.nn import functional as F

import mcz.groups
import mcz.torch
import torch_nets


def rows(axes, offset, count, block, group, parts=1):
    """Rows of one group at the same place of several axes: {tensor: axis}."""
    return [mcz.groups.Row(t, axis, offset, count, block, group, parts) for t, axis in axes.items()]


def outputs(*modules):
    return {m + p: 0 for m in modules for p in (".weight", ".bias")}


class Regnet(nn.Module):
    """Blocks of a 1x1 convolution, two grouped convolutions and a 1x1 convolution."""
    G, STREAM, WIDTHS = 3, 10, (12, 18, 24)

    def __init__(self):
        super().__init__()
        i, m, o = self.WIDTHS
        self.stem, self.head = nn.Conv2d(3, self.STREAM, 3), nn.Linear(self.STREAM, 5)
        self.blocks = nn.ModuleList(nn.ModuleDict({
            "a": nn.Conv2d(self.STREAM, i, 1), "an": nn.BatchNorm2d(i), "b": nn.Conv2d(i, m, 3, 1, 1, groups=self.G),
            "bn": nn.BatchNorm2d(m), "c": nn.Conv2d(m, o, 3, 1, 1, groups=self.G), "cn": nn.BatchNorm2d(o),
            "d": nn.Conv2d(o, self.STREAM, 1)}) for _ in range(2))

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            y = x
            for n in "abc":
                y = b[n + "n"](b[n](y)).relu()
            x = x + b["d"](y)
        return self.head(x.mean((2, 3)))

    def groups(self):
        at, found = {"stream": "stem"}, rows({**outputs("stem"), "head.weight": 1}, 0, self.STREAM, 1, "stream")
        for p in "blocks.0.", "blocks.1.":
            found += rows({p + "a.weight": 1, **outputs(p + "d")}, 0, self.STREAM, 1, "stream")
            steps = [({**outputs(p + n, p + n + "n"), p + n + "n.running_mean": 0, p + n + "n.running_var": 0}, p + after, w)
                     for n, after, w in zip("abc", "bcd", self.WIDTHS)]
            for k, (axes, after, width) in enumerate(steps):
                n = width // self.G
                if k == 2:
                    axes[after + ".weight"] = 1
                found += rows(axes, 0, self.G, n, p + "blocks")
                for j in range(self.G):
                    found += rows(axes, j * n, n, 1, p + "block%d.%d" % (j, k))
                    if k < 2:
                        found += rows({after + ".weight": 1}, j * n, n, 1, p + "block%d.%d" % (j, k), self.G)
                at[p + "block0.%d" % k] = after + ":in"
        return found, at

    @staticmethod
    def inputs(n):
        return torch.randn(n, 3, 9, 9)


class Norm(nn.Module):
    """x + norm(conv(x)), with 3 blocks of 4 channels."""

    def __init__(self):
        super().__init__()
        self.a, self.c, self.n = nn.Conv2d(3, 12, 3), nn.Conv2d(12, 12, 3, 1, 1), nn.GroupNorm(3, 12)
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        x = self.a(x)
        return self.head((x + self.n(self.c(x))).relu().mean((2, 3)))

    def groups(self):
        found = []
        for offset, count, block, group in (0, 3, 4, "blocks"), *((4 * j, 4, 1, "block%d" % j) for j in range(3)):
            found += rows({**outputs("a", "c", "n"), "head.weight": 1}, offset, count, block, group)
            for part in range(3):
                found += rows({"c.weight": 1}, 12 * part + offset, count, block, group, 3)
        return found, {"block0": "a"}

    @staticmethod
    def inputs(n):
        return torch.randn(n, 3, 9, 9)


class Attention(nn.Module):
    def __init__(self, width, kv, rep, hd, rotary):
        super().__init__()
        self.kv, self.rep, self.hd, self.rotary = kv, rep, hd, rotary
        self.q_proj, self.k_proj = nn.Linear(width, kv * rep * hd), nn.Linear(width, kv * hd)
        self.v_proj, self.o_proj = nn.Linear(width, kv * hd), nn.Linear(kv * rep * hd, width)

    def rotate(self, x):
        angle = torch.arange(x.shape[2], dtype=x.dtype)[:, None] * torch.arange(1, self.hd // 2 + 1, dtype=x.dtype) / 5
        a, b = x.chunk(2, -1)
        return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)

    def forward(self, x, bias=0):
        q, k, v = (m(x).unflatten(2, (-1, self.hd)).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        if self.rotary:
            q, k = self.rotate(q), self.rotate(k)
        k, v = (t.repeat_interleave(self.rep, 1) for t in (k, v))
        y = (q @ k.transpose(2, 3) / self.hd ** .5 + bias).softmax(3) @ v
        return self.o_proj(y.transpose(1, 2).flatten(2))


class Llama(nn.Module):
    WIDTH, KV, HD, LAYERS, HIDDEN, VOCAB = 16, 4, 6, 2, 20, 11

    def __init__(self, rep=2, rotary=True, bias=False):
        super().__init__()
        self.embed, self.head = nn.Embedding(self.VOCAB, self.WIDTH), nn.Linear(self.WIDTH, self.VOCAB)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm": nn.LayerNorm(self.WIDTH), "attn": Attention(self.WIDTH, self.KV, rep, self.HD, rotary),
            "up": nn.Linear(self.WIDTH, self.HIDDEN), "down": nn.Linear(self.HIDDEN, self.WIDTH)})
            for _ in range(self.LAYERS))
        self.bias = nn.Embedding(7, self.KV * rep) if bias else None

    def forward(self, x):
        bias = 0
        if self.bias:
            place = torch.arange(x.shape[1])
            bias = self.bias((place[:, None] - place).clamp(-3, 3) + 3).permute(2, 0, 1)
        x = self.embed(x)
        for m in self.layers:
            x = x + m["attn"](m["norm"](x), bias)
            x = x + m["down"](F.silu(m["up"](x)))
        return self.head(x)

    def groups(self):
        hd, rep, kv = self.HD, self.layers[0]["attn"].rep, self.KV
        found = rows({"embed.weight": 1, "head.weight": 1}, 0, self.WIDTH, 1, "stream")
        at = {"stream": ["layers.0.norm:in", "head:in"]}
        if self.bias:
            found += rows({"bias.weight": 1}, 0, kv, 1, "heads")
        for p in ("layers.%d." % i for i in range(self.LAYERS)):
            a, heads = p + "attn.", "heads" if self.bias else p + "kv"
            found += rows({**outputs(p + "norm", a + "o_proj", p + "down"), p + "up.weight": 1}, 0, self.WIDTH, 1, "stream")
            found += rows({a + n + "_proj.weight": 1 for n in "qkv"}, 0, self.WIDTH, 1, "stream")
            found += rows({**outputs(p + "up"), p + "down.weight": 1}, 0, self.HIDDEN, 1, p + "mlp")
            q, k, v, o = outputs(a + "q_proj"), outputs(a + "k_proj"), outputs(a + "v_proj"), {a + "o_proj.weight": 1}
            found += rows({**k, **v}, 0, kv, hd, heads) + rows({**q, **o}, 0, kv, rep * hd, heads)
            for j in range(kv):
                unit = p + "kv%d." % j
                if rep > 1:
                    found += rows({**q, **o}, j * rep * hd, rep, hd, unit + "q")
                found += rows(v, j * hd, hd, 1, unit + "v")
                for r in range(rep):
                    found += rows(o, (j * rep + r) * hd, hd, 1, unit + "v")
                if not self.layers[0]["attn"].rotary:
                    found += rows(k, j * hd, hd, 1, unit + "qk")
                    for r in range(rep):
                        found += rows(q, (j * rep + r) * hd, hd, 1, unit + "qk")
            at.update({p + "kv0.q": a + "q_proj", p + "kv0.v": a + "v_proj", p + "kv0.qk": a + "k_proj",
                       p + "mlp": p + "down:in"})
        return found, at

    @staticmethod
    def inputs(n):
        return torch.randint(Llama.VOCAB, (n, 9))


NETS = {"regnet": Regnet, "norm": Norm, "gqa2": Llama, "gqa3": lambda: Llama(3), "tied": lambda: Llama(2, False),
        "shared": lambda: Llama(1, False, True)}


def made(name):
    torch.manual_seed(1)
    net = NETS[name]()
    with torch.no_grad():
        for k, t in net.state_dict().items():
            if t.is_floating_point():
                t.copy_(torch.rand_like(t) + .5 if k.endswith("_var") else t + .3 * torch.randn_like(t))
    return net.eval()


@torch.no_grad()
def main(what, name, *more):
    torch.set_num_threads(1)
    net = made(name)
    found, at = net.groups()
    other = made(name)
    if what == "make":
        torch_nets.save_safetensors(net, name + ".safetensors")
        found, _ = mcz.groups.rows(found, {k: v.shape for k, v in net.state_dict().items()})
        mcz.groups.write(name + ".tsv", found)
        assert mcz.groups.read(name + ".tsv") == found
    elif what == "logits":
        mcz.torch.load(other, more[0])
        torch.manual_seed(2)
        x = net.inputs(4)
        y, z = (n.double()(x.double() if x.is_floating_point() else x) for n in (net, other))
        print("%.3g" % ((y - z).abs().max() / y.abs().max()))
    elif what == "permute":
        torch_nets.save_safetensors(mcz.torch.permute(net, more[0], name + ".tsv"), more[1])
    elif what == "moments":
        mcz.torch.load(other, more[0])
        torch.manual_seed(2)
        at = {g: p for g, p in at.items() if any(r.group == g for r in found)}
        mcz.torch.moments(net, other, net.inputs(96).split(32), name + ".tsv", more[1], at=at)


if __name__ == "__main__":
    main(*sys.argv[1:])
