# SPDX-License-Identifier: Apache-2.0
"""Small modules whose symmetry is easy to get wrong, with the results that are acceptable.

Each function of MODULES returns (net, example, counts, options):

    net, example  as in expected_groups
    counts        a Counter as in expected_groups: the whole symmetry, as far as rows can hold it; None: must be refused
    options       "exact": exactly these counts pass; "smaller": any groups pass that keep the outputs; "refused":
                  mcz.Error passes too
    least         a Counter of groups that must be among those found (with "smaller")"""
import math
from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

from expected_groups import Attention, attention, flat, grouped, images, sequences, total

MODULES = {}
# words in the names of modules that `make check` leaves out
EXTRA = ("a block that runs", "square weight", "overlapping", "clamp", "complex", "Fourier", "bilinear", "Gram", "shared",
         "list of", "rolled", "plus reversed", "transposed convolution", "other widths", "mixes heads", "linear attention",
         "float16", "standardization", "orthogonal", "low-rank", "experts", "one-hot", "scalar", "GRU", "mean over", "argmax", "topk",
         "every other", "unshuffle by", "widens", "multiplier", "both sides", "mean weights", "sequence first", "instance norm",
         "a convolution that", "cosine", "dictionary", "in evaluation mode", "embedding", "index of", "any mode", "a number")


def module(name, options="exact", least=None):
    def add(function):
        MODULES[name] = lambda: (*function(), set(options.split()), least or Counter())
        return function
    return add


