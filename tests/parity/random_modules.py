# SPDX-License-Identifier: Apache-2.0
"""Tests mcz.torch.groups with modules that are drawn at random, without any knowledge of how groups are derived.

    random_modules.py run FIRST COUNT     test the seeds FIRST to FIRST + COUNT - 1; exit status 1 if one fails
    random_modules.py show SEED           print the module of a seed

A module is a residual network of blocks over values (N,C), (N,T,C) or (N,C,H,W). A block is a chain of operations
(random_operations.py). Its groups are derived for one example. Then its units are permuted at random. The permuted copy
must return the same outputs for other batches, lengths and sizes, in both modes, also when it is called again: a module may
have state. Constants that are not part of the state_dict may hold other numbers. `groups` may refuse a module with
mcz.Error in one line; if the example does not use all parameters, it is called again with all inputs. Everything else is
a failure, which is reduced to a small module and printed."""
import contextlib
import copy
import random
import sys
import textwrap
import time
import traceback
import warnings
from collections import Counter

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

import mcz
import mcz.torch
import random_operations
from random_operations import OPERATIONS, Draft, Skip

TOLERANCE = 1e-10  # relative to the largest output
SHARE = .5  # of the seeds must have groups

INPUTS = {  # kind: (the input as code for a batch of n and a length of t; lengths of the example and two other inputs)
    "vectors": ("torch.randn(n, 7)", (6, 6, 6)),
    "sequences": ("torch.randn(n, t, 7)", (6, 9, 4)),
    "short sequences": ("torch.randn(n, t, 7)", (6, 6, 6)),
    "tokens": ("torch.randint(11, (n, t))", (6, 9, 4)),
    "images": ("torch.randn(n, 3, t, t)", (8, 12, 10)),
    "small images": ("torch.randn(n, 3, t, t - 2)", (8, 8, 8)),
}
BATCHES = 2, 3, 5  # of the example and the other inputs


def made_input(kind, i):
    text, lengths = INPUTS[kind]
    torch.manual_seed(i)
    return eval(text, {"torch": torch, "n": BATCHES[i], "t": lengths[i]})


# ---- drawing a module ------------------------------------------------------------------------------------------------

def stem(d, kind):
    n = d.width()
    if kind == "tokens":
        d.do("x = %s(x)", d.own("nn.Embedding(11, %d)" % n))
    elif "images" in kind:
        d.do("x = %s(x)", d.own("nn.Conv2d(3, %d, %s)" % (n, d.pick(["3, padding=1", "2, stride=2", "1"]))))
    else:
        d.do("x = %s(x)", d.own("nn.Linear(7, %d)" % n))


def block(d, random_of, dropped, used):
    """A chain of operations on the value, which is added to it, replaces it, or is appended to it."""
    d.do("h = x")
    for slot in range(d.pick([1, 2, 3, 4])):
        d.rng = random_of(slot)
        if slot in dropped:
            continue
        for _ in range(30):
            name, saved = d.pick(OPERATIONS), d.save()
            try:
                OPERATIONS[name](d)
                d.check()
                used.append(name)
                break
            except Skip:
                d.restore(saved)
    d.rng = random_of("end")
    same = d.sizes("h") == d.sizes("x")
    if not same and d.chance(.5) and d.sizes()[:-1] == d.sizes("x")[:-1] and None not in (d.sizes()[-1], d.sizes("x")[-1]):
        d.do("h = %s(h)", d.own("nn.Linear(%d, %d)" % (d.sizes()[-1], d.sizes("x")[-1])))
        same = True
    d.do("x = x + h" if same and d.chance(.6) else "x = h")
    if d.chance(.4) and d.sizes("x")[-1] is not None:  # new units
        d.do("x = %s(x)", d.own("nn.Linear(%d, %d)" % (d.sizes("x")[-1], d.width())))
    elif d.chance(.4) and d.rank == 4 and d.sizes("x")[1] is not None:
        d.do("x = %s(x)", d.own("nn.Conv2d(%d, %d, 1)" % (d.sizes("x")[1], d.width())))


def head(d):
    """Five outputs, or the value itself."""
    while d.rank > 2 and any(n is None for n in d.sizes()[1:]):
        d.do("h = h.%s(%d)", d.pick(["mean", "amax"]), d.pick([k for k, n in enumerate(d.sizes()) if k and n is None]))
    if d.rank > 2 and d.chance(.5):
        d.do("h = h.mean(%d)", d.pick(range(1, d.rank)))
    if d.rank > 2:
        d.do("h = h.flatten(1)")
    d.do("h = %s(h)", d.own("nn.Linear(%d, 5)" % d.size(1)))


