# SPDX-License-Identifier: Apache-2.0
"""Measures which wrong rules of mcz/symmetry the checks detect. By hand (an hour):

    mutate_rules.py [--each N] [WORD...]    all mutations, or those whose name contains a WORD; random modules until each
                                            operation occurs N times (default 2)

A mutation replaces a piece of source, so that an axis is free that must be fixed, or two orders are independent that must be
equal. The groups of three sets of networks are derived with it: random modules (random_modules.py), the networks of
`derived_groups.py check` that have groups, and the operations of operation_rules.py. For each mutation the table shows how
many networks get other groups, in how many of them the check inside mcz.torch.groups finds it, and how many random modules
and known networks the independent tests find wrong. A failed assertion of the rules counts as found by all. Exit status 1 if a mutation escapes every test or
its source has changed."""
import inspect
import itertools
import sys
import warnings
from collections import Counter

import torch

import mcz
import mcz.torch
from mcz import symmetry
from mcz.symmetry import axes, capture, check, derive, groups, interpret, observe, orders, recorder, regroup, rules
from mcz.symmetry.rules import (attention, constants, convolution, elementwise, helpers, indexing, linear, norm, operation,
                                parts, recurrent, reduction, sequence, shape, sorting)

import derived_groups
import expected_groups
import hostile_modules
import operation_rules
import random_modules

APPLY = sys.modules["mcz.symmetry.rules.apply"]  # the package has its function under this name
FILES = {m.__name__.split(".")[-1]: (m, inspect.getsource(m)) for m in (
    axes, orders, regroup, operation, helpers, elementwise, constants, linear, attention, convolution, norm, reduction, sequence,
    shape, parts, sorting, indexing, recurrent, APPLY, rules, interpret, observe, derive, groups, check, recorder, symmetry)}

