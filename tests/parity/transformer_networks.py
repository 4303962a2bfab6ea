#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Transformers in PyTorch, which have no graph, and the files that declare their groups (formats/exchange/groups.md): a
GPT with a fused QKV, and a ViT of PyTorch's encoder layers. In both, the residual stream (embeddings, layer norms and
all blocks) is one group, heads are blocks, and the channels of each head are a group within it.

    make NET OUT           write OUT.safetensors, OUT.tsv, and OUT.pt with inputs and logits
    logits NET OUT FILE    print the largest difference between FILE's logits and OUT.pt's, and the largest logit
    train NET OUT STEPS    train two networks briefly, OUT-base and OUT-other, and continue the first with two seeds, as
                           OUT-a and OUT-b
    loss NET FILE...       print their losses on the data of `train`
    moments NET OUT FILE M write the moments of `make`'s network and FILE's, from hooks on stream, heads and layers"""
import sys

import torch
from torch import nn
from torch.nn import functional as F

import mcz.groups
import torch_nets

VOCAB, T = 17, 24


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        q, k, v = (t.view(*t.shape[:2], self.heads, -1).transpose(1, 2) for t in self.qkv(self.ln1(x)).chunk(3, -1))
        scores = q @ k.transpose(2, 3) / q.shape[3] ** .5
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        y = scores.masked_fill(later, float("-inf")).softmax(3) @ v
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self, width=32, heads=4, hidden=64, depth=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, width), nn.Embedding(T, width)
        self.h = nn.ModuleList(Block(width, heads, hidden) for _ in range(depth))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB, bias=False)
        self.register_buffer("positions", torch.arange(T))  # integers, which the files omit

    def forward(self, x):
        x = self.wte(x) + self.wpe(self.positions[: x.shape[1]])
        for b in self.h:
            x = b(x)
        return self.head(self.ln(x))

    def groups(self):
        w = self.wte.weight.shape[1]
        yield from [("wte.weight", 1, 0, w, 1, "stream"), ("wpe.weight", 1, 0, w, 1, "stream"),
                    ("ln.weight", 0, 0, w, 1, "stream"), ("ln.bias", 0, 0, w, 1, "stream"),
                    ("head.weight", 1, 0, w, 1, "stream")]
        for i, b in enumerate(self.h):
            yield from block_groups("h.%d." % i, b.heads, w, b.up.weight.shape[0], ln=("ln1", "ln2"), qkv="qkv.",
                                    out="out", up="up", down="down")

    @staticmethod
    def inputs(n, seed):
        return torch.randint(VOCAB, (n, T), generator=torch.Generator().manual_seed(seed))


class ViT(nn.Module):
    def __init__(self, width=32, heads=4, hidden=48, depth=2):
        super().__init__()
        self.heads, self.hidden = heads, hidden
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.cls, self.pos = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.zeros(1, 17, width))
        layer = nn.TransformerEncoderLayer(width, heads, hidden, 0., "gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        return self.head(self.blocks(x)[:, 0])

    def groups(self):
        w = self.cls.shape[2]
        yield from [("patch.weight", 0, 0, w, 1, "stream"), ("patch.bias", 0, 0, w, 1, "stream"),
                    ("cls", 2, 0, w, 1, "stream"), ("pos", 2, 0, w, 1, "stream"),
                    ("blocks.norm.weight", 0, 0, w, 1, "stream"), ("blocks.norm.bias", 0, 0, w, 1, "stream"),
                    ("head.weight", 1, 0, w, 1, "stream")]
        for i in range(len(self.blocks.layers)):
            yield from block_groups("blocks.layers.%d." % i, self.heads, w, self.hidden, ln=("norm1", "norm2"),
                                    qkv="self_attn.in_proj_", out="self_attn.out_proj", up="linear1", down="linear2")

    @staticmethod
    def inputs(n, seed):
        return torch.rand(n, 3, 16, 16, generator=torch.Generator().manual_seed(seed))


NETS = {"gpt": GPT, "vit": ViT}


def block_groups(p, heads, width, hidden, ln, qkv, out, up, down):
    """The rows of one block: those of the stream, of the heads, and of the channels within each head."""
    d = width // heads
    for name in ln:
        yield from ((p + name + part, 0, 0, width, 1, "stream") for part in (".weight", ".bias"))
    for name, axis in ((qkv + "weight", 1), (out + ".weight", 0), (out + ".bias", 0), (up + ".weight", 1),
                       (down + ".weight", 0), (down + ".bias", 0)):
        yield p + name, axis, 0, width, 1, "stream"
    for part in "weight", "bias":
        yield from ((p + qkv + part, 0, s * width, heads, d, p + "heads") for s in range(3))
    yield p + out + ".weight", 1, 0, heads, d, p + "heads"
    for h in range(heads):
        for part in "weight", "bias":
            yield from ((p + qkv + part, 0, s * width + h * d, d, 1, p + "head%d.%s" % (h, "qk" if s < 2 else "v"))
                        for s in range(3))
        yield p + out + ".weight", 1, h * d, d, 1, p + "head%d.v" % h
    for name, axis in ((up + ".weight", 0), (up + ".bias", 0), (down + ".weight", 1)):
        yield p + name, axis, 0, hidden, 1, p + "mlp"


def write(net, path):
    torch_nets.save_safetensors(net, path)


def declare(net, path):
    with open(path, "w") as f:
        print("# made by transformer_networks.py", file=f)
        rows, _ = mcz.groups.rows(net.groups(), {k: v.shape for k, v in net.state_dict().items()})
        print(mcz.groups.text(rows), end="", file=f)


def read(net, path):
    """Loads a safetensors file strictly, except buffers of integers."""
    import json
    import struct
    body = open(path, "rb").read()
    n, = struct.unpack("<Q", body[:8])
    state = dict(net.named_buffers())
    for name, t in json.loads(body[8:8 + n]).items():
        if name != "__metadata__" and t["dtype"] == "F32":
            at, to = t["data_offsets"]
            state[name] = torch.frombuffer(bytearray(body[8 + n + at:8 + n + to]), dtype=torch.float32).view(t["shape"])
    net.load_state_dict(state)
    return net.eval()


def made(name, seed):
    torch.manual_seed(seed)
    net = NETS[name]()
    with torch.no_grad():
        for p in net.parameters():
            p.add_(.05 * torch.randn_like(p))  # makes the units of a layer norm different
    return net.eval()


def data(name, n, seed):
    """Synthetic text in which most letters depend on the two before them; pictures of two waves."""
    g = torch.Generator().manual_seed(seed)
    if name == "gpt":
        x = torch.randint(VOCAB, (n, T + 1), generator=g)
        for i in range(2, T + 1):
            follow = (3 * x[:, i - 1] + x[:, i - 2] * x[:, i - 2] + 1) % VOCAB
            x[:, i] = torch.where(torch.rand(n, generator=g) < .9, follow, x[:, i])
        return x[:, :-1], x[:, 1:]
    y = torch.randint(10, (n,), generator=g)
    grid = torch.arange(16.)
    waves = torch.sin(grid * (y[:, None] + 1) * .2 + 6 * torch.rand(n, 1, generator=g))
    x = waves[:, None, :, None] + waves.flip(1)[:, None, None, :] + .3 * torch.randn(n, 3, 16, 16, generator=g)
    return x, y


def loss_of(net, x, y):
    return F.cross_entropy(net(x).flatten(0, -2), y.flatten())


def train(name, net, steps, seed, rate=3e-3):
    opt = torch.optim.AdamW(net.parameters(), rate)
    for i in range(steps):
        opt.param_groups[0]["lr"] = rate * (1 - i / steps)
        opt.zero_grad()
        loss_of(net, *data(name, 64, seed * 100000 + i)).backward()
        opt.step()


@torch.no_grad()
def main(what, name, out, *more):
    torch.set_num_threads(1)
    net = made(name, 1)
    if what == "make":
        x = net.inputs(8, 2)
        torch.save((x, net(x)), out + ".pt")
        write(net, out + ".safetensors")
        declare(net, out + ".tsv")
    elif what == "logits":
        x, want = torch.load(out + ".pt")
        print("%.9g\t%.9g" % ((read(net, more[0])(x) - want).abs().max(), want.abs().max()))
    elif what == "train":
        declare(net, out + ".tsv")
        with torch.enable_grad():
            for seed, end in (1, "base"), (4, "other"):
                net = made(name, seed)
                train(name, net, int(more[0]), seed)
                write(net, out + "-%s.safetensors" % end)
            for seed, end in (2, "a"), (3, "b"):
                net = read(net, out + "-base.safetensors")
                train(name, net, int(more[0]) // 2, seed, 1e-3)
                write(net, out + "-%s.safetensors" % end)
    elif what == "moments":
        import mcz.torch
        at, w = {"stream": ["h.0.ln1", "h.1.ln2", "ln"]}, net.wte.weight.shape[1]
        for p in ("h.%d." % i for i in range(len(net.h))):
            at[p + "head0.qk"] = ["%sqkv[%d:%d]" % (p, i * w, (i + 1) * w) for i in range(2)]
            at[p + "head0.v"], at[p + "mlp"] = [p + "qkv[%d:%d]" % (2 * w, 3 * w), p + "out:in"], p + "down:in"
        mcz.torch.moments(net, read(made(name, 1), more[0]), net.inputs(64, 2).split(32), out + ".tsv", more[1], at=at)
    elif what == "loss":
        for f in (out, *more):
            print("%s\t%.6f" % (f, loss_of(read(net, f), *data(name, 512, 9))))


if __name__ == "__main__":
    main(*sys.argv[1:])
