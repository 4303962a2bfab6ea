# SPDX-License-Identifier: Apache-2.0
"""A module with the groups of its units: what align, permute, merge and Curve work on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .. import groups as group_files
from ..errors import inside, need
from ..files import Path
from ..graph import constant
from ..groups import Row
from ..nn.state import Tensors, listed, tensors_of
from ..nn.structure import (
    attributes,
    compare_attributes,
    compare_tensors,
    different_networks,
    unequal,
)
from ..stream import read, widened
from ..symmetry import Groups
from ..writing import content_id


class Network:
    """A module, the groups of its units, and what follows from both.

    module   the nn.Module
    groups   as mcz.groups describes, the result of mcz.torch.groups, or None
    derived  the groups if mcz.torch.groups derived them, else None
    example  the input that they were derived with, or None"""

    def __init__(self, module: nn.Module, groups: Any = None, like: Network | None = None) -> None:
        self.module, self.groups, self._like = module, groups, like
        self.derived = groups if isinstance(groups, Groups) else None
        self.example: Any = self.derived.example if self.derived else None

    def twin(self, module: nn.Module) -> Network:
        """Another module of the same structure, with the same groups."""
        return Network(module, self.groups, self)

    @property
    def tensors(self) -> Tensors:
        """{name: tensor}: the module's own tensors."""
        return tensors_of(self.module)

    @cached_property
    def shapes(self) -> dict[str, Sequence[int]]:
        """{name: shape} of the tensors."""
        return {k: v.shape for k, v in self.tensors.items()}

    @cached_property
    def _rows_and_sizes(self) -> tuple[list[Row], dict[str, int]]:
        if self._like:
            return self._like._rows_and_sizes
        return ([], {}) if self.groups is None else group_files.rows(self.groups, self.shapes)

    @property
    def rows(self) -> list[Row]:
        """The rows of the groups, which fit the module; none without groups."""
        return self._rows_and_sizes[0]

    @property
    def sizes(self) -> dict[str, int]:
        """{group: number of units}"""
        return self._rows_and_sizes[1]

    def compare(
        self, other: nn.Module, names: tuple[str, str] = ("a", "b"), dtypes: bool = False
    ) -> None:
        """Raises Error with the first difference in structure between this network and another.

        If the groups are derived, the operations on their examples are compared, and the constants
        that these read. If not, buffers with persistent=False are compared, and a difference of
        plain attributes is a warning.

        names   the networks', for the message.
        dtypes  whether tensors must have the same dtype."""
        compare_tensors(self.module, other, names, dtypes)
        if self.derived:
            self._compare_operations(self.derived, other, names)
        else:
            compare_attributes(self.module, other, names)

    def _compare_operations(self, groups: Groups, other: nn.Module, names: tuple[str, str]) -> None:
        """Raises Error if one of the networks runs other operations than that of the groups."""
        for net, name in ((self.module, names[0]), (other, names[1])):
            if net is not groups.net or unequal(groups.made, dict(attributes(net))):
                with inside(name):
                    found = groups.difference_of(net)
                need(not found, different_networks(names) + found)

    def _floats(self) -> Tensors:
        """{name: tensor} of the floating-point tensors, on the CPU, in the order of
        mc-convert --groups."""
        return {
            k: v.detach().cpu()
            for k, v in sorted(self.tensors.items(), key=lambda e: e[0].encode())
            if v.is_floating_point()
        }

    def arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
        """(tensors, dtypes) of the network's stream, for mcz.write(): float16 and bfloat16
        unchanged, others as float32."""
        own = self._floats()
        narrow = {k: "bfloat16" for k, v in own.items() if v.dtype == torch.bfloat16}
        return {
            k: v.contiguous().view(torch.int16).numpy().view("<u2")
            if k in narrow
            else (v if v.dtype == torch.float16 else v.float()).numpy()
            for k, v in own.items()
        }, narrow

    def meta(self) -> dict[str, Any]:
        """The settings of the network's stream."""
        return {"net": "groups", "dataset": "", "symmetry": group_files.text(self.rows)}

    def id(self) -> str:
        """The content id of the stream that mc-convert --groups makes of the network."""
        return content_id("weights", self.meta(), *self.arrays())

    def id_in(self, path: Path) -> str:
        """The content id of a weights stream, whose tensors must equal the network's."""
        s = read(path, "weights")
        own = {k: v.float().numpy() for k, v in self._floats().items()}
        other = [
            k
            for k, v in widened(s).items()
            if (k in own or constant(k) is None)
            and not np.array_equal(v.reshape(-1), own.get(k, np.zeros(0)).reshape(-1))
        ]
        differ = f"{len(other)} tensors differ: {listed(other)}"
        need(not other, f"{path}: weights of another network ({differ})")
        return s.id