MUTATIONS = [  # name, file, source, replacement
    # elementwise operations
    ("broadcast: ties nothing", "helpers", "    op.unify(*found)\n    return out", "    return out"),
    ("broadcast: forgets the last pair", "helpers", "    op.unify(*found)\n", "    op.unify(*found[:-1])\n"),
    ("broadcast: ties the last axis only", "helpers",
     "if e is not longest and e.size > 1]",
     "if e is not longest and e.size > 1 and k == 0]"),
    ("broadcast: ties all but the last axis", "helpers",
     "if e is not longest and e.size > 1]",
     "if e is not longest and e.size > 1 and k > 0]"),
    ("pointwise: reads the first operand only", "elementwise",
     "    return op.each(broadcast(op, [v.axes for v in op.tensors]))",
     "    own = [v.axes for v in op.tensors]\n"
     "    return op.each(broadcast(op, own[:1] if [e.size for e in own[0]] == op.sizes else own))"),
    ("unknown: frees the inputs", "helpers",
     "    for v in op.tensors:\n        op.fix(*v.axes)\n    return [op.fixed(s)",
     "    return [op.fixed(s)"),
    ("unknown: fixes the first input only", "helpers",
     "    for v in op.tensors:\n        op.fix(*v.axes)\n    return [op.fixed(s)",
     "    op.fix(*op.tensors[0].axes)\n    return [op.fixed(s)"),
    ("unknown: frees the outputs", "helpers",
     "if op.several else op.fixed(op.sizes)",
     "if op.several else [free(n) for n in op.sizes]"),
    # shapes
    ("regroup: frees what it cannot cut", "regroup",
     "                for e in axes:\n                    fix(e, reason)\n                return [fixed(n, reason)",
     "                return [fixed(n, reason)"),
    ("permute: ignores an order of equal sizes", "shape",
     "    return [self.axes[d] for d in dims]",
     "    out = [self.axes[d] for d in dims]\n"
     "    return self.axes if [e.size for e in out] == [e.size for e in self.axes] else out"),
    ("transpose: ignores axes of equal size", "shape", "    if axes:\n", "    if axes and axes[i].size != axes[j].size:\n"),
    ("repeat: repeats inside", "shape",
     "else Product([anything(n // e.size, axes), e])",
     "else Product([e, anything(n // e.size, axes)])"),
    ("repeat_interleave: repeats outside", "shape",
     "Product([axes[k], anything(repeats, axes)])",
     "Product([anything(repeats, axes), axes[k]])"),
    ("cat: reverses the segments", "shape", "Sum([t[k] for t in own])", "Sum([t[k] for t in own[::-1]])"),
    ("cat: ties nothing else", "shape",
     "    out = broadcast(op, [[*t[:k], ONE, *t[k + 1 :]] for t in own])",
     "    out = list(own[0])"),
    ("stack: frees the new axis", "shape", "fixed(len(tensors), op.reason)", "free(len(tensors))"),
    ("stack: ties nothing", "shape",
     "    out, k = broadcast(op, [v.axes for v in tensors]), position",
     "    out, k = list(tensors[0].axes), position"),
    ("select: reads entry 0", "parts", "in unrolled(axes[k], op.reason)[i]:", "in unrolled(axes[k], op.reason)[0]:"),
    ("select: frees the axis", "parts", "    for p, j in unrolled(axes[k], op.reason)[i]:", "    for p, j in ():"),
    ("slice: frees the axis of steps", "parts", "    if step != 1:\n        op.fix(axes[k])\n", "    if step != 1:\n"),
    ("slice: frees the axis of one entry", "parts",
     "        rest = pick(op, axes, k, first)\n",
     "        rest = axes[:k] + axes[k + 1:]\n"),
    ("slice: exchanges the sides", "parts",
     "pieces and cut(pieces[1], length, op.reason)",
     "pieces and (cut(pieces[1], length, op.reason) if pieces[0].size != length else pieces)"),
    ("slice: frees what it cannot cut", "parts",
     "    if pieces is None:\n        op.fix(axes[k])\n",
     "    if pieces is None:\n"),
    ("glu: does not tie the halves", "parts",
     "    return broadcast(op, [part(op, self.axes, k, i * half, (i + 1) * half) for i in range(2)])",
     "    return part(op, self.axes, k, 0, half)"),
    ("slice_scatter: does not tie the source", "parts",
     "        broadcast(op, [part(op, self.axes, k, start, last, step), src.axes])\n",
     "        pass\n"),
    ("select_scatter: does not tie the source", "parts",
     "    broadcast(op, [pick(op, self.axes, k, index % self.axes[k].size), src.axes])\n",
     ""),
    ("roll, flip, cummax: free", "sequence",
     "        op.fix(axes[k])\n        op.inner",
     "        op.inner"),
    ("pad: frees the axis", "shape",
     "            op.fix(axes[k])\n            axes[k] = fixed(op.sizes[k], op.reason)",
     "            axes[k] = fixed(op.sizes[k], op.reason)"),
    ("pad: exchanges left and right", "shape", "Sum([*before, axes[k], *after])", "Sum([*after, axes[k], *before])"),
    ("index: frees the axis", "indexing", "refer(op, i, e) and assigns_units(i)", "bool(i.label) and assigns_units(i)"),
    ("index_select: frees the axis", "indexing",
     "    op.units = refer(op, index, axes[k]) and assigns_units(index)\n    axes[k] = index.axes[0]",
     "    axes[k] = index.axes[0]"),
    # numbers of entries
    ("labels: any number refers to any axis", "indexing",
     "    fix(axis, reason or op.reason)\n    op.fix(*numbers.references)\n    return False",
     "    return False"),
    ("labels: their axes are not tied", "indexing",
     "        op.unify((label.axis, axis))\n        return True",
     "        return True"),
    ("labels: operations read them as numbers", "apply", "        strip(op, *op.tensors)\n", "        pass\n"),
    ("labels: outputs of the network", "interpret",
     "for e in v.references if buffer else [*v.axes, *v.references]:",
     "for e in [] if buffer else v.axes:"),
    ("labels: equal numbers have an order", "helpers",
     "    if used and (not numbers.axes.apart or any(a.loose for e in reduced for a in atoms(e))):\n", "    if False:\n"),
    ("labels: equal weights have an order", "helpers", "    if used and (not numbers.axes.apart or any(",
     "    if used and (False or any("),
    ("labels: numbers that may all be 0 have an order", "apply", "(op.kind in ALWAYS and not zeros)", "(op.kind in ALWAYS)"),
    ("labels: integers have an order", "apply", "return not _rounds(op, arguments) and (", "return ("),
    ("labels: a bias prevents equal rows", "apply", "if all(a.fixed or a in own for e in output for a in atoms(e)):", "if True:"),
    ("labels: one number added to all has an order", "apply", "v.axes.apart and _is_full(op, v)", "v.axes.apart"),
    ("labels: eq of other axes", "elementwise", "        op.unify((x.axis, y.axis))\n", "        pass\n"),
    ("one_hot: frees the classes", "constants",
     "    op.fix(*self.references)\n    return [*self.axes, *op.fixed([n])]",
     "    return [*self.axes, free(n)]"),
    ("arange: any start", "constants",
     "    if start != 0 or step != 1 or dtype not in WHOLE:\n        return unknown(op)\n",
     ""),
    ("arange: no label", "constants", "    return Axes([e], Label(e, distinct=e))", "    return [e]"),
    ("tril: frees rows and columns", "elementwise", "    op.fix(*self.axes[-2:])\n", ""),
    ("eye: rows and columns are independent", "constants",
     "    return [e, e]\n",
     "    return [e, anything(op.sizes[0], [e])]\n"),
    ("topk: frees the axis of used places", "sorting",
     "places_of(op, self, out, [own], op.used(1), data=largest, distinct=largest)",
     "out"),
    ("topk: an unsorted order is like others", "sorting", "[] if sorted else [own]", "[]"),
    ("sort: places have no label", "sorting",
     "        places = places_of(op, self, axes, [own], used, distinct=new)\n",
     "        places = values\n"),
    ("sort: frees the sorted axis", "sorting",
     'axes[k] = new = fixed(own.size, "sort")',
     "axes[k] = new = own"),
    ("cumsum: frees the axis", "sequence",
     "    op.fix(axes[k])\n    op.inner.append(without(axes, k))\n    return axes\n\n\n@rule(\"roll",
     "    op.inner.append(without(axes, k))\n    return axes\n\n\n@rule(\"roll"),
    ("grouped_mm: does not tie experts", "indexing",
     "    op.unify((label.axis, w.axes[0]), (x.axes[1], w.axes[1]))\n",
     "    op.unify((x.axes[1], w.axes[1]))\n"),
    ("grouped_mm: does not tie the input", "indexing",
     "    op.unify((label.axis, w.axes[0]), (x.axes[1], w.axes[1]))\n",
     "    op.unify((label.axis, w.axes[0]))\n"),
    ("gather: frees the axis", "indexing",
     "    op.units = refer(op, index, self.axes[k]) and assigns_units(index)\n    return numbers_of(numbers",
     "    return numbers_of(numbers"),
    ("gather: does not tie the other axes", "indexing", "list(index.axes)\n    prefix(op, self.axes, numbers, k)\n",
     "list(index.axes)\n"),
    ("scatter: frees the axis", "indexing", "    refer(op, index, self.axes[k])\n    if isinstance", "    if isinstance"),
    ("scatter: entries written twice are free", "indexing", "            op.fix(numbers[k])\n", "            pass\n"),
    ("index_add: frees the axis", "indexing", "    refer(op, index, axes[k])\n    op.inner", "    op.inner"),
    ("index_add: does not tie the source", "indexing",
     "        op.unify((numbers, source.axes[k]), *others)",
     "        op.unify(*others)"),
    ("index_put: does not tie the source", "indexing",
     "    broadcast(op, [[*axes[:k], own, *axes[k + 1 :]], values.axes])\n",
     ""),
    ("copy: does not tie the source", "elementwise", "    return spread(src.axes, op.sizes)\n",
     "    return uniform(op.sizes)\n"),
    ("channel_shuffle: keeps the order", "convolution", "axes[1] = Product([inner, outer])", "axes[1] = Product([outer, inner])"),
    ("pixel_shuffle: frees the squares", "convolution",
     "    square = Product([fixed(max(own, channels) // min(own, channels), op.reason)])",
     "    square = free(max(own, channels) // min(own, channels))"),
    # sums and norms
    ("argmax: frees the axis", "helpers",
     "        op.fix(*reduced)\n    return Axes(axes, Label(Product(reduced), data=data, distinct=distinct))",
     "        pass\n    return Axes(axes)"),
    ("max: frees the axis of used indices", "reduction",
     "        return [out, places_of(op, self, out, reduced, op.used(1))]",
     "        return [out, out]"),
    ("cosine_similarity: ties nothing", "reduction",
     "    out = broadcast(op, [v.axes for v in op.tensors])\n",
     "    out = list(op.tensors[0].axes)\n"),
    ("batch_norm: does not tie its vectors", "norm",
     "            op.unify((x[1], v.axes[0]))\n",
     "            pass\n"),
    ("batch_norm: forgets the last vector", "norm", "    for v in vectors:", "    for v in vectors[:-1]:"),
    ("group_norm: one group", "norm", "    n = num_groups or group or 1\n", "    n = 1\n"),
    ("group_norm: as many groups as channels", "norm", "    n = num_groups or group or 1\n", "    n = axes[1].size\n"),
    ("group_norm: does not tie its vectors", "norm",
     "        op.unify((axes[1], v.axes[0]))\n    statistics",
     "        pass\n    statistics"),
    ("layer_norm: does not tie its vectors", "norm",
     "        broadcast(op, [axes[len(axes) - len(v.axes) :], v.axes])",
     "        pass"),
    ("layer_norm: forgets the bias", "norm",
     "    for v in op.tensors[1:]:\n        broadcast",
     "    for v in op.tensors[1:2]:\n        broadcast"),
    ("weight_norm: ties nothing", "norm", "    broadcast(op, [v.axes, g.axes])\n", ""),
    # layers
    ("linear: does not tie the input", "linear", "    op.unify((input.axes[-1], weight.axes[-1]))\n", ""),
    ("linear: does not tie the bias", "linear",
     "return out if bias is None else broadcast(op, [out, bias.axes])",
     "return out"),
    ("matmul: does not tie the contracted axes", "linear", ", (a[-1], b[-2] if len(b) > 1 else b[0]))", ")"),
    ("matmul: does not tie the batches", "linear",
     "    out = broadcast(op, [a[:-2], b[:-2]], (a[-1]",
     "    out = a[:-2] if len(a) >= len(b) else b[:-2]\n    broadcast(op, [], (a[-1]"),
    ("addmm: does not tie the first operand", "linear",
     "    return broadcast(op, [product(op, x, y), b.axes])",
     "    return product(op, x, y)"),
    ("cdist: does not tie the vectors", "linear", "broadcast(op, [x[:-2], y[:-2]], (x[-1], y[-1]))",
     "broadcast(op, [x[:-2], y[:-2]])"),
    ("view_as_complex: frees both parts", "elementwise", "    op.fix(self.axes[-1])\n", ""),
    ("einsum: ties nothing", "linear", "    op.unify(*pairs)\n    op.inner", "    op.inner"),
    ("einsum: forgets the last pair", "linear",
     "    op.unify(*pairs)\n    op.inner",
     "    op.unify(*pairs[:-1])\n    op.inner"),
    ("bilinear: does not tie the second input", "linear", "    op.unify((y[-1], w[2]))\n", ""),
    ("bilinear: does not tie the bias", "linear", "        op.unify((w[0], bias.axes[0]))\n", "        pass\n"),
    ("attention: does not tie queries and keys", "attention", "(q[-1], k[-1]), (k[-2], v[-2])", "(k[-2], v[-2])"),
    ("attention: does not tie positions", "attention", "(q[-1], k[-1]), (k[-2], v[-2])", "(q[-1], k[-1])"),
    ("attention: does not tie heads", "attention", "    out = broadcast(op, batch, (q", "    out = broadcast(op, batch[:1], (q"),
    ("attention: ignores is_causal", "attention", "    if is_causal:\n", "    if False:\n"),
    ("attention: ignores the mask", "attention", "    if attn_mask is not None:\n", "    if False:\n"),
    ("attention: does not tie grouped queries", "attention", "        op.unify((q[-3], heads))\n", ""),
    ("attention: does not tie grouped values", "attention", "        op.unify((k[-3], v[-3]))\n", ""),
    ("convolution: does not tie the input", "convolution", "    op.unify((x[lead], inputs))\n", ""),
    ("convolution: does not tie the bias", "convolution",
     "        op.unify((outputs, bias.axes[0]))\n",
     "        pass\n"),
    ("convolution: ignores padding and stride", "convolution",
     '        if alone and pad in (None, 0, "same", "valid") and not more:',
     "        if window.size == 1 and e.size == op.sizes[lead + 1 + k]:"),
    ("convolution: frees the positions in a kernel", "convolution", "            op.fix(window, e)\n", "            op.fix(e)\n"),
    ("convolution: frees the places", "convolution", "            op.fix(window, e)\n", "            op.fix(window)\n"),
    ("convolution: does not tie the blocks", "convolution", "    op.unify((w[0], Product([block, inner])))\n", ""),
    ("grid_sampler: frees the places", "convolution", "    op.fix(*x[2:], g[-1])\n", "    op.fix(g[-1])\n"),
    ("fft: frees the axis", "sequence",
     "        op.fix(axes[k])\n        axes[k] = op.fixed",
     "        axes[k] = op.fixed"),
    ("unfold: frees the axis", "convolution", "    op.fix(axes[k])\n    return [*axes[:k]", "    return [*axes[:k]"),
    ("im2col: frees the places", "convolution",
     "    op.fix(*self.axes[lead + 1 :])\n    channels = Product",
     "    channels = Product"),
    ("diagonal: does not tie rows and columns", "shape", "    op.unify((axes[i], axes[j]))\n", ""),
    ("recurrent: frees the steps", "recurrent", "    op.fix(steps)\n", ""),
    ("recurrent: does not tie the state", "recurrent", "(u.axes[1], state), (u.axes[1], h)", "(u.axes[1], h)"),
    ("recurrent: does not tie the input", "recurrent", "op.unify((w.axes[1], x), (u", "op.unify((u"),
    ("recurrent: gates have orders", "recurrent",
     "Sum([units] * gates)) for t",
     "Sum([units] + [free(units.size) for _ in range(gates - 1)])) for t"),
    ("recurrent: initial states are free", "recurrent",
     "last, stacks[0][i], tensors)",
     "last, free(stacks[0][i].size), tensors)"),

    ("embedding: frees the indices", "indexing",
     "    return [*indices.axes, *weight.axes[1:]]",
     "    return [*(free(e.size) for e in indices.axes), *weight.axes[1:]]"),
    ("pool: frees the places", "convolution", "    op.fix(*axes[-n:])\n", ""),
    # axes
    ("tie: does not tie cases", "orders", "    for c in a.cases.pop(p, ()):\n        unify(a, c)\n", "    a.cases.pop(p, ())\n"),
    ("merge: a fixed order is not passed on", "orders", "    if reason:\n        fix(a, reason)\n        fix(b, reason)\n", ""),
    ("assign: a fixed order is not passed on", "orders", "    if a.fixed:\n        fix(e, a.fixed)\n", ""),
    ("merge: atoms keep outer atoms that the other lacks", "orders",
     "        for p in [p for p in outer(x) if p not in outer(y) and not (y is b and _follows(b, p))]:\n"
     "            tie(x, p)\n",
     "        pass\n"),
    ("unify: incompatible products are free", "orders",
     "        fix(e, reason)\n        fix(f, reason)\n        return\n",
     "        return\n"),
    ("unify: incompatible sums are free", "orders",
     "            for x in left + right:\n                fix(x, reason)\n            return\n",
     "            return\n"),
    ("unify: sums of the first segments only", "orders",
     "            unify(left.pop(0), right.pop(0), reason)\n            continue\n",
     "            unify(left.pop(0), right.pop(0), reason)\n            return\n"),
    ("cut: the pieces are new axes", "orders", "    _assign(e, Sum([first, rest]))\n", ""),
    ("split: the factors are new axes", "orders", "    _assign(a, Product([first, rest]))\n", ""),
    ("fix: not in units of unrolled atoms", "orders",
     "            for cases in a.cases.values():\n                for c in cases:\n"
     "                    fix(c, reason)\n",
     ""),
    ("unroll: the atom stays free", "orders",
     "    fix(p, reason)\n    for a in list(p.dependents):\n        if p not in a.varies",
     "    for a in list(p.dependents):\n        if p not in a.varies"),
    ("like: new atoms are free", "axes", "    new = Atom(size, a.fixed)\n", "    new = Atom(size)\n"),
    ("confine: ties nothing", "regroup", "        for a, p in missing:\n            tie(a, p)\n", "        return\n"),
    ("confine: any tensor shows the units", "regroup",
     "and not _known(a, p, own, inputs)",
     "and not (a.data or any(y.data for y in own))"),
    ("confine: an atom on two axes is one", "regroup", "if own[p] != 1 and p not in s and", "if not own[p] and"),
    ("confine: ignores what operations compute on the way", "apply", "for axes in [*op.inner, *outputs]:", "for axes in outputs:"),
    ("merge: data atoms are like others", "orders",
     "    if (a.data and not b.loose) or (b.data and not a.loose):\n        fix(a, DATA)\n        fix(b, DATA)\n",
     ""),
    ("merge: loose atoms follow any order", "orders",
     "    return a.loose and p is not a and all(_follows(a, q) for q in outer(p))",
     "    return True"),
    ("assign: atoms stay loose", "orders", "        x.loose = x.loose and a.loose\n", "        pass\n"),
    ("loose atoms are shared", "interpret", "    return a.renewed() if isinstance(a, Value) else a\n", "    return a\n"),
    # the interpretation
    ("inputs are free", "interpret",
     'fixed(n, "batch" if n % capture.BATCH == 0 else "input")',
     'fixed(n, "batch") if n % capture.BATCH == 0 else free(n)'),
    ("outputs are free", "interpret",
     "[*v.axes, *v.references]:\n                fix(e, reason)\n\n",
     "[]:\n                fix(e, reason)\n\n"),
    ("later outputs are free", "interpret",
     "zip(signature.output_specs, out):",
     "list(zip(signature.output_specs, out))[:1]:"),
    ("the last axis of outputs is free", "interpret",
     "[*v.axes, *v.references]:\n                fix(e, reason)\n\n",
     "[*v.axes[:-1], *v.references]:\n                fix(e, reason)\n\n"),
    ("written buffers are not tied", "interpret", "                unify(f, e, reason)\n", "                pass\n"),
    ("constants are free", "interpret", '[fixed(n, "constant") for n in sizes]', "[free(n) for n in sizes]"),
    ("integers are free", "interpret", "free(n) if tensor.is_floating_point() else fixed(n, kind)", "free(n)"),
    ("blocks if one operation has them", "interpret",
     "and all(map(_has_blocks, node.users))",
     "and any(map(_has_blocks, node.users))"),
    ("blocks for all operations", "interpret", "and all(map(_has_blocks, node.users))", "and True"),
    # the rows
    ("settle: ties nothing", "derive",
     "        while any([_settle(axes) for axes in self.run.axes.values()]):\n            pass\n",
     ""),
    ("places: forgets offsets", "derive",
     "                yield offset, p.size, rest.size, p,",
     "                yield 0, p.size, rest.size, p,"),
    ("rows: tied tensors once", "derive", "for name in self.aliases[tensor]:", "for name in self.aliases[tensor][:1]:"),
]


