#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Augment images with torchvision, for tests/parity/test_augment.c.

    python3 tests/parity/make_augment_golden.py >tests/parity/augment_golden.tsv

Requires torchvision; the stored file is from 0.15.2 with PyTorch 1.13 and Pillow. The images and the random numbers are
the tests' (tests/unit/kernels/device.h, libcommon/base/rng.h). Flip, crop after padding, affine map and colours are
torchvision's functions, the colours on tensors. Each line has an image's number and its 3x9x7 pixels.
"""
import numpy as np
import torchvision.transforms.functional as F
from PIL import Image

from philox import philox

C, H, W, N, B = 3, 9, 7, 24, 7
SEED, EPOCH, AUGMENT = 5, 3, 3
PAD, TURN, SCALE, CONTRAST, SATURATION = 2, 30, .2, .25, .25


def unit(bits):
    return (bits >> 8) * 2.0 ** -24


def below(bits, n):
    return bits * n >> 32


pixels = np.array([int(256 * unit(philox(99, 1, i, 0, 0)[0]))
                   for i in range(N * C * H * W)], np.uint8).reshape(N, C, H, W)
for i in range(B, 2 * B):
    sample = i * 5 % N
    r = [philox(SEED, AUGMENT, EPOCH, sample + 1000, c) for c in range(3)]
    flip = below(r[0][1], 2)
    down, right = (below(r[0][k], 2 * PAD + 1) for k in (2, 3))
    turn = TURN * (2 * unit(r[1][0]) - 1)
    scale, contrast, saturation = (1 + a * (2 * unit(r[1][k]) - 1)
                                   for a, k in ((SCALE, 1), (CONTRAST, 2), (SATURATION, 3)))
    first = below(r[2][0], 2)
    image = Image.fromarray(pixels[sample].transpose(1, 2, 0))
    if flip:
        image = F.hflip(image)
    image = F.crop(F.pad(image, PAD), down, right, H, W)
    image = F.affine(image, turn, [0, 0], scale, [0, 0], F.InterpolationMode.NEAREST, fill=0)
    x = F.to_tensor(image)
    steps = [lambda t: F.adjust_contrast(t, contrast), lambda t: F.adjust_saturation(t, saturation)]
    for step in steps[::-1] if first else steps:
        x = step(x)
    print(sample, *("%.7g" % v for v in x.flatten().tolist()), sep="\t")
