# SPDX-License-Identifier: Apache-2.0
"""Exchange networks between PyTorch and mc.

Networks whose operations graphs support (docs/reference/networks.md):

    python -m mcz.torch export MODULE:NET --input 3,32,32 --classes 10 -o net.json \\
        --weights a.safetensors
    mc-convert a.safetensors --net ./net.json --data train.mcz -o a.mcz
    mcz.torch.load(net, "pb.mcz")

Any other nn.Module, such as a transformer, with groups that are derived from it
(docs/guides/any-module.md):

    g = mcz.torch.groups(a, x)                            # x: a batch of inputs
    p = mcz.torch.align(a, b, loader, g)                  # a permutation of b's units
    merged = mcz.torch.merge(a, b, p, loader=loader)      # a module
    soup = mcz.torch.merge_many([a, b, c], mcz.torch.align_many([a, b, c], loader))
    curve = mcz.torch.Curve(a, b, p).train(loader, epochs=5)
    print(curve.evaluate({"test": test}, points=11))      # mc-eval's table
    mcz.torch.permute(b, p, g)                            # in place
"""

from __future__ import annotations

import argparse
import ast
import importlib
import itertools
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

try:
    import torch
except ImportError:
    if __name__ == "__main__":
        sys.exit(f"mcz.torch: PyTorch is not installed for {sys.executable} (pip install torch)")
    raise

import numpy as np
import xxhash
from torch import nn

import mcz
from mcz import groups as _groups
from mcz import keys, safetensors
from mcz import state as _state
from mcz.batches import first_tensor, input_of, loader_of, to
from mcz.errors import Error, inside, need, warn
from mcz.evaluate import call
from mcz.files import Path, replacing
from mcz.graph import constant
from mcz.joined import Curve, align, save
from mcz.many import align_many
from mcz.merging import merge, merge_many, warn_other
from mcz.state import listed, load, owners, tensors_of
from mcz.stream import content_id
from mcz.structure import compare
from mcz.unchanged import LOCK, evaluating

__all__ = [
    "Curve",
    "align",
    "align_many",
    "export",
    "groups",
    "load",
    "merge",
    "merge_many",
    "moments",
    "permute",
    "save",
]

if TYPE_CHECKING:
    from mcz.symmetry import Groups

LIKE_PARAMETER = {
    "grad",
    "momentum_buffer",
    "exp_avg",
    "exp_avg_sq",
    "max_exp_avg_sq",
    "exp_inf",
    "sum",
    "square_avg",
    "grad_avg",
    "acc_delta",
    "prev",
    "step_size",
    "ax",
}  # state of optimizers with the parameter's shape
PARTS = "sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross"  # the tensors of a tap in a moments stream


# ---- networks with a graph -----------------------------------------------------------------------


def export(
    net: nn.Module,
    input: Sequence[int],
    classes: int,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, np.ndarray], list[str]]:
    """Traces the graph of a network and its weights.

        graph, tensors, notes = mcz.torch.export(net, (3, 16, 16), 10, mean=[.5] * 3, std=[.25] * 3)
        json.dump(graph, open("net.json", "w"))                  # for --net ./net.json
        mcz.safetensors.write("a.safetensors", tensors)          # for mc-convert

    net        an nn.Module that maps images (N,C,H,W) to logits (N,K); it is traced in evaluation
               mode. Logits (N,K) that it returns after them only in training become auxiliary
               losses.
    input      (C, H, W).
    classes    K.
    mean, std  the normalisation of images in [0, 1] before net, per channel; default: none.
    name       the network's name in streams; default: its class.

    Returns (graph, {tensor: float32 array}, notes for the user). Raises mcz.Error with every
    unsupported operation and the path of its module: "norm: InstanceNorm2d is not supported in
    graphs".
    """
    from mcz import trace

    return trace.graph_of(net, list(input), classes, mean, std, name)


# ---- networks with derived or declared groups ----------------------------------------------------


