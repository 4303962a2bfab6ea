# SPDX-License-Identifier: Apache-2.0
"""Layers: products of matrices, attention, convolutions, pooling, Fourier transforms."""

from ..axes import Product, atoms, fix, fixed, free, vary
from .call import READ, anything, broadcast, index, rule, unknown


@rule("linear")
def linear(c):
    c.observe(c.input)
    c.read.append((c.weight, len(c.weight.axes) - 1))
    c.unify((c.input.axes[-1], c.weight.axes[-1]))
    out = c.input.axes[:-1] + c.weight.axes[:-1]
    c.inner.append([*out, c.input.axes[-1]])
    return out if c.bias is None else broadcast(c, [out, c.bias.axes])


def product(c, x, y):
    """The axes of the matrix product of x and y."""
    c.observe(x)
    c.observe(y)
    if x.is_activation() or y.is_activation():
        c.read += [(x, len(x.axes) - 1), (y, max(0, len(y.axes) - 2))]
    x, y = x.axes, y.axes
    out = broadcast(c, [x[:-2], y[:-2]], (x[-1], y[-2] if len(y) > 1 else y[0]))
    out += x[-2:-1] + (y[-1:] if len(y) > 1 else [])
    c.inner.append([*out, x[-1]])
    return out


@rule("matmul", "mm", "bmm", "mv", "dot", "vdot")
def matmul(c):
    x, y = list(c.values())
    return product(c, x, y)


@rule("tensordot", "inner")
def tensordot(c):
    """Contracts pairs of axes; the others are those of the output."""
    x, y = c.self, c.other
    one, two = ([-1], [-1]) if c.name == "inner" else (c.dims_self, c.dims_other)
    if not x.axes or not y.axes:
        return unknown(c)
    one, two = [index(k, x.axes) for k in one], [index(k, y.axes) for k in two]
    if any(
        x.axes[i].size != y.axes[j].size for i, j in zip(one, two)
    ):  # an axis of one entry is summed first
        return unknown(c)
    c.observe(x)
    c.observe(y)
    c.unify(*((x.axes[i], y.axes[j]) for i, j in zip(one, two)))
    rest = [e for k, e in enumerate(y.axes) if k not in two]
    c.inner.append([*x.axes, *rest])
    return [e for k, e in enumerate(x.axes) if k not in one] + rest


@rule("kron")
def kron(c):
    """Each entry of the first matrix becomes a block of the second."""
    x, y = ([free(1)] * (len(c.sizes) - len(v.axes)) + list(v.axes) for v in c.values())
    return [Product(p) for p in zip(x, y)]


@rule("outer", "ger")
def outer_product(c):
    return [v.axes[0] for v in c.values()]


@rule("cdist")
def cdist(c):
    x, y = list(c.values())
    out = [
        *broadcast(c, [x.axes[:-2], y.axes[:-2]], (x.axes[-1], y.axes[-1])),
        x.axes[-2],
        y.axes[-2],
    ]
    c.inner.append([*out, x.axes[-1]])
    return out


@rule("view_as_real", "view_as_complex")
def as_real(c):
    axes = c.self.axes
    if c.name == "view_as_real":
        return [*axes, fixed(2, c.reason)]
    c.fix(axes[-1])
    return axes[:-1]


@rule("addmm", "baddbmm", "addmv")
def addmm(c):
    b, x, y = list(c.values())
    return broadcast(c, [product(c, x, y), b.axes])


@rule("einsum")
def einsum(c):
    """Axes of one letter have one order. A letter that occurs twice in a term is a diagonal. Axes
    of an ellipsis are counted from its end. Without an output, it has the letters that occur once,
    sorted."""
    equation, operands = (
        c.equation.replace(" ", ""),
        c.operands if c.operands is not None else c.tensors,
    )
    inputs, arrow, output = equation.partition("->")
    letters, pairs, longest = {}, [], 0

    def expanded(term, n):
        """The keys of a term's axes: letters, and numbers for an ellipsis of n axes."""
        return [
            k
            for word in term.replace("...", ".")
            for k in (range(-n, 0) if word == "." else [word])
        ]

    for term, v in zip(inputs.split(","), operands):
        c.observe(v)
        n = len(v.axes) - len(term.replace("...", "")) if "." in term else 0
        longest = max(longest, n)
        for key, e in zip(expanded(term, n), v.axes):
            if e.size > letters.setdefault(key, e).size:
                letters[key] = e
            elif e.size == letters[key].size:
                pairs.append((letters[key], e))
    if not arrow:
        output = "..." + "".join(sorted(k for k in set(inputs) - set(".,") if inputs.count(k) == 1))
    c.unify(*pairs)
    c.inner.append(list(letters.values()))
    return [letters[k] for k in expanded(output, longest)]


