# SPDX-License-Identifier: Apache-2.0
# mypy: disallow-untyped-defs
"""Means of PyTorch networks, computed tensor by tensor. mcz.torch has the public names."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import torch
from torch import nn

import mcz

from . import groups as _groups
from .batches import Batches
from .errors import need, warn
from .evaluate import call
from .norms import norms, statistics
from .state import first_names, listed, tensors_of
from .structure import compare, unequal

CHUNK = 1 << 18  # numbers that are summed at once


def _door() -> Any:
    """mcz.torch, which imports this module."""
    import mcz.torch

    return mcz.torch


def expect_same(
    a: nn.Module, b: nn.Module, groups: Any = None, calls: tuple[str, str] = ("a", "b")
) -> None:
    """Raises Error unless the networks have the same structure and dtypes. calls: their names in
    messages."""
    compare(a, b, groups, calls, dtypes=True)
    x, y = ({k: v for k, v in tensors_of(n).items() if not v.is_floating_point()} for n in (a, b))
    need(
        not any(v.is_complex() for v in x.values()), "tensors of complex numbers are not supported"
    )
    other = unequal(x, y)
    need(
        all(x[k].numel() == 1 for k in other),
        "integers of {} and {} differ, and have no mean ({})".format(*calls, listed(other)),
    )
    if other:  # such as counters
        warn(
            "integers of {} and {} differ; the result has those of {} ({})".format(
                *calls, calls[0], listed(other)
            )
        )
    masks = unequal(
        *(
            {
                k: v
                for k, v in tensors_of(n).items()
                if k.endswith("_mask") and k[:-5] + "_orig" in tensors_of(n)
            }
            for n in (a, b)
        )
    )
    need(
        not masks,
        f"networks with different masks of torch.nn.utils.prune have no mean ({listed(masks)})",
    )
    scaled = [
        k
        for k, m in a.named_modules()
        if type(m).__name__ == "_SpectralNorm"
        or any(type(f).__name__ == "SpectralNorm" for f in m._forward_pre_hooks.values())
    ]
    if scaled:
        warn(
            "the mean of weights with spectral norm has another norm; remove_spectral_norm first "
            f"({listed(scaled)})"
        )


def duplicate(net: nn.Module) -> nn.Module:
    """A copy of a network. Results that its modules keep, which PyTorch does not copy, lose their
    history. Raises Error if the copy would run modules of the network itself."""
    need(
        not torch.is_inference_mode_enabled(),
        "torch.inference_mode() makes tensors that cannot be trained (leave it first)",
    )
    parts = {id(v) for v in [*net.modules(), *net.parameters(), *net.buffers()]}
    for path, m in net.named_modules():
        for name, value in vars(m).items():
            found = [
                f
                for f in torch.utils._pytree.tree_leaves(value)
                if not parts.isdisjoint(map(id, _captured(f)))
            ]
            need(
                not found,
                "cannot copy the network: a function in {} refers to a part of it "
                "(a method can be copied)".format(".".join(filter(None, (path, name)))),
            )
    kept = torch.utils._pytree.tree_leaves([list(vars(m).values()) for m in net.modules()])
    result = copy.deepcopy(
        net,
        {id(v): v.detach().clone() for v in kept if isinstance(v, torch.Tensor) and not v.is_leaf},
    )
    own = {
        **dict(result.named_parameters(remove_duplicate=False)),
        **dict(result.named_buffers(remove_duplicate=False)),
    }
    for k, first in first_names(
        tensors_of(net)
    ).items():  # two parameters of one memory are two after deepcopy
        if k != first and k in own and first in own:
            own[k].data = own[first].data
    return result


def _captured(f: Any) -> list[Any]:
    """The objects that a function refers to by its closure and its defaults, which deepcopy does
    not copy."""
    if not isinstance(f, FunctionType):
        return []
    own: list[Any] = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    for cell in f.__closure__ or ():
        try:
            own.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            continue
    return torch.utils._pytree.tree_leaves(own)


def rows_of(net: nn.Module, groups: Any) -> list[Any]:
    return (
        []
        if groups is None
        else _groups.rows(groups, {k: v.shape for k, v in tensors_of(net).items()})[0]
    )


def permutation_of(p: Any, groups: Any) -> tuple[Any, Any]:
    """(stream or None, groups) of a permutation stream or the path of one."""
    p = mcz.read(p, "permutation") if isinstance(p, (str, os.PathLike)) else p
    need(
        p is None or hasattr(p, "meta"), f"p must be a permutation stream (got {type(p).__name__})"
    )
    groups = getattr(p, "groups", None) if groups is None else groups
    need(p is None or groups is not None, "the groups of the permutation are missing (groups=)")
    return p, groups


def warn_other(
    p: Any, groups: Any, nets: dict[str, nn.Module], ids: Sequence[str] | None = None
) -> None:
    """Warns if a permutation was computed for other networks than these, {"a": network, "b":
    network}."""
    expected = _door()._expected(p, groups)
    if expected:
        own = dict(
            zip(
                nets,
                ids
                or _door()._ids(nets.values(), rows_of(next(iter(nets.values())), groups), None),
            )
        )
        other = [n for n, x in zip("ab", expected) if n in own and x not in (None, own[n])]
        if other:
            warn(
                "the permutation was computed for other networks (not this {})".format(
                    " and ".join(other)
                )
            )


# ---- sums ----------------------------------------------------------------------------------------


def _rounded(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Float64 numbers in another dtype, rounded once. PyTorch rounds to float32 first: that step
    must not reach the middle of two narrow numbers, so an inexact float32 gets an odd last bit
    here."""
    if torch.finfo(dtype).bits >= 32:
        return x.to(dtype)
    near = x.float()
    bits = near.view(torch.int32) - (near.double().abs() > x.abs()).int()
    return torch.where(near.double() == x, near, (bits | 1).view(torch.float32)).to(dtype)


