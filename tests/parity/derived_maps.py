# SPDX-License-Identifier: Apache-2.0
"""Rotations and other maps of the networks in expected_maps.py.

    check [WORD]   canonical keeps the function, and groups allows what is expected; without canonical, permutations only
    kinds          a random map of each kind is one of that kind, and others are not rotations of pairs
    plant          networks that were moved by random maps of every kind are aligned exactly
    many           canonical networks are aligned by permutations, each pair and jointly: rotations stay the identity
    learn          learned maps lower the loss in the middle
    learn_rotary   learned maps keep those of rotary positions
    programs OUT   mc-permute and mcz.torch.permute write the same numbers"""
import copy
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn

import expected_groups as known
import expected_maps
import mcz
import mcz.torch
from mcz.modules.canonical import Canonical
from mcz.nn.maps import problem, random_map
from mcz.symmetry.allows import Allowances, unfolded
from mcz.symmetry.derive import Derivation
from mcz.symmetry.probe import Probe

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pipelines" / "modules"))
DOUBLE = {"the ViT of pipelines/modules", "GPT-2, untied", "LLaMA with grouped queries", "RMSNorm and LayerScale"}


def logits(net, x):
    with torch.no_grad():
        y = net(**x) if isinstance(x, dict) else net(x)
    return y if isinstance(y, torch.Tensor) else y[0]


def double(x):
    return torch.utils._pytree.tree_map(lambda v: v.double() if v.is_floating_point() else v, x)


def changed(net, example, untie):
    """The largest difference of logits on an input that canonical did not see, and the new network."""
    new, x = mcz.torch.canonical(net, example(2), untie=untie), example(4, seed=3)
    assert list(new.state_dict()) == list(net.state_dict()), "names differ"
    return (logits(net, x) - logits(new, x)).abs().max().item(), new


def count(g):
    parents = {r.group: r.within for r in g.rows if r.within}
    return Counter((g.allows[k], n, g.sizes[parents[k]] if k in parents else 0) for k, n in g.sizes.items())


def check(word=""):
    for name, function in expected_maps.NETS.items():
        if word not in name:
            continue
        net, example, untie, counts = function()
        single, new = changed(net, example, untie)
        wide = changed(copy.deepcopy(net).double(), lambda n, seed=0: double(example(n, seed)), untie)[0] if name in DOUBLE else 0
        before = mcz.torch.groups(net, example(2), progress=False)
        g = mcz.torch.groups(new, example(2), progress=False)
        good = single < 1e-5 and wide < 1e-10 and count(g) == counts and g.difference < 1e-9 and \
            set(before.allows.values()) == {"permutation"} and "allows" not in mcz.groups.text(before).split("\n")[1] and \
            all(g.reasons[k] for k, v in g.allows.items() if v == "permutation")
        print(f"{name}\t{single:.1e}\t{wide:.1e}\t{g.difference:.1e}\t{'ok' if good else 'WRONG'}", flush=True)
        if not good:
            print("  found", count(g) - counts, "expected", counts - count(g))


def kinds():
    rng = np.random.default_rng(1)
    maps = {k: random_map(6, k, rng) for k in ("signed", "rotation", "half-turn", "orthogonal", "centred")}
    good = not any(problem(m, k) for k, m in maps.items())
    m, neighbours = maps["rotation"], np.kron(np.eye(3), random_map(2, "rotation", rng))
    good &= not problem(neighbours, "orthogonal") and all(problem(v, "rotation") for v in (neighbours, m[::-1], m * [1, 1, 1, 1, 1, -1]))
    m = maps["half-turn"]
    good &= not problem(m, "rotation") and all(problem(v, "half-turn") for v in (maps["rotation"], m * [1, 1, 1, 1, 1, -1], m[::-1]))
    print(f"kinds\t{'ok' if good else 'WRONG'}")


