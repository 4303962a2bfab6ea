#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Make a folder of small inputs for each target of the fuzzer: seeds.py FOLDER. Most are files of this repository; the
others are generated."""
import glob
import gzip
import io
import json
import os
import struct
import subprocess
import sys
import zlib

import numpy as np

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
seeds = {}


def put(target, data):
    seeds.setdefault(target, []).append(data)


def files(target, pattern):
    found = sorted(glob.glob(os.path.join(root, pattern)))
    assert found, pattern
    for path in found:
        with open(path, "rb") as f:
            put(target, f.read())


def npz(target, *args, **arrays):
    out = io.BytesIO()
    np.savez(out, *args, **arrays)
    put(target, out.getvalue())
    out = io.BytesIO()
    np.savez_compressed(out, *args, **arrays)
    put(target, out.getvalue())


# streams: of the kind, of another kind, and for "any" also refused ones
for kind in "dataset", "weights", "moments", "activations", "matrices", "permutation", "curve", "checkpoint", "losses":
    files(kind, "formats/samples/good-%s*.mcz" % kind)
    files(kind, "formats/samples/good-matrices.mcz")
files("weights", "tests/parity/convert_golden.mcz")
files("stream", "formats/samples/*.mcz")

# named tensors
files("safetensors", "tests/parity/convert_golden.safetensors")
raw = seeds["safetensors"][0]
n, = struct.unpack("<Q", raw[:8])
header, data = json.loads(raw[8:8 + n]), raw[8 + n:]
tensors = {k: np.frombuffer(data[slice(*v["data_offsets"])], {"F32": "<f4", "I64": "<i8"}[v["dtype"]]).reshape(v["shape"])
           for k, v in header.items() if k != "__metadata__"}
npz("npz", **tensors)
npz("npz", **{k: np.asfortranarray(v.astype("<f8")) for k, v in tensors.items()})
npz("npz", a=np.zeros((2, 3), ">f8"), b=np.zeros(2, bool), c=np.zeros((), "<i8"))
pixels, labels = np.arange(2 * 3 * 4 * 4, dtype="u1"), np.array([1, 0])
npz("arrays", x_train=pixels.reshape(2, 3, 4, 4), y_train=labels, x_test=pixels.reshape(2, 3, 4, 4), y_test=labels + 1)
npz("arrays", images=(pixels / np.float32(255)).reshape(2, 4, 4, 3), labels=labels.astype("u1"))
npz("arrays", pixels.reshape(6, 4, 4), np.arange(6, dtype="<f8"))

# texts
files("graph", "formats/samples/example_net.json")
files("graph", "tests/parity/*.json")
put("graph", subprocess.run([sys.executable, root + "/tests/cli/lib/modern_net.py"], capture_output=True, check=True).stdout)
put("groups", b"# heads, and their channels\n\ntensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\tallows\n"
    b"qkv\t0\t0\t2\t4\theads\t-\t-\tpermutation\nqkv\t0\t8\t2\t4\theads\t-\t-\tpermutation\n"
    b"qkv\t0\t0\t4\t1\thead0\theads\t0\tpermutation\nqkv\t0\t4\t4\t1\thead1\theads\t1\tpermutation\n")
put("groups", b"tensor\taxis\toffset\tcount\tblock\tgroup\na.weight\t0\t0\t6\t1\ta\r\na.bias\t0\t0\t6\t1\ta\n"
    b"b.weight\t1\t0\t6\t1\ta\nb.weight\t0\t0\t8\t1\tb\nb.bias\t0\t0\t8\t1\tb\nc.weight\t1\t0\t8\t9\tb\n")
put("groups", b"tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\nb.weight\t0\t0\t2\t4\tg\t-\t-\n"
    b"b.weight\t1/2\t0\t6\t1\th\tg\t0\nb.weight\t1/2\t6\t6\t1\ti\tg\t1\nqkv\t0\t0\t3\t8\tj\t-\t-\n"
    b"qkv\t0\t0\t8\t1\tk\t-\t-\nqkv\t0\t8\t8\t1\tk\t-\t-\nqkv\t0\t16\t8\t1\tk\t-\t-\n")
put("groups", b"tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\tallows\n"
    b"qkv\t0\t0\t3\t8\theads\t-\t-\tpermutation\nqkv\t0\t0\t2\t4\th0\theads\t0\trotation\n"
    b"qkv\t0\t8\t2\t4\th1\theads\t1\trotation\nqkv\t0\t16\t2\t4\th2\theads\t2\trotation\n"
    b"c.weight\t1\t0\t8\t9\tb\t-\t-\tcentred\n")
put("map", b"layer*.*.shortcut layer*.*.downsample # x\nlinear fc\nmodule .\nmean -\n")
put("map", b"trunk.* layers.*\n* net.*\n")

# images
files("png", "tests/pictures/*.[pP][nN][gG]")
files("jpeg", "tests/pictures/*.[jJ][pP]*[gG]")
for zipped in lambda x: x, lambda x: gzip.compress(x, mtime=0):
    a = zipped(b"\0\0\x08\x03" + struct.pack(">III", 2, 3, 4) + bytes(range(24)))
    b = zipped(b"\0\0\x08\x01" + struct.pack(">I", 2) + b"\1\0")
    put("idx", bytes([len(b)]) + b + a)
a = b"\0\0\x08\x04" + struct.pack(">IIII", 2, 3, 2, 2) + bytes(range(24))
b = b"\0\0\x08\x01" + struct.pack(">I", 2) + b"\1\0"
put("idx", bytes([len(b)]) + b + a)
ten = b"airplane automobile bird cat deer dog frog horse ship truck".replace(b" ", b"\n") + b"\n\n"
put("cifar10", b"\0" + ten + b"\0\7" + bytes(20))
put("cifar10", b"\1" + ten + b"\0")
put("cifar10", b"\0\0\x0b")
put("cifar100", b"\0" + b"".join(b"c%d\r\n" % i for i in range(100)) + b"\0\7\x63")
put("cifar100", b"\0" + b"c\n" * 101 + b"\0\7\x64")

# earlier findings, TARGET-NAME
for path in sorted(glob.glob(os.path.join(root, "tests/fuzz/found/*"))):
    files(os.path.basename(path).partition("-")[0], os.path.relpath(path, root))

for target, inputs in seeds.items():
    folder = os.path.join(sys.argv[1], target)
    os.makedirs(folder, exist_ok=True)
    for data in inputs:
        with open(os.path.join(folder, "%08x" % zlib.crc32(data)), "wb") as f:
            f.write(data)
