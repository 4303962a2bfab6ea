# SPDX-License-Identifier: Apache-2.0
"""Measures which wrong rules of mcz/symmetry the checks detect. By hand (an hour):

    mutate_rules.py [--seeds N] [WORD...]    all mutations, or those whose name contains a WORD; N random modules (default 30)

A mutation replaces a piece of source, so that an axis is free that must be fixed, or two orders are independent that must be
equal. The groups of three sets of networks are derived with it: random modules (random_modules.py), the networks of
`derived_groups.py check` that have groups. For each mutation the table shows how many networks get other groups, in how
many of them the check inside mcz.torch.groups finds it, and how many random modules and known networks the independent
tests find wrong. A failed assertion of the rules counts as found by all. Exit status 1 if a mutation escapes every test or
its source has changed."""
import copy
import inspect
import sys
import traceback
import warnings

import torch

import mcz
import mcz.torch
from mcz import symmetry
from mcz.symmetry import axes, capture, check, derive, interpret, observe, rules

import derived_groups
import expected_groups
import hostile_modules
import random_modules

FILES = {m.__name__.split(".")[-1]: (m, inspect.getsource(m)) for m in (axes, rules, interpret, check, observe, derive, symmetry)}

MUTATIONS = [  # name, file, source, replacement
    # elementwise operations
    ("broadcast: ties nothing", "rules", "    c.unify(*pairs)\n    return out", "    return out"),
    ("broadcast: forgets the last pair", "rules",
     "    c.unify(*pairs)\n    return out",
     "    c.unify(*pairs[:-1])\n    return out"),
    ("broadcast: ties the last axis only", "rules",
     "if e is not longest and e.size > 1]",
     "if e is not longest and e.size > 1 and k == 0]"),
    ("broadcast: ties all but the last axis", "rules",
     "if e is not longest and e.size > 1]",
     "if e is not longest and e.size > 1 and k > 0]"),
    ("pointwise: reads the first operand only", "rules",
     "    return broadcast(c, [v.axes for v in c.values()])\n\n\ndef unknown",
     "    own = [v.axes for v in c.values()]\n"
     "    return broadcast(c, own[:1]) if [e.size for e in own[0]] == c.sizes else broadcast(c, own)\n\n\n"
     "def unknown"),
    ("unknown: frees the inputs", "rules",
     "    for v in c.values():\n        c.fix(*v.axes)\n    return c.fixed",
     "    return c.fixed"),
    ("unknown: fixes the first input only", "rules",
     "    for v in c.values():\n        c.fix(*v.axes)\n    return c.fixed",
     "    c.fix(*next(c.values()).axes)\n    return c.fixed"),
    ("unknown: frees the outputs", "rules",
     "    return c.fixed(c.sizes) if not c.sizes or not",
     "    return [free(n) for n in c.sizes] if not c.sizes or not"),
    # shapes
    ("regroup: frees what it cannot cut", "axes",
     "                for e in axes:\n                    fix(e, reason)\n                return [fixed(n, reason)",
     "                return [fixed(n, reason)"),
    ("permute: ignores an order of equal sizes", "rules",
     "    return [c.self.axes[d] for d in c.dims]",
     "    out = [c.self.axes[d] for d in c.dims]\n"
     "    return c.self.axes if [e.size for e in out] == [e.size for e in c.self.axes] else out"),
    ("transpose: ignores axes of equal size", "rules",
     "        axes[i], axes[j] = axes[j], axes[i]",
     "        if axes[i].size != axes[j].size:\n            axes[i], axes[j] = axes[j], axes[i]"),
    ("movedim: exchanges source and destination", "rules",
     "                  for v in (c.source, c.destination))",
     "                  for v in (c.destination, c.source))"),
    ("repeat: repeats inside", "rules",
     "else Product([anything(n // e.size, axes), e]) for",
     "else Product([e, anything(n // e.size, axes)]) for"),
    ("repeat_interleave: repeats outside", "rules",
     "Product([axes[k], anything(c.repeats, axes)])",
     "Product([anything(c.repeats, axes), axes[k]])"),
    ("cat: reverses the segments", "rules",
     "out[k] = Sum([t[k] for t in tensors])",
     "out[k] = Sum([t[k] for t in tensors[::-1]])"),
    ("cat: ties nothing else", "rules",
     "    out = broadcast(c, [t[:k] + [ONE] + t[k + 1:] for t in tensors])",
     "    out = list(tensors[0])"),
    ("stack: frees the new axis", "rules", "[fixed(len(c.tensors), c.reason)]", "[free(len(c.tensors))]"),
    ("stack: ties nothing", "rules",
     "    out = broadcast(c, [v.axes for v in c.tensors])\n",
     "    out = list(c.tensors[0].axes)\n"),
    ("select: reads entry 0", "rules", "in unrolled(axes[k], c.reason)[i]:", "in unrolled(axes[k], c.reason)[0]:"),
    ("select: frees the axis", "rules", "    for p, j in unrolled(axes[k], c.reason)[i]:", "    for p, j in ():"),
    ("slice: frees the axis of steps", "rules", "    if step != 1:\n        c.fix(e)\n", "    if step != 1:\n"),
    ("slice: frees the axis of one entry", "rules",
     "            rest = pick(c, axes, k, first)\n",
     "            rest = axes[:k] + axes[k + 1:]\n"),
    ("slice: exchanges the sides", "rules",
     "return pieces and pieces[side]",
     "return pieces and (pieces[side] if pieces[0].size != pieces[1].size else pieces[1 - side])"),
    ("slice: frees what it cannot cut", "rules", "    if e is None:\n        c.fix(axes[k])\n", "    if e is None:\n"),
    ("glu: does not tie the halves", "rules",
     "    return broadcast(c, [part(c, c.self.axes, k, i * half, (i + 1) * half) for i in range(2)])",
     "    return part(c, c.self.axes, k, 0, half)"),
    ("slice_scatter: does not tie the source", "rules",
     "    broadcast(c, [part(c, c.self.axes, k, start, end, c.step or 1), c.src.axes])\n",
     ""),
    ("select_scatter: does not tie the source", "rules",
     "    broadcast(c, [pick(c, c.self.axes, k, c.index % c.self.axes[k].size), c.src.axes])\n",
     ""),
    ("roll, flip, cumsum: free", "rules", "    for k in dims(c, c.self.axes):\n        c.fix(c.self.axes[k])\n", ""),
    ("pad: frees the axis", "rules",
     "            c.fix(axes[k])\n            axes[k] = fixed(c.sizes[k], c.reason)",
     "            axes[k] = fixed(c.sizes[k], c.reason)"),
    ("pad: exchanges left and right", "rules",
     "(anything(left, others) if left else None, axes[k],\n"
     "                                       anything(right, others) if right else None)",
     "(anything(right, others) if right else None, axes[k],\n"
     "                                       anything(left, others) if left else None)"),
    ("index: frees the axis", "rules", "            c.fix(e, *i.axes)\n", "            c.fix(*i.axes)\n"),
    ("index: frees the indices", "rules", "            c.fix(e, *i.axes)\n", "            c.fix(e)\n"),
    ("index_select: frees the axis", "rules",
     "    c.fix(c.self.axes[k])\n    return c.self.axes[:k] + [fixed(c.sizes[k]",
     "    return c.self.axes[:k] + [fixed(c.sizes[k]"),
    ("copy: does not tie the source", "rules", "    return broadcast(c, [c.self.axes, c.src.axes])", "    return c.self.axes"),
    ("channel_shuffle: keeps the order", "rules", "[Product(blocks.parts[::-1])]", "[Product(blocks.parts)]"),
    ("pixel_shuffle: frees the squares", "rules",
     "    squares = Product([fixed(max(axes[-3].size, channels) // min(axes[-3].size, channels), c.reason)])",
     "    squares = free(max(axes[-3].size, channels) // min(axes[-3].size, channels))"),
    # sums and norms
    ("argmax: frees the axis", "rules", '    if c.name.startswith("arg") or', '    if c.name.startswith("?") or'),
    ("max: frees the axis of used indices", "rules", ' or c.name in ("max", "min") and c.used(1):\n', ":\n"),
    ("cosine_similarity: ties nothing", "rules",
     "    out = broadcast(c, [v.axes for v in c.values()])\n    k = index((1",
     "    out = next(c.values()).axes\n    k = index((1"),
    ("batch_norm: does not tie its vectors", "rules",
     "        if v.axes[0].size > 1:\n            c.unify((x.axes[1], v.axes[0]))",
     "        pass"),
    ("batch_norm: forgets the last vector", "rules",
     "    x, *vectors = c.values()\n    for v in vectors:",
     "    x, *vectors = c.values()\n    for v in vectors[:-1]:"),
    ("group_norm: one group", "rules",
     "    axes, n = c.input.axes, c.num_groups or c.group\n",
     "    axes, n = c.input.axes, 1\n"),
    ("group_norm: as many groups as channels", "rules",
     "    axes, n = c.input.axes, c.num_groups or c.group\n",
     "    axes, n = c.input.axes, c.input.axes[1].size\n"),
    ("group_norm: does not tie its vectors", "rules",
     "        c.unify((axes[1], v.axes[0]))\n    return axes",
     "        pass\n    return axes"),
    ("layer_norm: does not tie its vectors", "rules",
     "        broadcast(c, [axes[len(axes) - len(v.axes):], v.axes])",
     "        pass"),
    ("layer_norm: forgets the bias", "rules",
     "    axes = c.input.axes\n    for v in list(c.values())[1:]:",
     "    axes = c.input.axes\n    for v in list(c.values())[1:2]:"),
    ("weight_norm: ties nothing", "rules", "    broadcast(c, [c.v.axes, c.g.axes])\n", ""),
    # layers
    ("linear: does not tie the input", "rules", "    c.unify((c.input.axes[-1], c.weight.axes[-1]))\n", ""),
    ("linear: does not tie the bias", "rules", "        c.unify((out[-1], c.bias.axes[0]))\n", "        pass\n"),
    ("matmul: does not tie the contracted axes", "rules", "(x[-1], y[-2] if len(y) > 1 else y[0]))", ")"),
    ("matmul: does not tie the batches", "rules",
     "    out = broadcast(c, [x[:-2], y[:-2]], (x[-1]",
     "    out = x[:-2] if len(x) >= len(y) else y[:-2]\n    broadcast(c, [], (x[-1]"),
    ("addmm: does not tie the first operand", "rules",
     "    return broadcast(c, [product(c, x, y), b.axes])",
     "    return product(c, x, y)"),
    ("cdist: does not tie the vectors", "rules", ", (x.axes[-1], y.axes[-1])) + [x.axes[-2]", ") + [x.axes[-2]"),
    ("view_as_complex: frees both parts", "rules", "    c.fix(axes[-1])\n    return axes[:-1]", "    return axes[:-1]"),
    ("einsum: ties nothing", "rules",
     "    c.unify(*pairs)\n    return [letters[k] for k in output]",
     "    return [letters[k] for k in output]"),
    ("einsum: forgets the last pair", "rules",
     "    c.unify(*pairs)\n    return [letters[k] for k in output]",
     "    c.unify(*pairs[:-1])\n    return [letters[k] for k in output]"),
    ("bilinear: does not tie the second input", "rules", "    c.unify((y.axes[-1], w.axes[2]))\n", ""),
    ("bilinear: does not tie the bias", "rules", "        c.unify((w.axes[0], c.bias.axes[0]))\n", "        pass\n"),
    ("attention: does not tie queries and keys", "rules",
     "(q.axes[-1], k.axes[-1]), (k.axes[-2], v.axes[-2])",
     "(k.axes[-2], v.axes[-2])"),
    ("attention: does not tie positions", "rules",
     "(q.axes[-1], k.axes[-1]), (k.axes[-2], v.axes[-2])",
     "(q.axes[-1], k.axes[-1])"),
    ("attention: does not tie heads", "rules", "    out = broadcast(c, batch, (q", "    out = broadcast(c, batch[:1], (q"),
    ("attention: ignores is_causal", "rules", "    if c.is_causal:\n", "    if False:\n"),
    ("attention: ignores the mask", "rules", "    if c.attn_mask is not None:\n", "    if False:\n"),
    ("attention: does not tie grouped queries", "rules", "        c.unify((q.axes[-3], more))\n", ""),
    ("attention: does not tie grouped values", "rules", "        c.unify((k.axes[-3], v.axes[-3]))\n", ""),
    ("convolution: does not tie the input", "rules", "    c.unify((x.axes[lead], inputs))\n", ""),
    ("convolution: does not tie the bias", "rules",
     "        c.unify((outputs, c.bias.axes[0]))\n    ones",
     "        pass\n    ones"),
    ("convolution: ignores padding and stride", "rules",
     "    if not all(ones) or c.sizes[lead + 1:] != [e.size for e in places]:",
     "    if not all(ones):"),
    ("convolution: frees the positions in a kernel", "rules",
     "        c.fix(*w.axes[2:], *places)\n",
     "        c.fix(*places)\n"),
    ("convolution: frees the places", "rules", "        c.fix(*w.axes[2:], *places)\n", "        c.fix(*w.axes[2:])\n"),
    ("convolution: does not tie the blocks", "rules", "        c.unify((w.axes[0], Product([blocks, inner])))\n", ""),
    ("embedding: frees the vocabulary", "rules", '    fix(c.weight.axes[0], "vocabulary")\n', ""),
    ("embedding: frees the indices", "rules",
     "    return c.indices.axes + c.weight.axes[1:]",
     "    return [free(e.size) for e in c.indices.axes] + c.weight.axes[1:]"),
    ("pool: frees the places", "rules", "    c.fix(*axes[-n:])\n", ""),
    # axes
    ("tie: does not tie cases", "axes", "    for c in a.cases.pop(p, ()):\n        unify(a, c)\n", "    a.cases.pop(p, ())\n"),
    ("merge: a fixed order is not passed on", "axes", "    if reason:\n        fix(a, reason)\n        fix(b, reason)\n", ""),
    ("assign: a fixed order is not passed on", "axes", "    if a.fixed:\n        fix(e, a.fixed)\n", ""),
    ("merge: atoms keep outer atoms that the other lacks", "axes",
     "        for p in [p for p in outer(x) if p not in outer(y)]:\n            tie(x, p)\n",
     "        pass\n"),
    ("unify: incompatible products are free", "axes",
     "        fix(e, reason)\n        fix(f, reason)\n        return\n",
     "        return\n"),
    ("unify: incompatible sums are free", "axes",
     "            for x in left + right:\n                fix(x, reason)\n            return\n",
     "            return\n"),
    ("unify: sums of the first segments only", "axes",
     "            unify(left.pop(0), right.pop(0), reason)\n            continue\n",
     "            unify(left.pop(0), right.pop(0), reason)\n            return\n"),
    ("cut: the pieces are new axes", "axes",
     "    _assign(e, Sum(pieces))\n    return tuple(pieces)",
     "    return tuple(pieces)"),
    ("split: the factors are new axes", "axes", "    _assign(a, Product([first, rest]))\n", ""),
    ("fix: not in units of unrolled atoms", "axes",
     "            for cases in a.cases.values():\n                for c in cases:\n"
     "                    fix(c, reason)\n",
     ""),
    ("unroll: the atom stays free", "axes",
     "    fix(p, reason)\n    for a in list(p.dependents):\n        if p not in a.varies",
     "    for a in list(p.dependents):\n        if p not in a.varies"),
    ("like: new atoms are free", "axes", "    new = Atom(size, a.fixed)\n", "    new = Atom(size)\n"),
    ("confine: ties nothing", "axes", "        for a, p in missing:\n            tie(a, p)\n", "        return\n"),
    # the interpretation
    ("inputs are free", "interpret",
     'fixed(n, "batch" if n % capture.BATCH == 0 else "input")',
     'fixed(n, "batch") if n % capture.BATCH == 0 else free(n)'),
    ("outputs are free", "interpret",
     '                    fix(e, "output" if spec.kind.name == "USER_OUTPUT" else "buffer %s" % spec.target)',
     "                    pass"),
    ("later outputs are free", "interpret", "zip(programs[0].graph_signature.output_specs, out):",
     "list(zip(programs[0].graph_signature.output_specs, out))[:1]:"),
    ("the last axis of outputs is free", "interpret", "            for k, e in enumerate(v.axes):\n                if buffer:",
     "            for k, e in enumerate(v.axes[:-1]):\n                if buffer:"),
    ("written buffers are not tied", "interpret", 'unify(buffer[k], e, "buffer " + spec.target)', "pass"),
    ("constants are free", "interpret", '[fixed(n, "constant") for n in sizes]', "[free(n) for n in sizes]"),
    ("integers are free", "interpret", "free(n) if tensor.is_floating_point() else fixed(n, kind)", "free(n)"),
    ("blocks if one operation has them", "interpret", "and all(map(_has_blocks, node.users))",
     "and any(map(_has_blocks, node.users))"),
    ("blocks for all operations", "interpret", "and all(map(_has_blocks, node.users))", "and True"),
    ("submodules return other axes", "interpret",
     "        self.values = kept\n        return out",
     "        self.values = kept\n        return [Value(v.node, [free(e.size) for e in v.axes]) for v in out]"),
    # the rows
    ("settle: ties nothing", "derive",
     "        while any([_settle(axes) for axes in tensors.values()]):\n            pass\n",
     ""),
    ("places: forgets offsets", "derive",
     "            yield offset, p.size, rest.size, p,",
     "            yield 0, p.size, rest.size, p,"),
    ("rows: tied tensors once", "derive",
     "[Row(name, axis, offset, count, block, group, parts) for name in self.aliases[tensor]]",
     "[Row(name, axis, offset, count, block, group, parts) for name in self.aliases[tensor][:1]]"),
]


