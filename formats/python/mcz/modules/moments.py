# SPDX-License-Identifier: Apache-2.0
"""The joint moments of two networks' activations. mcz.torch has the public name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Any, BinaryIO

import torch
import xxhash
from numpy.typing import NDArray
from torch import nn

from ..errors import need, warn
from ..files import Path, expect_stream_name
from ..groups import nesting
from ..nn.batches import first_tensor, input_of, loader_of, to
from ..nn.state import device_of, listed, tensors_of
from ..nn.unchanged import LOCK, evaluating
from ..symmetry.recorder import Recorder
from ..writing import history, write
from .hooks import ModuleRecorder
from .network import Network

PARTS = "sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross"  # the tensors of a tap in a moments stream


class Sums:
    """The sums of a tap. The inputs of one batch have equally many samples, such as tokens. If
    those of another have more, or if samples do not belong to inputs, as places in a table of
    positions, each sample counts as its share of an input: all inputs weigh the same."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = dict.fromkeys(PARTS, 0)
        self.samples = self.inputs = 0
        self.each: float | None = None  # samples per input; 1 if samples count as shares

    def add(self, x: torch.Tensor, y: torch.Tensor, inputs: int, copies: int) -> None:
        """Adds the activations (samples, units) of a batch of inputs, which has each of them
        `copies` times."""
        n = len(x) / copies / inputs
        if self.each is None:
            self.each = n if n.is_integer() else 1
        elif self.each not in (1, n):  # another length
            self.parts = {k: v / self.each for k, v in self.parts.items()}
            self.samples, self.each = self.inputs, 1
        share = copies * (n if self.each == 1 else 1)
        for part, v in zip(PARTS, (x.sum(0), y.sum(0), (x * x).sum(0), (y * y).sum(0), x.T @ y)):
            self.parts[part] = self.parts[part] + v.numpy() / share
        self.inputs, self.samples = self.inputs + inputs, self.samples + round(len(x) / share)


class Observation:
    """The places where the units of a network's groups are seen.

    parents  {group: (outer group, unit)} of nested groups
    units    {group: units at a place}: those of all units of the outer group
    places   {group: [place]} of the groups that are observed; [] if nothing shows a group
    recorder(module) returns a Recorder or a ModuleRecorder"""

    def __init__(self, a: Network, at: Mapping[str, Any] | None = None) -> None:
        sizes, self.parents = a.sizes, nesting(a.rows, a.shapes)
        for g, (outer, _) in self.parents.items():
            need(
                outer not in self.parents, f'group "{g}": groups can be nested one level deep only'
            )
        self.units = {
            g: n * sizes[self.parents[g][0]] if g in self.parents else n for g, n in sizes.items()
        }
        outers = {outer for outer, _ in self.parents.values()}
        inner = [g for g in sizes if g not in outers and not self.parents.get(g, ("", 0))[1]]
        self.places: dict[str, list[Any]]
        self.recorder: Callable[[nn.Module], Recorder | ModuleRecorder]
        if a.derived:
            taps = a.derived.taps
            self.places = {g: list(taps.get(g, [])) for g in inner}
            self.recorder = partial(Recorder, groups=a.derived, taps=self.places)
            self._warn_of_hidden(a.derived.taps)
        else:
            options = a.groups if isinstance(a.groups, dict) else {}
            self.places = _declared_places(options, at, sizes, inner, outers)
            axes = {g: v.get("axis") for g, v in options.items()}
            lengths = {
                g: {n * r.block for r in a.rows if r.group == g} for g, n in self.units.items()
            }
            self.recorder = partial(
                ModuleRecorder, taps=self.places, sizes=self.units, lengths=lengths, axes=axes
            )

    def _warn_of_hidden(self, taps: Mapping[str, Sequence[Any]]) -> None:
        hidden = [g for g, own in self.places.items() if any(t.around for t in own)]
        if hidden:
            outers = list(dict.fromkeys(f'"{self.parents[g][0]}"' for g in hidden))
            warn(
                f"no activation shows the groups within the units of {listed(outers)} "
                '(by="weights" aligns them)'
            )

    @property
    def taps(self) -> list[tuple[str, Any]]:
        """[(group, place)]; the place is None if no activation shows the group."""
        return [(g, p) for g, own in self.places.items() for p in own or [None]]


def _declared_places(
    options: Mapping[str, Any],
    at: Mapping[str, Any] | None,
    sizes: Mapping[str, int],
    inner: Sequence[str],
    outers: set[str],
) -> dict[str, list[Any]]:
    """{group: [path]} of declared groups. options: {group: its dictionary}. inner: the groups that
    are observed; outers: those that enclose others."""
    found = {g: (at or {}).get(g, options.get(g, {}).get("at")) for g in sizes}
    wrong = ", ".join(f'"{g}"' for g in sizes if g in outers and found[g])
    need(not wrong, f'unexpected "at" of {wrong}: the groups within its units have it')
    wrong = ", ".join(f'"{g}"' for g in inner if not found[g])
    need(not wrong, f'"at", the module that shows the units, is missing for {wrong}')
    return {g: [found[g]] if isinstance(found[g], str) else list(found[g]) for g in inner}


