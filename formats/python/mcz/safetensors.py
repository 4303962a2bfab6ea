# SPDX-License-Identifier: Apache-2.0
"""safetensors files of float32, as mc-convert takes and writes them."""
import json
import struct

import numpy as np

from .errors import need
from .files import replacing

TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1"}


def write(path, tensors):
    """{name: array}, whole or not at all."""
    header, end, arrays = {}, 0, []
    for name, a in tensors.items():
        a = np.ascontiguousarray(a, "<f4").reshape(np.shape(a))
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [end, end + a.nbytes]}
        end += a.nbytes
        arrays.append(a)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for a in arrays:
            f.write(a.tobytes())


def read(path):
    """{name: array}"""
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack("<Q", raw[:8])[0] if len(raw) >= 8 else 1 << 63
    need(size <= len(raw) - 8, "%s: is no safetensors file" % path)
    found = {}
    for name, t in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__":
            continue
        need(t["dtype"] in TYPES, "%s: \"%s\" is %s" % (path, name, t["dtype"]))
        start, end = t["data_offsets"]
        found[name] = np.frombuffer(raw[8 + size + start:8 + size + end], TYPES[t["dtype"]]).reshape(t["shape"])
    return found
