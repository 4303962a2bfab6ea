# SPDX-License-Identifier: Apache-2.0
"""safetensors files (formats/exchange/convert.md), read and written without another package."""
import json
import struct
from math import prod

import numpy as np

from .errors import Error, inside, need
from .files import replacing
from .keys import is_whole

WRITTEN = {"float64": "F64", "float32": "F32", "float16": "F16"}
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
         "U8": "u1", "BOOL": "?"}
HEADER_MAX, DIMS_MAX, SIZE_MAX = 100 * 10 ** 6, 8, 1 << 48


def write(path, tensors):
    """Writes {name: array} unchanged, whole or not at all. The arrays must be float16, float32 or float64, which is
    what mc-convert reads: Error names any other."""
    header, end, arrays = {}, 0, []
    for name, a in tensors.items():
        a = np.asarray(a)
        need(a.dtype.name in WRITTEN, "\"%s\" is %s, not floating point (%s): leave it out, or convert it" %
             (name, a.dtype, ", ".join(WRITTEN)))
        dtype = WRITTEN[a.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [end, end + a.nbytes]}
        end += a.nbytes
        arrays.append(a.astype(TYPES[dtype], order="C", copy=False))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for a in arrays:
            f.write(a.tobytes())


def _once(pairs):
    """The dictionary of a JSON object, in which no key occurs twice."""
    found = {}
    for key, value in pairs:
        need(key not in found, "%s occurs twice in its header" % json.dumps(key))
        found[key] = value
    return found


def _header(raw):
    """(the header's object, its size)"""
    size = int.from_bytes(raw[:8], "little")
    need(8 + size <= len(raw) and size <= HEADER_MAX, "is not a safetensors file, or is truncated")
    try:
        head = json.loads(raw[8:8 + size].decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as e:
        raise Error("its header is not JSON: %s" % e) from None
    need(isinstance(head, dict), "its header is not a JSON object")
    return head, size


def _check(t):
    """Error if an entry of the header does not describe a tensor that NumPy holds."""
    need(isinstance(t, dict) and set(t) == {"dtype", "shape", "data_offsets"}, "is not dtype, shape and data_offsets")
    need(isinstance(t["dtype"], str) and t["dtype"] in TYPES, "is %s (these are read: %s)" %
         (t["dtype"], ", ".join(TYPES)))
    for key, most in ("shape", DIMS_MAX), ("data_offsets", 2):
        need(isinstance(t[key], list) and len(t[key]) <= most and all(is_whole(k) for k in t[key]),
             "its %s is not a list of at most %d whole numbers" % (key, most))
    need(prod(k or 1 for k in t["shape"]) <= SIZE_MAX, "its shape is too large")
    size = prod(t["shape"]) * np.dtype(TYPES[t["dtype"]]).itemsize
    need(len(t["data_offsets"]) == 2 and t["data_offsets"][1] - t["data_offsets"][0] == size,
         "its data_offsets are not %d bytes apart, as its shape requires" % size)


def _array(t, data):
    start, end = t["data_offsets"]
    a = np.frombuffer(data[start:end], TYPES[t["dtype"]]).reshape(t["shape"])
    return (a.astype("<u4") << 16).view("<f4") if t["dtype"] == "BF16" else a


def read(path):
    """{name: array} of a file; bfloat16 as float32, which holds each value. Error if the file is damaged."""
    with open(path, "rb") as f:
        raw = f.read()
    with inside(path):
        head, size = _header(raw)
        head.pop("__metadata__", None)
        data, at = raw[8 + size:], 0
        for name, t in head.items():
            with inside(json.dumps(name)):
                _check(t)
        for name, t in sorted(head.items(), key=lambda e: e[1]["data_offsets"]):
            need(t["data_offsets"][0] == at, "%s starts at byte %d of the data, not at %d" %
                 (json.dumps(name), t["data_offsets"][0], at))
            at = t["data_offsets"][1]
        need(at == len(data), "has %d bytes of data where its header describes %d" % (len(data), at))
        return {name: _array(t, data) for name, t in head.items()}
