# SPDX-License-Identifier: Apache-2.0
"""Compares mcz.torch.groups with the groups that expected_groups and hostile_modules derive by hand.

    derived_groups.py self                    the checks of this file detect planted errors
    derived_groups.py check                   self, the fast networks and the hostile modules without EXTRA
    derived_groups.py networks [WORD...]      the fast networks of expected_groups, or those whose name contains a WORD
    derived_groups.py hostile [WORD...]       the modules of hostile_modules
    derived_groups.py programs [NETWORK...]   mc-permute by the group files of the fast networks keeps their outputs
    derived_groups.py kinds|torchvision|timm|more [WORD...]
                                              networks of network_kinds and more_networks, whose groups are not known beforehand
    derived_groups.py survey TABLE SET...     append what mcz.torch.groups finds in kinds, timm and more (an hour), with checks of
                                              other batches and a longer input; exit status 1 if a group is wrong.
                                              derived_page.py prints docs/reference/derived-groups.md from the table

Prints one line per network. Exit status 1 if one is not as expected. The outputs of permuted networks are compared here
independently of mcz.torch.groups: in float64, with random numbers in every tensor, for batches of 2 and 7."""
import copy
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

import mcz
import mcz.safetensors
import mcz.torch
from mcz.nn.state import tensors_of

TOLERANCE, BATCHES, ROWS = 1e-9, (2, 7), 150


