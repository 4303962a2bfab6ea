# SPDX-License-Identifier: Apache-2.0
"""Operations that move, repeat, join or cut axes."""

from ..axes import EMPTY, ONE, Product, Sum, at, atoms, cut, fixed, free, regroup, unrolled, vary
from .call import CARRY, anything, broadcast, dims, index, rule, unknown, without
from .elementwise import spread


@rule(
    "view",
    "reshape",
    "_unsafe_view",
    "flatten",
    "unflatten",
    "squeeze",
    "unsqueeze",
    "view_copy",
    "ravel",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    labels=CARRY,
)
def reshape(c):
    return regroup(c.self.axes, c.sizes, c.reason)


@rule("permute", labels=CARRY)
def permute(c):
    return [c.self.axes[d] for d in c.dims]


@rule("transpose", "t", "mT", "numpy_T", "swapaxes", "swapdims", "adjoint", labels=CARRY)
def transpose(c):
    axes = list(c.self.axes)
    if len(axes) > 1:
        i, j = (c.dim0, c.dim1) if c.name in ("transpose", "swapaxes", "swapdims") else (-2, -1)
        axes[i], axes[j] = axes[j], axes[i]
    return axes


@rule("expand", "expand_as", "broadcast_to", labels=CARRY)
def expand(c):
    return spread(c.self.axes, c.sizes)


