# SPDX-License-Identifier: Apache-2.0
"""The tensors (Value) and the operation (Operation) that rules read, and the registry of rules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...errors import Error
from ..axes import Atom, Axis, atoms, fixed, outer, renew
from ..capture import BATCH
from ..orders import fix, unify

ROWS, DIFFERENCE = 1, 2  # Axes.zeros
CARRY, READ = "carry", "read"  # Rule.labels


@dataclass(frozen=True)
class Label:
    """Numbers in a tensor that refer to units of an axis: new numbers must name the places to which
    units move.

    axis      the axis to which the numbers refer
    ends      if not None, the tensor has one number per unit: the place on this data atom after the
              last entry of the unit
    data      the data atom each entry of which these numbers assign to its unit, or None
    ordered   True if the numbers ascend along `data`
    distinct  the atom along which no number occurs twice, or None"""

    axis: Axis
    ends: Axis | None = None
    data: Axis | None = None
    ordered: bool = False
    distinct: Axis | None = None


class Axes(list[Axis]):
    """The axes of a tensor, and what is known of its numbers.

    label   what they refer to, or None
    counts  the data atom whose entries they count, or None
    apart   True if no two of them are equal, for almost all parameters
    zeros   ROWS if all numbers for an input may be 0, DIFFERENCE if the tensor may cancel another,
            else 0"""

    def __init__(
        self,
        axes: Iterable[Axis],
        label: Label | None = None,
        counts: Axis | None = None,
        apart: bool = False,
        zeros: int = 0,
    ) -> None:
        super().__init__(axes)
        self.label, self.counts, self.apart, self.zeros = label, counts, apart, zeros


class Value:
    """A tensor of the network: the name of its node and its axes. `origin`: the value that this one
    is a copy of."""

    def __init__(self, node: str, axes: Iterable[Axis], origin: Value | None = None) -> None:
        self.node, self.origin = node, origin or self
        self.axes = axes if isinstance(axes, Axes) else Axes(axes)

    def renewed(self) -> Value:
        """The same tensor with copies of its loose atoms: an operation that gives them an order
        does so for itself alone."""
        if not any(a.loose for e in self.axes for a in atoms(e)):
            return self
        copies: dict[Atom, Atom] = {}
        own = self.axes
        axes, label = [renew(e, copies) for e in own], own.label
        if label:
            distinct = label.distinct and renew(label.distinct, copies)
            label = Label(
                renew(label.axis, copies), label.ends, label.data, label.ordered, distinct
            )
        return Value(self.node, Axes(axes, label, own.counts, own.apart, own.zeros), self.origin)

    @property
    def label(self) -> Label | None:
        """The axis to which its numbers refer, or None."""
        return self.axes.label

    @property
    def references(self) -> list[Axis]:
        """[the axis to which its numbers refer], or []."""
        return [self.axes.label.axis] if self.axes.label else []

    def is_activation(self) -> bool:
        """True if it depends on the input: a batch is among its sizes."""
        return any(e.size >= BATCH for e in self.axes)


@dataclass
class Operation:
    """One operation, as rules see it. Its arguments are those of the rule's function.

    name     the name of the ATen operation, without the overload
    reason   to give if it fixes an axis
    outputs  the sizes of each output
    several  True if it returns a list of tensors
    tensors  all tensors among its arguments, in their order
    used     used(i): whether the network reads output i
    observe  called for each value that a layer contracts

    A rule that contracts, mixes or distinguishes entries also reports:

    read     [(weight, axis)] that a layer contracts
    inner    [axes of a tensor that the operation computes on the way], such as the products that a
             layer sums. If each head has its own order of channels, then a product of two heads has
             none
    units    True if the operation takes each entry of a data atom from its unit"""

    name: str
    reason: str
    outputs: list[list[int]]
    several: bool
    tensors: list[Value]
    used: Callable[[int], bool]
    observe: Callable[[Value], None]
    read: list[tuple[Value, int]] = field(default_factory=list)
    inner: list[Sequence[Axis]] = field(default_factory=list)
    units: bool = False

    @property
    def kind(self) -> str:
        """Its kind, as in kinds.py."""
        return kind_of(self.name)

    @property
    def sizes(self) -> list[int]:
        """The sizes of the only, or the first, output."""
        return self.outputs[0]

    def each(self, axes: Sequence[Axis]) -> Result:
        """The same axes for each output."""
        return [axes] * len(self.outputs) if self.several else axes

    def fix(self, *axes: Axis) -> None:
        """Fixes axes."""
        for e in axes:
            fix(e, self.reason)

    def fixed(self, sizes: Iterable[int]) -> list[Axis]:
        """New fixed axes."""
        return [fixed(n, self.reason) for n in sizes]

    def unify(self, *pairs: tuple[Axis, Axis]) -> None:
        """Unifies pairs of axes, outer ones first: the order within heads may vary with the head if
        the heads are one."""
        depth = [max((len(outer(a)) for e in pair for a in atoms(e)), default=0) for pair in pairs]
        for _, (e, f) in sorted(zip(depth, pairs), key=lambda p: p[0]):
            unify(e, f, self.reason)


Result = Sequence[Axis] | Sequence[Sequence[Axis]]  # the axes of an output, or of each output
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Rule:
    """A function that returns the axes of an operation's outputs.

    function  its first parameter is the Operation, the others are named as arguments of the
              operation. An argument that is missing or None has the parameter's default
    labels    CARRY: the outputs have the label of the first input; READ: the function itself reads
              labels; None: an input with a label fixes the axis that it refers to
    kind      the kind of the operations (kinds.py); None: the name of each is its kind"""

    function: Callable[..., Result]
    labels: str | None = None
    kind: str | None = None

    def __call__(self, op: Operation, arguments: Mapping[str, Any]) -> Result:
        """The axes of the outputs."""
        _, *parameters = inspect.signature(self.function).parameters.values()
        own = {}
        for p in parameters:
            if arguments.get(p.name) is not None:
                own[p.name] = arguments[p.name]
            elif p.default is p.empty:
                raise Error(f'{op.reason}: the argument "{p.name}" is missing')
        return self.function(op, **own)


RULES: dict[str, Rule] = {}


def rule(names: str, labels: str | None = None, kind: str | None = None) -> Callable[[F], F]:
    """Registers a function as the rule of operations: names of ATen operations, or NAMESPACE::NAME,
    separated by spaces."""

    def add(f: F) -> F:
        RULES.update(dict.fromkeys(names.split(), Rule(f, labels, kind)))
        return f

    return add


def kind_of(name: str) -> str:
    """The kind of an operation: that of its rule, or its name."""
    return (name in RULES and RULES[name].kind) or name