def distort(net, x, rng):
    """The network with an invertible map of condition at most 10 within each head: its inverse transposed on the other side."""
    net = copy.deepcopy(net)
    d = Derivation(net, [x], "keep")
    own = Canonical(d)
    found = Allowances(d.run, d.names)
    linear = {g: own.rows[g] for g, a in own.atoms.items() if "invertible" in found.of(a)}
    probe = Probe(d, linear, found.gains)
    for g, rows in linear.items():
        n = rows[0].count
        m = random_map(n, "orthogonal", rng) * rng.uniform(1, 10, n) @ random_map(n, "orthogonal", rng)
        sides = {1: torch.from_numpy(m), -1: torch.from_numpy(np.linalg.inv(m).T), 0: torch.eye(n, dtype=torch.float64)}
        for r, s in zip(rows, probe.sides(g)):
            own._write(r, sides[s] @ unfolded(own.state[r.tensor], r))
    with torch.no_grad():
        for k, v in net.state_dict().items():
            if k in own.state and v.is_floating_point():
                v.copy_(own.state[k])
    assert linear
    return net


def planted(name, net, x, untie=False, by="activations", seen=256):
    rng = np.random.default_rng(1)
    a = mcz.torch.canonical(net, x[:2], untie=untie)
    g = mcz.torch.groups(a, x[:2], progress=False)
    b = copy.deepcopy(a)
    mcz.torch.permute(b, {k: random_map(n, g.allows[k], rng) for k, n in g.sizes.items()}, g)
    b = distort(b, x[:2], rng)
    apart = (logits(a, x) - logits(b, x)).abs().max().item()
    b = mcz.torch.canonical(b, x[:2])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        p = mcz.torch.align(a, b, list(x[:seen].split(32)), g, by, maps="all", progress=False)
    reported = any("without data (mapped by the weights" in str(w.message) for w in found)
    middle = (logits(mcz.torch.merge(a, b, p), x) - logits(a, x)).abs().max().item()
    none = (logits(mcz.torch.merge(a, b), x) - logits(a, x)).abs().max().item()
    mcz.torch.permute(b, p, g)
    worst = max(((v - w).norm() / w.norm()).item() for v, w in zip(b.state_dict().values(), a.state_dict().values())
                if w.is_floating_point() and w.norm() > 0)
    good = apart < 1e-4 and worst < 1e-4 and middle < 1e-4 < none and reported == (seen < len(x))
    print(f"{name}\tparameters {worst:.1e}\tmiddle {middle:.1e}, unaligned {none:.1e}\t{'ok' if good else 'WRONG'}", flush=True)


def plant():
    import networks
    torch.manual_seed(0)
    planted("ViT", expected_maps.trained(networks.ViT(16, 2, 2)), torch.randn(256, 3, 32, 32))
    planted("GPT-2", expected_maps.trained(known.gpt2()), torch.randint(known.VOCAB, (256, 5)), True)
    planted("LLaMA", expected_maps.trained(known.llama(2)), torch.randint(known.VOCAB, (256, 5)))
    planted("LLaMA by weights", expected_maps.trained(known.llama(2)), torch.randint(known.VOCAB, (256, 5)), False, "weights")
    planted("LLaMA, few tokens", expected_maps.trained(known.llama(2)), torch.randint(known.VOCAB, (256, 5)), seen=1)
    planted("Qwen3", expected_maps.trained(known.qwen3()[0]), torch.randint(known.VOCAB, (256, 5)))
    planted("Qwen3 by weights", expected_maps.trained(known.qwen3()[0]), torch.randint(known.VOCAB, (256, 5)), by="weights")
    planted("GPT-NeoX", expected_maps.trained(known.gpt_neox()[0]), torch.randint(known.VOCAB, (256, 5)))


def pair(name="ViT"):
    """Two canonical networks and batches with labels."""
    import networks
    torch.manual_seed(0)
    make, shape = {"ViT": (lambda: networks.ViT(16, 2, 2), (3, 32, 32)), "SwiGLU": (expected_maps.swiglu, (7,))}[name]
    x, y = torch.randn(64, *shape), torch.randint(5, (64,))
    nets = [mcz.torch.canonical(expected_maps.trained(make(), seed), x[:2]) for seed in range(2)]
    return *nets, [(x[:32], y[:32]), (x[32:], y[32:])]


