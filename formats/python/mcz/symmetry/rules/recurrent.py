# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers. All gates of a layer have one order of its units."""

from __future__ import annotations

from collections.abc import Sequence

from ..axes import Atom, Axis, Sum, free, vary
from ..orders import unify, unroll
from .helpers import as_list, broadcast, unknown
from .operation import Operation, Result, Value, rule

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def step(
    op: Operation, gates: int, x: Axis, h: Axis, tensors: Sequence[Value]
) -> tuple[Axis, Axis]:
    """One step, or all steps, of a layer: h' = f(W x + U h), where W and U have one block of rows
    per gate. Unifies the axes of its tensors (W, U, their biases, the projection of the state) with
    its inputs x and h. Returns the axes of its state and of its cell."""
    w, u, *rest = tensors
    units = free(w.axes[0].size // gates)
    projection = rest.pop() if rest and len(rest[-1].axes) == 2 else None
    state = projection.axes[0] if projection else units
    op.read += [(w, 1), (u, 1)]
    rows = [(t.axes[0], Sum([units] * gates)) for t in (w, u, *rest)]
    op.unify((w.axes[1], x), (u.axes[1], state), (u.axes[1], h), *rows)
    if projection:
        op.read.append((projection, 1))
        op.unify((projection.axes[1], units))
    return state, units


@rule("lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell")
def recurrent_cell(
    op: Operation,
    input: Value,
    hx: Value | list[Value],
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None = None,
    b_hh: Value | None = None,
) -> Result:
    """h' = f(W x + b, U h + c): one step, with one order of units in h, h' and the rows of W and
    U."""
    states, gates = as_list(hx), GATES[op.name.rpartition("_")[0]]
    op.observe(input)
    op.observe(states[0])
    tensors = [t for t in (w_ih, w_hh, b_ih, b_hh) if t is not None]
    state, units = step(op, gates, input.axes[-1], states[0].axes[-1], tensors)
    out = broadcast(op, [input.axes[:-1], *(v.axes[:-1] for v in states)])
    op.unify(*((v.axes[-1], units) for v in states[1:]))
    return [[*out, state], [*out, units]] if op.several else [*out, state]


@rule("lstm gru rnn_tanh rnn_relu")
def recurrent(
    op: Operation,
    input: Value | None = None,
    hx: Value | list[Value] | None = None,
    params: list[Value] | None = None,
    num_layers: int | None = None,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> Result:
    """h[t] = f(W x[t] + U h[t - 1]): layers, each in one or two directions, whose orders are
    independent. The steps are in order, sequences are not."""
    if input is None or num_layers is None or params is None or hx is None:
        return unknown(op)  # sequences of several lengths in one tensor
    states = as_list(hx)
    op.observe(input)
    count = num_layers * (2 if bidirectional else 1)
    own, per_layer = len(params) // count, count // num_layers
    steps, batch, last = input.axes[batch_first], input.axes[not batch_first], input.axes[-1]
    op.fix(steps)
    op.unify(*((batch, v.axes[1]) for v in states))
    stacks = [_stack(op, v.axes, count) for v in states]
    for first in range(0, count, per_layer):
        outputs: list[Axis] = []
        for i in range(first, first + per_layer):
            tensors = params[i * own : (i + 1) * own]
            state, units = step(op, GATES[op.name], last, stacks[0][i], tensors)
            op.unify(*((s[i], e) for s, e in zip(stacks[1:], [units])))
            outputs.append(state)
        last = Sum(outputs)
    out = [batch, steps, last] if batch_first else [steps, batch, last]
    return [out, *(v.axes for v in states)]


def _stack(op: Operation, axes: Sequence[Axis], count: int) -> Sequence[Axis]:
    """The last axis of a tensor in each unit of its first axis, which is fixed."""
    if count == 1:
        return [axes[2]]
    layers, units = Atom(count, op.reason), Atom(axes[2].size)
    vary(units, layers)
    unroll(layers, op.reason)
    unify(axes[0], layers, op.reason)
    unify(axes[2], units, op.reason)
    return units.cases[layers]
