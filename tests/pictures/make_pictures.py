#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the pictures of this folder, and golden.npz: the pixels that Pillow decodes and resizes them to.

Run make_pictures.py in this folder with NumPy and Pillow (the stored files are from 13.0.0). golden.npz contains
uint8 (H, W, 3) arrays. NAME is the result of convert("RGB"). NAME@16 is the 16 x 16 square of torchvision's
Resize(16) and CenterCrop(16), here Pillow's resize() and crop() with the same numbers; rgb.jpg@48 is enlarged.
Pillow does not support 16-bit grey: these pixels are v * 255 / 65535, rounded.
"""
import struct
import zlib

import numpy as np
from PIL import Image

W, H = 37, 23
y, x = np.mgrid[0:H, 0:W]
rgb = np.stack([x * 255 // W, y * 255 // H, 255 * (((x // 6) + (y // 6)) % 2)], 2).astype(np.uint8)
rgb[5:12, 8:20] = 250, 40, 10
grey = np.asarray(Image.fromarray(rgb).convert("L"))
alpha = ((x * 7 + y * 11) % 256).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def lines(a, depth):
    a = a.astype(">u2" if depth == 16 else np.uint8)
    return b"".join(b"\0" + row.tobytes() for row in a)


def png(name, a, depth, colour, interlace=0, more=b""):
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    parts = [a[v::dv, h::dh] for h, v, dh, dv in passes] if interlace else [a]
    data = b"".join(lines(p, depth) for p in parts if p.size)
    head = struct.pack(">IIBBBBB", a.shape[1], a.shape[0], depth, colour, 0, 0, interlace)
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + more + chunk(b"IDAT", zlib.compress(data, 9))
                + chunk(b"IEND", b""))


image = Image.fromarray(rgb)
image.save("rgb.jpg", quality=90)
image.rotate(90, expand=True).save("tall.jpeg", quality=80, subsampling=0)
image.save("progressive.JPG", quality=85, progressive=True)
image.convert("L").save("grey.jpg", quality=90)
image.convert("CMYK").save("cmyk.jpg", quality=95)
image.save("rgb.png")
image.quantize(11).save("palette.PNG", transparency=3)
image.convert("1").save("bits.png")
Image.fromarray(np.dstack([rgb, alpha])).save("alpha.png")
Image.fromarray(np.dstack([grey, alpha])).save("grey-alpha.png")
wide = (rgb.astype(np.uint32) * 257 + alpha[:, :, None]).clip(0, 65535)
png("wide.png", wide, 16, 2)
png("wide-grey.png", wide[:, :, 0], 16, 0)
png("interlaced.png", rgb, 8, 2, interlace=1)
png("gamma.png", rgb, 8, 2, more=chunk(b"gAMA", struct.pack(">I", 100000)))


def square(im, size):
    w, h = im.size
    s = min(w, h)
    w, h = size * w // s, size * h // s
    im = im.resize((w, h), Image.BILINEAR)
    left, top = round((w - size) / 2), round((h - size) / 2)
    return np.asarray(im.crop((left, top, left + size, top + size)))


golden = {}
for name in ("rgb.jpg tall.jpeg progressive.JPG grey.jpg cmyk.jpg rgb.png palette.PNG bits.png alpha.png "
             "grey-alpha.png wide.png wide-grey.png interlaced.png gamma.png").split():
    im = Image.open(name).convert("RGB")
    if name == "wide-grey.png":
        v = np.round(wide[:, :, 0] * 255 / 65535).astype(np.uint8)
        im = Image.fromarray(np.dstack([v, v, v]))
    golden[name] = np.asarray(im)
    golden[name + "@16"] = square(im, 16)
golden["rgb.jpg@48"] = square(Image.open("rgb.jpg"), 48)
np.savez_compressed("golden.npz", **golden)
