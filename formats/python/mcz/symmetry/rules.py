# SPDX-License-Identifier: Apache-2.0
"""One rule per PyTorch operation: how the axes of its outputs follow from those of its inputs (axes.py).

A rule gets a Call and returns the axes of the output, or a list of such for several outputs. An operation without a rule
fixes all axes of its inputs. Each rule may only say what is true of the operation for all values."""
import torch

from .axes import ONE, Product, Sum, at, atoms, cut, fix, fixed, free, outer, regroup, unify, unrolled, vary
from .capture import BATCH

RULES: dict = {}


def rule(*names):
    def add(f):
        RULES.update({n: f for n in names})
        return f
    return add


class Value:
    """A tensor of the network: the name of its node and its axes."""

    def __init__(self, node, axes):
        self.node, self.axes = node, axes

    def is_activation(self):
        return any(e.size >= BATCH for e in self.axes)

    def __str__(self):
        return self.node


class Call:
    """One operation: its arguments by name, the sizes of its outputs, the reason to give if it fixes an axis.
    observe(value): called for each value that a layer contracts. `read`: (weight, axis) that a layer contracts."""

    def __init__(self, name, arguments, sizes, reason, used, observe):
        self.name, self.arguments, self.sizes, self.reason, self.used = name, arguments, sizes, reason, used
        self.observe, self.read = observe, []

    def __getattr__(self, name):
        return self.arguments.get(name)

    def values(self):
        """All tensors among the arguments."""
        for a in self.arguments.values():
            for v in a if isinstance(a, (list, tuple)) else [a]:
                if isinstance(v, Value):
                    yield v

    def fix(self, *axes):
        for e in axes:
            fix(e, self.reason)

    def fixed(self, sizes):
        return [fixed(n, self.reason) for n in sizes]

    def unify(self, *pairs):
        """Unifies pairs of axes, outer ones first: the order within heads may vary with the head if the heads are one."""
        depth = [max((len(outer(a)) for e in pair for a in atoms(e)), default=0) for pair in pairs]
        for _, (e, f) in sorted(zip(depth, pairs), key=lambda p: p[0]):
            unify(e, f, self.reason)


def anything(size, axes):
    """A new axis along which all entries are equal, in a tensor with these other axes."""
    new = free(size)
    for a in dict.fromkeys(a for e in axes for a in atoms(e)) if new is not ONE else ():
        vary(new, a)
    return new


def uniform(sizes):
    axes = []
    for n in sizes:
        axes.append(anything(n, axes))
    return axes


def index(dim, axes):
    return dim + len(axes) if dim < 0 else dim


def dims(c, axes):
    d = c.dim if c.dim is not None else c.dims
    if d is None or d == []:
        return list(range(len(axes)))
    return [index(k, axes) for k in (d if isinstance(d, (list, tuple)) else [d])]


def broadcast(c, tensors, *pairs):
    """The axes of an elementwise operation on tensors with these axes. Unifies further pairs of axes with them."""
    out, pairs = [], list(pairs)
    for k in range(max(map(len, tensors), default=0)):
        own = [t[-1 - k] for t in tensors if k < len(t)]
        longest = max(own, key=lambda e: e.size)
        pairs += [(longest, e) for e in own if e is not longest and e.size > 1]
        out.insert(0, longest)
    c.unify(*pairs)
    return out


@rule("hardswish", "log_sigmoid", "special_expit", "negative", "multiply", "divide", "subtract", "absolute", "arctan",
      "complex", "polar", "real", "imag")  # without PyTorch's tag for elementwise operations
def pointwise(c):
    return broadcast(c, [v.axes for v in c.values()])


def unknown(c):
    for v in c.values():
        c.fix(*v.axes)
    return c.fixed(c.sizes) if not c.sizes or not isinstance(c.sizes[0], list) else [c.fixed(s) for s in c.sizes]


@rule("alias", "clone", "detach", "contiguous", "to", "_to_copy", "dropout", "feature_dropout", "alpha_dropout",
      "native_dropout", "lift_fresh", "lift_fresh_copy", "type_as", "softmax", "log_softmax", "_softmax", "_log_softmax",
      "_safe_softmax")
def same(c):
    axes = next(c.values()).axes
    return [axes, axes] if c.name == "native_dropout" else axes


