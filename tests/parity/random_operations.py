# SPDX-License-Identifier: Apache-2.0
"""The operations of random modules (random_modules.py), as lines of source code.

Each function of OPERATIONS gets a Draft and writes lines that change `h`, the value of the block; `x` is the value before
the block. A line runs at once for two inputs of different batch and length. An axis is static if its size is the same for
both; only static axes may meet parameters. A function raises Skip if the value has no fitting shape; so does a line that
fails. Axis 0 is the batch."""
import textwrap

import torch
from torch import nn
from torch.nn import functional as F

OPERATIONS = {}
MOST = 6000  # numbers in a value


class Skip(Exception):
    pass


def need(condition):
    if not condition:
        raise Skip


def operation(function):
    OPERATIONS[function.__name__] = function
    return function


class Draft:
    """A module being written. `init`, `lines`: the source of __init__ and forward. `values`: the local variables of forward
    for both inputs. `parts`: the parameters and modules by expression. rng: random.Random, one per operation."""

    def __init__(self, inputs, rng):
        self.holder, self.init, self.lines, self.rng, self.count = nn.Module(), [], [], rng, 0
        common = {"torch": torch, "nn": nn, "F": F, "self": self.holder}
        self.values = [{**common, **own} for own in inputs]

    def save(self):
        return list(self.init), list(self.lines), [dict(v) for v in self.values]

    def restore(self, saved):
        self.init, self.lines, self.values = list(saved[0]), list(saved[1]), [dict(v) for v in saved[2]]

    # ---- shapes

    def sizes(self, name="h"):
        """The shape of a value: None for sizes that depend on the input."""
        a, b = (v[name].shape for v in self.values)
        need(len(a) == len(b))
        return [m if m == n else None for m, n in zip(a, b)]

    @property
    def rank(self):
        return len(self.sizes())

    def size(self, axis, least=1):
        n = self.sizes()[axis]
        need(n is not None and n >= least)
        return n

    def axis(self, static=True, least=2, first=1):
        """A random axis other than the batch."""
        fits = [k for k, n in enumerate(self.sizes()) if k >= first and (n is not None or not static) and (n or 9) >= least]
        need(fits)
        return self.pick(fits)

    # ---- random choices

    def pick(self, options):
        return self.rng.choice(list(options))

    def chance(self, p):
        return self.rng.random() < p

    def width(self):
        return self.pick((4, 6, 8, 12))

    def factor(self, n):
        """A divisor of n other than 1 and n."""
        fits = [k for k in range(2, n) if n % k == 0]
        need(fits)
        return self.pick(fits)

    # ---- source

    def own(self, made, name=None):
        """Writes a part of the module. Returns its expression."""
        self.count += 1
        name = "self.%s%d" % (name or "part", self.count)
        self._init("%s = %s" % (name, made))
        return name

    def buffer(self, made, persistent):
        self.count += 1
        name = "buffer%d" % self.count
        self._init("self.register_buffer(\"%s\", %s, persistent=%s)" % (name, made, persistent))
        return "self." + name

    def _init(self, line):
        with torch.no_grad():
            exec(line, dict(self.values[0]))
        self.init.append(line)

    def parameter(self, *shape):
        return self.own("nn.Parameter(torch.%s(%s))" % (self.pick(["randn", "randn", "ones"]), ", ".join(map(str, shape))))

    def local(self):
        self.count += 1
        return "t%d" % self.count

    def do(self, text, *args):
        """Writes lines of forward and runs them."""
        text = textwrap.dedent(text % args if args else text).strip("\n")
        for v in self.values:
            with torch.no_grad():
                try:
                    exec(text, v)
                except Skip:
                    raise
                except Exception as e:
                    raise Skip from e
        self.lines += text.split("\n")

    def constant(self, *shape):
        """An expression of a tensor of this shape: a parameter, a buffer, an attribute, or made in forward."""
        text = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        made = self.pick(["torch.randn(%s)" % text, "torch.ones(%s)" % text, "torch.full((%s), .7)" % text,
                          "torch.linspace(.5, 1.5, %d).expand(%s)" % (shape[-1] if shape else 1, text)])
        kind = self.pick(["parameter", "parameter", "buffer", "hidden", "attribute", "inline"])
        if kind == "parameter":
            return self.own("nn.Parameter(%s%s)" % (made, ".clone()" if "expand" in made else ""))
        if kind in ("buffer", "hidden"):
            return self.buffer(made + ".clone()", kind == "buffer")
        if kind == "attribute":
            return self.own(made + ".clone()")
        return made if "randn" not in made else "torch.arange(1., %d.).reshape(%s)" % (
            1 + torch.Size(shape).numel(), text or "()")

    def broadcast(self):
        """A shape that is broadcast to that of h."""
        shape = [n if n is not None and k and self.chance(.7) else 1 for k, n in enumerate(self.sizes())]
        return shape[self.pick(range(len(shape))):]

    def check(self):
        """Keeps h at a usual scale. Raises Skip if it is not usual at all."""
        for v in self.values:
            h = v["h"]
            need(isinstance(h, torch.Tensor) and h.is_floating_point() and 0 < h.numel() <= MOST and h.dim() in (2, 3, 4, 5))
            need(bool(h.isfinite().all()))
        self.sizes()
        need(all(v["h"].shape[0] == v["x"].shape[0] for v in self.values))
        scale = float(self.values[0]["h"].square().mean().sqrt())
        need(1e-6 < scale < 1e6)
        if not .3 < scale < 3:
            self.do("h = h * %.2g", 1 / scale)

    def channels(self):
        """The static size of axis 1, with positions after it."""
        need(self.rank in (3, 4, 5))
        return self.size(1)

    def sequence(self):
        """Makes h (N,T,C) with static C. Returns C."""
        rank, sizes = self.rank, self.sizes()
        if rank == 2:
            n = self.factor(self.size(1))
            self.do("h = h.unflatten(1, (%d, %d))", sizes[1] // n, n)
        elif rank == 4 and sizes[1] is not None and self.chance(.8):
            self.do("h = h.flatten(2).transpose(1, 2)")
        elif rank > 3:
            self.do("h = h.flatten(1, -2)")
        return self.size(-1, 2)


# ---- elementwise -----------------------------------------------------------------------------------------------------

@operation
def activation(d):
    d.do("h = " + d.pick(["F.relu(h)", "F.gelu(h)", "h.tanh()", "torch.sigmoid(h)", "F.silu(h)", "F.softplus(h)",
                          "F.leaky_relu(h, .1)", "h.abs()", "h ** 2", "F.hardswish(h)", "F.elu(h)", "torch.exp(-h * h)",
                          "h.clamp(-1, 1)", "h / (1 + h.abs())", "F.mish(h)", "h.sin()", "F.logsigmoid(h)", "h - 1"]))


@operation
def prelu(d):
    d.do("h = %s(h)", d.own("nn.PReLU(%d)" % d.pick([1, d.channels()])))


@operation
def combined_with_constant(d):
    c = d.constant(*d.broadcast())
    d.do(d.pick(["h = h + %s", "h = h * %s", "h = %s - h", "h = torch.where(%s > .6, h, .1)", "h = torch.maximum(h, %s)",
                 "h = h.masked_fill(%s <= .6, 0.)", "h = torch.lerp(h, %s + h * 0, .3)", "h = h.addcmul(h, %s)"]) % c)


@operation
def combined_with_two_constants(d):
    shape = d.broadcast()
    d.do("h = h * %s + %s", d.constant(*shape), d.constant(*(shape if d.chance(.5) else d.broadcast())))


@operation
def function_of_parameter(d):
    shape = d.broadcast()
    k = d.pick(range(len(shape)))
    d.do("h = h * " + d.pick(["%s.softmax(%d)", "%s.exp().cumsum(%d)", "%s.flip(%d)", "F.normalize(%s, dim=%d)",
                              "%s.roll(1, %d)", "%s.mean(%d, keepdim=True)", "%s.sort(%d)[0]"]), d.parameter(*shape), k)


@operation
def where(d):
    d.do(d.pick(["h = torch.where(h > 0, h, %s)", "h = torch.where(%s > 0, h, -h)", "h = torch.where(h > h.mean(-1, "
                 "keepdim=True), h, %s)"]), d.constant(*d.broadcast()))


@operation
def dropout(d):
    k = {4: "2d"}.get(d.rank, "") if d.chance(.3) else ""
    d.do("h = %s(h)", d.own("nn.Dropout%s(.3)" % k))


@operation
def in_place(d):
    k = d.axis(static=False)
    at = ":, " * k
    d.do("h = h.clone()")
    d.do(d.pick(["h.relu_()", "h[%s0] = h[%s0] * 2" % (at, at), "h[%s:2] *= .5" % at, "h.mul_(.7).add_(.1)",
                 "h[%s1:] += h[%s:-1].clone()" % (at, at), "h[%s0] = 0." % at, "h[%s::2] = h[%s::2].tanh()" % (at, at)]))


@operation
def gate(d):
    d.do(d.pick(["h = h * F.silu(x)", "h = h + x.tanh()", "h = torch.maximum(h, x)", "h = h * x.softmax(-1)"]))


# ---- products with parameters ----------------------------------------------------------------------------------------

@operation
def linear(d):
    d.do("h = %s(h)", d.own("nn.Linear(%d, %d, bias=%s)" % (d.size(-1), d.width(), d.chance(.7))))


@operation
def linear_on_axis(d):
    k = d.axis()
    d.do("h = %s(h.movedim(%d, -1)).movedim(-1, %d)", d.own("nn.Linear(%d, %d)" % (d.size(k), d.width())), k, k)


@operation
def two_layers(d):
    n, m = d.size(-1), d.width()
    d.do("h = %s(F.relu(%s(h)))", d.own("nn.Linear(%d, %d)" % (m, n)), d.own("nn.Linear(%d, %d)" % (n, m)))


@operation
def matmul(d):
    if d.chance(.5):
        d.do("h = h @ %s", d.parameter(d.size(-1), d.width()))
    else:
        need(d.rank > 2)
        d.do("h = %s @ h", d.parameter(d.width(), d.size(-2)))


@operation
def batched_matmul(d):
    need(d.rank in (3, 4))
    a, b = d.size(-2), d.size(-1)
    d.do(d.pick(["h = (h.transpose(-3, -2) @ %s).transpose(-3, -2)", "h = torch.einsum('n...gi,gio->n...go', h, %s)",
                 "h = torch.einsum('...gi,gio->...go', h, %s)"]), d.parameter(a, b, d.width()))


@operation
def einsum(d):
    letters = "nabcd"[:d.rank]
    k = d.axis()
    own = letters[k]
    if d.chance(.3) and d.rank > 2:
        j = d.axis()
        need(j != k)
        d.do("h = torch.einsum('%s,%s%sz->%s', h, %s)", letters, letters[j], own, letters.replace(own, "z"),
             d.parameter(d.size(j), d.size(k), d.width()))
    else:
        out = list(letters.replace(own, "z"))[1:]
        d.rng.shuffle(out)
        d.do("h = torch.einsum('%s,z%s->n%s', h, %s)", letters, own, "".join(out), d.parameter(d.width(), d.size(k)))


@operation
def bilinear(d):
    n = d.size(-1)
    need(n <= 12)
    d.do("h = %s(h, %s)", d.own("nn.Bilinear(%d, %d, %d)" % (n, n, d.width())), d.pick(["h", "h.tanh()", "h.flip(-1)"]))


@operation
def tied_weights(d):
    n, m = d.size(-1), d.width()
    w = d.own("nn.Linear(%d, %d)" % (n, m))
    d.do(d.pick(["h = F.relu(%s(h)) @ %s.weight", "h = F.linear(F.relu(%s(h)), %s.weight.t())",
                 "h = (h - %s(h) @ %s.weight)"]), w, w)


@operation
def square_weight(d):
    n = d.size(-1)
    w = d.parameter(n, n)
    d.do(d.pick(["h = F.relu(h @ %s) @ %s.t()", "h = F.relu(h @ %s) @ %s", "h = h @ %s + (h * %s.sum(0))",
                 "h = h @ (%s + %s.t())", "h = h * %s.diagonal() + h @ %s", "h = h @ torch.tril(%s + %s)"]), w, w)


@operation
def shared_module(d):
    n = d.size(-1)
    w = d.own("nn.Linear(%d, %d)" % (n, n))
    d.do("h = %s(F.relu(%s(h)))", w, w)


@operation
def low_rank(d):
    n, m = d.size(-1), d.width()
    d.do("h = h @ %s.t() + h @ %s @ %s", d.parameter(m, n), d.parameter(n, 3), d.parameter(3, m))


@operation
def changed_weight(d):
    n, m = d.size(-1), d.width()
    w = d.parameter(m, n)
    d.do("h = F.linear(h, %s)" % d.pick(["%s - %s.mean(1, keepdim=True)", "%s.softmax(0) + 0 * %s", "%s * (%s > 0)",
                                        "%s / %s.norm(dim=1, keepdim=True)", "%s.tanh() + %s", "%s / %s.abs().max()"]), w, w)


@operation
def parametrized(d):
    n = d.size(-1)
    name = d.pick(["weight_norm", "spectral_norm", "orthogonal"])
    d.do("h = %s(h)", d.own("nn.utils.parametrizations.%s(nn.Linear(%d, %d))" % (name, n, d.width())))


@operation
def generated_weights(d):
    n, m = d.size(-1), d.width()
    need(n * m <= 48)
    d.do("h = torch.einsum('n...i,nio->n...o', h, %s(h.flatten(1, -2).mean(1) if h.dim() > 2 else h).unflatten(1, (%d, %d)))",
         d.own("nn.Linear(%d, %d)" % (n, n * m)), n, m)


@operation
def adapted(d):
    n, m = d.size(-1), d.width()
    d.do("h = %s(h) + %s(%s(h)) * %s", d.own("nn.Linear(%d, %d)" % (n, m)), d.own("nn.Linear(2, %d, bias=False)" % m),
         d.own("nn.Linear(%d, 2, bias=False)" % n), d.constant(1))


@operation
def several_heads(d):
    n = d.size(-1)
    heads = d.own("nn.ModuleList([nn.Linear(%d, 4) for _ in range(3)])" % n)
    d.do("h = torch.%s([m(h) for m in %s], %d)", d.pick(["cat", "stack"]), heads, d.pick([1, -1]))


@operation
def graph_convolution(d):
    need(d.rank == 3)
    n = d.size(1)
    edges = d.parameter(n, n) if d.chance(.3) else d.buffer(d.pick([
        "(torch.rand(%d, %d) > .5) * 1." % (n, n), "torch.full((%d, %d), %f)" % (n, n, 1 / n)]), d.chance(.5))
    d.do("h = %s @ %s(h)", edges, d.own("nn.Linear(%d, %d)" % (d.size(-1), d.width())))


@operation
def prototypes(d):
    n = d.size(-1)
    p = d.parameter(d.width(), n)
    d.do(d.pick(["h = torch.cdist(h, %s)" if d.rank == 2 else "h = torch.cdist(h.flatten(1, -2), %s)",
                 "h = F.cosine_similarity(h[..., None, :], %s, dim=-1)",
                 "h = F.normalize(h, dim=-1) @ F.normalize(%s, dim=-1).t()",
                 "h = (h[..., None, :] - %s).abs().sum(-1)"]), p)


@operation
def outer_product(d):
    n = d.size(-1)
    d.do(d.pick(["h = torch.einsum('...i,...j->...ij', h, %s(h)).flatten(-2)", "h = (h[..., None] * %s(h)[..., None, :]).sum(-2)",
                 "h = (h[..., None] * %s(h)[..., None, :]).flatten(-2)"]), d.own("nn.Linear(%d, 3)" % n))


@operation
def gram(d):
    need(d.rank == 3)
    d.do(d.pick(["h = h.transpose(1, 2) @ h / h.shape[1]", "h = h @ (h.transpose(1, 2) @ h).softmax(-1)",
                 "h = torch.bmm(h, h.transpose(1, 2)).softmax(-1) @ h", "h = torch.baddbmm(h, (h @ h.mT).tanh(), h)"]))


# ---- convolutions ----------------------------------------------------------------------------------------------------

def _convolution(d, transposed):
    c = d.channels()
    n = d.rank - 2
    groups = d.pick([1, 1, c] + [k for k in (2, 3) if c % k == 0])
    out = groups * d.pick([1, 2, 3]) if groups > 1 else d.width()
    kernel = d.pick([1, 1, 2, 3])
    settings = ["groups=%d" % groups, "bias=%s" % d.chance(.6)]
    if d.chance(.4):
        settings.append("stride=%d" % d.pick([2, 2, 3]))
    if d.chance(.6):
        settings.append("padding=%d" % d.pick([1, kernel // 2]))
    if kernel == 3 and d.chance(.2):
        settings.append("dilation=2")
    if transposed and "stride=2" in settings and d.chance(.5):
        settings.append("output_padding=1")
    if not transposed and any("padding" in s for s in settings) and d.chance(.2):
        settings.append("padding_mode=\"%s\"" % d.pick(["reflect", "circular", "replicate"]))
    return "nn.Conv%s%dd(%d, %d, %d, %s)" % ("Transpose" * transposed, n, c, out, kernel, ", ".join(settings))


@operation
def convolution(d):
    d.do("h = %s(h)", d.own(_convolution(d, False)))


@operation
def more_convolution(d):
    d.do("h = %s(h)", d.own(_convolution(d, False)))


@operation
def transposed_convolution(d):
    d.do("h = %s(h)", d.own(_convolution(d, True)))


@operation
def separable_convolution(d):
    c, n = d.channels(), d.rank - 2
    d.do("h = %s(F.relu(%s(h)))", d.own("nn.Conv%dd(%d, %d, 1)" % (n, c, d.width())),
         d.own("nn.Conv%dd(%d, %d, 3, padding=1, groups=%d)" % (n, c, c, c)))


@operation
def parametrized_convolution(d):
    d.do("h = %s(h)", d.own("nn.utils.parametrizations.%s(%s)" % (d.pick(["weight_norm", "spectral_norm"]),
                                                                _convolution(d, d.chance(.3)))))


@operation
def convolution_along_last(d):
    need(d.rank == 3)
    d.do("h = %s(h.transpose(1, 2)).transpose(1, 2)", d.own("nn.Conv1d(%d, %d, 3, padding=1)" % (d.size(-1), d.width())))


@operation
def pool(d):
    need(d.rank in (3, 4, 5))
    n = d.rank - 2
    d.do("h = " + d.pick(["F.max_pool%dd(h, 2, ceil_mode=True)" % n, "F.avg_pool%dd(h, 3, 1, 1)" % n,
                          "F.adaptive_avg_pool%dd(h, %d)" % (n, d.pick([1, 2])), "F.adaptive_max_pool%dd(h, 1)" % n,
                          "F.max_pool%dd(h, 3, 1, 1)" % n, "F.lp_pool%dd(h, 2, 2)" % n if n < 3 else "h"]))


@operation
def upsample(d):
    need(d.rank in (3, 4, 5))
    linear = {3: "linear", 4: "bilinear", 5: "trilinear"}[d.rank]
    d.do("h = F.interpolate(h, scale_factor=2, mode=\"%s\")", d.pick(["nearest", linear]))


@operation
def pixels(d):
    need(d.rank == 4)
    d.do("h = " + d.pick(["F.pixel_shuffle(h, 2)", "F.pixel_unshuffle(h, 2)"]))


@operation
def shuffled_channels(d):
    c = d.channels()
    g = d.factor(c)
    d.do("h = " + d.pick(["F.channel_shuffle(h, %d)" % g,
                          "h.unflatten(1, (%d, %d)).transpose(1, 2).flatten(1, 2)" % (g, c // g)]))


@operation
def patches(d):
    if d.rank == 4 and d.chance(.5):
        d.do("h = F.unfold(h, 2, stride=2)")
    else:
        k = d.axis(static=False, least=4)
        d.do("h = h.unfold(%d, 2, 2)", k)


# ---- norms -----------------------------------------------------------------------------------------------------------

@operation
def batch_norm(d):
    c = d.size(1)
    n = {2: 1, 3: 1, 4: 2, 5: 3}[d.rank]
    d.do("h = %s(h)", d.own("nn.BatchNorm%dd(%d%s)" % (n, c, d.pick(["", "", ", affine=False"]))))


@operation
def layer_norm(d):
    shape = [d.size(-1, 2)]
    if d.rank > 2 and d.sizes()[-2] is not None and d.chance(.3):
        shape.insert(0, d.size(-2))
    d.do("h = %s(h)", d.own("nn.LayerNorm(%s%s)" % (shape, d.pick(["", ", bias=False", ", elementwise_affine=False"]))))


@operation
def group_norm(d):
    c = d.size(1)
    d.do("h = %s(h)", d.own("nn.GroupNorm(%d, %d)" % (d.pick([k for k in (1, 2, 3, c) if c % k == 0]), c)))


@operation
def instance_norm(d):
    d.do("h = %s(h)", d.own("nn.InstanceNorm%dd(%d%s)" % (d.rank - 2, d.channels(), d.pick(["", ", affine=True",
                                                                                         ", track_running_stats=True"]))))


@operation
def rms_norm(d):
    n = d.size(-1, 2)
    d.do(d.pick(["h = %s * h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)", "h = F.rms_norm(h, (%d,), %%s)" % n]),
         d.parameter(n))


@operation
def norm_by_hand(d):
    k = d.axis(static=False)
    d.do("h = " + d.pick(["F.normalize(h, dim=%d)", "h - h.mean(%d, keepdim=True)", "h / (.1 + h.std(%d, keepdim=True))",
                          "h / (.1 + h.norm(dim=%d, keepdim=True))", "h / (.1 + h.abs().amax(%d, keepdim=True))"]) % k)


@operation
def shared_norm(d):
    """One norm for all units of another axis, such as that of queries in all heads."""
    n = d.size(-1)
    k = d.factor(n)
    d.do("h = %s(h.unflatten(-1, (%d, %d))).flatten(-2)", d.own("nn.LayerNorm(%d)" % k), n // k, k)


# ---- reductions ------------------------------------------------------------------------------------------------------

REDUCE = ["sum(%s) * .3", "mean(%s)", "amax(%s)", "amin(%s)", "var(%s)", "std(%s)", "norm(dim=%s)", "logsumexp(%s)"]


@operation
def reduction(d):
    need(d.rank > 2)
    k = d.axis(static=False, least=1)
    d.do("h = h." + d.pick(REDUCE) % k)


@operation
def spread_reduction(d):
    k = d.axis(static=False)
    r = d.pick(["sum(%d, keepdim=True)", "mean(%d, keepdim=True)", "amax(%d, keepdim=True)", "std(%d, keepdim=True)",
                "logsumexp(%d, keepdim=True)", "max(%d, keepdim=True)[0]", "median(%d, keepdim=True)[0]",
                "prod(%d, keepdim=True).tanh()"]) % k
    d.do(d.pick(["h = h + h.%s * .3", "h = h * torch.sigmoid(h.%s)", "h = torch.where(h < h.%s, h, h * .5)"]), r)


@operation
def reduction_of_two(d):
    need(d.rank > 3)
    d.do("h = h.%s((%d, %d))", d.pick(["mean", "amax", "sum"]), *sorted(d.rng.sample(range(1, d.rank), 2)))


@operation
def argmax(d):
    k = d.axis(static=False)
    n = d.sizes()[k]
    if n is not None and d.chance(.6):
        e = d.own("nn.Embedding(%d, %d)" % (n, d.width()))
        d.do("h = %s(h.argmax(%d))", e, k)
    else:
        d.do(d.pick(["h = h + .1 * h.argmax(%d, keepdim=True)", "h = h + .1 * h.max(%d, keepdim=True)[1]",
                     "h = h.gather(%d, h.argmin(%d, keepdim=True)) + h" % (k, k) + "%.0s",
                     "h = h + .1 * h.argsort(%d)"]), k)


@operation
def softmax(d):
    k = d.axis(static=False)
    d.do("h = " + d.pick(["h.softmax(%d)", "F.log_softmax(h, %d)", "F.softmin(h, %d)", "h * h.softmax(%d)"]) % k)


@operation
def scan(d):
    k = d.axis(static=False)
    d.do("h = " + d.pick(["h.cumsum(%d)", "h.cumsum(%d) * .5", "h.cummax(%d)[0]", "h.logcumsumexp(%d)",
                          "h.diff(dim=%d)", "h.tanh().cumprod(%d)"]) % k)


@operation
def order(d):
    k = d.axis(static=False, least=3)
    n = d.sizes()[k]
    d.do("h = " + d.pick(["h.topk(2, %d)[0]", "h.sort(%d)[0]",
                          "torch.where(h >= h.topk(2, %d)[0].amin({0}, True), h, 0.)".format(k),
                          "h.kthvalue(2, %d, keepdim=True)[0] + h", "h.topk({0}, %d)[0]".format(n or 2)]) % k)


@operation
def mixed_reductions(d):
    need(d.rank > 2)
    k = d.axis(static=False, least=1)
    d.do("h = torch.cat([h.mean(%d), h.amax(%d)], %d)", k, k, d.pick([1, -1]))


# ---- shapes ----------------------------------------------------------------------------------------------------------

@operation
def permutation(d):
    need(d.rank > 2)
    order = list(range(1, d.rank))
    d.rng.shuffle(order)
    d.do("h = h.permute(0, %s)", ", ".join(map(str, order)))


@operation
def split_axis(d):
    need(d.rank < 5)
    k = d.axis(least=4)
    n = d.size(k)
    a = d.factor(n)
    d.do("h = " + d.pick(["h.unflatten(%d, (%d, %d))" % (k, a, n // a), "h.unflatten(%d, (%d, %d)).transpose(%d, %d)" % (
        k, a, n // a, k, k + 1)]))


@operation
def merge_axes(d):
    need(d.rank > 2)
    k = d.pick(range(1, d.rank - 1))
    d.do("h = h.flatten(%d, %d)", k, k + 1)


@operation
def cut_again(d):
    sizes = d.sizes()[1:]
    need(None not in sizes)
    n = torch.Size(sizes).numel()
    a = d.factor(n)
    d.do("h = h.reshape(h.shape[0], %s)", d.pick(["%d, %d" % (a, n // a), "-1, %d, %d" % (d.factor(a), n // a)
                                                 if a > 3 and a not in (5, 7, 11) else "-1, %d" % a]))


@operation
def size_one(d):
    need(d.rank < 5)
    k = d.pick(range(1, d.rank + 1))
    d.do("h = h.unsqueeze(%d)", k)
    if d.chance(.4):
        d.do("h = h * %s", d.parameter(*[3 if j == k else 1 for j in range(d.rank)]))


@operation
def squeezed(d):
    need(d.rank > 2)
    k = d.pick(range(1, d.rank))
    need(d.size(k) == 1)
    d.do("h = h.squeeze(%d)", k)


@operation
def bottleneck_of_one(d):
    d.do("h = %s(%s(h))", d.own("nn.Linear(1, %d)" % d.width()), d.own("nn.Linear(%d, 1)" % d.size(-1)))


@operation
def size_zero(d):
    k = d.axis()
    n = d.size(k)
    shape = [0 if j == k else s if s is not None else 1 for j, s in enumerate(d.sizes())]
    empty = d.parameter(*shape) if None not in d.sizes()[1:] and d.chance(.6) else None
    at = ":, " * k
    if empty:
        d.do("h = torch.cat([h, %s.expand(h.shape[0], %s)], %d)", empty, ", ".join("-1" for _ in shape[1:]), k) if (
            d.chance(.5)) else d.do("h = h + %s.sum(%d, keepdim=True)", empty, k)
    else:
        d.do("h = torch.cat([h[%s:%d], h[%s%d:].tanh()], %d)", at, n, at, n, k)


@operation
def halves(d):
    k = d.axis(least=4)
    n = d.size(k)
    need(n % 2 == 0)
    a, b = d.local(), d.local()
    d.do("%s, %s = h.chunk(2, %d)", a, b, k)
    d.do("h = " + d.pick(["{a} * torch.sigmoid({b})", "{a} + {b}", "torch.cat([{b}, {a}], {k})",
                          "torch.cat([{a}, {b}.tanh()], {k})",
                          "torch.stack([{a}, {b}], {k}).flatten({k}, %d)" % (k + 1), "torch.cat([-{b}, {a}], {k}) + h",
                          "torch.stack([{a}, {b}], -1).flatten(-2)", "F.silu({a}) * {b} + {a}"]).format(a=a, b=b, k=k))


@operation
def gated_linear_unit(d):
    d.do("h = F.glu(h, %d)", d.axis())


@operation
def pieces(d):
    k = d.axis(least=4)
    n = d.size(k)
    first = d.pick(range(1, n))
    a, b = d.local(), d.local()
    d.do("%s, %s = h.split([%d, %d], %d)", a, b, first, n - first, k)
    d.do("h = " + d.pick(["torch.cat([{a}.tanh(), {b}], {k})", "torch.cat([{b}, {a}], {k})", "{b}",
                          "{a} * {b}.mean({k}, keepdim=True)", "torch.cat([{a}, {b}, {a}], {k})"]).format(a=a, b=b, k=k))


@operation
def unbound(d):
    need(d.rank > 2)
    k = d.axis()
    need(d.size(k) <= 12)
    a = d.local()
    d.do("%s = h.unbind(%d)", a, k)
    d.do("h = " + d.pick(["{a}[0] + {a}[-1].tanh()", "torch.stack({a}[::-1], {k})", "torch.cat({a}, -1)", "sum({a})",
                          "torch.stack([v * (i + 1) for i, v in enumerate({a})], {k})", "torch.stack({a}, {j})"]).format(
                              a=a, k=k, j=d.pick(range(1, d.rank))))


@operation
def slices(d):
    k = d.axis(static=False, least=3)
    at = ":, " * k
    d.do("h = " + d.pick(["h[%s:-1]", "h[%s1:]", "h[%s::2]", "h[%s:2]", "h[%s1:3]", "h[%s0:1]", "h[%s-2:]"]) % at)


@operation
def entry(d):
    need(d.rank > 2)
    k = d.axis(static=False, least=1)
    d.do("h = h.select(%d, %d)", k, d.pick([0, -1]))


@operation
def indexed(d):
    k = d.axis(static=False, least=3)
    at = ":, " * k
    i = d.buffer("torch.tensor([2, 0, 1, 1])", d.chance(.5))
    d.do("h = " + d.pick(["h.index_select(%d, %s)" % (k, i), "h[%s%s]" % (at, i), "h[%s[0, 2]]" % at,
                          "h.take_along_dim(h.argsort(%d), %d)" % (k, k)]))


@operation
def joined(d):
    k = d.axis(static=False, least=1)
    other = d.pick(["h.tanh()", "h", "h.flip(%d)" % k, "torch.zeros_like(h)", "h.mean(%d, keepdim=True)" % k,
                    "torch.ones_like(h[..., :1])" if k == d.rank - 1 else "h * .5"])
    d.do("h = torch.cat([h, %s], %d)" if d.chance(.6) else "h = torch.cat([%s, h], %d)", other, k)


@operation
def learned_tokens(d):
    need(d.rank == 3)
    c = d.size(-1)
    d.do("h = torch.cat([%s.expand(h.shape[0], -1, -1), h], 1)", d.constant(1, d.pick([1, 2]), c))


@operation
def stacked(d):
    need(d.rank < 5)
    k = d.pick(range(1, d.rank + 1))
    d.do("h = torch.stack([h, %s], %d)", d.pick(["h.tanh()", "h * .5", "torch.zeros_like(h)", "h"]), k)


@operation
def moved(d):
    k = d.axis(static=False)
    d.do("h = " + d.pick(["h.roll(1, %d)", "h.flip(%d)", "h + h.roll(-1, %d)", "h.roll(1, %d) * h"]) % k)


@operation
def padded(d):
    k = d.axis(static=False)
    before = "0, 0, " * (d.rank - 1 - k)
    d.do("h = F.pad(h, (%s%s))", before, d.pick(["1, 0", "0, 2", "1, 1", "-1, 0", "1, -1"]))


@operation
def padded_by_copies(d):
    need(d.rank in (3, 4))
    d.do("h = F.pad(h, (%s), mode=\"%s\")", "1, 1" if d.rank == 3 else "1, 0, 0, 1", d.pick(["reflect", "replicate", "circular"]))


@operation
def repeated(d):
    k = d.axis(static=False, least=1)
    ones = ", ".join("2" if j == k else "1" for j in range(d.rank))
    d.do("h = " + d.pick(["h.repeat(%s)" % ones, "h.repeat_interleave(2, %d)" % k, "h.tile(%s)" % ones,
                          "h.unsqueeze(%d).expand(%s).flatten(%d, %d)" % (k, ", ".join(
                              "2" if j == k else "-1" for j in range(d.rank + 1)), k, k + 1)]))


@operation
def folded_batch(d):
    need(d.rank == 3)
    n = d.size(-1)
    inner = d.pick(["nn.Linear(%d, %d)" % (n, n), "nn.BatchNorm1d(%d)" % n])
    d.do("h = %s(h.reshape(-1, %d)).reshape(h.shape[0], h.shape[1], %d)", d.own(inner), n, n)


@operation
def scattered(d):
    k = d.axis()
    n = d.size(k)
    need(n >= 3)
    i = d.buffer("torch.tensor([0, 2])", d.chance(.5))
    d.do("h = " + d.pick(["h.index_add(%d, %s, h.narrow(%d, 0, 2))" % (k, i, k), "h.index_fill(%d, %s, 0.)" % (k, i),
                          "h.index_copy(%d, %s, h.narrow(%d, 1, 2))" % (k, i, k)]))


# ---- attention and other layers of sequences -------------------------------------------------------------------------

@operation
def attention(d):
    c = d.sequence()
    heads, width = d.pick([2, 3]), d.pick([2, 4])
    keys = d.pick([heads, heads, 1])
    causal = d.chance(.25)
    q, k, v = (d.local() for _ in range(3))
    layout = d.pick(["separate", "separate", "3hd", "h3d", "hd3"])
    if layout == "separate":
        for name, n in ((q, heads), (k, keys), (v, keys)):
            d.do("%s = %s(h).unflatten(-1, (%d, %d)).transpose(1, 2)", name, d.own(
                "nn.Linear(%d, %d, bias=%s)" % (c, n * width, d.chance(.5))), n, width)
    else:
        keys = heads
        shape, order = {"3hd": ((3, heads, width), "2, 0, 3, 1, 4"), "h3d": ((heads, 3, width), "3, 0, 2, 1, 4"),
                        "hd3": ((heads, width, 3), "4, 0, 2, 1, 3")}[layout]
        d.do("%s, %s, %s = %s(h).unflatten(-1, %s).permute(%s).unbind(0)", q, k, v,
             d.own("nn.Linear(%d, %d)" % (c, 3 * heads * width)), shape, order)
    if d.chance(.3):  # norms of queries and keys, shared by all heads
        norms = [d.parameter(width), d.parameter(width)] if d.chance(.5) else [d.parameter(width)] * 2
        for name, p in zip((q, k), norms):
            d.do("%s = F.rms_norm(%s, (%d,), %s)", name, name, width, p)
    if d.chance(.3):  # rotary
        a = d.local()
        d.do("%s = torch.arange(h.shape[1])[:, None] * torch.linspace(.1, 1, %d)", a, width // 2)
        for name in (q, k):
            if d.chance(.5):
                d.do("%s = %s * torch.cat([%s, %s], -1).cos() + torch.cat([-%s[..., %d:], %s[..., :%d]], -1) * "
                     "torch.cat([%s, %s], -1).sin()", name, name, a, a, name, width // 2, name, width // 2, a, a)
            else:
                d.do("%s = torch.stack([%s[..., ::2] * %s.cos() - %s[..., 1::2] * %s.sin(), %s[..., ::2] * %s.sin() + "
                     "%s[..., 1::2] * %s.cos()], -1).flatten(-2)", name, name, a, name, a, name, a, name, a)
    if d.chance(.2):
        for name in (k, v):
            d.do("%s = torch.cat([%s.expand(h.shape[0], -1, -1, -1), %s], 2)", name, d.parameter(1, keys, 1, width), name)
        causal = False
    bias = None
    if d.chance(.3) and not causal:
        bias = d.parameter(heads, 1, 1) if d.chance(.5) else (
            d.parameter(heads) + "[:, None, None] * torch.arange(%s.shape[2])" % k)
    style = d.pick(["function", "function", "by hand", "talking", "sigmoid", "linear"])
    if style == "function":
        extra = ", is_causal=True" if causal else ", attn_mask=%s" % bias if bias else ""
        if keys != heads and d.chance(.7):
            extra += ", enable_gqa=True"
        d.do("h = F.scaled_dot_product_attention(%s, %s, %s%s)", q, k, v, extra)
    elif style == "linear":
        d.do("h = %s.softmax(-1) @ (%s.softmax(-2).transpose(-1, -2) @ %s)", q, k, v)
    else:
        s = d.local()
        d.do("%s = %s @ %s.transpose(-1, -2) / %d ** .5%s", s, q, k, width, " + " + bias if bias else "")
        if causal:
            d.do("%s = %s.masked_fill(torch.ones(h.shape[1], h.shape[1]).tril() == 0, -1e9)", s, s)
        if style == "talking":
            d.do("%s = torch.einsum('nhqk,gh->ngqk', %s, %s)", s, s, d.parameter(heads, heads))
        d.do("h = %s.%s @ %s", s, "sigmoid()" if style == "sigmoid" else "softmax(-1)", v)
    if d.chance(.2):
        d.do("h = h * %s", d.parameter(heads, 1, 1))
    d.do("h = %s(h.transpose(1, 2).flatten(2))", d.own("nn.Linear(%d, %d)" % (heads * width, c)))


@operation
def more_attention(d):
    attention(d)


@operation
def multihead_attention(d):
    c = d.sequence()
    heads = d.pick([k for k in (1, 2, 3, 4) if c % k == 0])
    first = d.chance(.6)
    m = d.own("nn.MultiheadAttention(%d, %d, batch_first=%s%s)" % (c, heads, first, d.pick(
        ["", "", ", add_bias_kv=True", ", add_zero_attn=True", ", bias=False"])))
    t = "h" if first else "h.transpose(0, 1)"
    back = "" if first else ".transpose(0, 1)"
    if d.chance(.3):
        a, w = d.local(), d.local()
        d.do("%s, %s = %s(%s, %s, %s)", a, w, m, t, t, t)
        d.do("h = %s%s * (1 + %s.amax((1, 2))[:, None, None])", a, back, w)
    else:
        d.do("h = %s(%s, %s, %s, need_weights=False)[0]%s", m, t, t, t, back)


@operation
def encoder_layer(d):
    c = d.sequence()
    heads = d.pick([k for k in (1, 2, 3, 4) if c % k == 0])
    d.do("h = %s(h)", d.own("nn.TransformerEncoderLayer(%d, %d, %d, dropout=0., batch_first=True, norm_first=%s, "
                            "activation=\"%s\")" % (c, heads, d.width(), d.chance(.5), d.pick(["relu", "gelu"]))))


@operation
def positions(d):
    need(d.rank == 3)
    n, c = d.sizes()[1], d.size(-1)
    if n is not None:
        d.do("h = h + %s", d.constant(n, c))
    else:
        d.do(d.pick(["h = h + %s[:h.shape[1]]", "h = h + F.interpolate(%s.t()[None], size=h.shape[1]).transpose(1, 2)",
                     "h = h + F.embedding(torch.arange(h.shape[1]), %s)"]), d.parameter(24, c))


@operation
def recurrent(d):
    c = d.sequence()
    m = d.width()
    kind = d.pick(["LSTM", "GRU", "RNN"])
    first = d.chance(.6)
    layer = d.own("nn.%s(%d, %d, batch_first=%s%s)" % (kind, c, m, first, d.pick(["", ", bidirectional=True", ", num_layers=2",
                                                                               ", bias=False"])))
    d.do("h = %s(h)[0]" if first else "h = %s(h.transpose(0, 1))[0].transpose(0, 1)", layer)


@operation
def cell(d):
    c = d.sequence()
    n = d.size(1)
    m, cell, state = d.width(), d.pick(["GRUCell", "RNNCell"]), d.local()
    layer = d.own("nn.%s(%d, %d)" % (cell, c, m))
    need(n <= 8)
    d.do("""
        %s = torch.zeros(h.shape[0], %d)
        for step in range(%d):
            %s = %s(h[:, step], %s)
        h = %s""", state, m, n, state, layer, state, state)


@operation
def experts(d):
    c = d.size(-1)
    n, m = 3, d.width()
    gate, up, down = d.own("nn.Linear(%d, %d)" % (c, n)), d.parameter(n, c, m), d.parameter(n, m, c)
    w = d.local()
    d.do("%s = %s(h).softmax(-1)", w, gate)
    if d.chance(.4):
        d.do("%s = torch.where(%s >= %s.topk(2, -1)[0][..., -1:], %s, 0.)", w, w, w, w)
    if d.chance(.5):
        d.do("h = sum(%s[..., i, None] * (F.relu(h @ %s[i]) @ %s[i]) for i in range(%d))", w, up, down, n)
    else:
        d.do("h = torch.einsum('...e,...em,emc->...c', %s, F.relu(torch.einsum('...c,ecm->...em', h, %s)), %s)", w, up, down)


@operation
def routed_experts(d):
    """A mixture whose experts run on the chosen rows only, by index."""
    c = d.size(-1)
    gate, w1, i, w = d.own("nn.Linear(%d, 3)" % c), d.parameter(3, c, c), d.local(), d.local()
    d.do("%s, %s = %s(h).softmax(-1).topk(2, -1)", w, i, gate)
    d.do("h = (%s[..., None] * (h[..., None, None, :] @ %s[%s])[..., 0, :]).sum(-2)", w, w1, i)


@operation
def chosen(d):
    """Rows of a parameter, by the place of the largest score."""
    c, n = d.size(-1), d.pick([3, 4])
    scores, rows, i = d.local(), d.parameter(n, d.width()), d.local()
    d.do("%s = %s @ %s", scores, d.pick(["h", "F.relu(h)", "h.mean(1, keepdim=True).expand(h.shape)"]), d.parameter(c, n))
    d.do(d.pick(["%s = %s.argmax(-1)", "%s = %s.max(-1)[1]", "%s = %s.topk(1, -1)[1].squeeze(-1)",
                 "%s = %s.argsort(-1, descending=True)[..., 0]", "%s = %s.softmax(-1).argmin(-1)"]), i, scores)
    d.do(d.pick(["h = {rows}[{i}]", "h = F.embedding({i}, {rows})", "h = (F.one_hot({i}, {n}) * 1.) @ {rows}",
                 "h = (({i}[..., None] == torch.arange({n})) * 1.) @ {rows}",
                 "h = {rows}.index_select(0, {i}.flatten()).reshape(*{i}.shape, -1)"]).format(n=n, i=i, rows=rows))


@operation
def kept_largest(d):
    """Entries other than the largest become zero."""
    k = d.axis(static=False, least=3)
    i = d.local()
    d.do("%s = h.topk(2, %d)[1]" if d.chance(.6) else "%s = h.relu().topk(2, %d)[1]", i, k)
    d.do(d.pick(["h = torch.zeros_like(h).scatter(%d, %s, h.gather(%d, %s))", "h = h.scatter_add(%d, %s, h.gather(%d, %s))",
                 "h = h.scatter(%d, %s, 0. * h.gather(%d, %s))"]), k, i, k, i)


@operation
def sorted_rows(d):
    """Rows in the order of a score, and back."""
    need(d.rank == 3)
    i, c = d.local(), d.size(-1)
    d.do("%s = (h @ %s).argsort(1)", i, d.parameter(c, 1))
    d.do("h = " + d.pick(["h.gather(1, {i}.expand(h.shape))", "h.gather(1, {i}.expand(h.shape)).cumsum(1)",
                          "h.take_along_dim({i}, 1).tanh().gather(1, {i}.argsort(1).expand(h.shape))",
                          "h + {i}.argsort(1) * .1"]).format(i=i))


@operation
def sorted_experts(d):
    """Rows sorted by expert, as fast implementations of mixtures compute them."""
    c, n = d.size(-1), 3
    i, order, y = d.local(), d.local(), d.local()
    rows, gate = d.parameter(n, c, c), d.parameter(c, n)
    d.do("%s = (h @ %s).flatten(0, -2).argmax(-1)", i, gate)
    d.do("%s = %s.argsort(stable=True)", order, i)
    d.do("%s = h.flatten(0, -2)[%s]", y, order)
    d.do("%s = (%s[:, None] @ %s[%s[%s]])[:, 0]", y, y, rows, i, order)
    d.do("h = torch.zeros_like(%s).%s(0, %s, %s).reshape(h.shape)", y, d.pick(["index_add", "index_copy"]), order, y)


@operation
def squeeze_and_excitation(d):
    c, n = d.channels(), d.rank - 2
    d.do("h = h * torch.sigmoid(%s(F.relu(%s(h.mean(%s)))))[(...,) + (None,) * %d]", d.own("nn.Linear(4, %d)" % c),
         d.own("nn.Linear(%d, 4)" % c), tuple(range(2, d.rank)), n)


@operation
def codebook(d):
    n = d.size(-1)
    e = d.own("nn.Embedding(5, %d)" % n)
    d.do("h = h + %s((h @ %s.weight.t()).argmax(-1))", e, e)


@operation
def spectrum(d):
    k = d.axis(static=False, least=2)
    d.do(d.pick(["h = torch.fft.rfft(h, dim=%d).abs()", "h = torch.fft.fft(h, dim=%d).real", "h = torch.fft.fft2(h).real + 0 * %d"
                 if d.rank > 2 else "h = torch.fft.fft(h, dim=%d).imag"]), k)


@operation
def filter_of_frequencies(d):
    need(d.rank == 3)
    n, c = d.size(1), d.size(2)
    d.do("h = torch.fft.irfft(torch.fft.rfft(h, dim=1) * torch.view_as_complex(%s), n=%d, dim=1)",
         d.parameter(n // 2 + 1, c, 2), n)


@operation
def complex_product(d):
    n = d.size(-1)
    need(n % 2 == 0)
    w = d.own("nn.Parameter(torch.randn(%d, 4, dtype=torch.complex64))" % (n // 2)) if d.chance(.4) else None
    if w:
        d.do("h = torch.view_as_real(torch.complex(h[..., :%d], h[..., %d:]) @ %s.to(torch.complex(h, h).dtype)).flatten(-2)",
             n // 2, n // 2, w)
    else:
        d.do("h = torch.view_as_real(torch.view_as_complex(h.unflatten(-1, (%d, 2)).contiguous()) * "
             "torch.polar(torch.ones(%d), torch.linspace(0, 1, %d))).flatten(-2)", n // 2, n // 2, n // 2)


# ---- state and branches ----------------------------------------------------------------------------------------------

@operation
def running_mean(d):
    k = d.axis()
    n = d.size(k)
    b = d.buffer("torch.zeros(%d)" % n, d.chance(.7))
    others = tuple(j for j in range(d.rank) if j != k)
    d.do("%s.mul_(.9).add_(h.detach().mean(%s), alpha=.1)", b, others)
    d.do("h = h - %s.reshape(%s)", b, [n if j == k else 1 for j in range(d.rank)])


@operation
def kept_value(d):
    """The mean of the previous batch, which the module keeps."""
    need(d.rank >= 2)
    k = d.axis()
    n = d.size(k)
    b = d.buffer("torch.%s(%d)" % (d.pick(["zeros", "randn"]), n), d.chance(.7))
    t = d.local()
    others = tuple(j for j in range(d.rank) if j != k)
    d.do("%s = %s.clone()", t, b)
    d.do("%s.copy_(h.detach().%s(%s))", b, d.pick(["mean", "amax"]), others)
    d.do("h = h + %s.reshape(%s)", t, [n if j == k else 1 for j in range(d.rank)])


@operation
def counter(d):
    b = d.buffer("torch.zeros(())", d.chance(.7))
    d.do("%s.add_(1)", b)
    d.do("h = h * (1 + .1 * %s)", b)


@operation
def bank(d):
    """The last rows that a module has read."""
    need(d.rank == 2)
    n = d.size(1)
    b = d.buffer("torch.randn(4, %d)" % n, d.chance(.7))
    t = d.local()
    d.do("%s = (h @ %s.t()).softmax(-1) @ %s", t, b, b)
    d.do("%s.copy_(torch.cat([h.detach().mean(0, keepdim=True), %s[:-1]]))", b, b)
    d.do("h = h + " + t)


@operation
def branch_on_length(d):
    need(d.rank == 3)
    c = d.size(-1)
    a, b = d.parameter(c), d.parameter(c)
    d.do(d.pick(["h = h * (%s if h.shape[1] > 7 else %s)", "h = h * %s if h.shape[1] <= 6 else h + %s",
                 "h = h * %s + %s if h.shape[1] %% 2 == 0 else h"]), a, b)


@operation
def branch_on_width(d):
    k = d.axis()
    d.do("h = h.tanh() if h.shape[%d] %% 4 == 0 else h.relu() + h.mean(%d, keepdim=True)", k, k)


@operation
def branch_on_batch(d):
    d.do("h = h * 2 if h.shape[0] > 1 else h")
