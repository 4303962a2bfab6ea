# SPDX-License-Identifier: Apache-2.0
"""A minimal implementation of the safetensors format, float32 only: read(path), build(header, data)."""
import json
import struct

import numpy as np


def read(path):
    raw = open(path, "rb").read()
    n, = struct.unpack("<Q", raw[:8])
    assert raw[8:9] == b"{" and (8 + n) % 8 == 0
    header, data = json.loads(raw[8:8 + n]), raw[8 + n:]
    assert header.pop("__metadata__") == {"format": "pt"}
    out, at = {}, 0
    for name, t in header.items():
        begin, end = t["data_offsets"]
        assert begin == at and t["dtype"] == "F32"
        out[name] = np.frombuffer(data[begin:end], "<f4").reshape(t["shape"])
        at = end
    assert at == len(data)
    return out


def build(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
