# SPDX-License-Identifier: Apache-2.0
"""Tensors after permutations and other maps of their axes, by the rows of groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from ..errors import need
from ..groups import Row, gather
from ..nesting import end_of
from .maps import is_matrix, unsigned
from .state import owners

Axes = list[tuple[int, set[Row]]]  # the permuted axes of a tensor, with the rows on each


def axes_of(tensors: Mapping[str, torch.Tensor], rows: Iterable[Row]) -> dict[str, Axes]:
    """{name: axes} of the tensors that rows permute. Of a tensor's names, only the first occurs.
    Parts of axis 0 move last."""
    found: dict[str, dict[int, set[Row]]] = {}
    first = owners(tensors)
    for r in rows:
        found.setdefault(r.tensor, {}).setdefault(r.axis, set()).add(r._replace(tensor=""))
    for name, axes in found.items():
        need(
            axes == found.get(first[name], axes),
            f'tensor "{name}" is tied to "{first[name]}", which has other rows in the groups',
        )
    return {first[name]: sorted(axes.items(), reverse=True) for name, axes in found.items()}


def _split(shape: Sequence[int], axis: int, parts: int) -> tuple[int, int, int]:
    """The shape of a part of a tensor, with its other axes joined: (before, axis, after)."""
    return math.prod(shape[:axis]) // parts, shape[axis], math.prod(shape[axis + 1 :])


def moved(
    tensor: torch.Tensor, axes: Iterable[tuple[int, set[Row]]], maps: Mapping[str, Any]
) -> torch.Tensor:
    """A tensor after these maps of its axes: orders, or matrices. Sums of a NumPy matrix are in
    float64 and rounded once; those of a tensor, which may need gradients, in its dtype."""
    shape, dtype = tensor.shape, tensor.dtype
    for axis, own in axes:
        parts = next(iter(own)).parts
        x = tensor.reshape(parts, *_split(shape, axis, parts))
        if any(is_matrix(maps[r.group]) for r in own):
            flat = x.transpose(1, 2).reshape(parts * x.shape[2], -1)
            new = _mapped(flat, own, maps)
            new = new.reshape(parts, x.shape[2], x.shape[1], -1).transpose(1, 2)
            tensor = new.reshape(shape).contiguous()
            continue
        order = gather(parts * x.shape[2], own, maps).reshape(parts, -1) % x.shape[2]
        pieces = [
            part.index_select(1, torch.from_numpy(i).to(x.device)) for part, i in zip(x, order)
        ]
        tensor = (pieces[0] if parts == 1 else torch.stack(pieces)).reshape(shape)
    return tensor if tensor.dtype == dtype else rounded(tensor, dtype)


def _mapped(x: torch.Tensor, rows: Iterable[Row], maps: Mapping[str, Any]) -> torch.Tensor:
    """The entries x (entries, others) of an axis after the maps of its rows, smaller blocks first:
    a unit moves with its contents."""
    for _, level in itertools.groupby(sorted(rows, key=lambda r: r.block), lambda r: r.block):
        pieces, at = [], 0
        for r in sorted(level, key=lambda r: r.offset):
            end, m = end_of(r), maps[r.group]
            if is_matrix(m) and r.allows == "permutation":
                m = unsigned(m)
            units = x[r.offset : end].reshape(r.count, -1)
            if not is_matrix(m):
                units = units[torch.as_tensor(m, dtype=torch.long, device=x.device)]
            elif isinstance(m, torch.Tensor):
                units = m.to(units.dtype) @ units
            else:
                units = torch.as_tensor(m, dtype=torch.float64).to(x.device) @ units.double()
            pieces += [x[at : r.offset], units.reshape(end - r.offset, -1)]
            at = end
        pieces.append(x[at:])
        wide = torch.float64 if any(p.dtype == torch.float64 for p in pieces) else x.dtype
        x = torch.cat([p.to(wide) for p in pieces])
    return x


def rounded(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Float64 numbers in another dtype, rounded once. PyTorch rounds to float32 first: that step
    must not reach the middle of two narrow numbers, so an inexact float32 gets an odd last bit
    here."""
    if torch.finfo(dtype).bits >= 32:
        return x.to(dtype)
    near = x.float()
    bits = near.view(torch.int32) - (near.double().abs() > x.abs()).int()
    return torch.where(near.double() == x, near, (bits | 1).view(torch.float32)).to(dtype)