def draw(seed, attempt, dropped=()):
    """(kind of input, source of a module, names of its operations). dropped: pairs (block, slot) to leave out; slot None:
    the whole block. Raises Skip if this attempt gives no module."""
    def rng(*path):
        return random.Random("/".join(map(str, (seed, attempt, *path))))
    start = rng("start")
    kind, used = start.choice(list(INPUTS)), []
    torch.manual_seed(seed)
    d = Draft([{"x": made_input(kind, i)} for i in (0, 1)], start)
    stem(d, kind)
    for i in range(start.choice([2, 3, 4])):
        if (i, None) not in dropped:
            d.rng = rng(i)
            block(d, lambda slot: rng(i, slot), {s for j, s in dropped if j == i}, used)
    d.rng = rng("head")
    d.do("h = x")
    head(d)
    lines = [line for line in d.lines] + ["return h" if d.chance(.8) else "return {\"y\": h, \"z\": h.softmax(-1)}"]
    return kind, source(d.init, lines), used


def source(init, lines):
    return "\n".join(["class Net(nn.Module):", "    def __init__(self):", "        super().__init__()",
                      *["        " + line for line in init], "", "    def forward(self, x):",
                      *["        " + line for line in lines], ""])


def build(text, seed):
    values = {"torch": torch, "nn": nn, "F": F}
    exec(compile(text, "module of seed %s" % seed, "exec"), values)
    torch.manual_seed(seed)
    return values["Net"]().eval()


# ---- numbers ---------------------------------------------------------------------------------------------------------