def load(file=None, old="", new=""):
    """Loads the sources of mcz/symmetry again, one of them changed."""
    for name, (module, source) in FILES.items():
        if name == file:
            assert old in source, "the source has changed"
            source = source.replace(old, new)
        exec(compile(source, module.__file__, "exec"), module.__dict__)
        for other, name in ((axes, "free"), (helpers, "anything"), (helpers, "uniform")):  # which a mutation may use
            module.__dict__.setdefault(name, getattr(other, name))


def remember_exports():
    """Exports each network once for each number of inputs. Mutations leave exports alone."""
    export, programs = capture.export, {}

    def remembered(net, example, n, **settings):
        key = id(net), n
        if key not in programs:
            programs[key] = export(net, example, n, **settings), net
        return programs[key][0]
    capture.export = remembered


class Case:
    """A network: right(groups) is an independent test of its groups."""

    def __init__(self, name, known, net, example, right):
        self.name, self.known, self.net, self.example, self.right, self.rows = name, known, net, example, right, None

    def groups(self):
        return symmetry.Groups(self.net, [self.example], "keep")


def cases(least):
    seen: Counter = Counter()
    for seed in itertools.count():
        if all(seen[name] >= least for name in random_modules.OPERATIONS):
            break
        attempt, kind, text, used = random_modules.steady_module(seed)
        if all(seen[name] >= least for name in used):
            continue
        seen.update(used)
        net = random_modules.build(text, seed)
        yield Case("seed %d" % seed, False, net, random_modules.made_input(kind, 0), lambda g, net=net, kind=kind, seed=seed: all(
            d <= random_modules.TOLERANCE for d, _ in random_modules.differences(net, kind, seed, g)))
    for name, make in [(k, f) for k, f in expected_groups.NETS.items() if k in expected_groups.FAST] + [
            (k, f) for k, f in hostile_modules.MODULES.items() if not any(w in k for w in hostile_modules.EXTRA)]:
        torch.manual_seed(0)
        net, example, counts, *options = make()

        def right(g, net=net, example=example, counts=counts, options=options):
            if (not options or "exact" in options[0]) and derived_groups.counts_of(g.rows, g.shapes) != counts:
                return False
            return not derived_groups.problems_of(net, example, g.rows, g.sizes)[1]
        yield Case(name, True, net, example(2), right)


def operations():
    for expression, expected in operation_rules.CASES.items():
        torch.manual_seed(0)
        net = operation_rules.Around(expression).eval()

        def right(g, net=net, expected=expected):
            units, difference = operation_rules.found(net, g)
            return units == expected and difference <= derived_groups.TOLERANCE
        yield Case(expression, True, net, operation_rules.example(2), right)


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
    for test in (lambda: not g.sizes or check.difference(g) >= 0, lambda: case.right(g)):
        try:
            found.append(not test())
        except Exception:
            found.append(True)
    return tuple(found)


def main(*words):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    least = 2
    if words[:1] == ("--each",):
        least, words = int(words[1]), words[2:]
    remember_exports()
    usable = []
    for case in itertools.chain(cases(least), operations()):
        try:
            g = case.groups()
            case.rows = shape(g)
            if check.difference(g) >= 0 and case.right(g):
                usable.append(case)
        except mcz.Error:  # refused
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