@rule("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "fill", "zero")
def constant(c):
    return uniform(c.sizes)


# ---- shapes ----------------------------------------------------------------------------------------------------------

@rule("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "view_copy")
def reshape(c):
    return regroup(c.self.axes, c.sizes, c.reason)


@rule("permute")
def permute(c):
    return [c.self.axes[d] for d in c.dims]


@rule("transpose", "t", "mT", "numpy_T", "swapaxes", "adjoint")
def transpose(c):
    axes = list(c.self.axes)
    if len(axes) > 1:
        i, j = (c.dim0, c.dim1) if c.name in ("transpose", "swapaxes") else (-2, -1)
        axes[i], axes[j] = axes[j], axes[i]
    return axes


@rule("movedim")
def movedim(c):
    source, to = ([index(d, c.self.axes) for d in (v if isinstance(v, (list, tuple)) else [v])]
                  for v in (c.source, c.destination))
    out = [None] * len(c.self.axes)
    for s, d in zip(source, to):
        out[d] = c.self.axes[s]
    rest = iter(e for k, e in enumerate(c.self.axes) if k not in source)
    return [next(rest) if e is None else e for e in out]


@rule("expand", "expand_as")
def expand(c):
    axes = [ONE] * (len(c.sizes) - len(c.self.axes)) + list(c.self.axes)
    for k, n in enumerate(c.sizes):
        if axes[k].size != n:
            axes[k] = anything(n, axes[:k] + axes[k + 1:])
    return axes


@rule("repeat", "tile")
def repeat(c):
    axes = [ONE] * (len(c.sizes) - len(c.self.axes)) + list(c.self.axes)
    return [e if e.size == n else Product([anything(n // e.size, axes), e]) for e, n in zip(axes, c.sizes)]


@rule("repeat_interleave")
def repeat_interleave(c):
    if c.dim is None or not isinstance(c.repeats, int):
        return unknown(c)
    axes, k = list(c.self.axes), index(c.dim, c.self.axes)
    axes[k] = Product([axes[k], anything(c.repeats, axes)])
    return axes


@rule("cat", "concat")
def cat(c):
    tensors = [v.axes for v in c.tensors if v.axes != [ONE] or len(c.sizes) == 1]
    tensors = [t for t in tensors if len(t) == len(c.sizes)]
    k = index(c.dim or 0, c.sizes)
    out = broadcast(c, [t[:k] + [ONE] + t[k + 1:] for t in tensors])
    out[k] = Sum([t[k] for t in tensors])
    return out


@rule("stack")
def stack(c):
    out = broadcast(c, [v.axes for v in c.tensors])
    return out[:index(c.dim or 0, c.sizes)] + [fixed(len(c.tensors), c.reason)] + out[index(c.dim or 0, c.sizes):]


def pick(c, axes, k, i):
    """The axes after selecting entry i of axis k, without that axis."""
    rest = axes[:k] + axes[k + 1:]
    if axes[k].size == 1:
        return rest
    if axes[k].size > 4096:
        c.fix(axes[k])
        return rest
    for p, j in unrolled(axes[k], c.reason)[i]:
        rest = [at(e, p, j) for e in rest]
    return rest


def part(c, axes, k, first, end, step=1):
    """The axes after x[first:end:step] on axis k."""
    size = axes[k].size
    first, end = (min(max(v + size if v < 0 else v, 0), size) for v in (first, end))
    length = max(0, -(-(end - first) // step))
    if first == 0 and length == size:
        return axes
    if length == 1:
        small = all(not a.fixed or a.unrolled or a.dependents for a in atoms(axes[k]))
        if small and size <= 4096:
            rest = pick(c, axes, k, first)
            return rest[:k] + [ONE] + rest[k:]
    e = axes[k]
    if step != 1:
        c.fix(e)
        return axes[:k] + [fixed(length, c.reason)] + axes[k + 1:]
    e = _cut(c, e, first, 1)
    e = e and _cut(c, e, length, 0)
    if e is None:
        c.fix(axes[k])
        e = fixed(length, c.reason)
    return axes[:k] + [e] + axes[k + 1:]


def _cut(c, e, size, side):
    """The entries of e before (side 0) or from (side 1) entry `size`, or None."""
    if size in (0, e.size):
        return e if bool(size) != bool(side) else ONE
    pieces = cut(e, size, c.reason)
    return pieces and pieces[side]


@rule("select")
def select(c):
    k = index(c.dim, c.self.axes)
    return pick(c, c.self.axes, k, c.index + c.self.axes[k].size if c.index < 0 else c.index)


@rule("slice", "narrow")
def slice_(c):
    k = index(c.dim or 0, c.self.axes)
    start = c.start or 0
    end = start + c.length if c.name == "narrow" else c.self.axes[k].size if c.end is None else c.end
    return part(c, c.self.axes, k, start, end, c.step or 1)


@rule("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk")
def split(c):
    k, start, out = index(c.dim or 0, c.self.axes), 0, []
    for sizes in c.sizes:
        out.append(part(c, c.self.axes, k, start, start + sizes[k]))
        start += sizes[k]
    return out


@rule("unbind")
def unbind(c):
    k = index(c.dim or 0, c.self.axes)
    return [pick(c, c.self.axes, k, i) for i in range(len(c.sizes))]


@rule("glu")
def glu(c):
    k = index(-1 if c.dim is None else c.dim, c.self.axes)
    half = c.self.axes[k].size // 2
    return broadcast(c, [part(c, c.self.axes, k, i * half, (i + 1) * half) for i in range(2)])


@rule("slice_scatter")
def slice_scatter(c):
    k = index(c.dim or 0, c.self.axes)
    start, end = c.start or 0, c.self.axes[k].size if c.end is None else c.end
    broadcast(c, [part(c, c.self.axes, k, start, end, c.step or 1), c.src.axes])
    return c.self.axes


@rule("select_scatter")
def select_scatter(c):
    k = index(c.dim, c.self.axes)
    broadcast(c, [pick(c, c.self.axes, k, c.index % c.self.axes[k].size), c.src.axes])
    return c.self.axes


@rule("roll", "flip", "cumsum", "cumprod", "logcumsumexp")
def ordered(c):
    for k in dims(c, c.self.axes):
        c.fix(c.self.axes[k])
    return c.self.axes


@rule("pad", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
      "replication_pad2d", "replication_pad3d")
def pad(c):
    axes, amounts = list(c.self.axes), c.pad if c.pad is not None else c.padding
    zeros = c.name == "constant_pad_nd" or c.name == "pad" and c.mode in (None, "constant")
    for i in range(len(amounts) // 2):
        k, (left, right) = len(axes) - 1 - i, amounts[2 * i:2 * i + 2]
        if not left and not right:
            continue
        if zeros and left >= 0 and right >= 0 and not all(a.fixed for a in atoms(axes[k])):
            others = axes[:k] + axes[k + 1:]
            axes[k] = Sum([e for e in (anything(left, others) if left else None, axes[k],
                                       anything(right, others) if right else None) if e is not None])
        else:
            c.fix(axes[k])
            axes[k] = fixed(c.sizes[k], c.reason)
    return axes


@rule("index")
def index_(c):
    axes, out, places = c.self.axes, [], []
    for k, e in enumerate(axes):
        i = c.indices[k] if k < len(c.indices) else None
        if i is None:
            out.append(e)
        else:
            c.fix(e, *i.axes)
            places.append((k, len(out)))
    if not places:
        return out
    together = [k for k, _ in places] == list(range(places[0][0], places[-1][0] + 1))
    new = len(c.sizes) - len(out)
    first = places[0][1] if together else 0
    return out[:first] + c.fixed(c.sizes[first:first + new]) + out[first:]


@rule("index_select")
def index_select(c):
    k = index(c.dim, c.self.axes)
    c.fix(c.self.axes[k])
    return c.self.axes[:k] + [fixed(c.sizes[k], c.reason)] + c.self.axes[k + 1:]


@rule("copy")
def copy(c):
    return broadcast(c, [c.self.axes, c.src.axes])


@rule("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle")
def shuffle(c):
    axes, (channels, h, w) = c.self.axes, c.sizes[-3:]
    if "pixel" not in c.name:
        blocks = Product([free(c.groups), free(channels // c.groups)])
        for a in atoms(blocks.parts[1]):
            vary(a, *atoms(blocks.parts[0]))
        c.unify((axes[-3], blocks))
        return axes[:-3] + [Product(blocks.parts[::-1])] + axes[-2:]
    c.fix(*axes[-2:])
    squares = Product([fixed(max(axes[-3].size, channels) // min(axes[-3].size, channels), c.reason)])
    if c.name == "pixel_shuffle":
        inner = free(channels)
        c.unify((axes[-3], Product([inner, squares])))
    else:
        inner = Product([axes[-3], squares])
    return axes[:-3] + [inner] + c.fixed([h, w])


# ---- sums and norms --------------------------------------------------------------------------------------------------

@rule("sum", "mean", "amax", "amin", "var", "std", "norm", "linalg_vector_norm", "logsumexp", "all", "any", "prod",
      "argmax", "argmin", "max", "min", "var_mean", "std_mean", "aminmax", "count_nonzero")
def reduce(c):
    if c.name in ("max", "min") and isinstance(c.other, Value):
        return pointwise(c)
    over = dims(c, c.self.axes)
    if c.name.startswith("arg") or c.name in ("max", "min") and c.used(1):
        c.fix(*[c.self.axes[k] for k in over])
    out = [ONE if k in over else e for k, e in enumerate(c.self.axes) if c.keepdim or k not in over]
    return [out] * len(c.sizes) if c.sizes and isinstance(c.sizes[0], list) else out


@rule("cosine_similarity", "pairwise_distance")
def similarity(c):
    out = broadcast(c, [v.axes for v in c.values()])
    k = index((1 if c.name == "cosine_similarity" else -1) if c.dim is None else c.dim, out)
    return out[:k] + [ONE] * bool(c.keepdim) + out[k + 1:]


@rule("batch_norm", "_native_batch_norm_legit_no_training", "_native_batch_norm_legit", "instance_norm", "prelu")
def channels(c):
    x, *vectors = c.values()
    for v in vectors:
        if v.axes[0].size > 1:
            c.unify((x.axes[1], v.axes[0]))
    return [x.axes, *map(c.fixed, c.sizes[1:])] if c.name.startswith("_native") else x.axes


@rule("group_norm", "native_group_norm")
def group_norm(c):
    axes, n = c.input.axes, c.num_groups or c.group
    blocks, inner = free(n), free(axes[1].size // n)
    for a in atoms(inner):
        for b in atoms(blocks):
            vary(a, b)
    c.unify((axes[1], Product([blocks, inner])))
    for v in list(c.values())[1:]:
        c.unify((axes[1], v.axes[0]))
    return axes


@rule("layer_norm", "rms_norm", "native_layer_norm", "_fused_rms_norm")
def layer_norm(c):
    axes = c.input.axes
    for v in list(c.values())[1:]:
        broadcast(c, [axes[len(axes) - len(v.axes):], v.axes])
    return [axes, *map(c.fixed, c.sizes[1:])] if isinstance(c.sizes[0], list) else axes


@rule("_weight_norm", "_weight_norm_interface")
def weight_norm(c):
    broadcast(c, [c.v.axes, c.g.axes])
    return c.v.axes if c.name == "_weight_norm" else [c.v.axes, c.g.axes]


# ---- layers ----------------------------------------------------------------------------------------------------------

@rule("linear")
def linear(c):
    c.observe(c.input)
    c.read.append((c.weight, len(c.weight.axes) - 1))
    c.unify((c.input.axes[-1], c.weight.axes[-1]))
    out = c.input.axes[:-1] + c.weight.axes[:-1]
    if c.bias is not None:
        c.unify((out[-1], c.bias.axes[0]))
    return out


def product(c, x, y):
    """The axes of the matrix product of x and y."""
    c.observe(x)
    c.observe(y)
    if x.is_activation() or y.is_activation():
        c.read += [(x, len(x.axes) - 1), (y, max(0, len(y.axes) - 2))]
    x, y = x.axes, y.axes
    out = broadcast(c, [x[:-2], y[:-2]], (x[-1], y[-2] if len(y) > 1 else y[0]))
    return out + x[-2:-1] + (y[-1:] if len(y) > 1 else [])


@rule("matmul", "mm", "bmm", "mv", "dot", "vdot")
def matmul(c):
    x, y = list(c.values())
    return product(c, x, y)


@rule("outer", "ger")
def outer_product(c):
    return [v.axes[0] for v in c.values()]


@rule("cdist")
def cdist(c):
    x, y = list(c.values())
    return broadcast(c, [x.axes[:-2], y.axes[:-2]], (x.axes[-1], y.axes[-1])) + [x.axes[-2], y.axes[-2]]


@rule("view_as_real", "view_as_complex")
def as_real(c):
    axes = c.self.axes
    if c.name == "view_as_real":
        return axes + [fixed(2, c.reason)]
    c.fix(axes[-1])
    return axes[:-1]


@rule("addmm", "baddbmm", "addmv")
def addmm(c):
    b, x, y = list(c.values())
    return broadcast(c, [product(c, x, y), b.axes])


@rule("einsum")
def einsum(c):
    equation, operands = c.equation.replace(" ", ""), c.operands if c.operands is not None else c.tensors
    inputs, _, output = equation.partition("->")
    letters, pairs = {}, []
    if "." in equation or any(len(set(t)) < len(t) for t in inputs.split(",")) or "->" not in equation:
        return unknown(c)
    for term, v in zip(inputs.split(","), operands):
        c.observe(v)
        for letter, e in zip(term, v.axes):
            if e.size > letters.setdefault(letter, e).size:
                letters[letter] = e
            elif e.size == letters[letter].size:
                pairs.append((letters[letter], e))
    c.unify(*pairs)
    return [letters[k] for k in output]


@rule("bilinear")
def bilinear(c):
    x, y, w = c.input1, c.input2, c.weight
    c.unify((x.axes[-1], w.axes[1]))
    c.unify((y.axes[-1], w.axes[2]))
    if c.bias is not None:
        c.unify((w.axes[0], c.bias.axes[0]))
    return broadcast(c, [x.axes[:-1], y.axes[:-1]]) + [w.axes[0]]


@rule("scaled_dot_product_attention")
def attention(c):
    q, k, v = c.query, c.key, c.value
    for x in (q, k, v):
        c.observe(x)
    batch = [list(x.axes[:-2]) for x in (q, k, v)]
    if c.enable_gqa and q.axes[-3].size != k.axes[-3].size:
        c.unify((k.axes[-3], v.axes[-3]))
        more = Product([k.axes[-3], anything(q.axes[-3].size // k.axes[-3].size, batch[1])])
        c.unify((q.axes[-3], more))
        batch[1][-1] = batch[2][-1] = more
    out = broadcast(c, batch, (q.axes[-1], k.axes[-1]), (k.axes[-2], v.axes[-2]))
    if c.attn_mask is not None:
        broadcast(c, [c.attn_mask.axes, out + [q.axes[-2], k.axes[-2]]])
    if c.is_causal:
        c.fix(q.axes[-2], k.axes[-2])
    return out + [q.axes[-2], v.axes[-1]]


@rule("conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def convolution(c):
    x, w, n = c.input, c.weight, c.groups or 1
    c.observe(x)
    transposed = "transpose" in c.name or bool(c.transposed)
    c.read.append((w, 0 if transposed else 1))
    spatial = len(w.axes) - 2
    lead = len(x.axes) - spatial - 1
    blocks = free(n)
    outputs = w.axes[1] if transposed else w.axes[0]
    if n > 1:
        # axis 0 of the weight contains the blocks; the order on axis 1 may vary with the block
        inner = free(w.axes[0].size // n)
        for a in atoms(inner):
            vary(a, blocks)
        c.unify((w.axes[0], Product([blocks, inner])))
        other = Product([blocks, w.axes[1]])
        outputs, inputs = (other, w.axes[0]) if transposed else (w.axes[0], other)
    else:
        inputs = w.axes[0] if transposed else w.axes[1]
    c.unify((x.axes[lead], inputs))
    if c.bias is not None:
        c.unify((outputs, c.bias.axes[0]))
    ones = [e.size == 1 for e in w.axes[2:]]
    places = x.axes[lead + 1:]
    if not all(ones) or c.sizes[lead + 1:] != [e.size for e in places]:
        c.fix(*w.axes[2:], *places)
        places = c.fixed(c.sizes[lead + 1:])
    return x.axes[:lead] + [outputs] + places


@rule("embedding")
def embedding(c):
    fix(c.weight.axes[0], "vocabulary")
    return c.indices.axes + c.weight.axes[1:]


@rule(*["%s%dd%s" % (name, n, more) for n in (1, 2, 3) for name, more in (
    ("max_pool", ""), ("max_pool", "_with_indices"), ("avg_pool", ""), ("adaptive_avg_pool", ""), ("_adaptive_avg_pool", ""),
    ("adaptive_max_pool", ""), ("upsample_nearest", ""), ("_upsample_nearest_exact", ""))],
      "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa",
      "_upsample_bicubic2d_aa")
def pool(c):
    axes, n = next(c.values()).axes, int(next(ch for ch in c.name if ch.isdigit()))
    c.fix(*axes[-n:])
    several = c.sizes and isinstance(c.sizes[0], list)
    out = axes[:-n] + c.fixed((c.sizes[0] if several else c.sizes)[-n:])
    return [out] * len(c.sizes) if several else out


def apply(c, op):
    """The axes of the outputs of an operation."""
    if c.name in RULES:
        return RULES[c.name](c)
    packet = getattr(op, "overloadpacket", None)
    if packet and any(torch.Tag.pointwise in getattr(packet, o).tags for o in packet.overloads()):
        return pointwise(c)
    return unknown(c)
