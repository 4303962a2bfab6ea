# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: sums over pairs of axes, which must have one order."""

from __future__ import annotations

from collections.abc import Sequence

from ..axes import Axis, Product, free
from .helpers import broadcast, position, unknown
from .operation import Operation, Result, Value, rule


@rule("linear")
def linear(op: Operation, input: Value, weight: Value, bias: Value | None = None) -> Result:
    """y[n, o] = sum over i of x[n, i] W[o, i] + b[o]: i has one order in x and W, and that of o is
    y's and b's. So W P^T (P x) = W x."""
    op.observe(input)
    op.read.append((weight, len(weight.axes) - 1))
    op.unify((input.axes[-1], weight.axes[-1]))
    out = [*input.axes[:-1], *weight.axes[:-1]]
    op.inner.append([*out, input.axes[-1]])
    return out if bias is None else broadcast(op, [out, bias.axes])


def product(op: Operation, x: Value, y: Value) -> list[Axis]:
    """The axes of the matrix product of x and y: z[.., i, j] = sum over k of x[.., i, k]
    y[.., k, j]."""
    op.observe(x)
    op.observe(y)
    if x.is_activation() or y.is_activation():
        op.read += [(x, len(x.axes) - 1), (y, max(0, len(y.axes) - 2))]
    a, b = list(x.axes), list(y.axes)
    out = broadcast(op, [a[:-2], b[:-2]], (a[-1], b[-2] if len(b) > 1 else b[0]))
    out += a[-2:-1] + (b[-1:] if len(b) > 1 else [])
    op.inner.append([*out, a[-1]])
    return out


@rule("matmul mm bmm", kind="matmul")
@rule("mv dot vdot")
def matmul(op: Operation) -> Result:
    """z = x y: the last axis of x and the second last of y have one order."""
    x, y = op.tensors
    return product(op, x, y)


@rule("addmm baddbmm", kind="addmm")
@rule("addmv")
def addmm(op: Operation) -> Result:
    """z = b + x y, elementwise in b."""
    b, x, y = op.tensors
    return broadcast(op, [product(op, x, y), b.axes])


@rule("tensordot inner")
def tensordot(
    op: Operation,
    self: Value,
    other: Value,
    dims_self: Sequence[int] = (-1,),
    dims_other: Sequence[int] = (-1,),
) -> Result:
    """z[i.., j..] = sum over k.. of x[i.., k..] y[k.., j..], over pairs of axes."""
    x, y = self.axes, other.axes
    if not x or not y:
        return unknown(op)
    one, two = [position(k, x) for k in dims_self], [position(k, y) for k in dims_other]
    # an axis of one entry is summed first
    if any(x[i].size != y[j].size for i, j in zip(one, two)):
        return unknown(op)
    op.observe(self)
    op.observe(other)
    op.unify(*((x[i], y[j]) for i, j in zip(one, two)))
    rest = [e for k, e in enumerate(y) if k not in two]
    op.inner.append([*x, *rest])
    return [e for k, e in enumerate(x) if k not in one] + rest


@rule("kron")
def kron(op: Operation) -> Result:
    """z[i * b + k, j * d + l] = x[i, j] y[k, l]: each entry of x becomes a block of y."""
    x, y = ([*[free(1)] * (len(op.sizes) - len(v.axes)), *v.axes] for v in op.tensors)
    return [Product(p) for p in zip(x, y)]


@rule("outer ger")
def outer(op: Operation) -> Result:
    """z[i, j] = x[i] y[j]."""
    return [v.axes[0] for v in op.tensors]


@rule("cdist")
def cdist(op: Operation) -> Result:
    """z[i, j] = norm over k of x[i, k] - y[j, k]."""
    x, y = (v.axes for v in op.tensors)
    batch = broadcast(op, [x[:-2], y[:-2]], (x[-1], y[-1]))
    out = [*batch, x[-2], y[-2]]
    op.inner.append([*out, x[-1]])
    return out


@rule("bilinear")
def bilinear(
    op: Operation, input1: Value, input2: Value, weight: Value, bias: Value | None = None
) -> Result:
    """z[n, o] = sum over i, j of x[n, i] W[o, i, j] y[n, j] + b[o]."""
    x, y, w = input1.axes, input2.axes, weight.axes
    op.unify((x[-1], w[1]))
    op.unify((y[-1], w[2]))
    if bias is not None:
        op.unify((w[0], bias.axes[0]))
    out = [*broadcast(op, [x[:-1], y[:-1]]), w[0]]
    op.inner.append([*out, x[-1], y[-1]])
    return out


def _keys(term: str, n: int) -> list[str | int]:
    """The keys of a term's axes: letters, and numbers for an ellipsis of n axes."""
    found: list[str | int] = []
    for word in term.replace("...", "."):
        found += range(-n, 0) if word == "." else [word]
    return found


@rule("einsum")
def einsum(op: Operation, equation: str, tensors: list[Value]) -> Result:
    """z = sum over the letters that are not in the output. Axes of one letter have one order; a
    letter that occurs twice in a term is a diagonal. Axes of an ellipsis are counted from its end.
    Without an output, it has the letters that occur once, sorted."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    letters: dict[str | int, Axis] = {}
    pairs, longest = [], 0
    for term, v in zip(inputs.split(","), tensors):
        op.observe(v)
        n = len(v.axes) - len(term.replace("...", "")) if "." in term else 0
        longest = max(longest, n)
        for key, e in zip(_keys(term, n), v.axes):
            if e.size > letters.setdefault(key, e).size:
                letters[key] = e
            elif e.size == letters[key].size:
                pairs.append((letters[key], e))
    if not arrow:
        output = "..." + "".join(sorted(k for k in set(inputs) - set(".,") if inputs.count(k) == 1))
    op.unify(*pairs)
    op.inner.append(list(letters.values()))
    return [letters[k] for k in _keys(output, longest)]
