#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Barriers between transformers under each kind of alignment (docs/results/any-module.md).

    maps.py line A.mcz B.mcz --pair 1-2 --data train.mcz test.mcz -o FILE.tsv
    maps.py line A.mcz B.mcz --pair 1-2 --net gpt2 -o FILE.tsv
    maps.py table FILE.tsv... -o TABLE.tsv

A and B are networks of stages.py. FILE.tsv has a row per alignment: the loss barrier of the straight line
over 21 points, the accuracy in the middle and at the ends, and the seconds that aligning took. Moments are of
1,000 images or 200 windows of text; maps are learned in 200 steps. TABLE.tsv has mean and deviation over the pairs. Requires
PyTorch 2.4."""
import argparse
import collections
import itertools
import statistics
import sys
import time

import networks
import stages
import torch

import mcz.torch

STEPS, RATE = 200, .001


class First:
    """The first batches of a loader."""

    def __init__(self, loader, n):
        self.loader, self.n = loader, n

    def __len__(self):
        return self.n

    def __iter__(self):
        return itertools.islice(iter(self.loader), self.n)


def loaders(o):
    """Batches for moments, for learning, and for the test."""
    draws = torch.Generator().manual_seed(1)
    if o.net in networks.LANGUAGE:
        text = First(stages.Text(16, draws=draws), STEPS)
        return First(stages.Text(50), 4), text, stages.Text(50, test=True)
    images = stages.Images(o.data[0], 128, draws=draws, augment=True)
    return stages.Images(o.data[0], 500, 1000), First(images, STEPS), stages.Images(o.data[1], 500)


def line(o):
    """Writes the table of a pair."""
    few, many, test = loaders(o)
    nets = [mcz.torch.load(networks.NETWORKS[o.net](), path) for path in o.networks]
    x = next(iter(few))[0][:2]
    began = time.time()
    rotated = [mcz.torch.canonical(net, x, untie=True) for net in nets]
    print(f"canonical form: {(time.time() - began) / 2:.1f} s", file=sys.stderr)
    plain, maps = (mcz.torch.groups(net, x) for net in (nets[0], rotated[0]))
    variants = {
        "as trained": (nets, plain, None, 0),
        "permutations": (nets, plain, {}, 0),
        "canonical form": (rotated, maps, None, 0),
        "permutations, canonical form": (rotated, maps, {}, 0),
        "maps by weights": (rotated, maps, {"maps": "all", "by": "weights"}, 0),
        "maps by moments": (rotated, maps, {"maps": "all"}, 0),
        "learned permutations": (rotated, maps, {"refine": STEPS}, 0),
        "learned maps": (rotated, maps, {"maps": "all", "refine": STEPS}, 0),
        "learned curve, permutations": (nets, plain, {}, 1),
        "learned curve, maps by moments": (rotated, maps, {"maps": "all"}, 1),
    }
    with open(o.output, "w") as out:
        print("pair", "alignment", "barrier", "middle", "end_a", "end_b", "seconds", sep="\t", file=out)
        for name, ((a, b), groups, options, epochs) in variants.items():
            began, p = time.time(), None
            if options is not None:
                loader = many if "refine" in options else few
                p = mcz.torch.align(a, b, loader, groups, progress=False, **options)
            curve = mcz.torch.Curve(a, b, p, control_points=epochs, groups=groups)
            if epochs:
                curve.train(many, epochs, optimizer=adamw, progress=False)
            seconds = time.time() - began
            points = curve.evaluate({"test": test}, 21, progress=False)
            accuracies = [points[i]["test.accuracy"] for i in (10, 0, 20)]
            numbers = [f"{points.barrier('test.loss'):.4f}", *(f"{v:.2f}" for v in accuracies)]
            print(o.pair, name, *numbers, f"{seconds:.1f}", sep="\t", file=out, flush=True)


def adamw(parameters):
    return torch.optim.AdamW(parameters, RATE, weight_decay=0.)


def table(o):
    """Writes the mean and the deviation over pairs."""
    rows = collections.defaultdict(list)
    for path in o.tables:
        with open(path) as f:
            for line in itertools.islice(f, 1, None):
                _, name, barrier, middle, *ends, seconds = line.rstrip("\n").split("\t")
                ends = statistics.fmean(map(float, ends))
                rows[name].append([float(barrier), float(middle), ends, float(seconds)])
    with open(o.output, "w") as f:
        columns = [name + end for name in ("barrier", "middle", "ends", "seconds") for end in ("", "_sd")]
        print("alignment", "pairs", *columns, sep="\t", file=f)
        for name, pairs in rows.items():
            values = [v for c in zip(*pairs) for v in (statistics.fmean(c), statistics.stdev(c))]
            print(name, len(pairs), *(f"{v:.3f}" for v in values), sep="\t", file=f)


def main():
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("line")
    command.add_argument("networks", nargs=2, metavar="NETWORK.mcz")
    command.add_argument("--net", choices=["vit", *networks.LANGUAGE], default="vit")
    command.add_argument("--data", nargs=2, metavar="FILE.mcz")
    command.add_argument("--pair", default="1-2")
    command.add_argument("-o", "--output", required=True)
    command = commands.add_parser("table")
    command.add_argument("tables", nargs="+", metavar="FILE.tsv")
    command.add_argument("-o", "--output", required=True)
    o = parser.parse_args()
    if o.command == "line" and not o.data and o.net not in networks.LANGUAGE:
        parser.error("--data is required for networks of images")
    torch.set_num_threads(1)
    (line if o.command == "line" else table)(o)


if __name__ == "__main__":
    main()
