# SPDX-License-Identifier: Apache-2.0
"""Check derived groups: networks with random tensors must return the same outputs after random
permutations, and other maps that the groups allow, call after call.

Each tensor is made when an operation reads it, so the check holds few at once."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.export import ExportedProgram

from ..errors import Error, need
from ..groups import Row
from ..nn.batches import shown
from ..nn.inputs import brief
from ..nn.maps import is_matrix, random_map
from ..nn.permuted import axes_of, moved
from . import capture
from .axes import atoms, outer
from .derive import Derivation
from .rules import Value
from .rules.reduction import PLACES

SEEDS = 3
FEW = 2**25  # numbers up to which all seeds and batch sizes are run; above it, one
TOLERANCE = 1e-9  # relative to the largest output
SMALLEST, LARGE = 1e-6, 1e6
CHOICES = *PLACES, "sort", "argsort", "topk", "argmax", "argmin"


def random_like(t: torch.Tensor, seed: int) -> torch.Tensor:
    """Random numbers instead of those of a floating-point tensor, in float64. Vectors, such as
    variances, are positive."""
    if not t.is_floating_point():
        return t.detach()
    x = torch.rand(t.shape, generator=torch.Generator().manual_seed(seed)).double()
    return (
        x.add_(0.5)
        if t.dim() < 2
        else x.sub_(0.5).mul_(3.5 / max(1, t.numel() // max(1, len(t))) ** 0.5)
    ).to(t.device)


def _random_map(size: int, allows: str, rng: np.random.Generator, seed: int) -> NDArray[Any]:
    """A map; with seed 0 an order is never the old one. With others, some groups of two units stay
    while others move."""
    if allows != "permutation":
        return random_map(size, allows, rng)
    p = rng.permutation(size)
    return p if seed or (p != np.arange(size)).any() else np.roll(p, 1)


def wide_example(example: Any, seed: int) -> Any:
    """The example in float64; random numbers for tensors that hold one number only."""
    generator = torch.Generator().manual_seed(seed)

    def one(x: Any) -> Any:
        if (
            isinstance(x, torch.Tensor)
            and x.is_floating_point()
            and x.numel()
            and bool((x == x.flatten()[0]).all())
        ):
            x = torch.randn(x.shape, generator=generator).to(x.device)
        return capture.doubled(x)

    return torch.utils._pytree.tree_map(one, example)


class _Trial:
    """A network with random tensors and its permuted copy."""

    def __init__(self, groups: Derivation, seed: int) -> None:
        self.run, rng = groups.run, np.random.default_rng(seed)
        self.maps = {
            g: _random_map(n, groups.allows[g], rng, seed) for g, n in groups.sizes.items()
        }
        self.rows: dict[str, list[Row]] = {}
        for r in groups.rows:
            self.rows.setdefault(r.tensor, []).append(r)
        number = {name: i for i, name in enumerate(self.run.state)}

        def make(name: str, t: torch.Tensor, permuted: bool) -> torch.Tensor:
            x = random_like(t, seed * len(number) + number[self.run.owners[name]])
            if self.run.owners[name] in groups.constant:
                x.fill_(x.flatten()[0])
            return self.moved(name, x) if permuted else x

        self.networks = [
            {
                k: capture.Lazy(functools.partial(make, k, t, permuted))
                for k, t in self.run.state.items()
            }
            for permuted in (False, True)
        ]

    def moved(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """A tensor of the network, permuted."""
        if name not in self.rows:
            return x
        return moved(x, axes_of({name: x}, self.rows[name])[name], self.maps)

    def calls(
        self, program: ExportedProgram, state: Mapping[str, Any], example: Any, n: int
    ) -> list[dict[tuple[str, Any], torch.Tensor]]:
        """The outputs {place: tensor} of a call, and of a second one if the first writes buffers,
        which are outputs too. Raises Error if the program fails, for example at token ids outside
        an embedding."""
        found, state, specs = [], dict(state), program.graph_signature.output_specs
        for _ in range(2 if any(s.kind.name.endswith("_MUTATION") for s in specs) else 1):
            try:
                with torch.no_grad():
                    runner = capture.Runner(program, double=True, device=self.run.device)
                    values = runner.outputs(state, example, n)
            except (IndexError, RuntimeError, ValueError) as e:
                raise Error(
                    f"cannot check the groups: the network does not run on the example: {brief(e)}"
                ) from None
            out = {
                (s.kind.name, s.target or str(i)): v
                for i, (s, v) in enumerate(zip(specs, values))
                if isinstance(v, torch.Tensor)
            }
            state.update({k: v for (kind, k), v in out.items() if kind == "BUFFER_MUTATION"})
            found.append({k: v for k, v in out.items() if v.numel()})
        return found

    def difference(self, program: ExportedProgram, example: Any, n: int) -> float:
        """The largest relative difference of the two networks' outputs."""
        worst = 0.0
        for before, after in zip(*(self.calls(program, s, example, n) for s in self.networks)):
            for (kind, target), x in before.items():
                need(
                    not bool(torch.isnan(x).any()),
                    "cannot check the groups: outputs are not numbers for random parameters",
                )
                x = self.moved(target, x) if kind == "BUFFER_MUTATION" else x
                worst = max(worst, apart(x, after[kind, target]))
        return worst