def _sums(
    nets: Sequence[nn.Module], loader: Iterable[Any], example: Any, seen: Observation
) -> tuple[list[Sums], int, str]:
    """The sums of the two networks' activations at each tap, the number of inputs and their
    hash."""
    taps = seen.taps
    sums, images, data = [Sums() for _ in taps], 0, xxhash.xxh3_128()
    with ExitStack() as stack, evaluating(*nets), torch.no_grad():
        recorders = [stack.enter_context(closing(seen.recorder(n))) for n in nets]
        devices = [device_of(tensors_of(n)) for n in nets]
        for batch in (input_of(nets[0], batch, example) for batch in loader):
            first = first_tensor(batch)
            for r, device in zip(recorders, devices):
                r.run(to(batch, device))
            own = first.detach().cpu().contiguous().flatten().view(torch.uint8)
            data.update(own.numpy().tobytes())
            inputs = recorders[0].inputs
            images += inputs
            for (g, p), total in zip(taps, sums):
                x, y = (
                    torch.zeros(inputs, seen.units[g], dtype=torch.float64)
                    if p is None
                    else r.units(g, p).cpu()
                    for r in recorders
                )
                for name, v in ("a", x), ("b", y):
                    finite = bool(torch.isfinite(v).all())
                    need(finite, f'{name}: activations of group "{g}" are not finite')
                total.add(x, y, inputs, 1 if p is None else recorders[0].copies)
    need(images, "the loader yields no batches")
    return sums, images, data.hexdigest()


def moments(
    a: nn.Module,
    b: nn.Module,
    loader: Iterable[Any],
    groups: Any,
    path: Path | BinaryIO = "-",
    at: Mapping[str, Any] | None = None,
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
             dictionary's "labels" are left out. The first entry of a longer tuple is the input, if
             the network has one argument. If the inputs of a batch are longer than those of
             another, all inputs still weigh the same. Padded positions count as samples like all
             others, also if an attention mask hides them.
    groups   as mcz.groups describes, or the result of mcz.torch.groups.
    path     the moments stream to write (formats/codecs/moments.md, version 2); "-": standard
             output.
    at       {group: module, or list of modules}, for groups without "at".
    weights  the paths of a's and b's weights streams, which mc-permute will expect. Default: the
             streams that `mc-convert --groups` makes of the networks with the same rows in the same
             order.

    A derived group that no activation shows, such as the rank of a product of weights, keeps its
    order, and mc-corr warns.

    Returns the content id. Raises mcz.Error if the networks differ in structure, or if groups,
    modules or batches do not fit them."""
    with LOCK:
        network = Network(a, groups)
        network.compare(b)
        return joint_moments(network, b, loader, path, at, weights)


def joint_moments(
    a: Network,
    b: nn.Module,
    loader: Iterable[Any],
    path: Path | BinaryIO,
    at: Mapping[str, Any] | None = None,
    weights: Sequence[Path] | None = None,
) -> str:
    """moments() of networks of one structure. The caller holds LOCK."""
    expect_stream_name(path)
    need(a.groups is not None, "groups expected, got None (mcz.torch.groups derives them)")
    need(
        at is None or not a.derived,
        "at is for declared groups (derived groups have their own places)",
    )
    loader, seen = loader_of(loader), Observation(a, at)
    networks = [a, a.twin(b)]
    if weights is None:
        ids = [n.id() for n in networks]
    else:
        got = len(weights)
        need(got == 2, f"2 weights streams expected, one per network, got {got}")
        ids = [n.id_in(path) for n, path in zip(networks, weights)]
    sums, images, data = _sums((a.module, b), loader, a.example, seen)
    tensors: dict[str, NDArray[Any]] = {
        f"{i}/{_name(p)}/{part}": own.parts[part]
        for i, ((_, p), own) in enumerate(zip(seen.taps, sums))
        for part in PARTS
    }
    made = {"a": ids[0], "b": ids[1], **({} if weights is None else {"streams": True})}
    return write(
        path,
        "moments",
        _meta(a, seen, sums, images),
        tensors,
        inputs=[*ids, data],
        history=history("mcz.torch.moments", made),
    )


def _name(place: Any) -> str:
    """A place in the stream."""
    return "unobserved" if place is None else str(place)


def _meta(a: Network, seen: Observation, sums: Sequence[Sums], images: int) -> dict[str, Any]:
    """The settings of the moments stream (formats/codecs/moments.md)."""
    names = list(a.sizes)
    nested = {
        g: {"within": names.index(outer), "unit": unit} for g, (outer, unit) in seen.parents.items()
    }
    allows = {r.group: {"allows": r.allows} for r in a.rows if r.allows != "permutation"}
    return {
        "version": 2,
        "at": "post",
        "groups": [
            {"name": g, "size": a.sizes[g], **nested.get(g, {}), **allows.get(g, {})} for g in names
        ],
        "taps": [
            {
                "name": _name(p),
                "group": names.index(g),
                "start": 0,
                "count": seen.units[g],
                "samples": own.samples,
            }
            for (g, p), own in zip(seen.taps, sums)
        ],
        "images": images,
        "shards": 1,
        "counted": [0],
        "total": images,
    }