def _pieces(tensors: Sequence[torch.Tensor]) -> Any:
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
    nets: Sequence[nn.Module],
    permutations: Sequence[Any],
    groups: Any,
    weights: Sequence[float],
    divisor: float,
    calls: Sequence[str],
) -> nn.Module:
    """Σ weight_i · permuted network_i / divisor, a copy of the first network, as mc-merge computes
    it: sums in float64, in the order of the networks, without those of weight 0, rounded once.
    Warns of numbers that are not finite.

    permutations  of each network, or None.
    calls         the networks' names in messages."""
    result, wrong = duplicate(nets[0]), []
    sources = [_door()._reader(n, p, groups) for n, p in zip(nets, permutations)]
    buffers, out = {k for k, _ in nets[0].named_buffers()}, tensors_of(result)
    for name, own in first_names(out).items():
        if own != name or not out[name].is_floating_point():
            continue
        device = out[name].device
        if device.type == "mps":  # which has no float64
            device = torch.device("cpu")
        terms = [(s(name).detach(), w, c) for s, w, c in zip(sources, weights, calls) if w > 0]
        for target, *parts in _pieces([out[name], *(v for v, _, _ in terms)]):
            total: Any = None
            for part, (_, w, place) in zip(parts, terms):
                # a mask may hold infinities
                bad = part.isnan() if name in buffers else part.isfinite().logical_not_()
                wrong += [f"{name} of {place}"] * bool(bad.any())
                part = (
                    part.to(device).double().mul_(w)
                    if part.dtype != torch.float64
                    else part.to(device) * w
                )
                total = part if total is None else total.add_(part)
            # a number would become its reciprocal on CUDA
            total /= torch.tensor(divisor, dtype=torch.float64, device=device)
            target.copy_(_rounded(total, target.dtype))
    if wrong:
        warn(f"the mean has numbers that are not finite ({listed(list(dict.fromkeys(wrong)))})")
    return result


@torch.no_grad()
def finished(net: nn.Module, loader: Batches | None, groups: Any) -> nn.Module:
    """A new network in evaluation mode, after its batch norms' statistics are re-estimated if there
    is a loader."""
    if loader is not None and norms(net):
        state, example = tensors_of(net), getattr(groups, "example", None)
        runs = [lambda x: call(net, x)]
        for k, v in statistics(
            net, runs, loader, next(iter(state.values())).device, example=example
        )[0].items():
            state[k].copy_(v)
    return net.eval()


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
    expect_same(a, b, groups)
    result = combine([a, b], [None, p], groups, [1 - t, t], 1, "ab")
    warn_other(p, groups, {"a": a, "b": b})
    return finished(result, loader, groups)


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
    joint    a joint set, as align_many() returns it, or the path of one; None if the networks are
             in one order.
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
    joint = mcz.read(joint, "permutation") if isinstance(joint, (str, os.PathLike)) else joint
    groups = getattr(joint, "groups", None) if groups is None else groups
    for i, net in enumerate(nets[1:], 2):
        expect_same(nets[0], net, groups, ("network 1", f"network {i}"))
    members = [None] * len(nets) if joint is None else _members(nets, joint, groups)
    calls = [f"network {i + 1}" for i in range(len(nets))]
    return finished(combine(nets, members, groups, weights, sum(weights), calls), loader, groups)


def _members(nets: Sequence[nn.Module], joint: Any, groups: Any) -> list[Any]:
    """The permutation of each network, found by its content id."""
    need("members" in getattr(joint, "meta", {}), "a joint set expected (align_many returns one)")
    need(groups is not None, "the groups of the joint set are missing (groups=)")
    ids = _door()._ids(nets, rows_of(nets[0], groups), None)
    other = [str(i + 1) for i, own in enumerate(ids) if own not in joint.meta["members"]]
    need(
        not other,
        "the joint set was computed for other networks (not network {})".format(", ".join(other)),
    )
    return [mcz.member(joint, own) for own in ids]