def load(file=None, old="", new=""):
    """Loads the sources of mcz/symmetry again, one of them changed."""
    for name, (module, source) in FILES.items():
        if name == file:
            assert old in source, "the source has changed"
            source = source.replace(old, new)
        exec(compile(source, module.__file__, "exec"), module.__dict__)


def remember_exports():
    """Exports each network once for each number of inputs. Mutations leave exports alone."""
    export, programs = capture.export, {}

    def remembered(net, example, n, **settings):
        key = id(net), n
        if key not in programs:
            programs[key] = export(net, example, n, **settings), net
        return programs[key][0]
    capture.export = remembered


def permuted(name, tensor, permutation, rows):
    return next((v for _, v in mcz.torch._permuted({name: tensor}, permutation, rows)), tensor)


class Case:
    """A network: right(groups) is an independent test of its groups."""

    def __init__(self, name, known, net, example, right):
        self.name, self.known, self.net, self.example, self.right, self.rows = name, known, net, example, right, None

    def groups(self):
        return symmetry.Groups(self.net, [self.example], "keep")


def cases(seeds):
    for seed in range(seeds):
        attempt, kind, text, _ = random_modules.steady_module(seed)
        net = random_modules.build(text, seed)
        yield Case("seed %d" % seed, False, net, random_modules.made_input(kind, 0), lambda g, net=net, kind=kind, seed=seed: all(
            d <= random_modules.TOLERANCE for d, _ in random_modules.differences(net, kind, seed, g)))
    for name, make in [(k, f) for k, f in expected_groups.NETS.items() if k in expected_groups.FAST] + [
            (k, f) for k, f in hostile_modules.MODULES.items() if not any(w in k for w in hostile_modules.EXTRA)]:
        torch.manual_seed(0)
        net, example, counts, *options = make()

        def right(g, net=net, example=example, counts=counts, options=options):
            if (not options or "exact" in options[0]) and derived_groups.counts_of(g.rows) != counts:
                return False
            return not derived_groups.problems_of(net, example, g.rows, g.sizes)[1]
        yield Case(name, True, net, example(2), right)