def groups(net: nn.Module, *examples: Any, unused: str = "refuse", progress: bool = True) -> Groups:
    """Derives the permutation groups of any module from the graph that torch.export records.

        g = mcz.torch.groups(net, torch.rand(2, 3, 16, 16))
        print(g.report())
        g.write("groups.tsv")                                    # for mc-convert --groups
        mcz.torch.moments(a, b, loader, g, "m.mcz")              # align() does this and more

    net       an nn.Module. Its evaluation mode is derived. Needs PyTorch 2.4.
    examples  inputs: a tensor, a tuple of the arguments, or a dictionary of them. The first axis of
              each tensor is the batch. The groups hold for all examples. Give one for each way in
              which you call the network: other arguments, or the other side of a branch. Batches
              for moments have the arguments of the first example, with any number and shape of
              inputs.
    unused    "refuse", or "keep": tensors that no example uses, such as auxiliary heads, stay in
              place, so calls that use them change. report() lists them as "not used by these
              examples".
    progress  show a progress bar if tqdm is installed.

    Returns mcz.symmetry.Groups. The groups contain every order that the operations are known to
    allow; an operation without a rule fixes the axes that it reads. All outputs of the network stay
    in place. Buffers that a call writes move with the units that they hold. Tensors outside the
    state_dict (plain attributes and buffers with persistent=False) stay in place.

    Checks the groups at once: networks with random tensors are permuted in float64, and their
    outputs must be equal to 1e-9, also those of a second call if the first writes buffers. Raises
    mcz.Error with the first module that differs; if torch.export cannot record the network; if the
    second call differs from the first, unless by buffers; if two tensors share memory in different
    shapes; or with the tensors that no example uses. What only a later call shows, and random
    numbers that are not PyTorch's, are not noticed."""
    from mcz.symmetry import Groups, check

    need(
        [int(v) for v in torch.__version__.split(".")[:2]] >= [2, 4],
        f"mcz.torch.groups needs PyTorch 2.4 or later (got {torch.__version__}): declare the "
        "groups by hand",
    )
    need(examples, "an example of the network's input expected")
    need(unused in ("refuse", "keep"), f'unused must be "refuse" or "keep" (got {unused!r})')
    need(isinstance(net, nn.Module), f"torch.nn.Module expected, got {type(net).__name__}")
    need(
        not any(map(nn.parameter.is_lazy, itertools.chain(net.parameters(), net.buffers()))),
        "the network has lazy modules, without parameters: run the network once first",
    )
    need(
        not any(v.is_meta for v in tensors_of(net).values()),
        "the network is on the meta device, without numbers",
    )

    def permuted(name, tensor, permutation, rows):
        return _moved(tensor, _axes({name: tensor}, rows)[name], permutation)

    with LOCK:
        found = Groups(net, examples, unused, "groups: record" if progress else "")
        found.difference = (
            check.difference(found, permuted, "groups: check" if progress else "")
            if found.sizes
            else 0.0
        )
    return found


def _floats(net):
    """{name: tensor} of the floating-point tensors, on the CPU, in the order of mc-convert
    --groups."""
    return {
        k: v.detach().cpu()
        for k, v in sorted(tensors_of(net).items(), key=lambda e: e[0].encode())
        if v.is_floating_point()
    }


def _arrays(net):
    """(tensors, dtypes) of a network's stream, for mcz.write(): float16 and bfloat16 unchanged,
    others as float32."""
    own = _floats(net)
    narrow = {k: "bfloat16" for k, v in own.items() if v.dtype == torch.bfloat16}
    return {
        k: v.contiguous().view(torch.int16).numpy().view("<u2")
        if k in narrow
        else (v if v.dtype == torch.float16 else v.float()).numpy()
        for k, v in own.items()
    }, narrow


def _ids(nets, rows, streams):
    """The content ids of networks: those of the streams (paths), whose tensors must equal the
    networks', or else those of the streams that mc-convert --groups makes with these rows."""
    if streams is None:
        meta = {"net": "groups", "dataset": "", "symmetry": _groups.text(rows)}
        return [content_id("weights", meta, *_arrays(n)) for n in nets]
    found = [mcz.read(path, "weights") for path in streams]
    need(
        len(found) == len(nets),
        f"{len(nets)} weights streams expected, one per network, got {len(found)}",
    )
    for path, s, net in zip(streams, found, nets):
        own = {k: v.float().numpy() for k, v in _floats(net).items()}
        other = [
            k
            for k, v in mcz.widened(s).items()
            if (k in own or constant(k) is None)
            and not np.array_equal(v.reshape(-1), own.get(k, np.zeros(0)).reshape(-1))
        ]
        need(
            not other,
            "{}: weights of another network ({})".format(
                path, f"{len(other)} tensors differ: {listed(other)}"
            ),
        )
    return [s.id for s in found]