class Apply(nn.Module):
    """A module with these submodules, parameters and persistent buffers, and this forward(self, ...)."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)
        self.function = forward

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


def conv(i, o, k=3, **settings):
    return nn.Conv2d(i, o, k, padding=k // 2, **settings)


def head(x, fc):
    return fc(x.mean((2, 3)))


def between(function, width=8, after=None, **parts):
    """stem (3 -> width), function, a convolution (after -> 6), ReLU, the head. Units: width and 6."""
    return Apply(lambda m, x: head(F.relu(m.last(function(m, F.relu(m.stem(x))))), m.fc), stem=conv(3, width),
                 last=conv(after or width, 6), fc=nn.Linear(6, 5), **parts).eval()


def case(function, counts, size=8, **settings):
    return between(function, **settings), images(size), counts


def parameter(*shape):
    return nn.Parameter(torch.randn(*shape))


# ---- tensors in several places ---------------------------------------------------------------------------------------

@module("a convolution that runs twice")
def shared_conv():
    return case(lambda m, x: m.mid(F.relu(m.mid(x))), flat(8, 6), mid=conv(8, 8))


@module("a block that runs three times")
def shared_block():
    return case(lambda m, x: (lambda f: f(f(f(x))))(lambda x: x + m.b(F.relu(m.a(x)))),
                flat(8, 10, 6),
                a=conv(8, 10),
                b=conv(10, 8))


@module("a linear layer under two names")
def tied_names():
    # first and last have the same weight and bias: inputs, outputs and both hidden layers are one group
    net = nn.Sequential(nn.Linear(7, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(),
                        nn.Linear(8, 5))
    net[4] = net[2]
    return net.eval(), lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("an autoencoder with tied weights")
def tied_autoencoder():
    return Apply(lambda m, x: F.linear(torch.tanh(F.linear(x, m.weight, m.bias)), m.weight.T), weight=parameter(8, 12),
                 bias=parameter(8)).eval(), lambda n, seed=0: torch.randn(n, 12), flat(8)


@module("a square weight and its transpose")
def tied_square():
    # the weight's inputs are one group, which the transpose writes again; its outputs another
    return Apply(lambda m, x: m.last(F.relu(F.linear(F.relu(F.linear(F.relu(m.stem(x)), m.weight)), m.weight.T))),
                 stem=nn.Linear(7, 8), weight=parameter(8, 8), last=nn.Linear(8, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8, 8)


@module("a sum of a square weight and its transpose")
def symmetric():
    return Apply(lambda m, x: m.last(F.relu(F.linear(F.relu(m.stem(x)), m.weight + m.weight.T))),
                 stem=nn.Linear(7, 8), weight=parameter(8, 8), last=nn.Linear(8, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("a weight that is sliced")
def sliced_weight():
    return Apply(lambda m, x: m.last(F.relu(F.linear(x, m.weight[:8]))), weight=parameter(12, 7),
                 last=nn.Linear(8, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("two overlapping slices of a weight", "smaller")
def overlapping_slices():
    # rows 0 to 7 and 4 to 11: rows 4 to 7 of both are one group, since both write their own sum
    return Apply(lambda m, x: m.last(F.relu(F.linear(x, m.weight[:8]))) + m.other(F.relu(F.linear(x, m.weight[4:]))),
                 weight=parameter(12, 7), last=nn.Linear(8, 5), other=nn.Linear(8, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(4, 4, 4)


@module("unused layers")
def unused():
    net, example, counts = case(lambda m, x: x, flat(8, 6))
    net.dead, net.extra = nn.Linear(8, 8), nn.Sequential(nn.Linear(4, 9), nn.Linear(9, 4))
    return net.eval(), example, counts


@module("hidden layers of one unit")
def one_unit():
    # tanh and a layer of one unit: not a group
    net = nn.Sequential(nn.Linear(7, 8), nn.Tanh(), nn.Linear(8, 1), nn.Tanh(), nn.Linear(1, 6), nn.Tanh(),
                        nn.Linear(6, 5))
    return net.eval(), lambda n, seed=0: torch.randn(n, 7), flat(8, 6)


# ---- arithmetic ------------------------------------------------------------------------------------------------------

def in_place(m, x):
    y = m.a(x)
    y += x
    y.mul_(2).add_(m.b(x))
    y[:, :, 0] = 0
    return y.relu_()


@module("sums in place")
def sums_in_place():
    return case(in_place, flat(8, 6), a=conv(8, 8), b=conv(8, 8))


def written_slice(m, x):
    y = x.clone()
    y[:, 2:5] = m.a(x)
    return y


@module("channels written in place", "smaller", flat(6))
def channels_in_place():
    # channels 0, 1 and 5 to 7 come from the stem, 2 to 4 from a; a also reads the stem's 2 to 4
    return case(written_slice, flat(2, 3, 3, 3, 6), a=conv(8, 3))


@module("softmax over channels")
def softmax():
    return case(lambda m, x: x.softmax(1), flat(8, 6))


@module("cumulative sum over channels", least=flat(6))
def cumsum():
    return case(lambda m, x: x.cumsum(1), flat(6))


@module("local response norm", least=flat(6))
def lrn():
    return case(lambda m, x: F.local_response_norm(x, 3), flat(6))


@module("batch norm in training")
def batch_training():
    return case(lambda m, x: F.batch_norm(x, None, None, m.weight, m.bias, True), flat(8, 6), weight=parameter(8),
                bias=parameter(8))


@module("instance norm")
def instance_norm():
    return case(lambda m, x: m.norm(x), flat(8, 6), norm=nn.InstanceNorm2d(8, affine=True))


@module("batch norm without running statistics")
def batch_statistics():
    return case(lambda m, x: m.norm(x), flat(8, 6), norm=nn.BatchNorm2d(8, track_running_stats=False))


@module("RMS norm, PReLU and a gated unit")
def gated():
    return Apply(lambda m, x: m.last(m.norm(F.glu(m.act(m.stem(x))))), stem=nn.Linear(7, 16), act=nn.PReLU(16),
                 norm=nn.RMSNorm(8), last=nn.Linear(8, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("maximum over channels", "smaller", flat(6))
def maximum():
    # the maximum does not depend on the order: the stem's outputs alone are a group
    return case(lambda m, x: x.amax(1, keepdim=True), flat(8, 6), after=1)


@module("index of the maximum over channels", "exact", flat(6))
def argmax():
    return case(lambda m, x: x.argmax(1, keepdim=True).to(x.dtype), flat(6), after=1)


@module("largest outputs alone")
def sparse():
    # the places of the largest three channels move with the channels
    def forward(m, x):
        values, places = m.a(x).topk(3, 1)
        return torch.zeros_like(x).scatter(1, places, values)
    return case(forward, flat(8, 8, 6), a=conv(8, 8))


@module("channels of another layer by the places of the largest")
def gathered():
    # the outputs of a and b have one order, the last layer reads the chosen ones by rank
    return case(lambda m, x: m.a(x).gather(1, m.b(x).topk(3, 1).indices), flat(8, 8, 6), a=conv(8, 8), b=conv(8, 8), after=3)


@module("channels by the places of the largest activations", least=flat(8, 6))
def gathered_ties():
    # several activations are 0: which of them are chosen depends on their order
    return case(lambda m, x: m.a(x).gather(1, m.b(x).relu().topk(3, 1).indices), flat(8, 6), a=conv(8, 8), b=conv(8, 8),
                after=3)


@module("sorted channels and the inverse order")
def sorted_inverse():
    # the outputs of a are sorted; the inverse of the order restores the places
    def forward(m, x):
        values, order = m.a(x).mean((2, 3)).sort(1)
        return m.a(x) + values.cumsum(1).gather(1, order.argsort(1))[..., None, None]
    return case(forward, flat(8, 8, 6), a=conv(8, 8))


@module("sort over channels", "smaller", flat(6))
def sort():
    return case(lambda m, x: x.sort(1).values, flat(8, 6))


@module("largest three channels", "smaller", flat(6))
def topk():
    return case(lambda m, x: x.topk(3, 1).values, flat(8, 6), after=3)


@module("cosine similarity over channels", "smaller", flat(6))
def cosine():
    return case(lambda m, x: F.cosine_similarity(m.a(x), m.b(x), 1)[:, None], flat(8, 4, 6), a=conv(8, 4), b=conv(8, 4),
                after=1)


@module("a constant factor per channel", least=flat(6))
def constant_factor():
    factor = torch.arange(1., 9).view(1, 8, 1, 1)
    return case(lambda m, x: x * factor, flat(6))


@module("a mask per channel, not in the state_dict", least=flat(6))
def mask():
    net, example, counts = case(lambda m, x: x * m.mask, flat(6))
    net.register_buffer("mask", (torch.arange(8) % 3 > 0).float().view(1, 8, 1, 1), persistent=False)
    return net, example, counts


@module("a mask per channel, a buffer of the state_dict", "smaller", flat(6))
def mask_buffer():
    # the buffer moves with the channels
    return case(lambda m, x: x * m.mask, flat(8, 6), mask=(torch.arange(8) % 3 > 0).float().view(1, 8, 1, 1))


@module("a mask of integers per channel", "smaller", flat(6))
def mask_integers():
    # group files leave out integers: the channels must be fixed
    return case(lambda m, x: x * m.mask, flat(6), mask=(torch.arange(8) % 3).view(1, 8, 1, 1))


@module("a constant that all channels share")
def constant_shared():
    return case(lambda m, x: x * 2 + torch.full((1, 8, 1, 1), .5), flat(8, 6))


@module("the batch size as a number", "exact refused")
def batch_size():
    return case(lambda m, x: x / x.shape[0], flat(8, 6))


@module("mean over the batch")
def batch_mean():
    return case(lambda m, x: x - x.mean(0, keepdim=True), flat(8, 6))


@module("clamp between two parameters")
def clamp():
    return case(lambda m, x: torch.minimum(torch.maximum(x, m.low), m.high), flat(8, 6), low=parameter(8, 1, 1),
                high=parameter(8, 1, 1))


@module("where on activations")
def where():
    return case(lambda m, x: torch.where(m.a(x) > 0, x, m.b(x)), flat(8, 6), a=conv(8, 8), b=conv(8, 8))


@module("complex numbers over positions", "smaller refused", flat(6))
def fourier():
    return case(lambda m, x: torch.fft.irfft2(torch.fft.rfft2(x) * m.factor, s=x.shape[-2:]), flat(8, 6),
                factor=nn.Parameter(torch.randn(8, 1, 1, dtype=torch.cfloat)))


@module("Fourier transform over positions")
def fourier_real():
    return case(lambda m, x: torch.fft.irfft2(torch.fft.rfft2(x) * m.factor, s=x.shape[-2:]), flat(8, 6),
                factor=parameter(8, 1, 1))


@module("Fourier transform over channels", "smaller refused", flat(6))
def fourier_channels():
    return case(lambda m, x: torch.fft.fft(x, dim=1).abs(), flat(6))


@module("bilinear layer", "smaller")
def bilinear():
    return Apply(lambda m, x: m.last(F.relu(m.pair(F.relu(m.a(x)), F.relu(m.b(x))))),
                 a=nn.Linear(7, 8),
                 b=nn.Linear(7, 6),
                 pair=nn.Bilinear(8, 6, 9),
                 last=nn.Linear(9, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(8, 6, 9)


@module("Gram matrix of channels", "smaller", flat(6))
def gram():
    return Apply(lambda m, x: m.fc(F.relu(m.last((lambda y: (y @ y.mT).flatten(1))(m.stem(x).flatten(2))))),
                 stem=conv(3, 4),
                 last=nn.Linear(16, 6),
                 fc=nn.Linear(6, 5)).eval(), images(8), flat(4, 6)


# ---- places ----------------------------------------------------------------------------------------------------------

@module("channel shuffle", "smaller", flat(6))
def shuffle():
    # a dense convolution follows: all 8 are free, but not as consecutive rows
    return case(lambda m, x: x.unflatten(1, (2, 4)).transpose(1, 2).flatten(1, 2), flat(8, 6))


@module("channel shuffle between grouped convolutions", "smaller", flat(6))
def shuffle_grouped():
    # each of the 4 = 2 x 2 blocks of b's inputs holds 2 channels of one group of a
    return case(lambda m, x: m.b(m.a(x).unflatten(1, (2, 4)).transpose(1, 2).flatten(1, 2)),
                total(grouped(2, 4), grouped(2, 4), flat(6)), a=conv(8, 8, groups=2), b=conv(8, 8, groups=2))


@module("pixel shuffle", "smaller", flat(6))
def pixel_shuffle():
    # channel c is made of channels 4 c to 4 c + 3 of the convolution, which are one unit
    return case(lambda m, x: F.pixel_shuffle(m.up(x), 2), flat(8, 4, 6), up=conv(8, 16), after=4)


@module("pixel unshuffle", "smaller", flat(6))
def pixel_unshuffle():
    # unit c becomes channels 4 c to 4 c + 3
    return case(lambda m, x: F.pixel_unshuffle(x, 2), flat(8, 6), after=32)


@module("pixel unshuffle by reshape")
def unshuffle_reshape():
    # space to depth with [2, 2, channel]: one permutation in four segments
    return case(lambda m, x: x.unflatten(2, (4, 2)).unflatten(4, (4, 2)).permute(0, 3, 5, 1, 2, 4).flatten(1, 3),
                flat(8, 6),
                after=32)


@module("flatten of channels and positions")
def flatten():
    return Apply(lambda m, x: m.fc(F.relu(m.hidden(F.relu(m.stem(x)).flatten(1)))),
                 stem=conv(3, 4),
                 hidden=nn.Linear(64, 6),
                 fc=nn.Linear(6, 5)).eval(), images(4), flat(4, 6)


@module("flatten of positions and channels")
def flatten_last():
    return Apply(lambda m, x: m.fc(F.relu(m.hidden(F.relu(m.stem(x)).permute(0, 2, 3, 1).flatten(1)))), stem=conv(3, 4),
                 hidden=nn.Linear(64, 6), fc=nn.Linear(6, 5)).eval(), images(4), flat(4, 6)


@module("a view that mixes positions and channels", "smaller", flat(6))
def mixed_view():
    # [4, 16] read as [8, 8]: a channel is two rows; the linear layer over the columns keeps rows apart
    return Apply(lambda m, x: m.fc(F.relu(m.hidden(m.inner(F.relu(m.stem(x)).reshape(len(x), 8, 8)).flatten(1)))),
                 stem=conv(3, 4), inner=nn.Linear(8, 7), hidden=nn.Linear(56, 6), fc=nn.Linear(6, 5)).eval(), \
        images(4), flat(4, 7, 6)


@module("one channel by index", "smaller", flat(6))
def index():
    # the others are without effect
    return case(lambda m, x: x[:, 3:4], flat(6), after=1)


@module("every other channel", "smaller", flat(6))
def stride():
    return case(lambda m, x: x[:, ::2], flat(4, 6), after=4)


@module("channels by a list of indices", "smaller", flat(6))
def index_list():
    return case(lambda m, x: x[:, [5, 1, 2]], flat(3, 6), after=3)


@module("reversed channels", "smaller", flat(6))
def flip():
    return case(lambda m, x: x.flip(1), flat(8, 6))


@module("rolled channels", "smaller", flat(6))
def roll():
    # all 8 are free, but as rows unit 7 is apart
    return case(lambda m, x: x.roll(1, 1), flat(8, 6))


@module("channels plus reversed channels", "smaller", flat(6))
def palindrome():
    return case(lambda m, x: x + x.flip(1), flat(4, 6))


@module("repeated channels", "smaller", flat(8, 6))
def repeat():
    # the two copies are equal, so that their columns may also be exchanged
    return case(lambda m, x: x.repeat(1, 2, 1, 1), flat(8, 6), after=16)


@module("channels repeated in place", "smaller", flat(8, 6))
def repeat_interleave():
    # as above: an order of two equal copies in each unit
    return case(lambda m, x: x.repeat_interleave(2, 1), flat(8, 6), after=16)


@module("concatenation, split and sum")
def concatenation():
    # [a 3, b 5] + [c 5, d 3]: cuts at 3 and 5; halves of 4 read by two convolutions: cuts at 4 too
    return case(lambda m, x: (lambda y: torch.cat([m.e(y[:, :4]), m.f(y[:, 4:])], 1))
                (torch.cat([m.a(x), m.b(x)], 1) + torch.cat([m.c(x), m.d(x)], 1)),
                flat(8, 3, 3, 4, 4, 6),
                a=conv(8, 3),
                b=conv(8, 5),
                c=conv(8, 5),
                d=conv(8, 3),
                e=conv(4, 4),
                f=conv(4, 4))


@module("zero channels appended")
def padded():
    # option A shortcuts: the last two channels of the sum come from b alone
    return case(lambda m, x: F.pad(x, (0, 0, 0, 0, 0, 2)) + m.a(x), flat(8, 2, 6), a=conv(8, 10), after=10)


@module("zero channels on both sides")
def padded_both():
    return case(lambda m, x: F.pad(x, (0, 0, 0, 0, 2, 3)) + m.a(x), flat(8, 2, 3, 6), a=conv(8, 13), after=13)


@module("unfold", "smaller", flat(6))
def unfold():
    return Apply(lambda m, x: m.fc(F.relu(m.hidden(F.unfold(F.relu(m.stem(x)), 3).transpose(1, 2))).mean(1)),
                 stem=conv(3, 4),
                 hidden=nn.Linear(36, 6),
                 fc=nn.Linear(6, 5)).eval(), images(8), flat(4, 6)


@module("transposed convolution")
def transposed():
    return case(lambda m, x: m.up(x), flat(8, 4, 6), up=nn.ConvTranspose2d(8, 4, 2, 2), after=4)


@module("convolution of 1 x 1 with stride and padding")
def padded_stride():
    # an image of 2 x 2 positions, which are parameters: the output has the same size, but other positions
    return Apply(lambda m, x: m.fc(F.relu(m.c(m.a(x)[..., None, None] * m.places)).amax((2, 3))), a=nn.Linear(7, 4),
                 places=parameter(1, 4, 2, 2), c=nn.Conv2d(4, 6, 1, stride=2, padding=1), fc=nn.Linear(6, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(4, 6)


@module("empty slices and parameters")
def empty_slice():
    def forward(m, x):
        y = m.a(x)
        return m.last(F.relu(m.b(torch.cat([m.prompt, torch.cat([y[..., :8].tanh(), y[..., 8:]], -1)]))))
    return Apply(forward, prompt=parameter(0, 8), a=nn.Linear(7, 8), b=nn.Linear(8, 6), last=nn.Linear(6, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8, 6)


@module("transposed convolution with groups", "smaller", flat(6))
def transposed_grouped():
    return case(lambda m, x: m.up(x),
                total(grouped(2, 4, 3), flat(6)),
                up=nn.ConvTranspose2d(8, 6, 2, 2, groups=2),
                after=6)


@module("grouped convolution that widens")
def widening():
    return case(lambda m, x: m.a(x), total(grouped(4, 2, 3), flat(6)), a=conv(8, 12, groups=4), after=12)


@module("depthwise convolution with multiplier")
def multiplier():
    # each unit's two outputs are their own order within the unit
    return case(lambda m, x: m.a(x), Counter({(8, 0): 1, (2, 8): 8, (6, 0): 1}), a=conv(8, 16, groups=8), after=16)


@module("two grouped convolutions of different groups", "smaller", flat(6))
def crossing():
    # blocks of 4 and blocks of 2: 2 blocks, 2 halves in each; inputs of a and outputs of b are not halved
    return case(lambda m, x: m.b(m.a(x)), Counter({(2, 0): 1, (4, 2): 2, (2, 2): 2 + 4 + 4, (6, 0): 1}),
                a=conv(8, 8, groups=2), b=conv(8, 8, groups=4))


@module("widths equal to batch and length")
def equal_sizes():
    # 3 and 5 are widths, batches and lengths at once
    return Apply(lambda m, x: m.last(F.relu(m.b(F.relu(m.a(x)))).mean(1)), a=nn.Linear(3, 5), b=nn.Linear(5, 3),
                 last=nn.Linear(3, 5)).eval(), sequences(5, 3), flat(5, 3)


@module("image transposed and read by columns")
def mixer():
    # an MLP over 16 positions has its own hidden units; positions are fixed
    return Apply(lambda m, x: m.fc(((lambda y: y + m.b(F.gelu(m.a(y.mT))).mT)(m.stem(x).flatten(2).mT)).mean(1)),
                 stem=conv(3, 8),
                 a=nn.Linear(16, 9),
                 b=nn.Linear(9, 16),
                 fc=nn.Linear(8, 5)).eval(), images(4), flat(8, 9)


# ---- attention and sequences -----------------------------------------------------------------------------------------

@module("efficient channel attention", least=flat(6))
def eca():
    # a convolution over channels fixes their order
    return case(lambda m, x: x * torch.sigmoid(m.over(x.mean((2, 3))[:, None])).mT[..., None], flat(6),
                over=nn.Conv1d(1, 1, 3, padding=1))


def cbam_forward(m, x):
    gate = torch.sigmoid(sum(m.up(F.relu(m.down(p(x, 1)))) for p in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d)))
    x = x * gate
    return x * torch.sigmoid(m.space(torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)))


@module("convolutional block attention")
def cbam():
    return case(cbam_forward, flat(8, 4, 6), down=conv(8, 4, 1), up=conv(4, 8, 1), space=conv(2, 1, 7))


def einsum_attention(m, x):
    q, k, v = (f(x).view(*x.shape[:2], 3, 8) for f in (m.q, m.k, m.v))
    weights = torch.einsum("bqhd,bkhd->bhqk", q, k).div(math.sqrt(8)).softmax(-1)
    return m.out(torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*x.shape[:2], 24))


def surrounded(forward, **parts):
    return Apply(lambda m, x: m.last(torch.tanh(m.first(x)) + forward(m, torch.tanh(m.first(x)))),
                 first=nn.Linear(7, 24),
                 last=nn.Linear(24, 5),
                 **parts).eval()


@module("attention by einsum")
def einsum():
    parts = {k: nn.Linear(24, 24) for k in ("q", "k", "v", "out")}
    return surrounded(einsum_attention, **parts), sequences(6, 7), total(flat(24), attention(3, 8))


def heads_of(**settings):
    return nn.MultiheadAttention(24, 3, **settings)


@module("einsum with an ellipsis, a diagonal and no output")
def einsum_forms():
    # the weight's diagonal: inputs and outputs have one order
    def forward(m, x):
        y = torch.einsum("...i,ji->...j", torch.tanh(m.a(x)), m.w)
        return m.last(torch.einsum("bi,ij", y, m.v) * torch.einsum("ii->i", m.d))
    return Apply(forward, a=nn.Linear(7, 8), w=parameter(6, 8), v=parameter(6, 9), d=parameter(9, 9),
                 last=nn.Linear(9, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(8, 6, 9)


@module("an identity added to a weight")
def identity():
    return Apply(lambda m, x: m.last(F.relu(F.linear(F.relu(m.first(x)), m.weight + torch.eye(8, dtype=x.dtype)))),
                 first=nn.Linear(7, 8), weight=parameter(8, 8), last=nn.Linear(8, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("MultiheadAttention")
def multihead():
    return surrounded(lambda m, x: m.attn(x, x, x, need_weights=False)[0], attn=heads_of(batch_first=True)), \
        sequences(6, 7), total(flat(24), attention(3, 8))


@module("MultiheadAttention that returns mean weights")
def multihead_weights():
    return Apply(lambda m, x: (lambda y: (m.last(y[0]), y[1]))(m.attn(*[torch.tanh(m.first(x))] * 3)),
                 first=nn.Linear(7, 24),
                 last=nn.Linear(24, 5),
                 attn=heads_of(batch_first=True)).eval(), sequences(6, 7), total(flat(24, 24), attention(3, 8))


@module("MultiheadAttention that returns each head's weights")
def multihead_each():
    # the weights show the heads' order, which is fixed; orders within heads are free
    def forward(m, x):
        y, weights = m.attn(*[torch.tanh(m.first(x))] * 3, average_attn_weights=False)
        return m.last(y), weights
    return Apply(forward, first=nn.Linear(7, 24), last=nn.Linear(24, 5), attn=heads_of(batch_first=True)).eval(), \
        sequences(6, 7), total(flat(24, 24), Counter({(8, 0): 6}))


@module("MultiheadAttention, sequence first")
def multihead_first():
    return surrounded(lambda m, x: m.attn(*[x.transpose(0, 1)] * 3, need_weights=False)[0].transpose(0, 1),
                      attn=heads_of()), sequences(6, 7), total(flat(24), attention(3, 8))


@module("MultiheadAttention with other widths of keys and values, and a bias of keys")
def multihead_cross():
    return Apply(lambda m, x: m.last(
        m.attn(torch.tanh(m.first(x)), torch.tanh(m.k(x)), torch.tanh(m.v(x)), need_weights=False)[0]),
                 first=nn.Linear(7, 24),
                 k=nn.Linear(7, 10),
                 v=nn.Linear(7, 12),
                 last=nn.Linear(24, 5),
                 attn=heads_of(batch_first=True, kdim=10, vdim=12,
                               add_bias_kv=True)).eval(), sequences(6, 7), total(flat(24, 24, 10, 12), attention(3, 8))


@module("attention that mixes heads")
def talking_heads():
    # a linear layer over heads has its own outputs: heads before it and after it are two groups
    def forward(m, x):
        q, k, v = m.qkv(x).unflatten(-1, (3, 3, 8)).permute(2, 0, 3, 1, 4)
        weights = m.mix((q @ k.mT / 3).permute(0, 2, 3, 1)).permute(0, 3, 1, 2).softmax(-1)
        return m.out((weights @ v).transpose(1, 2).flatten(2))
    return surrounded(forward, qkv=nn.Linear(24, 72), mix=nn.Linear(3, 3), out=nn.Linear(24, 24)), sequences(6, 7), \
        total(flat(24), Counter({(3, 0): 2, (8, 3): 6}))


@module("attention with grouped queries")
def grouped_queries():
    # 2 of 6 heads of queries read one of 3 heads of keys. Each has an order of these 2, one of the channels of queries
    # and keys, and one of values
    def forward(m, x):
        q, k, v = (f(x).unflatten(-1, (-1, 8)).transpose(1, 2) for f in (m.q, m.k, m.v))
        return m.out(F.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).flatten(2))
    return surrounded(forward, q=nn.Linear(24, 48), k=nn.Linear(24, 24), v=nn.Linear(24, 24), out=nn.Linear(48, 24)), \
        sequences(6, 7), total(flat(24), attention(3, 8), Counter({(2, 3): 3}))


@module("attention with rotary embeddings of neighbouring pairs")
def rotary_pairs():
    def turn(x):
        angle = torch.arange(x.shape[2], dtype=x.dtype)[:, None] * torch.tensor([1., .3, .1, .03], dtype=x.dtype)
        a, b = x.unflatten(-1, (4, 2)).unbind(-1)
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def forward(m, x):
        q, k, v = m.qkv(x).unflatten(-1, (3, 3, 8)).permute(2, 0, 3, 1, 4)
        return m.out(F.scaled_dot_product_attention(turn(q), turn(k), v).transpose(1, 2).flatten(2))
    return surrounded(forward, qkv=nn.Linear(24, 72), out=nn.Linear(24, 24)), sequences(6, 7), \
        Counter({(24, 0): 1, (3, 0): 1, (8, 3): 3})


@module("linear attention")
def linear_attention():
    # elu + 1 of queries and keys, one sum over positions
    def forward(m, x):
        q, k, v = m.qkv(x).unflatten(-1, (3, 3, 8)).permute(2, 0, 3, 1, 4)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        return m.out((q @ (k.mT @ v) / (q @ k.sum(-2, keepdim=True).mT)).transpose(1, 2).flatten(2))

    return surrounded(forward, qkv=nn.Linear(24, 72),
                      out=nn.Linear(24, 24)), sequences(6, 7), total(flat(24), attention(3, 8))


@module("one head")
def one_head():
    return Attention(heads=1, norm=False).eval(), sequences(5, 7), flat(24, 24, 24)


@module("LSTM of two layers")
def lstm():
    return Apply(lambda m, x: m.fc(m.rnn(x)[0][:, -1]), rnn=nn.LSTM(7, 8, 2, batch_first=True),
                 fc=nn.Linear(8, 5)).eval(), sequences(4, 7), flat(8, 8)


@module("GRU")
def gru():
    return Apply(lambda m, x: m.fc(m.rnn(x)[1][0]), rnn=nn.GRU(7, 8, batch_first=True), fc=nn.Linear(8, 5)).eval(), \
        sequences(4, 7), flat(8)


@module("LSTM in both directions, with projections and states")
def lstm_projected():
    # each of 2 x 2 layers has 8 cells, and 3 units of state that its projection writes
    return Apply(lambda m, x: (lambda y, s: m.fc(y[:, -1]) + m.states(s[0].transpose(0, 1).flatten(1)))(*m.rnn(x)),
                 rnn=nn.LSTM(7, 8, 2, batch_first=True, bidirectional=True, proj_size=3), fc=nn.Linear(6, 5),
                 states=nn.Linear(12, 5)).eval(), sequences(4, 7), flat(*[8] * 4, *[3] * 4)


@module("recurrent cells")
def cells():
    return Apply(lambda m, x: m.fc(m.b(m.a(x)[0])), a=nn.LSTMCell(7, 8), b=nn.GRUCell(8, 6), fc=nn.Linear(6, 5)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8, 6)


@module("recurrent cell in a loop")
def recurrent_loop():
    def forward(m, x):
        h = x.new_zeros(x.shape[0], 8)
        for t in range(4):
            h = torch.tanh(m.a(x[:, t]) + m.b(h))
        return m.fc(h)
    return Apply(forward, a=nn.Linear(7, 8), b=nn.Linear(8, 8), fc=nn.Linear(8, 5)).eval(), sequences(4, 7), flat(8)


@module("embedding with a padding index")
def embedding():
    return Apply(lambda m, x: m.fc(F.relu(m.hidden(m.words(x).mean(1)))), words=nn.Embedding(11, 8, padding_idx=0),
                 hidden=nn.Linear(8, 6), fc=nn.Linear(6, 5)).eval(), \
        lambda n, seed=0: torch.arange(4 * n).view(n, 4) % 11, flat(8, 6)


@module("positions in a buffer of the state_dict")
def positions_buffer():
    return Apply(lambda m, x: m.fc(F.relu(m.a(x) + m.positions).mean(1)),
                 a=nn.Linear(7, 8),
                 positions=torch.randn(4, 8),
                 fc=nn.Linear(8, 5)).eval(), sequences(4, 7), flat(8)


@module("positions in a buffer that is not in the state_dict")
def positions_hidden():
    net = Apply(lambda m, x: m.fc(m.b(F.relu(m.a(x) + m.positions)).relu().mean(1)),
                a=nn.Linear(7, 8),
                b=nn.Linear(8, 6),
                fc=nn.Linear(6, 5))
    net.register_buffer("positions", torch.randn(4, 8), persistent=False)
    return net.eval(), sequences(4, 7), flat(6)


@module("positions computed in forward")
def positions_computed():
    def forward(m, x):
        angle = torch.arange(4, dtype=x.dtype)[:, None] / 10 ** (torch.arange(4, dtype=x.dtype) / 4)
        return m.fc(m.b(F.relu(m.a(x) + torch.cat([angle.sin(), angle.cos()], -1))).relu().mean(1))
    return Apply(forward, a=nn.Linear(7, 8), b=nn.Linear(8, 6), fc=nn.Linear(6, 5)).eval(), sequences(4, 7), flat(6)


# ---- parametrizations ------------------------------------------------------------------------------------------------

@module("weight norm", "smaller refused")
def weight_norm():
    return case(lambda m, x: m.a(x), flat(8, 7, 6), a=parametrizations.weight_norm(conv(8, 7)), after=7)


@module("spectral norm", "smaller refused")
def spectral_norm():
    return case(lambda m, x: m.a(x), flat(8, 7, 6), a=parametrizations.spectral_norm(conv(8, 7)), after=7)


@module("weight standardization")
def standardized():
    def forward(m, x):
        w = m.weight - m.weight.mean((1, 2, 3), keepdim=True)
        return F.conv2d(x, w / (w.std((1, 2, 3), keepdim=True) + 1e-5), padding=1)
    return case(forward, flat(8, 7, 6), weight=parameter(7, 8, 3, 3), after=7)


@module("orthogonal weights", "smaller refused")
def orthogonal():
    return case(lambda m, x: m.a(x), flat(6), a=parametrizations.orthogonal(conv(8, 8, 1)))


@module("low-rank update of a weight")
def low_rank():
    return Apply(lambda m, x: m.last(F.relu(F.linear(F.relu(m.first(x)), m.mid.weight + m.b @ m.a, m.mid.bias))),
                 first=nn.Linear(7, 8), mid=nn.Linear(8, 6), a=parameter(2, 8), b=parameter(6, 2),
                 last=nn.Linear(6, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(8, 2, 6)


@module("experts of a stacked weight", "smaller", flat(4))
def experts():
    # a soft mixture of 4 experts: the experts are a group, and so are the hidden units within each
    def forward(m, x):
        gate = m.gate(x).softmax(-1)
        hidden = F.relu(torch.einsum("bi,eoi->beo", x, m.up))
        return torch.einsum("be,beo,eko->bk", gate, hidden, m.down)
    return Apply(forward, gate=nn.Linear(7, 4), up=parameter(4, 6, 7), down=parameter(4, 5, 6)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), Counter({(4, 0): 1, (6, 4): 4})


# ---- inputs, outputs and control -------------------------------------------------------------------------------------

@module("a branch on data", "refused")
def branch():
    return case(lambda m, x: x if x.sum() > 0 else -x, None)


@module("a number from data", "refused")
def number():
    return case(lambda m, x: x * float(x.mean()), None)


@module("random numbers in forward", "refused")
def random_numbers():
    return case(lambda m, x: x + torch.randn_like(x), None)


@module("dropout in forward in any mode", "refused")
def always_dropout():
    return case(lambda m, x: F.dropout(x, .5, True), None)


@module("dropout in evaluation mode")
def dropout():
    return case(lambda m, x: m.drop(m.rows(x)), flat(8, 6), drop=nn.Dropout(.5), rows=nn.Dropout2d(.5))


@module("batch on the second axis", "exact refused")
def batch_second():
    # (length, batch, width), as PyTorch's own recurrent layers and attention expect
    return Apply(lambda m, x: m.fc(F.relu(m.a(x)).mean(0)), a=nn.Linear(7, 8), fc=nn.Linear(8, 5)).eval(), \
        lambda n, seed=0: torch.randn(4, n, 7), flat(8)


@module("a dictionary of inputs")
def dictionary():
    return Apply(lambda m, left, right: m.fc(F.relu(m.a(left) + m.b(right))),
                 a=nn.Linear(7, 8),
                 b=nn.Linear(4, 8),
                 fc=nn.Linear(
                     8, 5)).eval(), lambda n, seed=0: {"left": torch.randn(n, 7), "right": torch.randn(n, 4)}, flat(8)


@module("several outputs")
def outputs():
    # the hidden layer of 8 is an output too and fixed; that of 6 is free
    return Apply(lambda m, x: (lambda h: {"logits": m.fc(F.relu(m.b(h))), "hidden": [h]})(F.relu(m.a(x))),
                 a=nn.Linear(7, 8),
                 b=nn.Linear(8, 6),
                 fc=nn.Linear(6, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(6)


@module("the place of the largest unit as an output")
def largest_place():
    return Apply(lambda m, x: (lambda h: (m.fc(h.tanh()), h.max(-1).indices))(m.b(m.a(x).tanh())), a=nn.Linear(7, 6),
                 b=nn.Linear(6, 8), fc=nn.Linear(8, 5)).eval(), lambda n, seed=0: torch.randn(n, 7), flat(6)


@module("a mean that each call writes")
def written_mean():
    def forward(m, x):
        h = m.a(x).tanh()
        m.mean.copy_(h.mean(0))
        return m.fc(h)
    return Apply(forward, a=nn.Linear(7, 8), fc=nn.Linear(8, 5), mean=torch.zeros(8)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("a scalar output")
def scalar():
    return Apply(lambda m, x: F.relu(m.a(x)).pow(2).mean(), a=nn.Linear(7, 8)).eval(), \
        lambda n, seed=0: torch.randn(n, 7), flat(8)


@module("integers to one-hot vectors", "smaller")
def one_hot():
    return Apply(lambda m, x: m.fc(F.relu(m.a(F.one_hot(x, 7).to(m.fc.weight.dtype)))), a=nn.Linear(7, 8),
                 fc=nn.Linear(8, 5)).eval(), lambda n, seed=0: torch.arange(n) % 7, flat(8)


@module("a network without parameters", "refused smaller")
def empty():
    return nn.Flatten().eval(), images(4), None


@module("parameters of float16", "exact refused")
def half():
    return nn.Sequential(nn.Linear(7, 8), nn.ReLU(), nn.Linear(8, 5)).half().eval(), \
        lambda n, seed=0: torch.randn(n, 7).half(), flat(8)
