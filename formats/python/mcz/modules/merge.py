# SPDX-License-Identifier: Apache-2.0
"""Means of networks, computed tensor by tensor. mcz.torch has the public names."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from ..errors import need, warn
from ..members import member
from ..nn.batches import Batches
from ..nn.copies import duplicate
from ..nn.inputs import call
from ..nn.norms import statistics
from ..nn.permuted import rounded
from ..nn.state import device_of, first_names, listed, same, tensors_of
from ..nn.structure import unequal
from ..stream import read
from .network import Network
from .permute import permutation_of, reader, warn_other

CHUNK = 1 << 18  # numbers that are summed at once


def expect_same(a: Network, b: nn.Module, names: tuple[str, str] = ("a", "b")) -> None:
    """Raises Error unless a mean of the networks makes sense: they have the same structure and
    dtypes. names: theirs, in messages."""
    a.compare(b, names, dtypes=True)
    x, y = (
        {k: v for k, v in tensors_of(n).items() if not v.is_floating_point()} for n in (a.module, b)
    )
    need(
        not any(v.is_complex() for v in x.values()), "tensors of complex numbers are not supported"
    )
    other = [k for k in unequal(x, y) if x[k].numel() == 1]
    if other:  # such as counters
        warn(
            f"integers of {names[0]} and {names[1]} differ; the result has those of {names[0]} "
            f"({listed(other)})"
        )
    scaled = [
        k
        for k, m in a.module.named_modules()
        if type(m).__name__ in ("_SpectralNorm", "_Orthogonal")
        or any(type(f).__name__ == "SpectralNorm" for f in m._forward_pre_hooks.values())
    ]
    if scaled:
        warn(
            "a mean of orthogonal weights is not orthogonal, and one of weights with spectral norm "
            f"has another norm: remove the parametrization first ({listed(scaled)})"
        )


def expect_same_masks(net: nn.Module, sources: Sequence[Callable[[str], torch.Tensor]]) -> None:
    """Raises Error unless networks have the same integers and masks: floating-point buffers of
    zeros and ones, such as those of torch.nn.utils.prune, and the infinities in others, such as
    those of attention. Single integers, such as counters, may differ. sources: a function per
    network that returns a tensor by its name, in the common order of units."""
    own, parameters = tensors_of(net), dict(net.named_parameters(remove_duplicate=False))
    integers: list[str] = []
    masks: list[str] = []
    for k in own:
        if k in parameters and own[k].is_floating_point():
            continue
        values = [s(k).to(own[k].device) for s in sources]
        several = own[k].numel() > 1
        if own[k].is_floating_point():
            pruned = k.endswith("_mask") and k[:-5] + "_orig" in own
            binary = several and all(bool(((v == 0) | (v == 1)).all()) for v in values)
            if not (pruned or binary):
                values = [torch.where(v.isinf(), v, 0.0) for v in values] if several else []
        elif not several:
            continue
        if any(not same(values[0], v) for v in values[1:]):
            (masks if own[k].is_floating_point() else integers).append(k)
    need(not integers, f"integers of the networks differ, and have no mean ({listed(integers)})")
    need(
        not masks,
        f"networks with different masks have no mean ({listed(masks)}): use equal masks, or "
        "torch.nn.utils.prune.remove",
    )


# ---- sums ----------------------------------------------------------------------------------------


def _pieces(tensors: Sequence[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    """Yields views of tensors of one shape, in pieces of about CHUNK numbers along their longest
    axis."""
    tensors = [v.reshape(1) if v.dim() == 0 else v for v in tensors]
    axis = max(range(tensors[0].dim()), key=tensors[0].size)
    length = tensors[0].size(axis)
    step = max(1, CHUNK * length // max(1, tensors[0].numel()))
    for start in range(0, length, step):
        yield [v.narrow(axis, start, min(step, length - start)) for v in tensors]


@torch.no_grad()
def combine(
    networks: Sequence[Network],
    permutations: Sequence[Any],
    weights: Sequence[float],
    divisor: float,
    names: Sequence[str],
    into: nn.Module | None = None,
) -> nn.Module:
    """Σ weight_i · permuted network_i / divisor, a copy of the first network, as mc-merge computes
    it: sums in float64, in the order of the networks, without those of weight 0, rounded once.
    Warns of numbers that are not finite.

    permutations  of each network, or None.
    names         the networks', in messages.
    into          one of the networks, without a permutation, that becomes the result instead."""
    result, wrong = into or duplicate(networks[0].module), []
    sources = [reader(n, p) for n, p in zip(networks, permutations)]
    expect_same_masks(networks[0].module, sources)
    buffers, out = {k for k, _ in networks[0].module.named_buffers()}, tensors_of(result)
    for k, own in first_names(out).items():
        if own != k or not out[k].is_floating_point():
            continue
        terms = [(s(k).detach(), w, n) for s, w, n in zip(sources, weights, names) if w > 0]
        for n in _write_mean(out[k], terms, divisor, k in buffers):
            wrong.append(f"{k} of {n}")
    if wrong:
        warn(f"the mean has numbers that are not finite ({listed(wrong)})")
    return result


def _write_mean(
    out: torch.Tensor,
    terms: Sequence[tuple[torch.Tensor, float, str]],
    divisor: float,
    infinities: bool,
) -> list[str]:
    """Writes the sum of weighted tensors, divided. terms: (tensor, weight, name). Returns the names
    of those with numbers that are not finite. infinities: they may be, as in a mask."""
    device = out.device
    wrong: dict[str, None] = {}
    if device.type == "mps":  # which has no float64
        device = torch.device("cpu")
    for target, *parts in _pieces([out, *(v for v, _, _ in terms)]):
        scaled = []
        for part, (_, w, name) in zip(parts, terms):
            bad = part.isnan() if infinities else part.isfinite().logical_not_()
            wrong.update({name: None} if bool(bad.any()) else {})
            wide = part.to(device)
            scaled.append(wide * w if wide.dtype == torch.float64 else wide.double().mul_(w))
        total = functools.reduce(torch.Tensor.add_, scaled)
        # a number would become its reciprocal on CUDA
        total /= torch.tensor(divisor, dtype=torch.float64, device=device)
        target.copy_(rounded(total, target.dtype))
    return list(wrong)


@torch.no_grad()
def finished(net: nn.Module, loader: Batches | None, example: Any) -> nn.Module:
    """A new network in evaluation mode, after its batch norms' statistics are re-estimated if there
    is a loader. example: that of its groups, or None."""
    if loader is not None:
        state = tensors_of(net)
        runs = [lambda x: call(net, x)]
        for k, v in statistics(net, runs, loader, device_of(state), example=example)[0].items():
            state[k].copy_(v)
    net.eval()  # its own may return nothing
    return net


def merge(
    a: nn.Module,
    b: nn.Module,
    p: Any = None,
    t: float = 0.5,
    loader: Batches | None = None,
    groups: Any = None,
) -> nn.Module:
    """The network at t on the straight line from a (t = 0) to b, a new module in evaluation mode.

        merged = mcz.torch.merge(a, b, mcz.torch.align(a, b, loader), loader=loader)

    p, groups  a permutation for b, as for Curve, or {group: integers (K)}; None if b is aligned.
    loader     batches, as for Curve.point, that re-estimate batch norm's statistics; without it
               they are interpolated.

    Sums are in float64 and rounded once. Needs memory for the result, and twice its largest tensor.
    Warns if align computed the permutation for other networks, or if numbers are not finite. Raises
    mcz.Error if networks or permutation do not fit."""
    need(isinstance(t, (int, float)) and 0 <= t <= 1, f"t must be from 0 to 1 (got {t!r})")
    if isinstance(p, Mapping):
        need(groups is not None, "the groups of the permutation are missing (groups=)")
    else:
        p, groups = permutation_of(p, groups)
    first = Network(a, groups)
    expect_same(first, b)
    second = first.twin(b)
    result = combine([first, second], [None, p], [1 - t, t], 1, "ab")
    warn_other(p, {"a": first, "b": second})
    return finished(result, loader, first.example)


def merge_many(
    nets: Sequence[nn.Module],
    joint: Any = None,
    loader: Batches | None = None,
    groups: Any = None,
    weights: Sequence[float] | None = None,
) -> nn.Module:
    """The mean of several networks as mc-merge computes it, a new module in evaluation mode.

        merged = mcz.torch.merge_many(nets, mcz.torch.align_many(nets, loader), loader=loader)

    nets     networks of one architecture.
    joint    a joint set, or a list of streams, as align_many() returns them, or the path of a joint
             set; None if the networks are in one order.
    loader   batches, as for Curve.point, that re-estimate batch norm's statistics; without it they
             are averaged.
    groups   the groups of joint; default: joint.groups, which only align_many() sets.
    weights  the networks' weights, which are divided by their sum; default: equal.

    Sums are in float64 and rounded once. Needs memory for the result, and twice its largest tensor.
    Warns if numbers are not finite. Raises mcz.Error if the networks, the joint set or the weights
    do not fit."""
    need(not isinstance(nets, nn.Module), "a list of networks expected, got one")
    nets = list(nets)
    weights = [1.0] * len(nets) if weights is None else list(weights)
    need(len(nets) > 1, f"two or more networks expected (got {len(nets)})")
    numbers = all(isinstance(w, (int, float)) for w in weights)
    need(
        len(weights) == len(nets) and numbers and min(weights) >= 0 < sum(weights) < float("inf"),
        f"one weight of at least 0 per network expected, finite and not all 0 (got {weights})",
    )
    weights = [w / max(weights) for w in weights]  # as mc-merge, bit for bit
    joint = read(joint, "permutation") if isinstance(joint, (str, os.PathLike)) else joint
    if isinstance(joint, (list, tuple)):
        need(len(joint) == len(nets), f"{len(nets)} streams expected (got {len(joint)})")
        groups = joint[-1].groups if groups is None else groups
    groups = getattr(joint, "groups", None) if groups is None else groups
    first = Network(nets[0], groups)
    for i, net in enumerate(nets[1:], 2):
        expect_same(first, net, ("network 1", f"network {i}"))
    networks = [first, *map(first.twin, nets[1:])]
    members = [None] * len(nets) if joint is None else _members(networks, joint)
    names = [f"network {i + 1}" for i in range(len(nets))]
    result = combine(networks, members, weights, sum(weights), names)
    return finished(result, loader, first.example)


def _members(networks: Sequence[Network], joint: Any) -> list[Any]:
    """The permutation of each network, found by its content id."""
    if isinstance(joint, (list, tuple)):
        for n, p in zip(networks, joint):
            warn_other(p, {"a": networks[0], "b": n})
        return list(joint)
    need("members" in getattr(joint, "meta", {}), "a joint set expected (align_many returns one)")
    need(networks[0].groups is not None, "the groups of the joint set are missing (groups=)")
    ids = [n.id() for n in networks]
    other = ", ".join(str(i) for i, own in enumerate(ids, 1) if own not in joint.meta["members"])
    need(not other, f"the joint set was computed for other networks (not network {other})")
    return [member(joint, own) for own in ids]
