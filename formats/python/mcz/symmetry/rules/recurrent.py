# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers. All gates of a layer have one order of its units."""

from ..axes import Atom, Sum, free, unify, unroll, vary
from .call import broadcast, rule, unknown

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def cell(c, gates, x, h, tensors):
    """One step, or all steps, of a layer: unifies the axes of its tensors (weights of the input and
    of the state, their biases, the projection of the state) with its inputs x and h. Returns the
    axes of its state and of its cell."""
    w, u, *rest = tensors
    units = free(w.axes[0].size // gates)
    projection = rest.pop() if rest and len(rest[-1].axes) == 2 else None
    state = projection.axes[0] if projection else units
    c.read += [(w, 1), (u, 1)]
    c.unify(
        (w.axes[1], x),
        (u.axes[1], state),
        (u.axes[1], h),
        *((t.axes[0], Sum([units] * gates)) for t in (w, u, *rest)),
    )
    if projection:
        c.read.append((projection, 1))
        c.unify((projection.axes[1], units))
    return state, units


@rule("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def recurrent_cell(c):
    gates = GATES[c.name.rpartition("_")[0]]
    hx = c.hx if isinstance(c.hx, list) else [c.hx]
    c.observe(c.input)
    c.observe(hx[0])
    state, units = cell(
        c,
        gates,
        c.input.axes[-1],
        hx[0].axes[-1],
        [t for t in (c.w_ih, c.w_hh, c.b_ih, c.b_hh) if t is not None],
    )
    out = broadcast(c, [c.input.axes[:-1], *(v.axes[:-1] for v in hx)])
    c.unify(*((v.axes[-1], units) for v in hx[1:]))
    return [[*out, state], [*out, units]] if c.several() else [*out, state]


@rule("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(c):
    """Layers, each in one or two directions, whose orders are independent. The steps are in order,
    sequences are not."""
    if not isinstance(c.num_layers, int):
        return unknown(c)  # sequences of several lengths in one tensor
    x, hx = c.input, c.hx if isinstance(c.hx, list) else [c.hx]
    c.observe(x)
    count = c.num_layers * (2 if c.bidirectional else 1)
    own = len(c.params) // count
    steps, batch, last = (
        x.axes[0 if not c.batch_first else 1],
        x.axes[1 if not c.batch_first else 0],
        x.axes[-1],
    )
    c.fix(steps)
    c.unify(*((batch, v.axes[1]) for v in hx))
    stacks = [_stack(c, v.axes, count) for v in hx]
    for first in range(0, count, count // c.num_layers):
        states = []
        for i in range(first, first + count // c.num_layers):
            state, units = cell(
                c, GATES[c.name], last, stacks[0][i], c.params[i * own : (i + 1) * own]
            )
            c.unify(*((s[i], e) for s, e in zip(stacks[1:], [units])))
            states.append(state)
        last = Sum(states)
    return [[batch, steps, last] if c.batch_first else [steps, batch, last], *(v.axes for v in hx)]


def _stack(c, axes, count):
    """The last axis of a tensor in each unit of its first axis, which is fixed."""
    if count == 1:
        return [axes[2]]
    layers, units = Atom(count, c.reason), Atom(axes[2].size)
    vary(units, layers)
    unroll(layers, c.reason)
    unify(axes[0], layers, c.reason)
    unify(axes[2], units, c.reason)
    return units.cases[layers]
