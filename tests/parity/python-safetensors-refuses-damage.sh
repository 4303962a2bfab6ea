# SPDX-License-Identifier: Apache-2.0
# The Python package reads safetensors files as mc-convert does: bfloat16 and float16 keep each value, and damage or a
# repeated name is a one-line error.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
$python - <<'END'
import json, random, struct
import mcz, numpy as np
from mcz import safetensors
from refusal import expect_error

def file(header, data=b"\0" * 8, path="x.safetensors"):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    return path

def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}

# every value of both halves
every = np.arange(65536, dtype="u4")
got = safetensors.read(file({"b": entry("BF16", (2, 32768), (0, 131072)), "h": entry("F16", (65536,), (131072, 262144)),
                             "__metadata__": {"format": "pt"}}, every.astype("<u2").tobytes() * 2))
assert got["b"].dtype == np.float32 and got["b"].shape == (2, 32768)
assert (got["b"].reshape(-1).view("<u4") == every << 16).all()
assert (got["h"].view("<u2") == every).all() and got["h"].dtype == np.float16

twice = json.dumps(entry())
for header, words in (
        (b'{"a":%s,"a":%s}' % (twice.encode(), twice.encode()), "\"a\" occurs twice in its header"),
        (twice.replace("{", '{"a":{"dtype":"F32",', 1).encode() + b"}", "\"dtype\" occurs twice in its header"),
        (b"[]", "its header is not a JSON object"), (b"{", "its header is not JSON"), (b"\xff", "its header is not JSON"),
        (b"[" * 100000, "its header is not JSON"), (b'{"a":1' + b"0" * 5000 + b"}", ""),
        ({"a": 3}, "\"a\": dtype, shape and data_offsets expected"), ({"a": entry(more=1)}, "dtype, shape and data"),
        ({"a": entry("F8_E4M3", (8,))}, "\"a\": unsupported dtype F8_E4M3 (one of: "),
        ({"a": entry(["F32"])}, "unsupported dtype ['F32']"),
        ({"a": entry(shape=(-2,))}, "its shape is not"), ({"a": entry(shape=(2.0,))}, "its shape is not"),
        ({"a": entry(shape=(True, 2))}, "its shape is not"), ({"a": entry(shape=[1] * 8 + [2])}, "its shape is not"),
        ({"a": entry(shape=(1 << 62, 0), offsets=(0, 0))}, "its shape is too large"),
        ({"a": entry(shape=(3,))}, "its data_offsets must be 12 bytes apart"),
        ({"a": entry(offsets=(8, 0))}, "must be 8 bytes apart"),
        ({"a": entry(offsets=(0, 8, 8))}, "its data_offsets is not a list"), ({"a": entry(offsets=(8, 16))}, "starts at byte 8"),
        ({"a": entry(), "b": entry()}, "\"b\" starts at byte 0 of the data, not at 8"),
        ({"a": entry(shape=(1,), offsets=(0, 4))}, "its header describes 4 bytes of data, got 8"),
        ({"a\nb": 3}, "\"a\\nb\": dtype, "), ({}, "its header describes 0 bytes of data, got 8")):
    expect_error(["x.safetensors: ", words], lambda: safetensors.read(file(header)))
for raw in b"", b"1234567", b"\xff" * 8, struct.pack("<Q", 9) + b"{}":
    with open("x.safetensors", "wb") as f:
        f.write(raw)
    expect_error(["x.safetensors: not a safetensors file*truncated"], lambda: safetensors.read("x.safetensors"))

# a damaged file yields arrays or a one-line error
safetensors.write("good.safetensors", {"a.weight": np.ones((3, 4), "f4"), "b": np.float64(3), "c": np.zeros((0, 3), "f2")})
good, draw, refused = open("good.safetensors", "rb").read(), random.Random(4), 0
for _ in range(4000):
    bad = bytearray(good)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(bad))
        bad[at:at + draw.randint(0, 3)] = draw.choice([b"", b"\0", b'"', b"9", b"[", b"{", b"e", b"\xc3", bytes(bad[:at])])
    with open("x.safetensors", "wb") as f:
        f.write(bad)
    try:
        safetensors.read("x.safetensors")
    except mcz.Error as e:
        refused += 1
        assert "\n" not in str(e), e
assert refused > 3000, refused
END