def shape(g):
    """The rows, with groups in the order in which they appear."""
    numbers = {}
    return [(r.tensor, r.axis, r.offset, r.count, r.block, numbers.setdefault(r.group, len(numbers)), r.parts) for r in g]


def outcome(case):
    """None if a case has the usual groups, or (found by the check, found by its test)."""
    try:
        g = case.groups()
        if shape(g) == case.rows:
            return None
    except Exception:  # an assertion of the rules, or of the code that uses them
        return True, True
    found = []
    for test in (lambda: not g.sizes or check.difference(g, permuted) >= 0, lambda: case.right(g)):
        try:
            found.append(not test())
        except Exception:
            found.append(True)
    return tuple(found)


def main(*words):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    seeds = 30
    if words[:1] == ("--seeds",):
        seeds, words = int(words[1]), words[2:]
    remember_exports()
    usable = []
    for case in cases(seeds):
        try:
            g = case.groups()
            case.rows = shape(g)
            if check.difference(g, permuted) >= 0 and case.right(g):
                usable.append(case)
        except Exception:  # refused, or wrong without a mutation
            continue
    print("# %d random modules and %d known networks" % tuple(sum(c.known == k for c in usable) for k in (False, True)))
    print("mutation", "other groups", "check", "random modules", "known networks", "result", sep="\t", flush=True)
    bad = 0
    for name, *change in [m for m in MUTATIONS if not words or any(w in m[0] for w in words)]:
        try:
            load(*change)
        except AssertionError as e:
            bad += 1
            print(name, "", "", "", "", "STALE: %s" % e, sep="\t", flush=True)
            continue
        try:
            found = [(c, o) for c in usable for o in [outcome(c)] if o]
        finally:
            load()
        own = sum(o[0] for _, o in found)
        random_, known = ([o[1] for c, o in found if c.known == k] for k in (False, True))
        by = [w for w, n in (("check", own), ("random modules", sum(random_)), ("known networks", sum(known))) if n]
        bad += not by
        print(name, len(found), own, "%d of %d" % (sum(random_), len(random_)), "%d of %d" % (sum(known), len(known)),
              "found by " + ", ".join(by) if by else "ESCAPES" if found else "NO EFFECT", sep="\t", flush=True)
    sys.exit("%d mutations escape or are stale" % bad if bad else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