class Double(TorchFunctionMode):
    """Computes in float64 where a network asks for float32, such as in RMS norms."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        def wide(v):
            return torch.float64 if v is torch.float32 else v
        if function is torch.Tensor.float:
            return args[0].double()
        return function(*map(wide, args), **{k: wide(v) for k, v in (kwargs or {}).items()})


def randomize(net, seed):
    """Puts random numbers into each tensor of the state_dict, in float64. Vectors named weight or var are positive."""
    generator = torch.Generator().manual_seed(seed)
    net = net.double()
    with torch.no_grad():
        for name, v in {v.data_ptr(): (k, v) for k, v in net.state_dict().items()}.values():
            if v.is_floating_point() or v.is_complex():
                fresh = torch.randn(v.shape, generator=generator, dtype=v.dtype)
                positive = name.endswith(("var", "weight")) and v.dim() == 1
                fan = max(1, v.numel() // max(1, len(v))) if v.dim() > 1 else 4
                v.copy_(.5 + fresh.abs() if positive else fresh * 1.3 / fan ** .5)
    return net.eval()


def wide(x):
    return pytree.tree_map(lambda v: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v, x)


def run(net, x):
    """The real numbers of all outputs, as a list of vectors."""
    with Double():
        y = net(**x) if isinstance(x, dict) else net(*x) if isinstance(x, tuple) else net(x)
    leaves = [v for v in pytree.tree_leaves(y) if isinstance(v, torch.Tensor)]
    return [(torch.view_as_real(v) if v.is_complex() else v).double().reshape(-1) for v in leaves]


def difference(a, b):
    """The largest difference of outputs, relative to the largest number of the same output."""
    return max(((x - y).abs().max() / x.abs().max().clamp_min(1e-300)).item() for x, y in zip(a, b) if x.numel())


def permutations(sizes, seed):
    """A permutation per group; with seed 0 none is the identity. With others, some groups of two units stay."""
    rng = np.random.default_rng(seed)
    found = {}
    for g, n in sizes.items():
        p = rng.permutation(n)
        found[g] = p if seed or (p != np.arange(n)).any() else np.roll(p, 1)
    return found


# ---- structure -------------------------------------------------------------------------------------------------------

def enclosing(rows, shapes):
    """{group: the innermost group with one unit that holds all rows of it, or None}."""
    by_axis, common = defaultdict(list), {}
    for r in rows:
        by_axis[r.tensor, r.axis].append(r)
    for r in rows:
        around, shape = {}, shapes[r.tensor]
        part = shape[0] // r.parts
        for axis, offset, length in (r.axis, r.offset, r.count * r.block), (0, r.offset // shape[r.axis] * part, part):
            for o in by_axis[r.tensor, axis] if not around and (axis == r.axis or r.parts > 1) else ():
                start = offset - o.offset
                if o.group != r.group and length <= o.block and 0 <= start < o.count * o.block and (
                        start // o.block == (start + length - 1) // o.block):
                    around[o.group, start // o.block] = o.count * o.block
        if around:  # an axis that only this group uses, such as the inputs of a grouped convolution, encloses nothing
            common[r.group] = around if r.group not in common else {
                k: v
                for k, v in common[r.group].items() if k in around
            }
    return {r.group: min(common[r.group], key=common[r.group].get)[0] if common.get(r.group) else None for r in rows}


def counts_of(rows, shapes):
    """Counter {(units, units of the enclosing group, or 0): groups}."""
    sizes, outer = {r.group: r.count for r in rows}, enclosing(rows, shapes)
    return Counter((n, sizes[outer[g]] if outer[g] else 0) for g, n in sizes.items())


def as_text(counts):
    return ", ".join("%s%d%s" % ("%d x " % n if n > 1 else "", units, " in %d" % outer if outer else "")
                     for (units, outer), n in sorted(counts.items(), key=lambda e: (e[0][1] > 0, e[0]))) or "none"


def change(expected, found):
    lacks, extra = expected - found, found - expected
    return "; ".join(["lacks " + as_text(lacks)] * bool(lacks) + ["has also " + as_text(extra)] * bool(extra))


# ---- independent checks ----------------------------------------------------------------------------------------------

def outputs_kept(net, example, rows, sizes):
    """The largest relative difference after random permutations of all groups, for batches of 2 and 7."""
    worst = 0.
    for seed, n in enumerate(BATCHES):
        x = wide(example(n, seed + 5))
        with torch.no_grad():
            before = run(net, x)
            after = run(mcz.torch.permute(copy.deepcopy(net), permutations(sizes, seed), rows), x)
        assert all(torch.isfinite(v).all() for v in before), "outputs are not finite"
        worst = max(worst, difference(before, after))
    return worst


def idle_rows(net, example, rows, sizes):
    """The rows whose numbers have no effect on the outputs, and the tensors in rows that the network does not use.

    A row's effect is first estimated from the gradient of a random sum of all outputs. Rows without an effect there,
    and statistics, which have no gradient, are then permuted alone. At most ROWS rows are examined, a random sample."""
    net = copy.deepcopy(net)
    x, tensors = wide(example(3, 9)), tensors_of(net)
    parameters = {p.data_ptr(): p for p in net.parameters()}
    for p in parameters.values():
        p.requires_grad_(True)
    outputs = run(net, x)
    generator = torch.Generator().manual_seed(1)
    loss = sum((v * torch.randn(v.shape, generator=generator, dtype=v.dtype)).sum() for v in outputs if v.requires_grad)
    names = {r.tensor: parameters.get(tensors[r.tensor].data_ptr()) for r in rows}
    used = [k for k, p in names.items() if p is not None]
    grads = dict(zip(used, torch.autograd.grad(loss, [names[k] for k in used], allow_unused=True)))
    before, dead = [v.detach() for v in outputs], []
    with torch.no_grad():
        for k in [k for k in used if grads[k] is None]:  # unused, or compared only
            old = tensors[k].clone()
            tensors[k].copy_(old.flip(0) + 1)
            dead += [k] * (difference(before, run(net, x)) == 0)
            tensors[k].copy_(old)
    p = permutations(sizes, 0)
    sample = rows if len(rows) <= ROWS else [rows[i] for i in sorted(
        np.random.default_rng(0).choice(len(rows), ROWS, replace=False))]
    effects, idle = {}, []
    with torch.no_grad():
        for r in sample:
            if grads.get(r.tensor) is not None:
                old = tensors[r.tensor].clone()
                mcz.torch.permute(net, {r.group: p[r.group]}, [r])
                effects[r] = abs(((tensors[r.tensor] - old) * grads[r.tensor].conj()).sum().item())
                tensors[r.tensor].copy_(old)
        least = 1e-11 * max(effects.values(), default=0)
        for r in [r for r in sample if effects.get(r, 0) <= least and r.tensor not in dead][:60]:
            old = tensors[r.tensor].clone()
            mcz.torch.permute(net, {r.group: p[r.group]}, [r])
            if difference(before, run(net, x)) < 1e-12:
                moved = tensors[r.tensor] != old  # if other numbers there have an effect, the units are copies
                tensors[r.tensor].copy_(torch.where(moved, old * old + .3, old))
                if difference(before, run(net, x)) < 1e-12:
                    idle.append(r)
            tensors[r.tensor].copy_(old)
    return idle, dead


def problems_of(net, example, rows, sizes):
    """(largest relative difference, list of what is wrong) of groups of a network."""
    found, wrong = {}, []
    for r in rows:
        found.setdefault(r.group, []).append(r)
        if r.count != sizes[r.group]:
            wrong.append("%s: %d units in sizes, %d in a row" % (r.group, sizes[r.group], r.count))
    if set(found) != set(sizes):
        wrong.append("sizes name other groups than rows")
    if not rows:
        return 0., wrong
    try:
        mcz.groups.rows(rows, {k: v.shape for k, v in tensors_of(net).items()})
    except mcz.Error as e:
        return float("nan"), wrong + ["rows are refused: %s" % e]
    net = randomize(copy.deepcopy(net), 11)
    worst = outputs_kept(net, example, rows, sizes)
    if not worst <= TOLERANCE:
        wrong.append("outputs differ by %.2g" % worst)
    idle, dead = idle_rows(net, example, rows, sizes)
    wrong += ["%s is unused, but in a group" % k for k in dead]
    for g, its in found.items():  # biases of keys have no effect, so one row may
        if its and all(r in idle for r in its):
            wrong.append("%s: no row of it has an effect" % g)
    return worst, wrong


# ---- one network -----------------------------------------------------------------------------------------------------

def derive(net, example, counts, options=frozenset(["exact"]), least=Counter()):
    """(columns of the table, list of what is wrong) of mcz.torch.groups on a network."""
    start = time.time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = {k: v.clone() for k, v in net.state_dict().items()}
            g = mcz.torch.groups(net, example(2), unused="keep")
    except mcz.Error as e:
        line = str(e)
        wrong = ["message of %d lines" % len(line.splitlines())] * ("\n" in line)
        wrong += ["refused: expected %s" % as_text(counts or Counter())] * ("refused" not in options)
        return ["refused", "", line[:160], "", "%.1f" % (time.time() - start)], wrong
    except Exception as e:
        place = traceback.extract_tb(e.__traceback__)[-1]
        return [
            "FAILED", "",
            "%s: %s (%s:%d)" %
            (type(e).__name__, " ".join(str(e).split())[:160], place.filename.split("/")[-1], place.lineno), "",
            "%.1f" % (time.time() - start)
        ], ["raises %s, not mcz.Error" % type(e).__name__]
    seconds = time.time() - start
    wrong = ["the network was changed"] * any(not torch.equal(v, state[k]) for k, v in net.state_dict().items())
    found = counts_of(g.rows, g.shapes)
    worst, more = problems_of(net, example, g.rows, g.sizes)
    wrong += more
    if not (g.difference is not None and 0 <= g.difference <= TOLERANCE):
        wrong.append("its own check reports %r" % g.difference)
    if counts is None and not options & {"exact", "smaller"}:
        wrong.append("must be refused")
    elif "smaller" in options:
        if least - found:
            wrong.append("lacks at least " + as_text(least - found))
    elif found != counts:
        wrong.append(change(counts, found))
    if counts and found != counts and "smaller" in options:
        found_text = as_text(found) + " (of %s)" % as_text(counts)
    else:
        found_text = as_text(found)
    reasons = list(dict.fromkeys(str(f[-1]) for f in g.fixed))
    fixed = "%d: %s" % (len(g.fixed), "; ".join(reasons[:2])) if g.fixed else "0"
    return [found_text, str(sum(g.sizes.values())), fixed[:160], "%.1e" % worst, "%.1f" % seconds], wrong


HEADER = ["network", "groups", "units", "fixed axes", "difference", "seconds", "result"]


def table(cases):
    """Derives the groups of each case and prints a line for each. Returns the number of cases that are wrong. Cases of a
    library that is missing are skipped."""
    bad = 0
    print("\t".join(HEADER))
    for name, case in cases.items():
        torch.manual_seed(0)
        try:
            columns, wrong = derive(*case())
        except ModuleNotFoundError as e:
            print("\t".join([name, *[""] * 5, "skipped: %s" % e]), flush=True)
            continue
        except Exception:  # of this file
            columns, wrong = [""] * 5, [traceback.format_exc()]
        bad += bool(wrong)
        print("\t".join([name, *columns, "WRONG: " + "; ".join(wrong) if wrong else "ok"]), flush=True)
    return bad


def programs(name, case):
    """The largest difference of outputs after mc-convert and mc-permute, with the file that groups writes."""
    net, example = case()[:2]
    g = mcz.torch.groups(net, example(2), unused="keep")
    net = randomize(net, 5).float().double()  # float32 numbers, computed in float64
    x, state = wide(example(3)), tensors_of(net)
    g.write("groups.tsv")
    mcz.safetensors.write("a.safetensors", {k: v.float().numpy() for k, v in state.items() if v.is_floating_point()})
    for command in ("mc-convert -q a.safetensors --groups groups.tsv -o a.mcz",
                    "mc-permute -q --random 5 a.mcz -o p.mcz"):
        done = subprocess.run(command.split(), capture_output=True, text=True)
        assert done.returncode == 0, "%s: %s" % (name, done.stderr.strip())
    with torch.no_grad():
        before, moved = run(net, x), 0
        for k, v in mcz.read("p.mcz").tensors.items():
            v = torch.from_numpy(v.copy()).view(state[k].shape).double()
            moved += not torch.equal(state[k], v)
            state[k].copy_(v)
        assert moved >= min(len({r.tensor for r in g.rows}), 3), "%s: %d tensors differ" % (name, moved)
        worst = difference(before, run(net, x))
    assert worst < TOLERANCE, "%s, permuted by mc-permute: outputs differ by %.2g" % (name, worst)
    return worst


def free(make):
    """A case whose groups are not known beforehand: any that keep the outputs, or a refusal."""
    return lambda: (*make(), Counter(), {"smaller", "refused"}, Counter())


def sets():
    """{set: {name: case}}"""
    from torchvision import models

    import expected_groups
    import hostile_modules
    import more_networks
    import network_kinds as kinds

    def of_timm(name):
        import timm
        net = timm.create_model(name, pretrained=False)
        return net.eval(), expected_groups.images(net.default_cfg["input_size"][-1])

    def of_torchvision(name):
        settings = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        if name.startswith("vit"):  # 2 x 2 patches of 14 or 16, or one of 32
            settings = {"image_size": 28 if "14" in name else 32}
        size = settings.get("image_size", kinds.TORCHVISION.get(name, 64))
        return expected_groups.torchvision(name, size, **settings)
    return {"networks": expected_groups.NETS, "hostile": hostile_modules.MODULES,
            "kinds": {k: free(f) for k, f in kinds.KINDS.items()},
            "torchvision": {n: free(lambda n=n: of_torchvision(n)) for n in models.list_models(module=models)},
            "timm": {n: free(lambda n=n: of_timm(n)) for n in kinds.TIMM},
            "more": {k: free(f) for k, f in more_networks.MORE.items()}}


def as_graph(net, example):
    """The text "yes" if mcz.torch.export accepts a network of images with one vector of logits, else "no"."""
    x = example(1)
    if not isinstance(x, torch.Tensor) or x.dim() != 4:
        return "no"
    with torch.no_grad():
        y = net(x)
    if not isinstance(y, torch.Tensor) or y.dim() != 2:
        return "no"
    try:
        mcz.torch.export(net, tuple(x.shape[1:]), y.shape[1])
    except mcz.Error:
        return "no"
    return "yes"


# ---- the survey ------------------------------------------------------------------------------------------------------

COLUMNS = ["set", "network", "graph", "groups", "units", "fixed", "difference", "other size", "seconds"]

def longer(x):
    """An input whose second axis (tokens, samples) or last axis (images) is longer."""
    def one(v):
        if not isinstance(v, torch.Tensor) or v.dim() < 2:
            return v
        k = v.dim() - 1 if v.dim() > 3 else 1
        return torch.cat([v, v.flip(k) if v.dim() > 3 else v.narrow(k, 0, min(2, v.shape[k]))], k)
    return pytree.tree_map(one, x)


def longer_kept(net, example, rows, sizes):
    """The relative difference after a permutation for an input of another length or width, or None if the network does not
    run on it."""
    x = wide(longer(example(2, 3)))
    with torch.no_grad():
        try:
            before = run(net, x)
        except Exception:  # of the network
            return None
        return difference(before, run(mcz.torch.permute(copy.deepcopy(net), permutations(sizes, 4), rows), x))


def surveyed(made, graph):
    """(columns of a network after its name, whether its groups are right)."""
    net, example = made
    start = time.process_time()
    try:
        g = mcz.torch.groups(net, example(3), unused="keep")
    except mcz.Error as e:
        return [graph, "refused", "", " ".join(str(e).split()), "", "", "%.1f" % (time.process_time() - start)], True
    seconds = time.process_time() - start
    reasons = Counter(reason.split(" in ")[0] for *_, reason in g.fixed)
    fixed = "; ".join("%d %s" % (n, r) for r, n in reasons.most_common())
    net = randomize(copy.deepcopy(net), 11)
    for m in net.modules():
        if hasattr(m, "set_experts_implementation"):  # the default computes in float32 only
            m.set_experts_implementation("eager")
    found = [outputs_kept(net, example, g.rows, g.sizes), longer_kept(net, example, g.rows, g.sizes)] if g.sizes else [0., None]
    return [graph, as_text(counts_of(g.rows, g.shapes)), sum(g.sizes.values()), fixed,
            *("" if d is None else "%.1e" % d for d in found), "%.1f" % seconds], all(d is None or d <= TOLERANCE for d in found)


def survey(path, *chosen):
    """Appends a line per network to a table, and continues a table. Returns the names of networks whose groups are wrong."""
    from importlib.metadata import version
    wrong, networks = [], sets()
    with open(path, "a+") as out:
        out.seek(0)
        done = {tuple(line.split("\t")[:2]) for line in out}
        if not done:
            names = ("PyTorch", "torch"), *((n, n) for n in ("torchvision", "transformers", "timm", "peft", "diffusers"))
            print("# " + ", ".join("%s %s" % (n, version(m).split("+")[0]) for n, m in names), file=out)
            print(*COLUMNS, sep="\t", file=out, flush=True)
        for group in chosen:
            for name in [name for name in networks[group] if (group, name) not in done]:
                torch.manual_seed(0)
                try:
                    made = networks[group][name]()[:2]
                    columns, right = surveyed(made, as_graph(*made) if group == "kinds" else "")
                except Exception as e:  # not a refusal
                    columns = ["", "raises", "", "%s: %s" % (type(e).__name__, " ".join(str(e).split())), "", "", ""]
                    right = False
                wrong += [] if right else [name]
                print(group, name, *columns, sep="\t", file=out, flush=True)
    return wrong


# ---- tests of this file ----------------------------------------------------------------------------------------------

def self_test():
    """Planted errors are found in networks whose groups are declared by hand."""
    import transformer_networks
    expected = {"gpt": Counter({(32, 0): 1, (4, 0): 2, (8, 4): 16, (64, 0): 2}),
                "vit": Counter({(32, 0): 1, (4, 0): 2, (8, 4): 16, (48, 0): 2})}
    for name in "gpt", "vit":
        net = transformer_networks.made(name, 1)
        rows = [mcz.groups.Row(*r) for r in net.groups()]
        sizes = {r.group: r.count for r in rows}
        counts = counts_of(rows, {k: v.shape for k, v in tensors_of(net).items()})
        assert counts == expected[name], (name, as_text(counts))

        def example(n, seed=0):
            return net.inputs(n, seed)
        worst, wrong = problems_of(net, example, rows, sizes)
        assert not wrong and 0 < worst < TOLERANCE, (name, worst, wrong)
        print("%s\t%s\t%.1e" % (name, as_text(counts), worst))
        # a dropped row
        idle, dead = idle_rows(randomize(copy.deepcopy(net), 11), example, rows, sizes)
        width = sizes["stream"]  # softmax does not depend on the bias of keys
        assert idle and not dead, idle
        assert all(r.tensor.endswith(("qkv.bias", "in_proj_bias")) and width <= r.offset < 2 * width
                   for r in idle), idle
        for i in range(0, len(rows), 61):
            less = rows[:i] + rows[i + 1:]
            worst, wrong = problems_of(net, example, less, sizes)
            assert (worst > 1e-6) == (rows[i] not in idle), (rows[i], worst)
        # an unused layer
        net.dead = torch.nn.Linear(8, 8)
        planted = [mcz.groups.Row("dead.weight", 0, 0, 8, 1, "dead"), mcz.groups.Row("dead.bias", 0, 0, 8, 1, "dead")]
        worst, wrong = problems_of(net, example, rows + planted, {**sizes, "dead": 8})
        assert any("unused" in w for w in wrong), wrong


def main(what, *words):
    import expected_groups
    import hostile_modules
    torch.set_num_threads(1)
    if what == "self":
        self_test()
    elif what == "check":
        self_test()
        networks = {k: f for k, f in expected_groups.NETS.items() if k in expected_groups.FAST}
        hostile = {k: f for k, f in hostile_modules.MODULES.items() if not any(w in k for w in hostile_modules.EXTRA)}
        sys.exit(table(networks) + table(hostile) > 0)
    elif what == "programs":
        for name in words or sorted(expected_groups.FAST):
            print("%s\t%.1e" % (name, programs(name, expected_groups.NETS[name])), flush=True)
    elif what == "survey":
        wrong = survey(*words)
        sys.exit("wrong: " + ", ".join(wrong) if wrong else 0)
    else:
        cases = sets()[what]
        chosen = {k: f for k, f in cases.items() if any(w.lower() in k.lower() for w in words)} if words else {
            k: f for k, f in cases.items() if what != "networks" or k in expected_groups.FAST}
        bad = table(chosen)
        if bad:
            sys.exit("%d are not as expected" % bad)


if __name__ == "__main__":
    main(*sys.argv[1:])
