# SPDX-License-Identifier: Apache-2.0
"""Tensors after a permutation of their axes, by the rows of groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from numpy.typing import ArrayLike

from ..errors import need
from ..groups import Row, gather
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
    tensor: torch.Tensor, axes: Iterable[tuple[int, set[Row]]], permutation: Mapping[str, ArrayLike]
) -> torch.Tensor:
    """A tensor after the permutation of these axes."""
    shape = tensor.shape
    for axis, own in axes:
        parts = next(iter(own)).parts
        x = tensor.reshape(parts, *_split(shape, axis, parts))
        order = gather(parts * x.shape[2], own, permutation).reshape(parts, -1) % x.shape[2]
        pieces = [
            part.index_select(1, torch.from_numpy(i).to(x.device)) for part, i in zip(x, order)
        ]
        tensor = (pieces[0] if parts == 1 else torch.stack(pieces)).reshape(shape)
    return tensor
