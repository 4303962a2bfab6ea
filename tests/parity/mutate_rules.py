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
from mcz.symmetry import axes, capture, check, derive, interpret, observe, rules
from mcz.symmetry.rules import call, elementwise, indexing, layers, norms, recurrent, shapes

import derived_groups
import expected_groups
import hostile_modules
import operation_rules
import random_modules

FILES = {m.__name__.split(".")[-1]: (m, inspect.getsource(m)) for m in (
    axes, call, elementwise, norms, indexing, layers, recurrent, shapes, rules, interpret, check, observe, derive, symmetry)}

MUTATIONS = [  # name, file, source, replacement
    # elementwise operations
    ("broadcast: ties nothing", "call", "    c.unify(*pairs)\n    return out", "    return out"),
    ("broadcast: forgets the last pair", "call",
     "    c.unify(*pairs)\n    return out",
     "    c.unify(*pairs[:-1])\n    return out"),
    ("broadcast: ties the last axis only", "call",
     "if e is not longest and e.size > 1]",
     "if e is not longest and e.size > 1 and k == 0]"),
    ("broadcast: ties all but the last axis", "call",
     "if e is not longest and e.size > 1]",
     "if e is not longest and e.size > 1 and k > 0]"),
    ("pointwise: reads the first operand only", "elementwise",
     "    out = broadcast(c, [v.axes for v in c.values()])\n    return [out] * len(c.sizes)",
     "    own = [v.axes for v in c.values()]\n"
     "    out = broadcast(c, own[:1] if [e.size for e in own[0]] == c.sizes else own)\n"
     "    return [out] * len(c.sizes)"),
    ("unknown: frees the inputs", "call",
     "    for v in c.values():\n        c.fix(*v.axes)\n    return [c.fixed(s)",
     "    return [c.fixed(s)"),
    ("unknown: fixes the first input only", "call",
     "    for v in c.values():\n        c.fix(*v.axes)\n    return [c.fixed(s)",
     "    c.fix(*next(c.values()).axes)\n    return [c.fixed(s)"),
    ("unknown: frees the outputs", "call",
     "if c.several() else c.fixed(c.sizes)\n\n\n# operations",
     "if c.several() else [free(n) for n in c.sizes]\n\n\n# operations"),
    # shapes
    ("regroup: frees what it cannot cut", "axes",
     "                for e in axes:\n                    fix(e, reason)\n                return [fixed(n, reason)",
     "                return [fixed(n, reason)"),
    ("permute: ignores an order of equal sizes", "shapes",
     "    return [c.self.axes[d] for d in c.dims]",
     "    out = [c.self.axes[d] for d in c.dims]\n"
     "    return c.self.axes if [e.size for e in out] == [e.size for e in c.self.axes] else out"),
    ("transpose: ignores axes of equal size", "shapes",
     "        axes[i], axes[j] = axes[j], axes[i]",
     "        if axes[i].size != axes[j].size:\n            axes[i], axes[j] = axes[j], axes[i]"),
    ("repeat: repeats inside", "shapes",
     "else Product([anything(n // e.size, axes), e]) for",
     "else Product([e, anything(n // e.size, axes)]) for"),
    ("repeat_interleave: repeats outside", "shapes",
     "Product([axes[k], anything(c.repeats, axes)])",
     "Product([anything(c.repeats, axes), axes[k]])"),
    ("cat: reverses the segments", "shapes",
     "out[k] = Sum([t[k] for t in tensors])",
     "out[k] = Sum([t[k] for t in tensors[::-1]])"),
    ("cat: ties nothing else", "shapes",
     "    out = broadcast(c, [t[:k] + [ONE] + t[k + 1:] for t in tensors])",
     "    out = list(tensors[0])"),
    ("stack: frees the new axis", "shapes", "[fixed(len(c.tensors), c.reason)]", "[free(len(c.tensors))]"),
    ("stack: ties nothing", "shapes",
     "    out = broadcast(c, [v.axes for v in c.tensors])\n",
     "    out = list(c.tensors[0].axes)\n"),
    ("select: reads entry 0", "shapes", "in unrolled(axes[k], c.reason)[i]:", "in unrolled(axes[k], c.reason)[0]:"),
    ("select: frees the axis", "shapes", "    for p, j in unrolled(axes[k], c.reason)[i]:", "    for p, j in ():"),
    ("slice: frees the axis of steps", "shapes", "    if step != 1:\n        c.fix(e)\n", "    if step != 1:\n"),
    ("slice: frees the axis of one entry", "shapes",
     "            rest = pick(c, axes, k, first)\n",
     "            rest = axes[:k] + axes[k + 1:]\n"),
    ("slice: exchanges the sides", "shapes",
     "pieces and cut(pieces[1], length, c.reason)",
     "pieces and (cut(pieces[1], length, c.reason) if pieces[0].size != length else pieces)"),
    ("slice: frees what it cannot cut", "shapes",
     "    if pieces is None:\n        c.fix(axes[k])\n",
     "    if pieces is None:\n"),
    ("glu: does not tie the halves", "shapes",
     "    return broadcast(c, [part(c, c.self.axes, k, i * half, (i + 1) * half) for i in range(2)])",
     "    return part(c, c.self.axes, k, 0, half)"),
    ("slice_scatter: does not tie the source", "shapes",
     "    broadcast(c, [part(c, c.self.axes, k, start, end, c.step or 1), c.src.axes])\n",
     ""),
    ("select_scatter: does not tie the source", "shapes",
     "    broadcast(c, [pick(c, c.self.axes, k, c.index % c.self.axes[k].size), c.src.axes])\n",
     ""),
    ("roll, flip, cumsum: free", "shapes",
     '        c.fix(axes[k])\n        c.inner',
     '        c.inner'),
    ("pad: frees the axis", "shapes",
     "            c.fix(axes[k])\n            axes[k] = fixed(c.sizes[k], c.reason)",
     "            axes[k] = fixed(c.sizes[k], c.reason)"),
    ("pad: exchanges left and right", "shapes",
     "(anything(left, others) if left else None, axes[k],\n"
     "                                       anything(right, others) if right else None)",
     "(anything(right, others) if right else None, axes[k],\n"
     "                                       anything(left, others) if left else None)"),
    ("index: frees the axis", "indexing", "            known = refer(c, i, e)\n", "            known = bool(i.label)\n"),
    ("index_select: frees the axis", "indexing",
     "    c.units = refer(c, c.index, axes[k]) and c.index.label.data is not None\n    axes[k] = c.index.axes[0]",
     "    axes[k] = c.index.axes[0]"),
    # numbers of entries
    ("labels: any number refers to any axis", "indexing",
     "    c.fix(axis, *numbers.references)\n    return False",
     "    return False"),
    ("labels: their axes are not tied", "indexing",
     "        c.unify((label.axis, axis))\n        return True",
     "        return True"),
    ("labels: operations read them as numbers", "call",
     "            c.fix(*v.references)\n    given",
     "            pass\n    given"),
    ("labels: outputs of the network", "interpret",
     "for e in v.references if buffer else [*v.axes, *v.references]:",
     "for e in [] if buffer else v.axes:"),
    ("labels: equal numbers have an order", "norms",
     "    if used and (not c.self.apart or any(a.loose for e in reduced for a in atoms(e))):\n", "    if False:\n"),
    ("labels: equal weights have an order", "norms", "    if used and (not c.self.apart or any(", "    if used and (False or any("),
    ("labels: numbers that may all be 0 have an order", "call", "c.name in ALWAYS and not zeros or", "c.name in ALWAYS or"),
    ("labels: eq of other axes", "elementwise",
     "            x.label.axis.size == y.label.axis.size):\n        c.unify((x.label.axis, y.label.axis))\n",
     "            x.label.axis.size == y.label.axis.size):\n        pass\n"),
    ("one_hot: frees the classes", "elementwise",
     "        return [*c.self.axes, label.axis]\n    c.fix(*c.self.references)\n"
     "    return [*c.self.axes, *c.fixed([n])]",
     "        return [*c.self.axes, label.axis]\n    return [*c.self.axes, free(n)]"),
    ("arange: any start", "elementwise",
     "    if (c.start or 0) != 0 or (1 if c.step is None else c.step) != 1 or c.dtype not in WHOLE:\n"
     "        return unknown(c)\n    e",
     "    e"),
    ("arange: no label", "elementwise", "    return Axes([e], Label(e, distinct=e))", "    return [e]"),
    ("tril: frees rows and columns", "elementwise",
     '    c.fix(*c.self.axes[-2:])\n    return c.self.axes\n\n\n@rule("one_hot"',
     '    return c.self.axes\n\n\n@rule("one_hot"'),
    ("eye: rows and columns are independent", "elementwise",
     "    return [e, e]\n",
     "    return [e, anything(c.sizes[0], [e])]\n"),
    ("topk: frees the axis of used places", "indexing",
     "    return [out, places_of(c, out, axes[k:k + 1], c.used(1), data=largest, distinct=largest)]",
     "    return [out, out]"),
    ("topk: an unsorted order is like others", "indexing", "[axes[k]] * (c.sorted is False)", "[]"),
    ("sort: places have no label", "indexing",
     '        values, places = axes, places_of(c, axes, [own], c.name == "argsort" or c.name == "sort" and '
     "c.used(1), distinct=new)",
     "        values = places = axes"),
    ("sort: frees the sorted axis", "indexing",
     '        axes[k] = new = fixed(own.size, "sort")',
     "        axes[k] = new = own"),
    ("cummax: frees the axis", "indexing",
     "    axes, k = list(c.self.axes), index(c.dim, c.self.axes)\n    c.fix(axes[k])\n    c.inner",
     "    axes, k = list(c.self.axes), index(c.dim, c.self.axes)\n    c.inner"),
    ("cumsum: frees the axis", "indexing",
     "    c.fix(axes[k])\n    c.inner.append(without(axes, k))\n    return axes\n",
     "    c.inner.append(without(axes, k))\n    return axes\n"),
    ("grouped_mm: does not tie experts", "indexing",
     "    c.unify((label.axis, w.axes[0]), (x.axes[1], w.axes[1]))\n",
     "    c.unify((x.axes[1], w.axes[1]))\n"),
    ("grouped_mm: does not tie the input", "indexing",
     "    c.unify((label.axis, w.axes[0]), (x.axes[1], w.axes[1]))\n",
     "    c.unify((label.axis, w.axes[0]))\n"),
    ("gather: frees the axis", "indexing",
     "    c.units = refer(c, c.index, c.self.axes[k]) and c.index.label.data is not None\n    return Axes(numbers",
     "    return Axes(numbers"),
    ("gather: does not tie the other axes", "indexing", "list(c.index.axes)\n    prefix(c, c.self.axes, numbers, k)\n",
     "list(c.index.axes)\n"),
    ("scatter: frees the axis", "indexing", "    refer(c, c.index, c.self.axes[k])\n    if hasattr", "    if hasattr"),
    ("scatter: entries written twice are free", "indexing", "            c.fix(numbers[k])\n", "            pass\n"),
    ("index_add: frees the axis", "indexing", "    refer(c, c.index, axes[k])\n    c.inner", "    c.inner"),
    ("index_add: does not tie the source", "indexing",
     "        c.unify((numbers, new.axes[k]), *((e, f)",
     "        c.unify(*((e, f)"),
    ("index_put: does not tie the source", "indexing",
     "    broadcast(c, [axes[:k] + list(numbers.axes) + axes[k + 1:], new.axes])\n",
     ""),
    ("copy: does not tie the source", "elementwise", "    return spread(c.src.axes, c.sizes)\n", "    return c.self.axes\n"),
    ("channel_shuffle: keeps the order", "shapes", "Product(blocks.parts[::-1])", "Product(blocks.parts)"),
    ("pixel_shuffle: frees the squares", "shapes",
     "    squares = Product([fixed(max(axes[-3].size, channels) // min(axes[-3].size, channels), c.reason)])",
     "    squares = free(max(axes[-3].size, channels) // min(axes[-3].size, channels))"),
    # sums and norms
    ("argmax: frees the axis", "norms",
     "    if used and (not c.self.apart or any(a.loose for e in reduced for a in atoms(e))):\n        c.fix(*reduced)\n"
     "    return Axes(axes, Label(Product(reduced), **more))",
     "    return Axes(axes)"),
    ("max: frees the axis of used indices", "norms",
     "    return [out, places_of(c, out, [axes[k] for k in over], c.used(1))]",
     "    return [out, out]"),
    ("cosine_similarity: ties nothing", "norms",
     "    out = broadcast(c, [v.axes for v in c.values()])\n    k = index((1",
     "    out = next(c.values()).axes\n    k = index((1"),
    ("batch_norm: does not tie its vectors", "norms",
     "            c.unify((x.axes[1], v.axes[0]))\n    if c.name",
     "            pass\n    if c.name"),
    ("batch_norm: forgets the last vector", "norms",
     "    x, *vectors = c.values()\n    for v in vectors:",
     "    x, *vectors = c.values()\n    for v in vectors[:-1]:"),
    ("group_norm: one group", "norms",
     "    axes, n = c.input.axes, c.num_groups or c.group\n",
     "    axes, n = c.input.axes, 1\n"),
    ("group_norm: as many groups as channels", "norms",
     "    axes, n = c.input.axes, c.num_groups or c.group\n",
     "    axes, n = c.input.axes, c.input.axes[1].size\n"),
    ("group_norm: does not tie its vectors", "norms",
     "        c.unify((axes[1], v.axes[0]))\n    c.inner",
     "        pass\n    c.inner"),
    ("layer_norm: does not tie its vectors", "norms",
     "        broadcast(c, [axes[len(axes) - len(v.axes):], v.axes])",
     "        pass"),
    ("layer_norm: forgets the bias", "norms",
     "    axes, n = c.input.axes, len(c.normalized_shape)\n    for v in list(c.values())[1:]:",
     "    axes, n = c.input.axes, len(c.normalized_shape)\n    for v in list(c.values())[1:2]:"),
    ("weight_norm: ties nothing", "norms", "    broadcast(c, [c.v.axes, c.g.axes])\n", ""),
    # layers
    ("linear: does not tie the input", "layers", "    c.unify((c.input.axes[-1], c.weight.axes[-1]))\n", ""),
    ("linear: does not tie the bias", "layers",
     "return out if c.bias is None else broadcast(c, [out, c.bias.axes])",
     "return out"),
    ("matmul: does not tie the contracted axes", "layers", "(x[-1], y[-2] if len(y) > 1 else y[0]))", ")"),
    ("matmul: does not tie the batches", "layers",
     "    out = broadcast(c, [x[:-2], y[:-2]], (x[-1]",
     "    out = x[:-2] if len(x) >= len(y) else y[:-2]\n    broadcast(c, [], (x[-1]"),
    ("addmm: does not tie the first operand", "layers",
     "    return broadcast(c, [product(c, x, y), b.axes])",
     "    return product(c, x, y)"),
    ("cdist: does not tie the vectors", "layers", ", (x.axes[-1], y.axes[-1])) + [x.axes[-2]", ") + [x.axes[-2]"),
    ("view_as_complex: frees both parts", "layers", "    c.fix(axes[-1])\n    return axes[:-1]", "    return axes[:-1]"),
    ("einsum: ties nothing", "layers",
     "    c.unify(*pairs)\n    c.inner",
     "    c.inner"),
    ("einsum: forgets the last pair", "layers",
     "    c.unify(*pairs)\n    c.inner",
     "    c.unify(*pairs[:-1])\n    c.inner"),
    ("bilinear: does not tie the second input", "layers", "    c.unify((y.axes[-1], w.axes[2]))\n", ""),
    ("bilinear: does not tie the bias", "layers", "        c.unify((w.axes[0], c.bias.axes[0]))\n", "        pass\n"),
    ("attention: does not tie queries and keys", "layers",
     "(q.axes[-1], k.axes[-1]), (k.axes[-2], v.axes[-2])",
     "(k.axes[-2], v.axes[-2])"),
    ("attention: does not tie positions", "layers",
     "(q.axes[-1], k.axes[-1]), (k.axes[-2], v.axes[-2])",
     "(q.axes[-1], k.axes[-1])"),
    ("attention: does not tie heads", "layers", "    out = broadcast(c, batch, (q", "    out = broadcast(c, batch[:1], (q"),
    ("attention: ignores is_causal", "layers", "    if c.is_causal:\n", "    if False:\n"),
    ("attention: ignores the mask", "layers", "    if c.attn_mask is not None:\n", "    if False:\n"),
    ("attention: does not tie grouped queries", "layers", "        c.unify((q.axes[-3], more))\n", ""),
    ("attention: does not tie grouped values", "layers", "        c.unify((k.axes[-3], v.axes[-3]))\n", ""),
    ("convolution: does not tie the input", "layers", "    c.unify((x.axes[lead], inputs))\n", ""),
    ("convolution: does not tie the bias", "layers",
     "        c.unify((outputs, c.bias.axes[0]))\n    c.inner",
     "        pass\n    c.inner"),
    ("convolution: ignores padding and stride", "layers",
     '        if window.size == 1 and stride in (None, 1) and pad in (None, 0, "same", "valid") and not more:',
     "        if window.size == 1 and e.size == c.sizes[lead + 1 + k]:"),
    ("convolution: frees the positions in a kernel", "layers", "            c.fix(window, e)\n", "            c.fix(e)\n"),
    ("convolution: frees the places", "layers", "            c.fix(window, e)\n", "            c.fix(window)\n"),
    ("convolution: does not tie the blocks", "layers", "        c.unify((w.axes[0], Product([blocks, inner])))\n", ""),
    ("grid_sampler: frees the places", "layers", "    c.fix(*x[2:], grid[-1])\n", "    c.fix(grid[-1])\n"),
    ("fft: frees the axis", "layers",
     "        c.fix(axes[k])\n        axes[k] = fixed(c.sizes[k], c.reason)\n    return axes",
     "        axes[k] = fixed(c.sizes[k], c.reason)\n    return axes"),
    ("unfold: frees the axis", "shapes",
     "        c.fix(axes[k])\n        return axes[:k] + c.fixed(c.sizes[k:k + 1])",
     "        return axes[:k] + c.fixed(c.sizes[k:k + 1])"),
    ("im2col: frees the places", "shapes",
     '    c.fix(*axes[lead + 1:])\n    if c.name == "im2col"',
     '    if c.name == "im2col"'),
    ("diagonal: does not tie rows and columns", "shapes",
     "        c.unify((axes[i], axes[j]))\n    return out",
     "        pass\n    return out"),
    ("recurrent: frees the steps", "recurrent", "    c.fix(steps)\n", ""),
    ("recurrent: does not tie the state", "recurrent", "(u.axes[1], state), (u.axes[1], h)", "(u.axes[1], h)"),
    ("recurrent: does not tie the input", "recurrent", "c.unify((w.axes[1], x), (u", "c.unify((u"),
    ("recurrent: gates have orders", "recurrent",
     "Sum([units] * gates)) for t",
     "Sum([units] + [free(units.size) for _ in range(gates - 1)])) for t"),
    ("recurrent: initial states are free", "recurrent",
     "cell(c, GATES[c.name], last, stacks[0][i], c.params",
     "cell(c, GATES[c.name], last, free(stacks[0][i].size), c.params"),
    ("embedding: frees the vocabulary", "layers", '        fix(rows, "vocabulary")\n', ""),
    ("embedding: frees the indices", "layers",
     "    return c.indices.axes + c.weight.axes[1:]",
     "    return [free(e.size) for e in c.indices.axes] + c.weight.axes[1:]"),
    ("pool: frees the places", "layers", "    c.fix(*axes[-n:])\n", ""),
    # axes
    ("tie: does not tie cases", "axes", "    for c in a.cases.pop(p, ()):\n        unify(a, c)\n", "    a.cases.pop(p, ())\n"),
    ("merge: a fixed order is not passed on", "axes", "    if reason:\n        fix(a, reason)\n        fix(b, reason)\n", ""),
    ("assign: a fixed order is not passed on", "axes", "    if a.fixed:\n        fix(e, a.fixed)\n", ""),
    ("merge: atoms keep outer atoms that the other lacks", "axes",
     "        for p in [p for p in outer(x) if p not in outer(y) and not (y is b and _follows(b, p))]:\n"
     "            tie(x, p)\n",
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
    ("confine: any tensor shows the units", "axes",
     "and not _known(a, p, own, inputs)]",
     "and not (a.data or any(y.data for y in own))]"),
    ("confine: an atom on two axes is one", "axes", "if own[p] != 1 and p not in s and", "if not own[p] and"),
    ("confine: ignores what operations compute on the way", "call",
     "for axes in c.inner + (out if several else [out]):",
     "for axes in out if several else [out]:"),
    ("merge: data atoms are like others", "axes",
     "    if a.data and not b.loose or b.data and not a.loose:\n        fix(a, DATA)\n        fix(b, DATA)\n",
     ""),
    ("merge: loose atoms follow any order", "axes",
     "    return a.loose and p is not a and all(_follows(a, q) for q in outer(p))",
     "    return True"),
    ("assign: atoms stay loose", "axes", "        x.loose = x.loose and a.loose\n", "        pass\n"),
    ("loose atoms are shared", "call", "    c.renew()\n    several", "    several"),
    # the interpretation
    ("inputs are free", "interpret",
     'fixed(n, "batch" if n % capture.BATCH == 0 else "input")',
     'fixed(n, "batch") if n % capture.BATCH == 0 else free(n)'),
    ("outputs are free", "interpret",
     "[*v.axes, *v.references]:\n                fix(e, reason)\n\n",
     "[]:\n                fix(e, reason)\n\n"),
    ("later outputs are free", "interpret",
     "zip(programs[0].graph_signature.output_specs, out):",
     "list(zip(programs[0].graph_signature.output_specs, out))[:1]:"),
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