def _path(text):
    """(module, (first, end) or None) of MODULE, MODULE:in, MODULE[FIRST:END] or
    MODULE[FIRST:END]:in."""
    module, first, end = re.fullmatch(r"(.*?)(?:\[(\d+):(\d+)\])?(?::in)?", text).groups()
    return module, (int(first), int(end)) if end else None


class _Taps:
    """Records the activations at modules' outputs, or inputs (PATH:in), as {path: tensor} in
    `outputs`."""

    def __init__(self, net, paths):
        self.modules, self.hooks, self.outputs = dict(net.named_modules()), [], {}
        wrong = [p for p in paths if _path(p)[0] not in self.modules]
        need(not wrong, "the network has no module {}".format(", ".join(f'"{p}"' for p in wrong)))
        for p in paths:
            m = self.modules[_path(p)[0]]
            keep = (
                (lambda m, x, p=p: self._keep(p, x[0]))
                if p.endswith(":in")
                else (lambda m, x, y, p=p: self._keep(p, y))
            )
            self.hooks.append(
                m.register_forward_pre_hook(keep)
                if p.endswith(":in")
                else m.register_forward_hook(keep)
            )

    def _keep(self, path, x):
        need(
            path not in self.outputs,
            f'module "{path}" runs more than once per batch: name the input of another (PATH:in)',
        )
        need(
            isinstance(x, torch.Tensor),
            f'module "{path}" must return a tensor (got {type(x).__name__})',
        )
        need(not x.is_complex(), f'module "{path}" must return real numbers')
        self.outputs[path] = x.detach().clone()  # a later module may change it in place

    def remove(self):
        for h in self.hooks:
            h.remove()


