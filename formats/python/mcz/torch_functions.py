# SPDX-License-Identifier: Apache-2.0
"""The functions of PyTorch that have a node in the graph: one table, by name without underscores. Each handler is given
the trace, the result, and what the function was given; it makes a node (t.node), says that the result is its input
(t.same) or its input times and plus constants (t.affine), or raises NoNode."""
from .traced_tensor import BATCH, known, whole_value

LOG_SOFTMAX = "log_softmax is left out: the loss has it"  # the note of a network that ends in one


EPS_MIN = 1.1754943508222875e-38  # the smallest normal float32: no float32 variance from 1e-30 on changes by it


def two(v):
    """[height, width] of a setting, which is a pair or one number for both."""
    v = list(v) if isinstance(v, (list, tuple)) else [v, v]
    return [int(k) for k in (v * 2 if len(v) == 1 else v)]


def two_or_none(v):
    """The same of an output's size, of which None is the input's."""
    return list(v) if isinstance(v, (list, tuple)) else [v, v]


def conv2d(t, out, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    known(two(dilation) == [1, 1], "dilation %s" % (tuple(two(dilation)),))
    kernel = list(weight.shape[2:])
    if padding == "same":
        known(all(k % 2 for k in kernel), "padding \"same\" of an even kernel")
        padding = [k // 2 for k in kernel]
    t.node(out, "conv", [x], named=t.layer(weight, bias), out=weight.shape[0], kernel=kernel, stride=two(stride),
           pad=[0, 0] if padding == "valid" else two(padding), groups=groups, bias=bias is not None)


def linear(t, out, x, weight, bias=None):
    known(x._mc.axes[-1] == "c", "its input's last axis is not the channels")
    settings = {"out": weight.shape[0], "bias": bias is not None}
    if len(x._mc.axes) == 1:
        return t.node(out, "linear", [x], named=t.layer(weight, bias), axes="c", **settings)
    t.node(out, "conv", [x], named=t.layer(weight, bias), axes=x._mc.axes, kernel=[1, 1], stride=[1, 1], pad=[0, 0],
           groups=1, **settings)


def above_zero(t, eps):
    """The eps of a node, which is above 0, for that of a layer."""
    if eps:
        return eps
    t.note("%s: eps=0 becomes %g, which is the same unless a variance is 0" % (t.place(), EPS_MIN))
    return EPS_MIN


def batch_norm(t, out, x, running_mean, running_var, weight=None, bias=None, training=False, momentum=.1, eps=1e-5):
    known(running_mean is not None, "without running statistics")
    known(weight is not None, "without weight and bias (affine=False)")
    known(not training, "it normalises by the batch in evaluation too")
    known(x._mc.axes[0] == "c", "its input's channels are not axis 1")
    name = t.layer(weight, bias)
    known(getattr(t.net.get_submodule(name), "momentum", 0) is not None,
          "momentum=None: its statistics are the mean of all batches, which no node computes (set a number)")
    t.node(out, "batchnorm", [x], named=name, axes=x._mc.axes, eps=above_zero(t, eps), momentum=momentum)


def layer_norm(t, out, x, normalized_shape, weight=None, bias=None, eps=1e-5):
    known(x._mc.axes[-1] == "c" and len(normalized_shape) == 1, "over other axes than the channels")
    known(weight is not None and bias is not None, "without weight and bias")
    t.node(out, "layernorm", [x], named=t.layer(weight, bias), axes=x._mc.axes, eps=above_zero(t, eps))


def pointwise(op):
    """The handler of a function of one value, whose node is op."""
    def handler(t, out, x, *args, **kwargs):
        known(kwargs.get("approximate", "none") == "none", "approximate=%r" % kwargs.get("approximate"))
        t.node(out, op, [x], axes=x._mc.axes)
    return handler


def hardtanh(t, out, x, min_val=-1., max_val=1., inplace=False):
    known((min_val, max_val) == (0, 6), "from %g to %g" % (min_val, max_val))
    t.node(out, "relu6", [x], axes=x._mc.axes)


def max_pool2d(t, out, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    known(two(dilation) == [1, 1], "dilation %s" % (tuple(two(dilation)),))
    pool(t, out, "maxpool", x, kernel_size, stride, padding, ceil_mode)


def avg_pool2d(t, out, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):
    known(not (any(two(padding)) and count_include_pad) and divisor_override is None,
          "it averages over the padding (count_include_pad), or has a divisor of its own")
    pool(t, out, "avgpool", x, kernel_size, stride, padding, ceil_mode)


def pool(t, out, op, x, kernel, stride, pad, ceil_mode):
    """The node of a pooling: globalpool where an avgpool's window is the whole image, else op."""
    c, h, w = x._mc.shape
    if op == "avgpool" and two(kernel) == [h, w] and not any(two(pad)):
        return t.node(out, "globalpool", [x])
    t.node(out, op, [x], kernel=two(kernel), stride=two(kernel if stride is None or stride == [] else stride),
           pad=two(pad), ceil=bool(ceil_mode))


def adaptive_avg_pool2d(t, out, x, output_size):
    size = [s if k is None else k for k, s in zip(two_or_none(output_size), x._mc.shape[1:])]
    if size == [1, 1]:
        return t.node(out, "globalpool", [x])
    if size == list(x._mc.shape[1:]):
        return t.same(out, x)
    t.node(out, "adaptpool", [x], size=size)


def adaptive_max_pool2d(t, out, x, output_size, return_indices=False):
    size = [s if k is None else k for k, s in zip(two_or_none(output_size), x._mc.shape[1:])]
    known(all(s % k == 0 for k, s in zip(size, x._mc.shape[1:])), "windows of more than one size")
    kernel = [s // k for k, s in zip(size, x._mc.shape[1:])]
    pool(t, out, "maxpool", x, kernel, kernel, 0, False)


def mean(t, out, x, dim=None, keepdim=False, **rest):
    dims = [dim] if isinstance(dim, int) else list(dim or [])
    over = {x._mc.axes[d % (len(x._mc.axes) + 1) - 1] if d % (len(x._mc.axes) + 1) else "n" for d in dims}
    spatial = set(x._mc.axes) - {"c"}
    known(over == spatial and spatial, "over other axes than all of the image's")
    t.node(out, "globalpool", [x], axes=x._mc.axes if keepdim else "c", any_axes=True)


def reshape(t, out, x, *shape, **rest):
    v, new = x._mc, list(out.shape[1:])
    c, h, w = v.shape
    forms = {"c h w": [c, h, w], "h w c": [h, w, c], "c l": [c, h * w], "l c": [h * w, c], "c": [c]}
    channels_first = v.axes[0] == "c" or h * w == 1
    known(out.shape[0] == BATCH, "it moves something into the batch")
    for axes, want in forms.items():
        if new == want and (h * w == 1 or axes != "c" and (axes[0] == "c") == (v.axes[0] == "c")):
            return t.same(out, x, axes.split())
    known(new == [c * h * w] and channels_first, "%s from %s" % (tuple(new), tuple(x.shape[1:])))
    t.node(out, "flatten", [x], any_axes=True, axes="c")


def permute(t, out, x, *dims, **rest):
    dims = list(dims[0]) if dims and isinstance(dims[0], (list, tuple)) else list(dims or rest["dims"])
    reorder(t, out, x, dims)


def transpose(t, out, x, a, b):
    dims = list(range(x.dim()))
    dims[a], dims[b] = dims[b], dims[a]
    reorder(t, out, x, dims)


def reorder(t, out, x, dims):
    """The result's axis k is the input's dims[k]: no node, but other axes."""
    dims = [d % x.dim() for d in dims]
    known(dims[0] == 0, "it moves the batch")
    t.same(out, x, [x._mc.axes[d - 1] for d in dims[1:]])


def cat(t, out, tensors, dim=0, **rest):
    dim = rest.get("axis", dim)
    known(all(whole_value(x) for x in tensors), "with a tensor that no node makes")
    first = tensors[0]._mc
    known(all(x._mc.axes == first.axes for x in tensors) and dim % (len(first.axes) + 1) == first.axes.index("c") + 1,
          "along another axis than the channels")
    if len(tensors) == 1:
        return t.same(out, tensors[0])
    t.node(out, "concat", list(tensors), axes=first.axes)


def add(t, out, x, y, alpha=1, **rest):
    if whole_value(x) and whole_value(y):
        known(alpha == 1, "times alpha=%g" % alpha)
        known(x._mc.shape == y._mc.shape and x._mc.axes == y._mc.axes, "of %s and %s" %
              (tuple(x.shape[1:]), tuple(y.shape[1:])))
        return t.node(out, "add", [x, y], axes=x._mc.axes)
    x, y = (x, y) if whole_value(x) else (y, x)
    t.affine(out, x, 1, y if alpha == 1 else y * alpha, "a summand that no node makes")


def sub(t, out, x, y, alpha=1, **rest):
    known(whole_value(x) and not whole_value(y), "of two nodes")
    t.affine(out, x, 1, -y if alpha == 1 else -y * alpha, "a summand that no node makes")


def mul(t, out, x, y):
    if whole_value(x) and whole_value(y):
        x, y = (y, x) if x._mc.shape[1:] == (1, 1) else (x, y)
        known(y._mc.shape in (x._mc.shape, (x._mc.shape[0], 1, 1)), "of %s and %s" %
              (tuple(x.shape[1:]), tuple(y.shape[1:])))
        return t.node(out, "mul", [x, y], axes=x._mc.axes, any_axes=True)
    x, y = (x, y) if whole_value(x) else (y, x)
    name, axes = t.names.get(id(y)), x._mc.axes
    if name and y.numel() == x._mc.shape[0] == dict(zip(reversed(axes), reversed(y.shape))).get("c"):
        return t.node(out, "scale", [x], named=name, axes=axes)
    t.affine(out, x, y, 0, "a factor that is no parameter of one value a channel")


def div(t, out, x, y, rounding_mode=None, **rest):
    known(whole_value(x) and not whole_value(y), "of two nodes")
    known(rounding_mode is None, "rounding_mode=%r" % rounding_mode)
    t.affine(out, x, 1 / y, 0, "a divisor")


def dropout(t, out, x, p=.5, training=True, inplace=False):
    known(not training, "it drops values in evaluation too")
    return t.node(out, "dropout", [x], axes=x._mc.axes, p=p) if p else t.same(out, x)


def dropout2d(t, out, x, p=.5, training=True, inplace=False):
    known(not training, "it drops channels in evaluation too")
    t.note("dropout of whole channels is left out: training here is without it")
    t.same(out, x)


def identity(t, out, x, *args, **kwargs):
    t.same(out, x)


def detach(t, out, x):
    known(False, "it stops the gradient, which no node does")


def log_softmax(t, out, x, dim=None, **rest):
    known(x._mc.axes == ("c",) and dim in (None, 1, -1), "not of an image's logits")
    t.note(LOG_SOFTMAX)
    t.same(out, x, ["logits"])


TABLE = {
    "conv2d": conv2d, "linear": linear, "batch_norm": batch_norm, "layer_norm": layer_norm,
    "relu": pointwise("relu"), "relu6": pointwise("relu6"), "hardtanh": hardtanh, "gelu": pointwise("gelu"),
    "silu": pointwise("silu"), "hardswish": pointwise("hardswish"), "hardsigmoid": pointwise("hardsigmoid"),
    "sigmoid": pointwise("sigmoid"),
    "max_pool2d": max_pool2d, "avg_pool2d": avg_pool2d, "adaptive_avg_pool2d": adaptive_avg_pool2d,
    "adaptive_max_pool2d": adaptive_max_pool2d, "mean": mean,
    "flatten": reshape, "view": reshape, "reshape": reshape, "squeeze": reshape, "unsqueeze": reshape,
    "permute": permute, "transpose": transpose, "cat": cat, "concat": cat, "concatenate": cat,
    "add": add, "sub": sub, "mul": mul, "div": div,
    "dropout": dropout, "dropout2d": dropout2d, "log_softmax": log_softmax,
    "contiguous": identity, "clone": identity, "detach": detach, "to": identity, "float": identity, "alias": identity,
}
ALIASES = {
    "iadd": "add", "radd": "add", "isub": "sub", "imul": "mul", "rmul": "mul", "itruediv": "div", "truediv": "div",
    "multiply": "mul", "divide": "div", "subtract": "sub", "max_pool2d_with_indices": "max_pool2d",
    "adaptive_max_pool2d_with_indices": "adaptive_max_pool2d"}