@rule("repeat", "tile")
def repeat(c):
    axes = [ONE] * (len(c.sizes) - len(c.self.axes)) + list(c.self.axes)
    return [
        e if e.size == n else Product([anything(n // e.size, axes), e])
        for e, n in zip(axes, c.sizes)
    ]


@rule("repeat_interleave")
def repeat_interleave(c):
    if c.dim is None or not isinstance(c.repeats, int):
        return unknown(c)
    axes, k = list(c.self.axes), index(c.dim, c.self.axes)
    axes[k] = Product([axes[k], anything(c.repeats, axes)])
    return axes


@rule("cat", "concat", "concatenate")
def cat(c):
    """The entries of each tensor in turn; empty tensors have none, and may have another number of
    axes."""
    k = index(c.dim or 0, c.sizes)
    tensors = [v.axes for v in c.tensors if all(e.size for e in v.axes)]
    out = broadcast(c, [[*t[:k], ONE, *t[k + 1 :]] for t in tensors])
    out[k] = Sum([t[k] for t in tensors])
    return out


@rule("stack")
def stack(c):
    out = broadcast(c, [v.axes for v in c.tensors])
    return [
        *out[: index(c.dim or 0, c.sizes)],
        fixed(len(c.tensors), c.reason),
        *out[index(c.dim or 0, c.sizes) :],
    ]


def pick(c, axes, k, i):
    """The axes after selecting entry i of axis k, without that axis."""
    axes = list(axes)
    rest = axes[:k] + axes[k + 1 :]
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
    axes = list(axes)
    first, end = (min(max(v + size if v < 0 else v, 0), size) for v in (first, end))
    length = max(0, -(-(end - first) // step))
    if not length:
        return [*axes[:k], EMPTY, *axes[k + 1 :]]
    if first == 0 and length == size:
        return axes
    if length == 1:
        small = all(not a.fixed or a.unrolled or a.dependents for a in atoms(axes[k]))
        if small and size <= 4096:
            rest = pick(c, axes, k, first)
            return [*rest[:k], ONE, *rest[k:]]
    e = axes[k]
    if step != 1:
        c.fix(e)
        return [*axes[:k], fixed(length, c.reason), *axes[k + 1 :]]
    pieces = cut(e, first, c.reason)
    pieces = pieces and cut(pieces[1], length, c.reason)
    if pieces is None:
        c.fix(axes[k])
        pieces = [fixed(length, c.reason)]
    return [*axes[:k], pieces[0], *axes[k + 1 :]]


@rule("select")
def select(c):
    k = index(c.dim, c.self.axes)
    return pick(c, c.self.axes, k, c.index + c.self.axes[k].size if c.index < 0 else c.index)


@rule("slice", "narrow")
def slice_(c):
    k = index(c.dim or 0, c.self.axes)
    size, start = c.self.axes[k].size, c.start or 0
    if not isinstance(start, int):
        return unknown(c)
    end = (
        start % size + c.length if c.name == "narrow" and size else size if c.end is None else c.end
    )
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
    if c.src.axes[k].size:
        broadcast(c, [part(c, c.self.axes, k, start, end, c.step or 1), c.src.axes])
    return c.self.axes


@rule("select_scatter")
def select_scatter(c):
    k = index(c.dim, c.self.axes)
    broadcast(c, [pick(c, c.self.axes, k, c.index % c.self.axes[k].size), c.src.axes])
    return c.self.axes


@rule("roll", "flip", "cumprod", "logcumsumexp", "diff", "fft_fftshift", "fft_ifftshift")
def ordered(c):
    """Entries at other places along these axes count; those along other axes do not."""
    axes = list(c.self.axes)
    for k in [len(axes) - 1] if c.name == "diff" and c.dim is None else dims(c, axes):
        c.fix(axes[k])
        c.inner.append(without(axes, k))
        if c.name == "diff":
            for v in [v for v in (c.prepend, c.append) if v is not None]:
                c.fix(v.axes[k])
                broadcast(c, [[*t[:k], ONE, *t[k + 1 :]] for t in (axes, v.axes)])
            axes[k] = fixed(c.sizes[k], c.reason)
    return axes


@rule(
    "pad",
    "constant_pad_nd",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
)
def pad(c):
    axes, amounts = list(c.self.axes), c.pad if c.pad is not None else c.padding
    zeros = c.name == "constant_pad_nd" or (c.name == "pad" and c.mode in (None, "constant"))
    for i in range(len(amounts) // 2):
        k, (left, right) = len(axes) - 1 - i, amounts[2 * i : 2 * i + 2]
        if not left and not right:
            continue
        if zeros and left >= 0 and right >= 0 and not all(a.fixed for a in atoms(axes[k])):
            others = axes[:k] + axes[k + 1 :]
            axes[k] = Sum(
                [
                    e
                    for e in (
                        anything(left, others) if left else None,
                        axes[k],
                        anything(right, others) if right else None,
                    )
                    if e is not None
                ]
            )
        else:
            c.fix(axes[k])
            axes[k] = fixed(c.sizes[k], c.reason)
    return axes


@rule("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(c):
    """The channels, on axis 1, are blocks of units; afterwards units of blocks."""
    axes = list(c.self.axes)
    blocks = Product([free(c.groups), free(axes[1].size // c.groups)])
    for a in atoms(blocks.parts[1]):
        for b in atoms(blocks.parts[0]):
            vary(a, b)
    c.unify((axes[1], blocks))
    axes[1] = Product(blocks.parts[::-1])
    return axes


@rule("pixel_shuffle", "pixel_unshuffle")
def pixel_shuffle(c):
    """A unit of few channels has the entries of several channels at one place."""
    axes, (channels, h, w) = c.self.axes, c.sizes[-3:]
    c.fix(*axes[-2:])
    squares = Product(
        [fixed(max(axes[-3].size, channels) // min(axes[-3].size, channels), c.reason)]
    )
    if c.name == "pixel_shuffle":
        inner = free(channels)
        c.unify((axes[-3], Product([inner, squares])))
    else:
        inner = Product([axes[-3], squares])
    return [*axes[:-3], inner, *c.fixed([h, w])]


@rule("im2col", "col2im", "unfold")
def unfold(c):
    """Each channel becomes one per place of a window. `unfold` slides along one axis."""
    axes = list(c.self.axes)
    if c.name == "unfold":
        k = index(c.dimension, axes)
        c.fix(axes[k])
        return axes[:k] + c.fixed(c.sizes[k : k + 1]) + axes[k + 1 :] + c.fixed(c.sizes[-1:])
    window, lead = (
        fixed(c.kernel_size[0] * c.kernel_size[-1], c.reason),
        len(c.sizes) - (2 if c.name == "im2col" else 3),
    )
    c.fix(*axes[lead + 1 :])
    if c.name == "im2col":
        return [*axes[:lead], Product([axes[lead], window]), *c.fixed(c.sizes[lead + 1 :])]
    channels = free(c.sizes[lead])
    c.unify((axes[lead], Product([channels, window])))
    return [*axes[:lead], channels, *c.fixed(c.sizes[lead + 1 :])]


@rule("diagonal", "diag_embed", "trace", "diagonal_copy")
def diagonal(c):
    """The rows and columns of a diagonal have one order."""
    axes = list(c.self.axes)
    if c.name == "diag_embed":
        i, j = sorted(
            index(v, c.sizes)
            for v in (-2 if c.dim1 is None else c.dim1, -1 if c.dim2 is None else c.dim2)
        )
        out = axes[:-1]
        for k in (i, j):
            out.insert(k, axes[-1])
    else:
        i, j = sorted(
            index(v, axes)
            for v in (0 if c.dim1 is None else c.dim1, 1 if c.dim2 is None else c.dim2)
        )
        out = [e for k, e in enumerate(axes) if k not in (i, j)] + [axes[i]] * (c.name != "trace")
    if c.offset or (c.name != "diag_embed" and axes[i].size != axes[j].size):
        return unknown(c)
    if c.name != "diag_embed":
        c.unify((axes[i], axes[j]))
    return out
