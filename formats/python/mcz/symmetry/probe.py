# SPDX-License-Identifier: Apache-2.0
"""Derivatives and outputs of a network with random parameters. They show on which side of a product
each row of a group is, and which pairs of channels rotary positions turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram

from ..groups import Row
from . import capture
from .allows import unfolded
from .check import TOLERANCE, apart, random_like, wide_example
from .derive import Derivation
from .rotary import Attention, products

Rows = Mapping[str, Sequence[Row]]
SMALL = 1e-9  # relative to the largest derivative


def outputs(
    program: ExportedProgram, state: Mapping[str, torch.Tensor], example: Any
) -> list[torch.Tensor]:
    """The outputs of a program for an example, in float64."""
    with torch.no_grad():
        found = capture.Runner(program, double=True).outputs(state, example, capture.SIZES[0])
    return [v for v in found if isinstance(v, torch.Tensor) and v.is_floating_point()]


class Probe:
    """Derivatives of random sums of a network's outputs for each example, in float64, at random
    parameters.

    gradients  {parameter: gradient} of the vectors, for one sum of each example
    products   [products(), for each sum], for each attention
    state      the parameters: random numbers, but one number for each constant gain"""

    def __init__(
        self,
        derivation: Derivation,
        groups: Rows,
        constant: set[str],
        attentions: Sequence[Attention] = (),
    ) -> None:
        run = derivation.run
        self.state: dict[str, torch.Tensor] = {}
        for i, (k, t) in enumerate(run.state.items()):
            x = random_like(t, i)
            self.state[k] = torch.full_like(x, float(x.flatten()[0])) if k in constant else x
        self.state = {k: self.state[run.owners[k]] for k in self.state}
        self.groups, self._run, self._attentions = groups, run, attentions
        self._examples = derivation.examples
        self._outputs: list[torch.Tensor] = []  # for `state`
        self._parameters = dict(derivation.net.named_parameters())
        self._sums: dict[str, list[list[float]]] = {g: [] for g in groups}
        self.gradients: list[dict[str, torch.Tensor]] = []
        self.products: list[list[torch.Tensor]] = [[] for _ in attentions]
        times = 3 + max(map(len, groups.values()), default=0)
        for example, programs in zip(derivation.examples, run.programs):
            if groups or attentions:
                self._differentiate(programs[0], example, times)

    def _differentiate(self, program: ExportedProgram, example: Any, times: int) -> None:
        pairs = {p for a in self._attentions for p in (*a.queries, *a.keys)}
        own = {
            k: v
            for k, v in self.state.items()
            if k in self._parameters and v.is_floating_point() and self._run.owners[k] == k
            if self.groups or k in pairs
        }
        for v in own.values():
            v.requires_grad_()
        with torch.enable_grad():
            outputs = capture.Runner(program, double=True).outputs(
                self.state, wide_example(example, 0), capture.SIZES[0]
            )
        out = [v for v in outputs if isinstance(v, torch.Tensor) and v.requires_grad]
        random = torch.Generator().manual_seed(1)
        for i in range(times):
            weights = [torch.randn(v.shape, generator=random).to(v) for v in out]
            found = torch.autograd.grad(
                out, list(own.values()), weights, retain_graph=i + 1 < times, allow_unused=True
            )
            gradient = {
                k: torch.zeros_like(v) if g is None else g for (k, v), g in zip(own.items(), found)
            }
            for g, rows in self.groups.items():
                self._sums[g].append(
                    [
                        float((unfolded(own[r.tensor], r) * unfolded(gradient[r.tensor], r)).sum())
                        for r in rows
                    ]
                )
            for a, sums in zip(self._attentions, self.products):
                if gradient.keys() >= {*a.queries, *a.keys}:
                    sums.append(products(a, own, gradient))
            if not i:
                self.gradients.append({k: v for k, v in gradient.items() if v.dim() == 1})
        for v in own.values():
            v.requires_grad_(False)

    def is_unchanged(self, tensors: Mapping[str, torch.Tensor]) -> bool:
        """True if the network returns the same outputs with these parameters instead."""
        if not self._outputs:
            self._outputs = self._run_all(self.state)
        owners = self._run.owners
        other = self._run_all({k: tensors.get(owners[k], v) for k, v in self.state.items()})
        return all(apart(x, y) <= TOLERANCE for x, y in zip(self._outputs, other))

    def _run_all(self, state: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
        return [
            v
            for example, programs in zip(self._examples, self._run.programs)
            for v in outputs(programs[0], state, wide_example(example, 0))
        ]

    def sides(self, group: str) -> list[int] | None:
        """1 or -1 for each row of a group, such that the network is unchanged if a map moves the
        first and its inverse transposed the others; 0 for a bias without effect. None if that is
        not so, or if a matrix has no effect.

        If x is scaled by t on one side and by 1 / t on the other, the derivatives by log t cancel:
        the sum over rows of side * <parameter, gradient> is 0, for every sum of outputs."""
        d = torch.tensor(self._sums[group], dtype=torch.float64)
        scale = d.abs().max()
        every = max(abs(v) for sums in self._sums.values() for own in sums for v in own)
        if scale <= SMALL * every:  # rounding errors: no effect on these examples
            return None
        own = [i for i in range(d.shape[1]) if d[:, i].abs().max() > SMALL * scale]
        # a layer without effect on these inputs, such as another task's head, has one on others
        idle = [r for i, r in enumerate(self.groups[group]) if i not in own]
        if len(own) < 2 or any(self.state[r.tensor].dim() > 1 for r in idle):
            return None
        x = d[:, own] / d[:, own].norm(dim=0).max()
        s = torch.linalg.lstsq(x[:, 1:], -x[:, :1], driver="gelsd").solution.flatten()
        signs = torch.cat([torch.ones(1, dtype=s.dtype), s])
        if (x @ signs).abs().max() > 1e-7 or (signs.abs() - 1).abs().max() > 1e-6:
            return None
        sides = [0] * d.shape[1]
        for i, v in zip(own, signs.tolist()):
            sides[i] = round(v)
        return sides
