# SPDX-License-Identifier: Apache-2.0
"""The activations of derived groups, taken by running the exported graph."""

import numpy as np
import torch

from ..errors import need
from ..evaluate import arguments, call, form
from ..state import tensors_of
from . import capture
from .axes import Product, at, atoms, elements, outer, terms

TAPS = 8  # values per group, spread evenly over the network's depth


class Tap:
    """A value in which a group's units are seen. index: its number among the outputs of its node.
    axes: its axes, in the unit given by `unit` of an unrolled atom, {atom: number}. around: the
    atom that it shows instead of the units within it, such as a router's experts instead of their
    hidden units, which no value shows."""

    def __init__(self, node, index, axes, unit, around=None):
        self.node, self.index, self.axes, self.unit, self.around = node, index, axes, unit, around

    def __str__(self):
        return self.node


def taps(groups):
    """{group: [Tap...]}: the values that layers read in which a group's units are seen, or if there
    are none, others. Groups that enclose others and groups in another unit than the first have
    none."""
    top = {
        v: (node, i)
        for node, own in groups.run.values[0].items()
        for i, v in enumerate(groups.run._flat(own))
        if v.node == node
    }
    read, all_values = (
        _shown(values, top)
        for values in (
            dict.fromkeys(v.origin for v in groups.run.observed),
            groups.run.activations(),
        )
    )
    found, enclosing = (
        {},
        {
            q
            for (_, unit), name in groups.names.items()
            if name in groups.sizes
            for q, _ in unit
            if not q.fixed
        },
    )
    for (atom, unit), name in groups.names.items():
        if name not in groups.sizes or atom in enclosing or any(i for q, i in unit if not q.fixed):
            continue
        own = (
            read.get(atom)
            or all_values.get(atom)
            or _in_units(all_values, atom)
            or [
                Tap(t.node, t.index, t.axes, t.unit, q)
                for q in atom.varies
                if not q.fixed
                for t in read.get(q) or all_values.get(q) or []
            ]
        )
        own = [t for t in own if not _foreign(t, atom)] or own
        found[name] = [own[i * len(own) // min(TAPS, len(own))] for i in range(min(TAPS, len(own)))]
    return found


def _shown(values, top):
    """{atom: [Tap...]} of the atoms that values show: with each atom that they vary with, and with
    all inputs apart."""
    shown = {}
    for v in dict.fromkeys(v for v in values if v in top):
        if any(
            p.size >= capture.BATCH and not all(a.fixed for a in atoms(p))
            for e in v.axes
            for p in elements(e)
        ):
            continue
        own, tap = dict.fromkeys(a for e in v.axes for a in atoms(e)), Tap(*top[v], v.axes, {})
        for a in own:
            if a.unrolled or (not a.fixed and all(q in own for q in outer(a))):
                shown.setdefault(a, []).append(tap)
    return shown


def _in_units(shown, atom):
    """The taps that show an atom only in one unit of an unrolled atom, such as the last state of
    one of several layers."""
    return [
        Tap(t.node, t.index, axes, {p: i})
        for p, own in shown.items()
        if p.unrolled
        for t in own
        for i in range(p.size)
        for axes in [[at(e, p, i) for e in t.axes]]
        if any(atom in set(atoms(e)) for e in axes)
    ]


def _foreign(v, atom):
    """True if the samples of a value are units of another group, whose order may differ between two
    networks."""
    own = {atom, *atom.varies}
    for e in v.axes:
        with_atom = [t for t in terms(e) if atom in set(atoms(t))]
        if any(not a.fixed and a not in own for t in with_atom[:1] or [e] for a in atoms(t)):
            return True
    return False


def _grid(e, atom, n):
    """The positions on an axis as an array with one dimension per atom, and these atoms. Of several
    segments, the first with this atom is used."""
    for t in (own := terms(e)):
        if atom in set(atoms(t)):
            break
    else:
        t = own[0]
    offset = 0
    for s in own[: own.index(t)]:
        offset += capture.size_at(s.size, n)
    parts = elements(t)
    if not parts:
        return np.array(offset), []
    p, rest = parts[0], Product(parts[1:])
    step = capture.size_at(rest.size, n)
    if p.unrolled and p is not atom:
        i = (
            next((i for i in range(p.size) if atom in set(atoms(at(rest, p, i)))), 0)
            if atom not in set(atoms(rest))
            else None
        )
        if i is not None:
            inside, labels = _grid(at(rest, p, i), atom, n)
            return offset + i * step + inside, labels
    inside, labels = _grid(rest, atom, n)
    size = capture.size_at(p.size, n)
    return offset + np.arange(size).reshape(-1, *[1] * inside.ndim) * step + inside, [p, *labels]


def units(x, tap, atom, unit):
    """The activations x of a value as (samples, units) in float64. unit: {outer atom: index}; if
    the outer atom is free, the units are those of all its units, one after another.

    Units of other groups are not samples, because their order may differ between two networks: the
    mean over them is."""
    if tap.around:
        return units(
            x, Tap(tap.node, tap.index, tap.axes, tap.unit), tap.around, {}
        ).repeat_interleave(atom.size, 1)
    n = next(
        (s * capture.BATCH // e.size for s, e in zip(x.shape, tap.axes) if e.size >= capture.BATCH),
        1,
    )
    labels, unit = [], {**unit, **tap.unit}
    for e in tap.axes:
        k, inside = len(labels), set(atoms(e))
        outers = [q for q in unit if q in inside]
        if atom not in inside and not outers:
            parts = elements(e)
            x = x.unflatten(k, [capture.size_at(p.size, n) for p in parts] or (1,))
            labels += [None if all(a.fixed for a in atoms(p)) else p for p in parts] or [None]
            continue
        grid, own = _grid(e, atom if atom in inside else outers[0], n)
        x = x.index_select(k, torch.from_numpy(grid.reshape(-1)).to(x.device)).unflatten(
            k, grid.shape or (1,)
        )
        labels += [None if q.fixed and q not in unit else q for q in own] or [None]
    for q, i in unit.items():
        if q.fixed and q in labels:
            k = labels.index(q)
            x, labels = x.select(k, i), labels[:k] + labels[k + 1 :]
    last = [labels.index(q) for q in [*(q for q in unit if not q.fixed and q in labels), atom]]
    x = (
        x.permute(*[k for k in range(x.dim()) if k not in last], *last)
        .flatten(x.dim() - len(last))
        .double()
    )
    foreign = [
        k for k, q in enumerate(q for k, q in enumerate(labels) if k not in last) if q is not None
    ]
    return (x.mean(foreign) if foreign else x).reshape(-1, x.shape[-1])


def _advice(example, batch):
    """How to write batches like the example of the groups, if the batch has another form, or ""."""
    if isinstance(batch, dict):
        return "" if isinstance(example, dict) else " (give the example as a dictionary)"
    if isinstance(example, dict):
        return " (give batches as a dictionary, or (dictionary, labels))"
    several = (
        isinstance(example, (tuple, list))
        and len(example) > 1
        and len(arguments(batch)[0]) != len(example)
    )
    return (
        " (give batches as the example, or (({}), labels))".format(", ".join("x" * len(example)))
        if several
        else ""
    )


def _names(example):
    """The number of positional arguments of an input, and the names of the others."""
    args, kwargs = arguments(example)
    return len(args), list(kwargs)


class Recorder:
    """Runs a network of the derived architecture: units(group, tap) are the activations of its last
    batch.

    A batch of one input runs as two copies, because PyTorch may record other operations for one
    input. Batches may have other shapes than the example, such as other lengths: the network is
    recorded once for each."""

    def __init__(self, net, groups, taps):
        self.groups, self.now, self.taps = (
            groups,
            groups,
            taps,
        )  # now: for the shapes of the last batch
        self.state = {
            k: v.detach()
            for k, v in [*net.named_buffers(remove_duplicate=False), *tensors_of(net).items()]
        }

    def run(self, batch):
        need(
            _names(batch) == _names(self.groups.example),
            f"batches of {form(self.groups.example)} expected, as in the example of the groups, "
            f"got {form(batch)}{_advice(self.groups.example, batch)}",
        )
        x = next(
            v
            for v in torch.utils._pytree.tree_leaves(arguments(batch))
            if isinstance(v, torch.Tensor)
        )
        self.copies = 2 if len(x) == 1 else 1
        n, nodes = len(x) * self.copies, {v.node for own in self.taps.values() for v in own}
        self.now = self.groups._for_shapes_of(batch)
        program = self.now._program(n)
        runner = capture.Runner(program, keep=nodes.__contains__, device=x.device)
        call(
            program,
            batch,
            lambda *args, **kwargs: runner.run(*capture.inputs(program, self.state, batch, n)),
        )
        self.values = runner.values

    def close(self):
        self.values = {}

    def units(self, group, tap):
        tap = self.now.taps[group][self.taps[group].index(tap)]
        atom, unit = next(key for key, name in self.now.names.items() if name == group)
        value = self.values[tap.node]
        return units(
            value[tap.index] if isinstance(value, (tuple, list)) else value, tap, atom, dict(unit)
        )