def _units(x, size, axis, path, module):
    """The activations x (N, ...) at a path, of a module, as (samples, units) in float64; the
    samples of an image are adjacent."""
    selection = _path(path)[1]
    if selection:
        axis = -1 if axis is None else axis
        need(
            selection[0] < selection[1] <= x.shape[axis],
            f'at "{path}", of shape {tuple(x.shape[1:])}: indices out of range',
        )
        x = x.narrow(axis, selection[0], selection[1] - selection[0])
    if axis is None:
        axes = range(1, x.dim())
        fits = [d for d in axes if x.shape[d] == size] or [
            d for d in axes if x.shape[d] % size == 0
        ]
        fits = fits[-1:] if isinstance(module, (nn.Linear, nn.LayerNorm, nn.Embedding)) else fits
        need(
            len(fits) == 1 or (fits and x.dim() == 4 and 1 in fits),
            'at "{}", of shape {}: {} axis may hold {} units (set "axis")'.format(
                path, tuple(x.shape[1:]), "more than one" if fits else "no", size
            ),
        )
        axis = fits[0]
    length = x.shape[axis]
    need(
        length % size == 0, f'at "{path}": axis {axis} of length {length} cannot hold {size} units'
    )
    x = x.movedim(axis, -1)
    return x.reshape(-1, size, length // size).transpose(1, 2).reshape(-1, size).double()


class _ModuleRecorder:
    """The activations of declared groups, from hooks on modules. taps: {group: [path]}."""

    copies = 1  # of each input in a batch

    def __init__(self, net, taps, sizes, axes):
        self.net, self.sizes, self.axes = net, sizes, axes
        self.hooks = _Taps(net, dict.fromkeys(p for own in taps.values() for p in own))

    def run(self, batch):
        self.hooks.outputs.clear()
        call(self.net, batch)

    def units(self, group, path):
        need(path in self.hooks.outputs, f'module "{path}" does not run')
        module = self.hooks.modules[_path(path)[0]]
        return _units(
            self.hooks.outputs[path], self.sizes[group], self.axes.get(group), path, module
        )

    def close(self):
        self.hooks.remove()


def _declared_taps(groups, at, sizes, inner, outers):
    """{group: [path]} of declared groups. inner: the groups that are observed; outers: those that
    enclose others."""
    options = groups if isinstance(groups, dict) else {}
    at = {g: (at or {}).get(g, options.get(g, {}).get("at")) for g in sizes}
    need(
        not any(at[g] for g in outers),
        'unexpected "at" of {}: the groups within its units have it'.format(
            ", ".join(f'"{g}"' for g in sizes if g in outers and at[g])
        ),
    )
    need(
        all(at[g] for g in inner),
        '"at", the module that shows the units, is missing for {}'.format(
            ", ".join(f'"{g}"' for g in inner if not at[g])
        ),
    )
    return {g: [at[g]] if isinstance(at[g], str) else list(at[g]) for g in inner}


class _Sums:
    """The sums of a tap. The inputs of one batch have equally many samples, such as tokens. If
    those of another have more, each sample counts as its share of its input: all inputs weigh the
    same."""

    def __init__(self):
        self.parts, self.samples, self.inputs, self.each = dict.fromkeys(PARTS, 0), 0, 0, None

    def add(self, x, y, inputs, copies):
        """Adds the activations (samples, units) of a batch of inputs, which has each of them
        `copies` times."""
        n = len(x) // copies // inputs
        if self.each not in (None, 1, n):  # another length
            self.parts = {k: v / self.each for k, v in self.parts.items()}
            self.samples, self.each = self.inputs, 1
        self.each = self.each or n
        share = copies * (n // self.each if self.each == 1 else 1)
        for part, v in zip(PARTS, (x.sum(0), y.sum(0), (x * x).sum(0), (y * y).sum(0), x.T @ y)):
            self.parts[part] = self.parts[part] + v.numpy() / share
        self.inputs, self.samples = self.inputs + inputs, self.samples + len(x) // share


def _sums(nets, loader, example, recorder, taps, units):
    """The sums of the two networks' activations at the taps [(group, place)], the number of inputs
    and their hash. recorder(net) records the activations, units has the number of units of each
    group."""
    sums, images, data = [_Sums() for _ in taps], 0, xxhash.xxh3_128()
    with ExitStack() as stack, evaluating(*nets), torch.no_grad():
        recorders = [stack.enter_context(closing(recorder(n))) for n in nets]
        for batch in (input_of(batch, example) for batch in loader):
            first = first_tensor(batch)
            for n, r in zip(nets, recorders):
                r.run(to(batch, next(n.parameters()).device))
            data.update(
                first.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
            )
            images += len(first)
            for i, (g, p) in enumerate(taps):
                x, y = (
                    torch.zeros(len(first), units[g], dtype=torch.float64)
                    if p is None
                    else r.units(g, p).cpu()
                    for r in recorders
                )
                for name, v in ("a", x), ("b", y):
                    need(
                        bool(torch.isfinite(v).all()),
                        f'{name}: activations of group "{g}" are not finite',
                    )
                sums[i].add(x, y, len(first), 1 if p is None else recorders[0].copies)
    return sums, images, data


def moments(
    a: nn.Module,
    b: nn.Module,
    loader: Iterable[Any],
    groups: Any,
    path: Path | BinaryIO = "-",
    at: Mapping[str, Any] | None = None,
    stage: str = "post",
    weights: Sequence[Path] | None = None,
) -> str:
    """Computes the joint moments of two networks' activations, from which mc-corr computes
    correlations.

        # next: mc-corr m.mcz | mc-hungarian -o p.mcz
        mcz.torch.moments(a, b, loader, mcz.torch.groups(a, x), "m.mcz")

    a, b     networks of one architecture, each on any device; they run in evaluation mode, without
             gradients.
    loader   yields batches: the network's input, or (input, labels). An input is a tensor (N, ...),
             or a tuple or a dictionary of arguments, as the example of mcz.torch.groups is. A
             dictionary's "labels" are left out. If the inputs of a batch are longer than those of
             another, all inputs still weigh the same.
    groups   as mcz.groups describes, or the result of mcz.torch.groups.
    path     the moments stream to write (formats/codecs/moments.md, version 2); "-": standard
             output.
    at       {group: module, or list of modules}, for groups without "at".
    stage    "post" if the modules show units after the nonlinearity, "pre" if before.
    weights  the paths of a's and b's weights streams, which mc-permute will expect. Default: the
             streams that `mc-convert --groups` makes of the networks with the same rows in the same
             order.

    A derived group that no activation shows, such as the rank of a product of weights, keeps its
    order, and mc-corr warns.

    Returns the content id. Raises mcz.Error if the networks differ in structure, or if groups,
    modules or batches do not fit them."""
    with LOCK:
        compare(a, b, groups)
        return joint_moments(a, b, loader, groups, path, at, stage, weights)


def joint_moments(a, b, loader, groups, path, at=None, stage="post", weights=None):
    """moments() of networks of one structure."""
    need(stage in ("post", "pre"), f'stage must be "post" or "pre" (got {stage!r})')
    need(
        at is None or not hasattr(groups, "taps"),
        "at is for declared groups (derived groups have their own places)",
    )
    loader = loader_of(loader)
    shapes = {k: v.shape for k, v in tensors_of(a).items()}
    rows, sizes = _groups.rows(groups, shapes)
    parents, names = _groups.nesting(rows, shapes), list(sizes)
    for g, (outer, _) in parents.items():
        need(outer not in parents, f'group "{g}": groups can be nested one level deep only')
    units = {g: n * sizes[parents[g][0]] if g in parents else n for g, n in sizes.items()}
    outers = {outer for outer, _ in parents.values()}
    inner = [g for g in sizes if g not in outers and not parents.get(g, (0, 0))[1]]
    seen: dict[str, list] = (
        groups.taps if hasattr(groups, "taps") else _declared_taps(groups, at, sizes, inner, outers)
    )
    seen = {g: seen.get(g, []) for g in inner}
    hidden = [g for g, own in seen.items() if any(getattr(t, "around", None) for t in own)]
    if hidden:
        warn(
            "no activation shows the groups within the units of {} "
            '(by="weights" aligns them)'.format(
                listed(list(dict.fromkeys(f'"{parents[g][0]}"' for g in hidden)))
            )
        )
    if hasattr(groups, "taps"):
        from mcz.symmetry.observe import Recorder

        def recorder(net):
            return Recorder(net, groups, seen)
    else:
        axes = {g: v.get("axis") for g, v in groups.items()} if isinstance(groups, dict) else {}

        def recorder(net):
            return _ModuleRecorder(net, seen, units, axes)

    taps = [(g, p) for g in seen for p in seen[g] or [None]]  # None: no activation shows the group
    ids = _ids((a, b), rows, weights)
    sums, images, data = _sums(
        (a, b), loader, getattr(groups, "example", None), recorder, taps, units
    )
    need(images, "the loader yields no batches")
    taps = [(g, "unobserved" if p is None else str(p)) for g, p in taps]
    nested = {
        g: {"within": names.index(outer), "unit": unit} for g, (outer, unit) in parents.items()
    }
    meta = {
        "version": 2,
        "at": stage,
        "groups": [{"name": g, "size": sizes[g], **nested.get(g, {})} for g in names],
        "taps": [
            {
                "name": p,
                "group": names.index(g),
                "start": 0,
                "count": units[g],
                "samples": own.samples,
            }
            for (g, p), own in zip(taps, sums)
        ],
        "images": images,
        "shards": 1,
        "counted": [0],
        "total": images,
    }
    tensors = {
        f"{i}/{p}/{part}": sums[i].parts[part] for i, (_, p) in enumerate(taps) for part in PARTS
    }
    return mcz.write(
        path,
        "moments",
        meta,
        tensors,
        inputs=[*ids, data.hexdigest()],
        history=mcz.history(
            "mcz.torch.moments",
            {"a": ids[0], "b": ids[1], **({} if weights is None else {"streams": True})},
        ),
    )


def _expected(p, groups):
    """The ids of the networks (a, b) that a permutation stream was computed for, None for one that
    is unknown. None if both are, or if they may be ids with other groups than these."""
    made = getattr(p, "history", None) or []
    sources = [e for e in made if e["tool"] in ("mcz.torch.moments", "mc-match")]
    same = (
        p.groups is groups
        if hasattr(p, "groups")
        else all(e["tool"] == "mcz.torch.moments" for e in sources)
    )
    if not sources or not same or any(dict(e["args"]).get("streams") for e in sources):
        return None
    if hasattr(p, "network"):  # a member of a joint set
        return p.reference, p.network
    if len(sources) != 1 or made[-1]["tool"] not in ("mc-hungarian", "mc-match"):
        return None
    own = dict(sources[0]["args"])
    return own.get("a"), own.get("b")


def _split(shape, axis, parts):
    """The shape of a part of a tensor, with its other axes joined: (before, axis, after)."""
    return math.prod(shape[:axis]) // parts, shape[axis], math.prod(shape[axis + 1 :])


def _axes(tensors, rows):
    """{name: [(axis, rows on it)]} of the tensors that rows permute. Of a tensor's names, only the
    first occurs."""
    found, first = {}, owners(tensors)
    for r in rows:
        found.setdefault(r.tensor, {}).setdefault(r.axis, set()).add(r._replace(tensor=""))
    for name, axes in found.items():
        need(
            axes == found.get(first[name], axes),
            f'tensor "{name}" is tied to "{first[name]}", which has other rows in the groups',
        )
    return {
        first[name]: sorted(axes.items(), reverse=True) for name, axes in found.items()
    }  # parts of axis 0 move last


def _moved(tensor, axes, permutation):
    """A tensor after the permutation of these axes."""
    shape = tensor.shape
    for axis, own in axes:
        parts = next(iter(own)).parts
        x = tensor.reshape(parts, *_split(shape, axis, parts))
        order = _groups.gather(parts * x.shape[2], own, permutation).reshape(parts, -1) % x.shape[2]
        moved = [
            part.index_select(1, torch.from_numpy(i).to(x.device)) for part, i in zip(x, order)
        ]
        tensor = (moved[0] if parts == 1 else torch.stack(moved)).reshape(shape)
    return tensor


def permute(
    net: nn.Module, permutation: Any, groups: Any, optimizer: torch.optim.Optimizer | None = None
) -> nn.Module:
    """Permutes the units of a network in place. The network computes the same function. Returns the
    network.

        mcz.torch.permute(b, "p.mcz", groups)

    permutation  the path of a permutation stream, a stream of mcz.read() or mcz.member(), or
                 {group: integers (K)}: the new unit i is the old unit p[i].
    groups       as mcz.groups describes.
    optimizer    the network's optimizer, if training is to continue. Without it, gradients and the
                 optimizer's state are not permuted, and training continues differently.

    State of PyTorch's elementwise optimizers, such as momentum, exp_avg and exp_avg_sq, is permuted
    as its parameter. Numbers, such as step, stay. Other state, such as Adafactor's factors or that
    of LBFGS, is refused by name.

    Raises mcz.Error, and leaves network and optimizer unchanged, if groups, sizes, values or state
    do not fit. Warns if align computed the permutation for another network, such as one that is
    permuted already."""
    p = (
        mcz.read(permutation, "permutation")
        if isinstance(permutation, (str, os.PathLike))
        else permutation
    )
    if hasattr(groups, "net"):
        compare(groups.net, net, groups, ("the network of the groups", "this network"))
    orders, rows = _orders(net, p, groups)
    axes = _axes(tensors_of(net), rows)
    moving = [] if optimizer is None else _training_state(net, optimizer, axes)
    warn_other(p, groups, {"b": net})
    moving += [(v, axes[k]) for k, v in tensors_of(net).items() if k in axes]
    need(
        not any((0 in v.stride() and v.numel() > 1) or v.is_inference() for v, _ in moving),
        "a tensor cannot be written: it was made by expand() or in torch.inference_mode() (clone "
        "it)",
    )
    with torch.no_grad():
        for tensor, own in moving:
            tensor.copy_(_moved(tensor, own, orders))
    return net


def _orders(net, permutation, groups):
    """({group: array}, rows) of a permutation that fits the groups and the network."""
    need(
        "members" not in getattr(permutation, "meta", {}),
        "one permutation expected, got a joint set (mcz.member selects one)",
    )
    permutation = getattr(permutation, "tensors", permutation)
    need(
        isinstance(permutation, Mapping),
        f"a permutation expected: a stream, or {{group: integers}} (got "
        f"{type(permutation).__name__})",
    )
    permutation = {k: np.asarray(v) for k, v in permutation.items()}
    need(groups is not None, "the groups of the permutation are missing (groups=)")
    shapes = {k: v.shape for k, v in tensors_of(net).items()}
    rows, sizes = _groups.rows(groups, shapes)
    moved = {(r.tensor, r.axis) for r in rows}
    left = [
        k
        for k, shape in shapes.items()
        if len(shape) == 1
        and k.endswith(".bias")
        and (k, 0) not in moved
        and (k[:-4] + "weight", 0) in moved
        and shapes[k[:-4] + "weight"][0] == shape[0]
    ]
    if left:
        warn(f"the groups move the outputs of layers without their biases ({listed(left)})")
    wrong = [
        '"{}" is only in the {}'.format(g, "groups" if g in sizes else "permutation")
        for g in sorted(set(sizes) ^ set(permutation))
    ]
    wrong += [
        f'"{g}": {sizes[g]} units expected, got {permutation[g].size}'
        for g in sizes
        if g in permutation and permutation[g].size != sizes[g]
    ]
    wrong += [
        f'"{g}": integers expected, got {p.dtype}'
        for g, p in permutation.items()
        if p.dtype.kind not in "iu"
    ]
    need(not wrong, "the permutation does not match the groups: {}".format("; ".join(wrong)))
    for g, p in permutation.items():
        need(
            np.array_equal(np.sort(p), np.arange(len(p))), f'group "{g}": each unit must occur once'
        )
    return permutation, rows


def _reader(net, permutation, groups):
    """A function that returns the tensor of a name, permuted if there is a permutation, which is
    checked first."""
    state = tensors_of(net)
    if permutation is None:
        return state.__getitem__
    orders, rows = _orders(net, permutation, groups)
    axes, first = _axes(state, rows), owners(state)
    return lambda name: _moved(state[name], axes.get(first[name], ()), orders)


def _training_state(net, optimizer, axes):
    """[(tensor, axes)] of the optimizer's state, and of the gradients, that permute with the
    parameters."""
    own = {id(p) for g in optimizer.param_groups for p in g["params"]}
    found, known, first = [], False, owners(tensors_of(net))
    wrong = [
        f'its attribute "{k}"'
        for k, v in vars(optimizer).items()
        if isinstance(v, torch.optim.Optimizer)
    ]
    for name, p in net.named_parameters():
        known = known or id(p) in own
        for k, v in {"grad": p.grad, **optimizer.state.get(p, {})}.items():
            number = isinstance(v, (int, float, type(None))) or (
                isinstance(v, torch.Tensor) and v.numel() == 1
            )
            fits = k in LIKE_PARAMETER and isinstance(v, torch.Tensor) and v.shape == p.shape
            found += [(v, axes.get(first[name], ()))] * fits
            wrong += [f'"{k}" of {name}'] * (not fits and not number)
    need(known, "the optimizer has none of the network's parameters")
    need(not wrong, f"the optimizer's state cannot be permuted: {listed(wrong)}")
    return found


# ---- the program ---------------------------------------------------------------------------------


@contextmanager
def _user_code(problem):
    """Turns an exception of the user's code into a one-line Error with the place: "PROBLEM: TYPE:
    TEXT (FILE:LINE)"."""
    try:
        yield
    except Error:
        raise
    except Exception as e:
        at = traceback.extract_tb(e.__traceback__)[-1]
        raise Error(
            "{}: {}: {} ({}:{})".format(
                problem,
                type(e).__name__,
                " ".join(str(e).split()),
                os.path.basename(at.filename),
                at.lineno,
            )
        ) from None


def _saved(path):
    """The state_dict in a file of torch.save: alone, in a checkpoint or of a whole module."""
    with open(path, "rb") as f, _user_code(f"cannot load {path}"):
        saved = torch.load(f, map_location="cpu")
    for key in ("state_dict", "model_state_dict", "model", "net"):
        saved = (
            saved[key] if isinstance(saved, dict) and isinstance(saved.get(key), dict) else saved
        )
    saved = saved.state_dict() if isinstance(saved, nn.Module) else saved
    need(
        isinstance(saved, dict),
        f"cannot load {path}: state_dict expected, got {type(saved).__name__}",
    )
    return {k: v for k, v in saved.items() if isinstance(v, torch.Tensor)}


def _load_file(net, path):
    """Loads the file of --state into the network. Returns notes for the user."""
    tensors = (
        _state.read if path.endswith(".mcz") or safetensors.is_safetensors(path) else _saved
    )(path)
    with inside(f"cannot load {path}"):
        return _state.copy(net, tensors)


def _network(text):
    """The nn.Module of MODULE:NET or MODULE:NET(argument=value, ...)."""
    module, _, call = text.partition(":")
    name, paren, arguments = call.partition("(")
    need(module and name, "MODULE:NET expected")
    sys.path.insert(0, "")
    with _user_code(f"cannot import {module}"):
        net = importlib.import_module(module)
    for part in name.split("."):
        need(hasattr(net, part), f"module {module} has no {part}")
        net = getattr(net, part)
    if not isinstance(net, nn.Module):
        try:
            call = ast.parse("f(" + (arguments if paren else ")"), mode="eval").body
            values = (
                [ast.literal_eval(v) for v in call.args],
                {k.arg: ast.literal_eval(k.value) for k in call.keywords},
            )
        except (SyntaxError, ValueError):
            raise Error("MODULE:NET(NAME=VALUE, ...) expected, with literal values") from None
        with _user_code("cannot create the network"):
            net = net(*values[0], **values[1])
    need(isinstance(net, nn.Module), f"torch.nn.Module expected, got {type(net).__name__}")
    return net


def _numbers(text, kind=float):
    return [kind(v) for v in text.split(",")]


def main():
    p = argparse.ArgumentParser(prog="python -m mcz.torch", description="Export PyTorch networks.")
    e = p.add_subparsers(dest="command", required=True).add_parser(
        "export",
        help="write a network's graph and weights",
        description="Write the graph of an nn.Module, for --net, and its weights, for mc-convert.",
    )
    e.add_argument(
        "net",
        metavar="MODULE:NET",
        help="an nn.Module, or a class or function that returns one; may have "
        "arguments: 'torchvision.models:resnet18(num_classes=10)'",
    )
    e.add_argument(
        "--state",
        metavar="FILE",
        help="load this first: a state_dict or checkpoint of torch.save, "
        "safetensors (a file, an index of shards or a folder) or a .mcz file",
    )
    e.add_argument(
        "--data", metavar="FILE", help="a dataset stream, for --input, --classes, --mean and --std"
    )
    e.add_argument("--input", metavar="C,H,W", help="channels, height and width of an image")
    e.add_argument("--classes", metavar="K", type=int, help="number of classes")
    e.add_argument(
        "--mean",
        metavar="M,...",
        help="mean per channel, if training normalised the images (default: 0)",
    )
    e.add_argument(
        "--std",
        metavar="S,...",
        help="standard deviation per channel (default: 1; pixels are in [0, 1])",
    )
    e.add_argument("-o", dest="graph", metavar="NET.json", help="write the graph")
    e.add_argument("--weights", metavar="FILE", help="write the weights, as safetensors")
    o = p.parse_args()
    if not (o.graph or o.weights):
        e.error("-o NET.json or --weights FILE is required")
    if o.weights and o.weights.endswith((".pt", ".pth", ".ckpt", ".pkl", ".mcz")):
        e.error(f"--weights {o.weights}: writes a .safetensors file (use --state to read weights)")
    try:
        meta = {}
        if o.data:
            s = mcz.read(o.data, "dataset")
            meta = {k: keys.get(s.meta, k) for k in ("classes", "mean", "std")}
            meta["input"] = keys.get(s.tensors, "images").shape[1:]
        try:
            image = _numbers(o.input, int) if o.input else list(meta.get("input", []))
            mean, std = (
                _numbers(v) if v else meta.get(k) for k, v in (("mean", o.mean), ("std", o.std))
            )
        except ValueError:
            e.error("--input, --mean and --std must be numbers separated by commas")
        if len(image) != 3 or not (o.classes or meta):
            e.error("--data FILE, or --input C,H,W and --classes K, is required")
        with inside(o.net):
            net = _network(o.net)
            loaded = _load_file(net, o.state) if o.state else []
            with _user_code("cannot run on an image of shape {}".format(",".join(map(str, image)))):
                graph, tensors, notes = export(net, image, o.classes or meta["classes"], mean, std)
        for note in loaded + notes:
            print(f"mcz.torch: {o.net}: {note}", file=sys.stderr)
        if o.weights:
            safetensors.write(o.weights, tensors)
        if o.graph:
            nodes = ",\n".join("  " + json.dumps(n) for n in graph["nodes"])
            head = json.dumps({k: v for k, v in graph.items() if k != "nodes"})
            with replacing(o.graph, "t") as f:
                f.write(f'{head[:-1]}, "nodes": [\n{nodes}]}}\n')
    except (Error, OSError, RuntimeError) as why:
        print(f"mcz.torch: {why}", file=sys.stderr)
        return 3 if isinstance(why, Error) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
