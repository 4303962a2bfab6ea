# SPDX-License-Identifier: Apache-2.0
"""The maps M along an axis with which an operation commutes: f(M x) = M f(x).
An operation that is not listed commutes with permutations only.

    invertible  any matrix, its inverse transposed on the other operand of a product
    orthogonal  M M^T = I
    centred     orthogonal, and M 1 = 1
    signed      a diagonal of signs
    scaled      a positive diagonal"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .axes import Atom
from .calls import Call, Node
from .rules import Value
from .rules.kinds import MOVES, NORMS

Kinds = frozenset[str]
CENTRED: Kinds = frozenset({"centred"})
ORTHOGONAL: Kinds = CENTRED | {"orthogonal", "signed"}
LINEAR: Kinds = ORTHOGONAL | {"invertible", "scaled"}
SIGNED: Kinds = frozenset({"signed"})
SCALED: Kinds = frozenset({"scaled"})
NONE: Kinds = frozenset()
RULES: dict[str, Callable[[Call, Atom], Kinds]] = {}
F = Callable[[Call, Atom], Kinds]


def commutes(operations: str) -> Callable[[F], F]:
    """Registers a function (operation, atom) -> kinds of maps for these kinds of operations."""

    def add(f: F) -> F:
        RULES.update(dict.fromkeys(operations.split(), f))
        return f

    return add


def kinds(call: Call, a: Atom) -> Kinds:
    """The maps along an atom with which an operation commutes."""
    return RULES[call.kind](call, a) if call.kind in RULES else NONE


@commutes(" ".join(MOVES))
def move(c: Call, a: Atom) -> Kinds:
    """y = entries of x: the axis of a is moved as a whole. Places may not name its units."""
    return NONE if any(v.label for v in c.inputs) else LINEAR


@commutes("constant")
def constant(c: Call, a: Atom) -> Kinds:
    """y = t 1."""
    return LINEAR if "zeros" in c.name or not c.has(c.outputs[0], a) else CENTRED


@commutes("neg")
def linear_map(c: Call, a: Atom) -> Kinds:
    """y = t x for a number t."""
    return LINEAR


@commutes("add sub")
def addition(c: Call, a: Atom) -> Kinds:
    """y = x + z: M x + M z = M (x + z). A number z is z 1, and M 1 = 1 if M is centred. A sum
    that is a gain of equal numbers commutes with every M."""
    if _is_gain(c, c.node) and is_uniform(c, c.node, a):
        return LINEAR
    operands = [c.args["self"], c.args.get("other")]
    return LINEAR if all(_varies(c, v, a) for v in operands) else CENTRED


def _is_gain(c: Call, node: Node) -> bool:
    """True for a sum by which only numbers that are not constant are multiplied."""
    while c.program.gain(node):
        users = [u for u in map(c.program.of.get, node.users) if u is not None]
        if len(users) != 1 or users[0].kind != "same":
            factors = [u.kind in ("mul", *NORMS) for u in users]
            return all(factors) and not any(u.node in c.program.constants for u in users)
        node = users[0].node
    return False


def _varies(c: Call, operand: Any, a: Atom) -> bool:
    """True for a tensor with an atom, and for 0."""
    return c.has(c.value(operand), a) if isinstance(operand, Node) else operand in (0, None)


@commutes("mul div")
def product(c: Call, a: Atom) -> Kinds:
    """y = t x for a number t per entry of other axes: M (t x) = t M x. A gain of equal numbers is
    one. x * x is a norm if it is summed."""
    own = [n for n in c.nodes if c.has(c.value(n), a)]
    if len(own) == 2:
        own = [n for n in own if not is_uniform(c, n, a)]
    if c.name == "div" and own != [c.args["self"]]:
        return NONE
    if len(c.nodes) == 1 and c.args.get("self") is c.args.get("other"):
        return square(c, a)
    return LINEAR if len(own) == 1 else NONE


def is_uniform(c: Call, node: Node, a: Atom) -> bool:
    """True for a constant whose numbers along an atom's axis are equal."""
    v = c.value(node)
    if node not in c.program.constants or v is None:
        return False
    x = c.program.evaluate(node, c.program.run.state)
    own = [k for k, s in enumerate(c.program.atoms_of(v)) if a in s]
    return all(bool((x == x.narrow(k, 0, 1)).all()) for k in own)


@commutes("pow square")
def square(c: Call, a: Atom) -> Kinds:
    """y_i = x_i^2, of which only the sum over i is read: |M x|^2 = |x|^2 if M is orthogonal."""
    return ORTHOGONAL if is_square(c.node, c) and _summed(c, c.node, a) else NONE


def is_square(node: Node, c: Call) -> bool:
    """True for x^2."""
    own = c.program.of.get(node)
    return own is not None and (
        own.name == "square"
        or (own.name == "pow" and own.args.get("exponent") == 2)
        or (own.name == "mul" and own.args["self"] is own.args["other"])
    )


def _summed(c: Call, node: Node, a: Atom) -> bool:
    """True if all that reads a node sums it over an atom's axis."""
    for user in node.users:
        own = c.program.of.get(user)
        if own is None or not (
            _summed(c, user, a)
            if own.kind == "same"
            else own.name in ("mean", "sum") and not c.has(own.outputs[0], a)
        ):
            return False
    return bool(node.users)


@commutes("mean sum")
def total(c: Call, a: Atom) -> Kinds:
    """y = sum over i of x_i: linear in other axes. Over the axis itself it is 1^T M x = 1^T x for a
    centred M, or that of squares a norm."""
    if c.has(c.outputs[0], a):
        return LINEAR
    node = c.nodes[0]
    while c.program.of[node].kind == "same" if node in c.program.of else False:
        node = c.program.of[node].nodes[0]
    return ORTHOGONAL if is_square(node, c) else CENTRED