def apart(x: torch.Tensor, y: torch.Tensor) -> float:
    """The largest difference relative to the largest finite number. Equal infinities differ by 0.
    Numbers below SMALLEST may be rounding errors, such as a mean of centred values. Numbers that
    are LARGE compared with most, such as masked logits of -1e9, would hide differences of the
    others. So each of them is compared with itself."""
    x, y = (
        torch.view_as_real(v.resolve_conj()).double() if v.is_complex() else v.double()
        for v in (x, y)
    )
    size = torch.where(x.isfinite(), x, 0.0).abs()
    rest = size[size <= LARGE]
    large = size > LARGE * rest.median().clamp_min(1) if len(rest) else size < 0
    scale = torch.where(large, size, size[~large].max().clamp_min(SMALLEST))
    apart = float((torch.where(x == y, 0.0, (x - y).abs()) / scale).max())
    return apart if apart == apart else float("inf")


def difference(groups: Derivation, progress: str = "") -> float:
    """The largest relative difference of the outputs of permuted networks, for each example. Raises
    Error with the first module that differs. progress: the text of a progress bar, if any."""
    worst = 0.0
    for example, programs in zip(groups.examples, groups.run.programs):
        few = _numbers(groups.run.state, programs[0]) <= FEW
        for seed in shown(range(SEEDS if few else 1), progress):
            trial, wide = _Trial(groups, seed), wide_example(example, seed)
            for program, n in list(zip(programs, capture.SIZES))[: None if few else 1]:
                worst = max(worst, trial.difference(program, wide, n))
                if worst > TOLERANCE:
                    place, tied = _first_different(groups, trial, program, wide, n)
                    need(
                        not tied,
                        f"{place} chooses among equal numbers, so that rounding decides: give an "
                        "example without repeated "
                        "tokens or rows",
                    )
                    raise Error(
                        f"derived groups change the network by {worst:.2g} at {place} (please "
                        "report this)"
                    )
    return worst


def _numbers(state: Mapping[str, torch.Tensor], program: ExportedProgram) -> int:
    """The numbers in the tensors of a network, and in the values of a call."""
    values = [
        v
        for n in program.graph_module.graph.nodes
        if n.op == "call_function"
        for v in torch.utils._pytree.tree_leaves(n.meta.get("val"))
        if isinstance(v, torch.Tensor)
    ]
    return sum(v.numel() for v in [*state.values(), *values])


def _first_different(
    groups: Derivation, trial: _Trial, program: ExportedProgram, example: Any, n: int
) -> tuple[str, bool]:
    """(place, tied): the first module with a value that differs from the one expected of the
    permuted network, and whether it chooses among numbers that are equal up to rounding."""
    k = next(i for i, own in enumerate(groups.run.programs) if program in own)
    device = groups.run.device
    runs = [capture.Runner(program, lambda name: True, True, device) for _ in trial.networks]
    with torch.no_grad():
        for r, s in zip(runs, trial.networks):
            r.outputs(s, example, n)
    for node in program.graph_module.graph.nodes:
        x, y = (r.values.get(node.name) for r in runs)
        v = groups.run.values[k].get(node.name)
        if node.op != "call_function" or not isinstance(v, Value):
            continue
        if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor) or not x.numel():
            continue
        expected = _expected(groups, trial, v, x)
        if expected is not None and not apart(expected, y) <= TOLERANCE:
            choice: Any = node.args[0] if node.target is operator.getitem else node
            name = getattr(choice.target, "_opname", node.name)
            places = name in CHOICES and not x.is_floating_point()
            return f"{capture.named(node)} ({name})", places and _has_ties(choice, runs[0].values)
    return "an unknown module", False


def _expected(groups: Derivation, trial: _Trial, v: Value, x: torch.Tensor) -> torch.Tensor | None:
    """A value of the permuted network, from that of the network; None if it has no single order."""
    for axis, e in enumerate(v.axes):
        if any(outer(a) or a.size > capture.BATCH for a in atoms(e) if not a.fixed):
            return None
        if not all(a.fixed for a in atoms(e)) and e.size < capture.BATCH:
            if any(map(is_matrix, groups.own_maps(e, trial.maps))):
                return None
            order = torch.from_numpy(groups.order_of(e, trial.maps))
            x = x.index_select(axis, order.to(x.device))
    return x


def _has_ties(choice: Any, values: Mapping[str, Any]) -> bool:
    """True if an operation of CHOICES reads equal numbers along its axis. Without an axis, it reads
    the last one or all numbers; all are compared."""
    x = (
        values.get(choice.args[0].name)
        if choice.args and isinstance(choice.args[0], torch.fx.Node)
        else None
    )
    if x is None or not x.is_floating_point() or not x.dim():
        return False
    dim = capture.arguments_of(choice).get("dim")
    x, dim = (x.flatten(), 0) if dim is None else (x, dim)
    return bool((x.sort(dim).values.diff(dim=dim) <= TOLERANCE * x.abs().max()).any())