@rule("bilinear")
def bilinear(c):
    x, y, w = c.input1, c.input2, c.weight
    c.unify((x.axes[-1], w.axes[1]))
    c.unify((y.axes[-1], w.axes[2]))
    if c.bias is not None:
        c.unify((w.axes[0], c.bias.axes[0]))
    out = [*broadcast(c, [x.axes[:-1], y.axes[:-1]]), w.axes[0]]
    c.inner.append([*out, x.axes[-1], y.axes[-1]])
    return out


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
        broadcast(c, [c.attn_mask.axes, [*out, q.axes[-2], k.axes[-2]]])
    if c.is_causal:
        c.fix(q.axes[-2], k.axes[-2])
    c.inner += [[*out, q.axes[-2], k.axes[-2], *more] for more in (q.axes[-1:], [], v.axes[-1:])]
    return [*out, q.axes[-2], v.axes[-1]]


@rule(
    "conv1d",
    "conv2d",
    "conv3d",
    "convolution",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
)
def convolution(c):
    """Channels of groups, as blocks. Positions along an axis keep their order if each output is one
    position of the input, in the same place: a kernel of 1 without stride and padding."""
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
    c.inner.append([*x.axes, outputs])
    places = []
    for k, (e, window) in enumerate(zip(x.axes[lead + 1 :], w.axes[2:])):
        stride, pad, more = (_setting(v, k) for v in (c.stride, c.padding, c.output_padding))
        if (
            window.size == 1
            and stride in (None, 1)
            and pad in (None, 0, "same", "valid")
            and not more
        ):
            places.append(e)
        else:
            c.fix(window, e)
            places += c.fixed(c.sizes[lead + 1 + k : lead + 2 + k])
    return [*x.axes[:lead], outputs, *places]


def _setting(v, k):
    """The setting of a convolution on spatial axis k: settings are numbers, words, or lists of one
    or of all axes."""
    return v[k if len(v) > 1 else 0] if isinstance(v, (list, tuple)) and v else v or None


@rule("embedding", labels=READ)
def embedding(c):
    """Rows by number. Labels name the rows that move with their axis."""
    label, rows = c.indices.label, c.weight.axes[0]
    if label and label.ends is None and label.axis.size == rows.size:
        c.unify((label.axis, rows))
        c.units = label.data is not None
    else:
        fix(rows, "vocabulary")
        c.fix(*c.indices.references)
    return c.indices.axes + c.weight.axes[1:]


@rule(
    *[
        f"{name}{n}d{more}"
        for n in (1, 2, 3)
        for name, more in (
            ("max_pool", ""),
            ("max_pool", "_with_indices"),
            ("avg_pool", ""),
            ("adaptive_avg_pool", ""),
            ("_adaptive_avg_pool", ""),
            ("adaptive_max_pool", ""),
            ("upsample_nearest", ""),
            ("_upsample_nearest_exact", ""),
        )
    ],
    "upsample_linear1d",
    "upsample_bilinear2d",
    "upsample_trilinear3d",
    "upsample_bicubic2d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
)
def pool(c):
    axes, n = next(c.values()).axes, int(next(ch for ch in c.name if ch.isdigit()))
    c.fix(*axes[-n:])
    several = c.sizes and isinstance(c.sizes[0], list)
    out = axes[:-n] + c.fixed((c.sizes[0] if several else c.sizes)[-n:])
    return [out] * len(c.sizes) if several else out


@rule("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(c):
    """The grid has the positions of the output, and their coordinates in the input on its last
    axis."""
    x, grid = c.input.axes, c.grid.axes
    c.fix(*x[2:], grid[-1])
    c.unify((x[0], grid[0]))
    return [*x[:2], *grid[1:-1]]


TRANSFORMS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@rule(
    *["fft_" + name + n for name in TRANSFORMS for n in ("", "2", "n")],
    "_fft_c2c",
    "_fft_r2c",
    "_fft_c2r",
)
def fourier(c):
    """Mixes the entries along its axes; those along others are independent."""
    axes, d = list(c.self.axes), c.dim
    if d is None:
        n = (
            len(axes)
            if c.name.endswith("n") and c.s is None
            else len(c.s)
            if c.name.endswith("n")
            else 1 + c.name.endswith("2")
        )
        d = range(-n, 0)
    for k in [index(k, axes) for k in ([d] if isinstance(d, int) else d)]:
        c.fix(axes[k])
        axes[k] = fixed(c.sizes[k], c.reason)
    return axes
