# SPDX-License-Identifier: Apache-2.0
"""Shared functions of the scripts that make golden files: numbers by formulas that the tests repeat bit for bit."""
import os
import sys

import numpy as np

MEAN, STD = (.4914, .4822, .4465), (.247, .243, .261)


def mixed(z):
    """splitmix64's output for these states."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def draw(seed, first, count):
    """`count` numbers of stream `seed` in assign_matrices.h, starting at `first`, with 53 bits."""
    k = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return mixed(np.uint64(seed) * np.uint64(0xD1342543DE82EF95) +
                     k * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)


def splitmix(stream, n):
    """The first n numbers of a stream of gradients.h, 64 bits."""
    with np.errstate(over="ignore"):
        z = np.uint64(stream) * np.uint64(1 << 32) + np.arange(n, dtype=np.uint64)
        return mixed(z + np.uint64(0x9E3779B97F4A7C15))


def unit(stream, n):
    """n float32 in [0,1) with 24 bits; exact."""
    return ((splitmix(stream, n) >> np.uint64(40)).astype(np.float64) * 2.0 ** -24).astype(np.float32)


def stream(seed, name):
    """The stream of a name: its FNV-1a hash (32 bits), offset by the seed."""
    h = 2166136261
    for c in name.encode():
        h = (h ^ c) * 16777619 & 0xFFFFFFFF
    return (h + seed * 0x9E3779B1) & 0xFFFFFFFF


def weights(name, shape, stream):
    """A parameter's values, as fill_tensor of gradients.h makes them."""
    u, two = unit(stream, int(np.prod(shape))), np.float32(2)
    if shape[1:] == (1, 1):  # a factor a channel
        v = u + np.float32(.5)
    elif len(shape) > 1:
        fan = int(np.prod(shape[1:])) + shape[0] * int(np.prod(shape[2:]))
        v = (two * u - 1) * np.float32(np.sqrt(6.0 / fan))
    elif name.endswith(".weight"):
        v = u + np.float32(.5)
    else:
        v = (two * u - 1) * np.float32(.25)
    return v.reshape(shape)


def images(stream, n, side):
    return unit(stream, n * 3 * side * side).reshape(n, 3, side, side)


def labels(stream, n, classes):
    return (unit(stream, n) * np.float32(classes)).astype(np.int64)


def package():
    """The package mcz of this source tree."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../formats/python"))
    import mcz
    return mcz


def read(path):
    return package().read(path, "golden")


def write(path, meta, tensors):
    package().write(path, "golden", meta, tensors)
