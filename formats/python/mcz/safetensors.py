# SPDX-License-Identifier: Apache-2.0
"""Read and write safetensors files, without the safetensors package (formats/exchange/convert.md).

    arrays = {k: v.numpy() for k, v in net.state_dict().items() if v.is_floating_point()}
    mcz.safetensors.write("a.safetensors", arrays)
"""
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
    """Writes {name: array} with unchanged values. The arrays must be float16, float32 or float64, as mc-convert requires;
    Error names the first other array. After an exception path is unchanged."""
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
    """The dictionary of a JSON object. Error if a key occurs twice."""
    found = {}
    for key, value in pairs:
        need(key not in found, "%s occurs twice in its header" % json.dumps(key))
        found[key] = value
    return found


def _header(raw):
    """(header, its size in bytes)"""
    size = int.from_bytes(raw[:8], "little")
    need(8 + size <= len(raw) and size <= HEADER_MAX, "not a safetensors file, or truncated")
    try:
        head = json.loads(raw[8:8 + size].decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as e:
        raise Error("its header is not JSON: %s" % e) from None
    need(isinstance(head, dict), "its header is not a JSON object")
    return head, size


def _check(t):
    """Raises Error if an entry of the header is not a tensor that NumPy can hold."""
    need(isinstance(t, dict) and set(t) == {"dtype", "shape", "data_offsets"}, "dtype, shape and data_offsets expected")
    need(isinstance(t["dtype"], str) and t["dtype"] in TYPES, "unsupported dtype %s (one of: %s)" %
         (t["dtype"], ", ".join(TYPES)))
    for key, limit in ("shape", DIMS_MAX), ("data_offsets", 2):
        need(isinstance(t[key], list) and len(t[key]) <= limit and all(is_whole(k) for k in t[key]),
             "its %s is not a list of at most %d integers" % (key, limit))
    need(prod(k or 1 for k in t["shape"]) <= SIZE_MAX, "its shape is too large")
    size = prod(t["shape"]) * np.dtype(TYPES[t["dtype"]]).itemsize
    need(len(t["data_offsets"]) == 2 and t["data_offsets"][1] - t["data_offsets"][0] == size,
         "its data_offsets must be %d bytes apart, for its shape" % size)


def _array(t, data):
    start, end = t["data_offsets"]
    a = np.frombuffer(data[start:end], TYPES[t["dtype"]]).reshape(t["shape"])
    return (a.astype("<u4") << 16).view("<f4") if t["dtype"] == "BF16" else a


def read(path):
    """{name: array} of a file, with bfloat16 as float32, which holds each value. Raises Error if the file is damaged."""
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
        need(at == len(data), "its header describes %d bytes of data, got %d" % (at, len(data)))
        return {name: _array(t, data) for name, t in head.items()}