@commutes("linalg_vector_norm norm")
def length(c: Call, a: Atom) -> Kinds:
    """y = |x| over the axis."""
    order = c.args.get("ord", c.args.get("p", 2))
    return ORTHOGONAL if order in (2, None) and not c.has(c.outputs[0], a) else NONE


@commutes("layer_norm")
def layer_norm(c: Call, a: Atom) -> Kinds:
    """y = (x - mean) / deviation * w + b: with equal gains w it commutes with what keeps mean and
    length, so with centred maps. b is a vector along the axis."""
    return normalised(c, a, CENTRED)


@commutes("rms_norm")
def rms_norm(c: Call, a: Atom) -> Kinds:
    """y = x / length * w: with equal gains w it commutes with what keeps the length."""
    return normalised(c, a, ORTHOGONAL)


def normalised(c: Call, a: Atom, found: Kinds) -> Kinds:
    """The kinds `found` if a norm is over an atom's axis, with equal gains."""
    x, n = c.inputs[0], len(c.args["normalized_shape"])
    over = range(len(x.axes) - n, len(x.axes))
    gain = c.args.get("weight")
    equal = gain is None or is_uniform(c, gain, a)
    inside = [k for k, s in enumerate(c.program.atoms_of(x)) if a in s]
    return found if equal and all(k in over for k in inside) else NONE


@commutes("linear")
def linear(c: Call, a: Atom) -> Kinds:
    """y_o = sum over i of W[o, i] x_i + b_o: the maps of i cancel, those of o move W and b."""
    x, w, b = (c.value(k) for k in ("input", "weight", "bias"))
    return _biased(c, b, a) if c.has(x, a) or c.has(w, a, 0) else NONE


def _biased(c: Call, b: Value | None, a: Atom) -> Kinds:
    """The kinds of an operation that is linear except for the bias b."""
    return LINEAR if b is None or c.has(b, a) or not c.has(c.outputs[0], a) else CENTRED


@commutes("matmul addmm")
def matmul(c: Call, a: Atom) -> Kinds:
    """z_ij = sum over k of x_ik y_kj, in each matrix of a batch: linear in i, j and k. The matrices
    of a batch are multiplied one by one."""
    x, y = c.inputs[-2:] if len(c.nodes) > 1 else c.inputs * 2
    both = [any(a in s for s in c.program.atoms_of(v)[:-2]) for v in (x, y)]
    bias = c.value("self") if c.kind == "addmm" else None
    return NONE if all(both) else _biased(c, bias, a)


@commutes("einsum")
def einsum(c: Call, a: Atom) -> Kinds:
    """z = sum over letters that the output lacks: linear in a letter of one term, or of two terms
    and not of the output."""
    equation, _, output = c.args["equation"].replace(" ", "").partition("->")
    terms = equation.split(",")
    if "." in equation or not output or len(terms) != len(c.nodes):
        return NONE
    letters = [
        [ch for k, ch in enumerate(term) if a in c.program.atoms_of(v)[k]]
        for term, v in zip(terms, c.inputs)
    ]
    for ch in {ch for own in letters for ch in own}:
        n = sum(own.count(ch) for own in letters)
        if n != sum(term.count(ch) for term in terms) or n != (1 if ch in output else 2):
            return NONE
    return LINEAR


@commutes("scaled_dot_product_attention")
def attention(c: Call, a: Atom) -> Kinds:
    """y = softmax(q k^T) v: linear in the channels of v; in those of q and k the maps cancel."""
    last = 0
    for name in ("query", "key", "value"):
        v = c.value(name)
        if any(c.has(v, a, k) for k in range(len(v.axes) - 1 if v else 0)):
            return NONE
        last += c.has(v, a, -1)
    return NONE if c.has(c.value("attn_mask"), a) or not last else LINEAR


@commutes("convolution")
def convolution(c: Call, a: Atom) -> Kinds:
    """y_o = sum over i of W[o, i] * x_i + b_o, in one group: as a linear layer."""
    x, w, b = (c.value(k) for k in ("input", "weight", "bias"))
    if c.args.get("groups", 1) != 1 or c.args.get("transposed") or x is None or w is None:
        return NONE
    channel = len(x.axes) - len(w.axes) + 1
    wrong = [k for k in range(len(x.axes)) if k != channel and c.has(x, a, k)]
    return NONE if wrong or any(c.has(w, a, k) for k in range(2, len(w.axes))) else _biased(c, b, a)


@commutes("embedding")
def embedding(c: Call, a: Atom) -> Kinds:
    """y[n] = W[x[n]]: its rows are vectors along the axis."""
    return NONE if c.has(c.value("weight"), a, 0) or c.has(c.value("indices"), a) else LINEAR


@commutes("avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d")
def average(c: Call, a: Atom) -> Kinds:
    """y = a mean over places, in each channel."""
    return LINEAR


@commutes("pad constant_pad_nd")
def pad(c: Call, a: Atom) -> Kinds:
    """y = x between zeros."""
    zeros = c.args.get("value") in (0, None) and c.args.get("mode", "constant") == "constant"
    return LINEAR if zeros else NONE


@commutes("relu leaky_relu max_pool1d max_pool2d max_pool3d")
def homogeneous(c: Call, a: Atom) -> Kinds:
    """f(t x) = t f(x) for t > 0."""
    return SCALED


@commutes("tanh sin sinh asinh atan erf")
def odd(c: Call, a: Atom) -> Kinds:
    """f(-x) = -f(x)."""
    return SIGNED
