#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export twelve networks of torchvision and the three of small_image_nets.py with mcz.torch, compare logits and losses,
recover a planted permutation from activations, and load the permuted network into PyTorch. Writes a table.

    pip install torch torchvision formats/python
    PATH=build/bin:$PATH tests/parity/torchvision_networks.py build [NETWORK...] >table.tsv

The networks have full width, 10 classes, random weights, and statistics of 64 random images of 64x64 (32x32 for the
three; SIZE=, IMAGES=). Columns: nodes; parameters; the largest logit, and the largest difference between the programs'
logits and PyTorch's; both losses; groups; units; units with almost no variance; other units that were matched to an
equal one (correlation 1) rather than the planted one; units that were matched wrongly; the largest difference of
logits of the permuted and of the aligned network in PyTorch. It requires torchvision and minutes, so it is not part of
`make check`. Exit status 1 if a network's logits differ by more than 1e-4 of the largest, or a unit is matched
wrongly."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(root, d) for d in ("formats/python", "tests/parity", "tests/cli/lib")]
import mcz  # noqa: E402
import small_image_nets  # noqa: E402
import torch_nets  # noqa: E402
from channels import channels  # noqa: E402
from mcz import safetensors  # noqa: E402
from mcz import torch as mt  # noqa: E402

NETWORKS = ("mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "convnext_tiny", "densenet121", "regnet_y_400mf",
            "resnext50_32x4d", "resnet18", "vgg11_bn", "googlenet", "squeezenet1_1", "alexnet")
SMALL = ("resnet9", "simplenet", "preactresnet18")
COLUMNS = ("network", "nodes", "parameters", "largest_logit", "difference", "loss_there", "loss_here", "groups",
           "units", "dead", "tied", "elsewhere", "back")
SIZE, IMAGES = (os.environ.get(k, "64") for k in ("SIZE", "IMAGES"))


def call(*command, **rest):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True, **rest).stdout


def lived_in(net, x):
    """Makes a network similar to a trained one: with the images' statistics, so that deep signals do not vanish, and
    with layer scales above 1e-6, so that a block contributes to its sum with the shortcut."""
    norms = {m: m.momentum for m in net.modules() if isinstance(m, nn.BatchNorm2d)}
    for m in norms:
        m.momentum = None  # the mean of all batches
    for name, p in net.named_parameters():
        if name.endswith("layer_scale"):
            nn.init.uniform_(p, .5, 1)
    torch_nets.lived_in(net, x, 2)
    for m, momentum in norms.items():
        m.momentum = momentum
    return net


def row(name, build, images):
    torch.manual_seed(1)
    s = mcz.read(images)
    x, y = torch.from_numpy(s.tensors["images"]) / 255, torch.from_numpy(s.tensors["labels"]).long()
    rest = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
    home = small_image_nets if name in SMALL else torchvision.models
    net = lived_in(getattr(home, name)(num_classes=10, **rest), x[:32])
    graph, tensors, notes = mt.export(net, x.shape[1:], 10, name=name)
    for note in notes:
        print("%s: %s" % (name, note), file=sys.stderr)
    with open("net.json", "w") as f:
        json.dump(graph, f)
    safetensors.write("a.safetensors", tensors)
    call("mc-convert", "a.safetensors", "--net", "./net.json", "--data", images, "-o", "a.mcz")
    theirs = torch_nets.logits(net, x)
    here = np.loadtxt(call(os.path.join(build, "tests/parity/test_convert"), "a.mcz", images).splitlines())
    losses = [F.cross_entropy(torch.as_tensor(v), y).item() for v in (theirs, here.astype("f4"))]
    call("mc-permute", "--random", "5", "--perm-out", "planted.mcz", "a.mcz", "-o", "q.mcz")
    call("bash", "-c", "set -o pipefail; mc-acts -q --samples %d --data %s a.mcz q.mcz | mc-corr -q -o m.mcz && "
         "mc-hungarian -q m.mcz -o p.mcz" % (len(x), images))
    # the assignment must invert the planted permutation of a's units
    planted, found, matrices = (mcz.read(f) for f in ("planted.mcz", "p.mcz", "m.mcz"))
    units = dead = elsewhere = tied = 0
    groups, moved = {g["name"]: g for g in matrices.meta["groups"]}, channels(planted)
    for name_of, p in channels(found).items():
        live = np.setdiff1d(np.arange(len(p)), groups[name_of]["dead_a"])
        units, dead = units + len(p), dead + len(groups[name_of]["dead_a"])
        value = matrices.tensors[name_of][np.arange(len(p)), p]
        wrong = (moved[name_of][p] != np.arange(len(p)))[live]
        elsewhere += int((wrong & (value[live] < .9999)).sum())
        tied += int((wrong & (value[live] >= .9999)).sum())
    call("mc-permute", "p.mcz", "q.mcz", "-o", "back.mcz")
    back = torch_nets.logits(mt.load(net, "q.mcz"), x)
    again = torch_nets.logits(mt.load(net, "back.mcz"), x)
    most = np.abs(theirs).max()
    off, returned = np.abs(theirs - here).max(), max(np.abs(theirs - v).max() for v in (back, again))
    cells = (name, len(graph["nodes"]), sum(p.numel() for p in net.parameters()), "%.4g" % most, "%.2g" % off,
             "%.6f" % losses[0], "%.6f" % losses[1], len(matrices.meta["groups"]), units, dead, tied, elsewhere,
             "%.2g" % returned)
    print("\t".join(map(str, cells)), flush=True)
    return max(off, returned) <= 1e-4 * most and not elsewhere


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    build, names, ok = os.path.abspath(sys.argv[1]), sys.argv[2:] or NETWORKS + SMALL, True
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for size in SIZE, "32":
            call("mc-data", "synth", "--size", size, "--samples", IMAGES, "-o", size + ".mcz")
        print("\t".join(COLUMNS))
        for name in names:
            try:
                ok = row(name, build, ("32" if name in SMALL else SIZE) + ".mcz") and ok
            except (mcz.Error, subprocess.CalledProcessError) as e:
                print("%s: %s" % (name, e), file=sys.stderr)
                ok = False
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
