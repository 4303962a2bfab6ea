#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stages of connect.mk that compute networks without a graph (networks.py) with PyTorch: train, acts, curve and eval,
instead of mc-train, mc-acts, mc-bezier and mc-eval. docs/guides/any-module.md has a command. `train --net gpt2` and llama need
no --data. Requires PyTorch 2.4."""
import argparse
import json
import os
import pydoc_data.topics

import torch
from torch.nn import functional as F

import mcz.groups
import mcz.torch
import networks


class Images:
    """Batches (x, y) of a dataset stream: the first `samples` images in order, or all augmented in random order."""

    def __init__(self, path, batch, samples=None, draws=None, augment=False):
        s = mcz.read(path, "dataset")
        mean, std = (torch.tensor(s.meta[k]).view(1, -1, 1, 1) for k in ("mean", "std"))
        images, labels = (torch.from_numpy(s.tensors[k][:samples].copy()) for k in ("images", "labels"))
        self.x = ((images.float() / 255 - mean) / std).contiguous(memory_format=torch.channels_last)
        self.y, self.batch, self.draws, self.augment = labels.long(), batch, draws, augment

    def __len__(self):
        return len(self.x) // self.batch if self.augment else -(-len(self.x) // self.batch)

    def __iter__(self):
        order = torch.randperm(len(self.x), generator=self.draws) if self.augment else torch.arange(len(self.x))
        for i in range(len(self)):
            chosen = order[i * self.batch:(i + 1) * self.batch]
            x = self.x[chosen]
            yield self.augmented(x) if self.augment else x, self.y[chosen]

    def augmented(self, x):
        """Flipped, and cut at random places after padding by 4."""
        n, size = len(x), torch.arange(x.shape[2])
        row, column = torch.randint(0, 9, (2, n, 1), generator=self.draws) + size
        flip = torch.rand(n, generator=self.draws) < .5
        x = F.pad(x, (4, 4, 4, 4))[torch.arange(n)[:, None, None], :, row[:, :, None], column[:, None, :]]
        x = x.permute(0, 3, 1, 2)
        return torch.where(flip[:, None, None, None], x.flip(3), x)


class Text:
    """Batches (x, y) of windows of 128 bytes of Python's help topics, and the byte after each. The last tenth of the
    text is the test's. Training cuts it at other places in each epoch."""

    def __init__(self, batch, test=False, draws=None):
        text = "".join(v for _, v in sorted(pydoc_data.topics.topics.items())).encode()
        cut = len(text) * 9 // 10
        self.text, self.batch, self.draws = torch.tensor(list(text[cut:] if test else text[:cut])), batch, draws

    def __len__(self):
        return (len(self.text) // 128 - 2) // self.batch + 1

    def __iter__(self):
        begins = 128 * torch.arange(len(self.text) // 128 - 1)
        if self.draws:
            begins = begins[torch.randperm(len(begins), generator=self.draws)]
            begins += torch.randint(128, (1,), generator=self.draws)
        for own in begins.split(self.batch):
            windows = self.text[own[:, None] + torch.arange(129)]
            yield windows[:, :-1], windows[:, 1:]


def batches(o):
    """Those that train a network."""
    draws = torch.Generator().manual_seed(o.seed)
    return Text(o.batch, draws=draws) if o.net in networks.LANGUAGE else Images(o.data[0], o.batch, draws=draws, augment=True)


def network(o, path=None):
    net = networks.NETWORKS[o.net]().to(o.device, memory_format=torch.channels_last)
    return mcz.torch.load(net, path) if path else net


def groups(net):
    x = torch.zeros(2, 128, dtype=torch.long) if isinstance(net, networks.Language) else torch.zeros(2, 3, 32, 32)
    return mcz.torch.groups(net, x.to(next(net.parameters()).device))


def train(o):
    """Writes a network: AdamW, one cycle of the learning rate, gradients of at most norm 1."""
    torch.manual_seed(o.seed)
    net = network(o)
    data = batches(o)
    optimizer = torch.optim.AdamW(net.parameters(), o.lr, weight_decay=.05)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, o.lr, max(1, o.epochs * len(data)), pct_start=.15)
    with open(o.log_json or os.devnull, "w") as log:
        for epoch in range(1, o.epochs + 1):
            total = correct = labels = 0
            for x, y in data:
                logits = net(x.to(o.device))
                loss = F.cross_entropy(logits, y.to(o.device))
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.)
                optimizer.step()
                rate.step()
                total, correct = total + loss.item(), correct + int((logits.argmax(1).cpu() == y).sum())
                labels += y.numel()
            means = {"event": "epoch", "epoch": epoch, "epochs": o.epochs, "loss": total / len(data),
                     "accuracy": 100 * correct / labels, "objective": total / len(data), "decay": 0}
            print(json.dumps(means, separators=(",", ":")), file=log, flush=True)
    mcz.torch.save(net, o.output, groups(net))


def acts(o):
    """Writes the moments of two networks, of a fifth of the images by default."""
    a, b = (network(o, path) for path in o.streams)
    data = Images(o.data[0], o.batch, o.samples)
    data.x = data.x[:o.samples or len(data.x) // 5]
    mcz.torch.moments(a, b, (x for x, _ in data), groups(a), o.output)


def curve(o):
    """Writes a curve, trained with AdamW."""
    a, b = (network(o, path) for path in o.streams)
    rows = mcz.read(o.streams[0]).meta["symmetry"].splitlines()[1:]
    c = mcz.torch.Curve(a, b, groups=[mcz.groups.parse(row.split("\t")) for row in rows])
    if o.epochs:
        c.train(Images(o.data[0], o.batch, augment=True), o.epochs, seed=o.seed, log=o.log_json, progress=False,
                optimizer=lambda p: torch.optim.AdamW(p, o.lr, weight_decay=0.))
    c.save(o.output)


def evaluate(o):
    """Writes the table of a curve, and its summary."""
    c = mcz.torch.Curve.load(o.streams[0], network(o))
    data = {name: Images(path, o.batch, samples) for name, path, samples in zip(
        ("train", "test"), o.data, (o.samples or 10000, o.test_samples))}
    bn = Images(o.bn_data, o.batch, 10000) if o.bn_data else None  # these networks have no batch norm; yours may
    c.evaluate(data, o.points, bn, progress=False).write(o.output, o.summary)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("stage", choices=["train", "acts", "curve", "eval"])
    p.add_argument("streams", nargs="*")
    p.add_argument("--net", default=os.environ.get("NET"), choices=sorted(networks.NETWORKS))
    p.add_argument("--data", action="append")
    for name, kind, default in (
            ("seed", int, 1), ("epochs", int, 0), ("lr", float, None), ("batch", int, 128), ("samples", int, None),
            ("test-samples", int, None), ("points", int, 65), ("threads", int, 1)):
        p.add_argument("--" + name, type=kind, default=default)
    for name in "log-json", "summary", "device", "bn-data":
        p.add_argument("--" + name)
    for name in "checkpoint", "schedule", "precision":  # of connect.mk; without effect
        p.add_argument("--" + name)
    p.add_argument("--resume", action="store_true")
    p.add_argument("-o", "--output", required=True)
    o = p.parse_intermixed_args()
    if not o.data and (o.stage != "train" or o.net not in networks.LANGUAGE):
        p.error("--data is required, except to train gpt2 and llama")
    o.device = ("cuda" if torch.cuda.is_available() else "cpu") if o.device in (None, "auto") else o.device
    torch.set_num_threads(o.threads)
    {"train": train, "acts": acts, "curve": curve, "eval": evaluate}[o.stage](o)


if __name__ == "__main__":
    main()