def many():
    torch.manual_seed(0)
    x = torch.randint(known.VOCAB, (32, 5))
    nets = [mcz.torch.canonical(expected_maps.trained(known.llama(2), seed), x[:2]) for seed in range(3)]
    g, before = mcz.torch.groups(nets[0], x[:2], progress=False), logits(nets[2], x)
    joint = [mcz.torch.align_many(nets, [x], g, by, progress=False) for by in ("activations", "weights")]
    pairs = [mcz.torch.align(nets[0], nets[2], [x], g, by, progress=False) for by in ("activations", "weights")]
    for p in [mcz.member(j, 3) for j in joint] + pairs:
        fixed = all((v == np.arange(8)).all() for k, v in p.tensors.items() if g.allows[k] == "rotation")
        apart = (logits(mcz.torch.permute(copy.deepcopy(nets[2]), p, g), x) - before).abs().max().item()
        print(f"by permutations\t{apart:.1e}\t{'ok' if fixed and apart < 1e-4 else 'WRONG'}", flush=True)


def learn():
    a, b, loader = pair()
    g = mcz.torch.groups(a, loader[0][0][:2], progress=False)
    losses, before = [], logits(b, loader[0][0])
    for maps, steps in ("permutations", 0), ("permutations", 30), ("all", 0), ("all", 30):
        p = mcz.torch.align(a, b, loader, g, maps=maps, refine=steps, progress=False)
        losses.append(mcz.torch.Curve(a, b, p).evaluate(loader, points=3, progress=False)[1]["data.loss"])
    mcz.torch.permute(b, p, g)
    good = losses[1] < losses[0] and losses[3] < losses[2] - .05 and (logits(b, loader[0][0]) - before).abs().max() < 1e-5
    print(f"loss in the middle {losses[2]:.3f}, learned {losses[3]:.3f}; permutations {losses[0]:.3f}, {losses[1]:.3f}\t{'ok' if good else 'WRONG'}")


def learn_rotary():
    """The maps of rotary positions do not change: the rotations of a key head that is not within a group, and half-turns."""
    learn_others("LLaMA with one key head", lambda: known.llama(1), "rotation")
    learn_others("Qwen3", lambda: known.qwen3()[0], "half-turn")


def learn_others(name, make, kind):
    torch.manual_seed(0)
    x, y = torch.randint(known.VOCAB, (32, 5)), torch.randint(known.VOCAB, (32, 5))
    a, b = (mcz.torch.canonical(expected_maps.trained(make(), seed), x[:2]) for seed in range(2))
    g = mcz.torch.groups(a, x[:2], progress=False)
    loss = lambda out, y: nn.functional.cross_entropy(out[0].flatten(0, 1), y.flatten())
    p, q = (mcz.torch.align(a, b, [(x, y)], g, maps="all", refine=n, loss=loss, progress=False).tensors for n in (0, 3))
    kept = {k: np.array_equal(p[k], q[k]) for k in p}
    own = [k for k, v in g.allows.items() if v == kind]
    good = own and all(kept[k] for k in own) and not all(kept.values())
    print(f"{name}\t{'ok' if good else 'WRONG'}")


def programs(out):
    for name in "ViT", "SwiGLU":
        same_numbers(name, out)


def same_numbers(name, out):
    a, b, loader = pair(name)
    g = mcz.torch.groups(a, loader[0][0][:2], progress=False)
    p = mcz.torch.align(a, b, loader, g, maps="all", refine=3, path=out + "-p.mcz", progress=False)
    mcz.torch.save(b, out + "-b.mcz", g)
    subprocess.run(["mc-permute", out + "-p.mcz", out + "-b.mcz", "-o", out + "-m.mcz"], check=True)
    mcz.torch.permute(b, p, g)
    own, found = b.state_dict(), mcz.read(out + "-m.mcz").tensors
    wrong = [k for k, v in found.items() if not np.array_equal(v, own[k].numpy())]
    print(f"{name}: {len(found)} tensors, {len(wrong)} differ\t{'ok' if found and not wrong else 'WRONG'}")


if __name__ == "__main__":
    {"check": check, "kinds": kinds, "plant": plant, "many": many, "learn": learn, "learn_rotary": learn_rotary, "programs": programs}[sys.argv[1]](*sys.argv[2:])