def randomize(net, seed):
    """Puts distinct random numbers into the state_dict. Scales and variances are positive."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, v in net.state_dict().items():
            if v.is_floating_point() or v.is_complex():
                fresh = torch.randn(v.shape, generator=generator, dtype=v.dtype)
                fan = max(1, v[0].numel()) if v.dim() > 1 else 4
                v.copy_(.5 + fresh.abs() if name.endswith(("var", "weight")) and v.dim() < 2 else fresh * 1.5 / fan ** .5)


def hidden(net):
    """The floating-point tensors of a module that are not in its state_dict, as (module, name, tensor)."""
    own = {v.data_ptr() for v in net.state_dict(keep_vars=True).values()}
    for m in net.modules():
        for name, v in [*m.__dict__.items(), *m._buffers.items()]:
            if isinstance(v, torch.Tensor) and v.is_floating_point() and v.data_ptr() not in own:
                yield m, name, v


def doubled(net):
    """A copy in float64, with constants that are attributes."""
    net = copy.deepcopy(net).double()
    for m, name, v in list(hidden(net)):
        setattr(m, name, v.double())
    return net


@contextlib.contextmanager
def double():
    """Modules create tensors in float64."""
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def run(net, x):
    return [v.double().flatten() for v in pytree.tree_leaves(net(x.double() if x.is_floating_point() else x))]


def apart(a, b):
    """The largest difference relative to the largest number. Infinite if numbers are not finite."""
    worst = 0.
    for x, y in zip(a, b):
        d = (x - y).abs().max() / x.abs().max().clamp_min(1e-300)
        worst = max(worst, float(d) if d.isfinite() else float("inf"))
    return worst


def steady(net, kind):
    """True if outputs are finite and depend smoothly on the parameters, so that rounding changes them little."""
    other = copy.deepcopy(net)
    generator = torch.Generator().manual_seed(1)
    with double():
        for v in other.state_dict().values():
            if v.is_floating_point():
                v.mul_(1 + 1e-12 * torch.randn(v.shape, generator=generator))
        try:
            return all(apart(run(net, made_input(kind, i)), run(other, made_input(kind, i))) < 1e-9 for i in (0, 1, 2, 1))
        except Exception:  # a module that does not run
            return False


def steady_module(seed):
    """The first steady module that a seed draws: (attempt, kind of input, source, operations)."""
    for attempt in range(1000):
        try:
            kind, text, used = draw(seed, attempt)
        except Skip:
            continue
        net = doubled(build(text, seed))
        randomize(net, seed)
        if steady(net, kind):
            return attempt, kind, text, used
    raise AssertionError("seed %d draws no module" % seed)


# ---- testing one -----------------------------------------------------------------------------------------------------

def moved(net, seed, g, all_groups):
    """A copy of a network with each group permuted at random, or all_groups: never by the identity."""
    rng, found = np.random.default_rng(seed), {}
    for name, n in g.sizes.items():
        p = rng.permutation(n)
        found[name] = p if not all_groups or (p != np.arange(n)).any() else np.roll(p, 1)
    return mcz.torch.permute(copy.deepcopy(net), found, list(g))


def differences(net, kind, seed, g):
    """Yields (difference, circumstances) of permuted networks."""
    for what in "its constants", "other constants":
        base = doubled(net)
        if what == "other constants":
            generator = torch.Generator().manual_seed(7)
            for m, name, v in list(hidden(base)):
                setattr(m, name, torch.rand(v.shape, generator=generator, dtype=v.dtype) + .1)
        randomize(base, seed)
        if what == "other constants" and (not any(True for _ in hidden(base)) or not steady(base, kind)):
            continue
        for training in (False, True) if what == "its constants" else (False,):
            a, b = copy.deepcopy(base), moved(base, seed, g, not training)
            for m in [*a.modules(), *b.modules()]:
                m.training = training
                if isinstance(m, nn.modules.dropout._DropoutNd):
                    m.p = 0.
            for i in (1, 2):
                for call in (1, 2):
                    x = made_input(kind, i) if call == 1 else made_input(kind, i) * 1
                    with double():
                        try:
                            y = run(a, x)
                        except Exception:  # a mode in which it does not run, such as batch norm of one number
                            break
                        if not all(v.isfinite().all() for v in y):
                            break
                        yield apart(y, run(b, x)), "%s, %s mode, input %s, call %d" % (
                            what, "training" if training else "evaluation", tuple(x.shape), call)


def derive(net, kind):
    """The groups for the example, or for all inputs if the example does not use all parameters."""
    try:
        return mcz.torch.groups(net, made_input(kind, 0))
    except mcz.Error as e:
        if "not used by" not in str(e):
            raise
        return mcz.torch.groups(net, *(made_input(kind, i) for i in range(3)))


def examine(kind, text, seed):
    """(result, details): "groups" with Groups, "none" with Groups, "refused" with the message, "wrong" or "raises" with
    what happened."""
    net = build(text, seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            g = derive(net, kind)
    except mcz.Error as e:
        line = str(e)
        return ("raises", "a message of several lines: %s" % line) if "\n" in line else (
            "wrong", line) if "please report" in line else ("refused", line)
    except Exception as e:
        place = traceback.extract_tb(e.__traceback__)[-1]
        return "raises", "%s: %s (%s:%d)" % (type(e).__name__, " ".join(str(e).split())[:200], place.filename.split("/")[-1],
                                             place.lineno)
    try:
        for d, where in differences(net, kind, seed, g) if g.sizes else ():
            if not d <= TOLERANCE:
                return "wrong", "outputs differ by %.2g (%s)" % (d, where)
    except Exception as e:
        return "raises", "permuted network: %s: %s" % (type(e).__name__, " ".join(str(e).split())[:200])
    return "groups" if g.sizes else "none", g


def freed(g):
    """(entries of parameter axes that a group permutes, all entries of axes longer than 1)."""
    entries = {(r.tensor, r.axis, i) for r in g.rows for i in range(r.offset, r.offset + r.count * r.block)}
    return len(entries), sum(n for shape in g.shapes.values() for n in shape if n > 1)


# ---- reducing a failure ----------------------------------------------------------------------------------------------

def same_failure(result, details, kind, text, seed):
    try:
        found, more = examine(kind, text, seed)
        net = doubled(build(text, seed))
        randomize(net, seed)
        return found == result and (result != "raises" or more.split(":")[0] == details.split(":")[0]) and steady(net, kind)
    except Exception:  # a source that does not run
        return False


def reduced(seed, attempt, kind, text, result, details):
    """A shorter source with the same failure: without blocks, operations and lines that it does not need."""
    dropped = []
    for path in [(i, None) for i in range(4)] + [(i, s) for i in range(4) for s in range(4)]:
        try:
            _, shorter, _ = draw(seed, attempt, dropped + [path])
        except Skip:
            continue
        if shorter != text and same_failure(result, details, kind, shorter, seed):
            dropped, text = dropped + [path], shorter
    lines = text.split("\n")
    for i in reversed(range(len(lines))):
        shorter = lines[:i] + lines[i + 1:]
        if lines[i].strip() and "super()" not in lines[i] and same_failure(result, details, kind, "\n".join(shorter), seed):
            lines = shorter
    return "\n".join(lines)


def main(what, *words):
    torch.set_num_threads(1)
    if what == "show":
        attempt, kind, text, used = steady_module(int(words[0]))
        return print("%s# x = %s; attempt %d; %s" % (text, INPUTS[kind][0], attempt, ", ".join(used)))
    results, operations, failed, entries, started = Counter(), Counter(), [], [0, 0], time.time()
    for seed in range(int(words[0]), int(words[0]) + int(words[1])):
        attempt, kind, text, used = steady_module(seed)
        result, details = examine(kind, text, seed)
        results[result] += 1
        if result in ("groups", "none"):
            operations.update(used)
            entries = [a + b for a, b in zip(entries, freed(details))]
            details = "%d groups, %d units; %d of %d entries of axes" % (
                len(details.sizes), sum(details.sizes.values()), *freed(details))
        print(seed, result, details, sep="\t", flush=True)
        if result in ("wrong", "raises"):
            failed.append(seed)
            text = reduced(seed, attempt, kind, text, result, details)
            print(textwrap.indent("%s# x = %s; %s" % (text, INPUTS[kind][0], examine(kind, text, seed)[1]), "    "), flush=True)
    print("%s; %d operations; %d of %d entries of axes are free; %.0f s" % (
        ", ".join("%d %s" % (n, r) for r, n in results.items()), len(operations), *entries, time.time() - started))
    if failed:
        sys.exit("seeds %s fail" % ", ".join(map(str, failed)))
    if results["groups"] < SHARE * sum(results.values()):
        sys.exit("fewer than %d%% of the modules have groups" % (100 * SHARE))


if __name__ == "__main__":
    main(*sys.argv[1:])
