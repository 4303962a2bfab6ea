#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Make the samples good-stream.mcz, good-blocks.mcz and bad-*.mcz, and bad.txt: the name of each bad one, a tab, and a
part of the message that refuses it. The bytes depend on libzstd's version, the contents do not.

    /usr/bin/python3 formats/samples/make.py     # writes into its own folder
"""
import os
import struct
import sys

import msgpack
import numpy as np
import xxhash
import zstandard

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "python"))
import mcz  # noqa: E402
from mcz import framing, stream  # noqa: E402

pack = msgpack.packb
bad = []


def frame(raw, **options):
    options = {"write_checksum": True, "write_content_size": False, **options}
    p = zstandard.ZstdCompressionParameters.from_level(1, **options)
    z = zstandard.ZstdCompressor(compression_params=p).compressobj()
    return z.compress(raw) + z.flush()


def header(**over):
    h = {"mcz": 1, "kind": "test", "meta": {}, "tensors": [["x", "float32", [4, 2]]]}
    h.update(over)
    return pack(h)


X = np.arange(8, dtype="<f4").reshape(4, 2)


def record(a=X, t=0, row=0, dtype="float32", shape=None, code=1, inner=None, **over):
    body = a.tobytes()
    if inner is None:
        inner = pack([list(a.shape) if shape is None else shape, dtype, body])
    r = {"t": t, "row": row, "data": msgpack.ExtType(code, inner),
         "xxh": xxhash.xxh3_64_intdigest(body)}
    r.update(over)
    return pack({k: v for k, v in r.items() if v is not None})


def end(hashed, n, **over):
    e = {"end": n, "id": xxhash.xxh3_128_hexdigest(b"".join(hashed)), "inputs": []}
    e.update(over)
    return pack(e)


HISTORY = pack([])


def whole(head=None, records=None, hist=HISTORY, **over):
    """A stream with a correct end record, except the keys in `over`."""
    head = header() if head is None else head
    records = [record()] if records is None else records
    return head + hist + b"".join(records) + end([head] + records, len(records), **over)


def put(name, data, why):
    with open(os.path.join(here, "bad-%s.mcz" % name), "wb") as f:
        f.write(data)
    bad.append("bad-%s.mcz\t%s\n" % (name, why))


def put_raw(name, raw, why, **options):
    put(name, frame(raw, **options), why)


def put_header(name, why, **over):
    put_raw(name, whole(head=header(**over), records=[]), why)


def put_tensors(name, why, *tensors):
    put_header(name, why, tensors=list(tensors))


def put_meta(name, meta, why):
    """`meta`: packed bytes that replace the header's map."""
    head = header().replace(pack("meta") + b"\x80", pack("meta") + meta)
    put_raw(name, whole(head=head), why)


def put_records(name, why, *records, **over):
    put_raw(name, whole(records=list(records), **over), why)


good = frame(whole())
skippable = struct.pack("<II", 0x184D2A50, 4) + b"abcd"

# the frame
put("empty", b"", "is empty, not an mcz stream")
put("text", b"hello, world\n", "is not an mcz stream")
put("skippable-first", skippable + good, "is not an mcz stream")
put("gzip", b"\x1f\x8b\x08" + bytes(20), "is not an mcz stream")
put("zstd-07", b"\x27" + good[1:], "is not an mcz stream")  # its windows have no limit
put("magic-only", good[:4], "is truncated")
put("cut", good[:-1], "truncated")
put("appended-byte", good + b"\0", "bytes after the end of the stream")
put("two-streams", good + good, "bytes after the end of the stream")
put("skippable-last", good + skippable, "bytes after the end of the stream")
put_raw("no-checksum", whole(), "has no checksum", write_checksum=False)
put_raw("window-16M", whole(), "window is over 8 MiB", window_log=24)
put("checksum", good[:-1] + bytes([good[-1] ^ 1]), "checksum is wrong")
put_raw("frame-empty", b"", "header: ends before its end record")
put_raw("no-end-record", header() + HISTORY + record(), "ends before its end record")
put_raw("half-record", header() + HISTORY + record()[:-3], "ends before its end record")
put_raw("after-end", whole() + b"\0", "bytes after the end record")
put_raw("record-after-end", whole() + record(), "bytes after the end record")

# objects that announce more than there is, or than may be
for name, head in [("array", b"\xdd\xff\0\0\0"), ("array16", b"\xdc\xff\xff" * 5)]:
    put_meta("bomb-" + name, head, "objects in one" if name == "array" else "more than")
put_meta("bomb-map", b"\xdf\xff\0\0\0", "more than 1024 keys")
put_meta("bomb-str", b"\xdb\xff\xff\xff\xff", "over its limit")
put_meta("bomb-bin", b"\xc6\xff\xff\xff\xff", "over its limit")
put_meta("bomb-ext", b"\xc9\xff\xff\xff\xff\x01", "out of place")
put_raw("bomb-header", b"\xdd\xff\0\0\0", "objects in one")
put_raw("bomb-history", header() + b"\xdd\xff\0\0\0", "objects in one")
put_raw("bomb-record", header() + HISTORY + b"\xdd\xff\0\0\0", "objects in one")
put_raw("bomb-record-bin", header() + HISTORY + b"\x84\xa4data\xc6\x04\0\0\0", "over its limit")
put_records("bomb-ext-inside", "objects in one", record(inner=b"\xdd\xff\0\0\0"))
put_meta("many-keys", pack({str(i): i for i in range(1025)}), "more than 1024 keys")
put_meta("many-objects", pack({"a": [[0] * 30000] * 10}), "objects in one")
put_meta("large-header", pack({"a": "x" * (3 << 20)}), "over its limit")
put_raw("large-record", header() + HISTORY + pack({"data": bytes(65 << 20)}), "over its limit")
put_meta("deep", b"\x81\xa1a" + b"\x91" * 200 + b"\xc0", "nested deeper")
put_raw("deep-header", b"\x91" * 100000 + b"\xc0", "nested deeper")
put_meta("key-twice", b"\x82\xa1a\x01\xa1a\x02", "same key twice")
put_meta("key-twice-hidden", b"\x82\xa1a\x01\xd9\x01a\x02", "same key twice")
put_meta("key-number", b"\x81\x01\x02", "key is not a string")
put_meta("not-utf8", b"\x81\xa1a\xa2\xc3\x28", "not UTF-8")
put_meta("nul-in-text", b"\x81\xa1a\xa1\0", "not UTF-8")
put_meta("byte-c1", b"\x81\xa1a\xc1", "not MessagePack")
put_meta("ext-in-meta", b"\x81\xa1a\xd4\x01\0", "out of place")

# blocks
def blocks(*parts):
    return b"".join(framing.blocks(parts))


put_raw("blocks-none", framing.BLOCKS, "ends before its end record")
put_raw("blocks-cut", blocks((whole(), 1))[:-1], "ends before its end record")
put_raw("blocks-head-cut", blocks((whole()[:-1], 1)) + b"\x01\0", "ends before its end record")
put_raw("blocks-after-end", blocks((whole() + b"\0", 1)), "bytes after the end record")
put_raw("blocks-more", blocks((whole(), 1)) + b"\x01\x01\0\0\0\0", "bytes after the end record")
put_raw("blocks-twice", blocks((framing.BLOCKS + whole(), 1)), "unknown keys")
for name, width, n in [("width-0", 0, 4), ("width-3", 3, 3), ("empty", 1, 0), ("large", 1, (1 << 20) + 1),
                       ("uneven", 4, 6), ("bomb", 8, 0xfffffff8)]:
    put_raw("blocks-" + name, framing.BLOCKS + bytes([width]) + struct.pack("<I", n) + bytes(64),
            "a block of %d bytes of width %d is not valid" % (n, width))

# header and history
put_raw("header-list", pack([1, 2]), "header: is not a map")
put_header("version-2", "format version must be 1 for these tensors (got 2)", mcz=2)
put_header("version-3", "format version must be 1 for these tensors (got 3)", mcz=3)
put_header("version-4", "format version 4 (this program reads 1 to 3)", mcz=4)
for kind in "weights", "curve":
    put_header("version-1-" + kind, "format version must be 2 for these tensors (got 1)", kind=kind,
               tensors=[["x", "bfloat16", [4, 2]]])
put_header("version-text", "\"mcz\" is not", mcz="1")
put_header("header-key", "unknown keys", extra=1)
put_header("kind-space", "\"kind\" is not a name", kind="two words")
put_header("kind-long", "\"kind\" is longer", kind="k" * 40)
put_header("meta-list", "\"meta\" is not a map", meta=[])
put_header("tensors-map", "\"tensors\" is not an array", tensors={})
put_tensors("tensor-pair", "not announced as", ["x", "float32"])
put_tensors("tensor-2p63", "impossible name or size", ["x", "float32", [1 << 63]])
put_tensors("tensor-overflow", "impossible name or size", ["x", "float32", [1 << 32, 1 << 32]])
put_tensors("tensor-empty-overflow", "impossible name or size",
            ["x", "float32", [1 << 63, 1 << 63, 0]])
put_tensors("tensor-2p46", "has 0 of", ["x", "float32", [1 << 46]])
put_tensors("tensor-wide-row", "impossible name or size", ["x", "float32", [1, 9 << 20]])
put_tensors("tensor-9-dims", "more than 8 dimensions", ["x", "float32", [1] * 9])
put_tensors("tensor-negative", "not a number", ["x", "float32", [-1]])
put_tensors("tensor-dtype", "unknown dtype", ["x", "float33", [1]])
put_tensors("tensor-twice", "announced twice", ["x", "uint8", [0]], ["x", "int32", [0]])
put_tensors("tensor-no-name", "impossible name", ["", "float32", [1]])
put_tensors("tensor-name-escape", "impossible name", ["\x1b[2J", "float32", [1]])
put_tensors("tensor-name-long", "name is longer", ["n" * 120, "float32", [1]])
put_raw("history-map", whole(hist=pack({})), "history: is not an array")
put_raw("history-entry", whole(hist=pack([{"tool": "t"}])), "not a map of 4")
entry = {"tool": "t", "version": "1", "args": [], "parents": []}
put_raw("history-loop", whole(hist=pack([{**entry, "parents": [0]}])), "earlier entries")
put_raw("history-args", whole(hist=pack([{**entry, "args": [["a", []]]}])), "[name, value]")

# records
put_records("record-list", "is not a map", pack([1]))
put_records("record-key", "is not {t, row, data, xxh}", record(extra=1))
put_records("record-no-sum", "\"xxh\" is missing", record(xxh=None))
put_records("record-sum", "record 1, byte", record(xxh=1))
put_records("record-sum-of", "tensor \"x\": checksum mismatch", record(xxh=1))
put_records("record-of-none", "\"t\" must be below 1 (got 1)", record(t=1))
put_records("record-of-many", "\"t\" must be below 1", record(t=(1 << 64) - 1))
put_records("record-negative", "\"row\" is not", record(row=-1))
put_records("record-bin", "is not {t, row, data, xxh}", record(data=b"1234"))
put_records("record-ext-2", "out of place", record(code=2))
put_records("record-dtype", "dtype is not the declared", record(dtype="int32"))
put_records("record-dims", "does not have the declared 2 dimensions", record(shape=[8]))
put_records("record-shape", "shape is not the declared", record(shape=[2, 4]))
put_records("record-bytes", "bytes do not match its shape", record(shape=[3, 2]))
put_records("record-rows-over", "rows (from 1 to 4 expected)", record(np.zeros((5, 2), "<f4")))
put_records("record-rows-2p63", "rows (from 1 to 4 expected)", record(shape=[1 << 63, 2]))
put_records("record-rows-0", "rows (from 1 to 4 expected)", record(np.zeros((0, 2), "<f4")))
put_records("record-gap", "row 2 expected, got row 3", record(X[:2]), record(X[3:], row=3))
put_records("record-again", "row 2 expected, got row 0", record(X[:2]), record(X[:2]))
put_records("record-order", "row 0 expected, got row 2", record(X[2:], row=2), record(X[:2]))
put_records("record-inside", "not [shape, dtype, bytes]", record(inner=pack([[4, 2], "float32"])))
put_records("record-inside-more", "trailing bytes after the data",
            record(inner=pack([[4, 2], "float32", X.tobytes()]) + b"\0"))
put_records("record-inside-cut", "ends too early",
            record(inner=pack([[4, 2], "float32", X.tobytes()])[:-1]))
empty = header(tensors=[["x", "float32", [0, 2]]])
put_raw("record-of-empty", whole(empty, [record(np.zeros((0, 2), "<f4"))]), "must not have records")

# the end record
put_records("end-count", "announces 2 records, got 1", record(), end=2)
put_records("end-id", "content id", record(), id="0" * 32)
put_records("end-id-form", "is not {end, id, inputs}", record(), id="0" * 31)
put_records("end-key", "is not {end, id, inputs}", record(), extra=1)
put_records("end-inputs", "not a list of content ids", record(), inputs=["x"])
put_records("end-early", "tensor \"x\" has 2 of 4 rows", record(X[:2]))
put_records("end-at-once", "tensor \"x\" has 0 of 4 rows")

with open(os.path.join(here, "bad.txt"), "w") as f:
    f.writelines(bad)

good_stream = os.path.join(here, "good-stream.mcz")
good = ("test", {"text": "\u00e9", "numbers": [0, -1, 1 << 63, 0.5], "none": {}, "yes": True},
          {"float32": np.array([0x7fc12345, 0x80000000, 1], "<u4").view("<f4"),
           "float64": np.array([[0x7ff8000000abcdef], [1 << 63]], "<u8").view("<f8"),
           "float16": np.array([0x7e01, 0xfc00], "<u2").view("<f2"),
           "bfloat16": np.array([0x7fc1, 0x8000], "<u2"),
           "int64": np.array([-1 << 63], "<i8"), "int32": np.array(-7, "<i4"),
           "uint8": np.arange(256, dtype="u1").reshape(4, 8, 8), "empty": np.zeros((0, 3), "<f4")},
          [entry, {**entry, "args": [["seed", 1], ["rate", 0.5]], "parents": [0]}],
          ["0123456789abcdef" * 2], {"bfloat16": "bfloat16"})
stream.NETWORKS = "test",
mcz.write(os.path.join(here, "good-planes.mcz"), *good)  # format version 3
stream.NETWORKS = ()
mcz.write(good_stream, *good)

# the same, flushed after every object, so that each is in a separate zstd block
with open(good_stream, "rb") as f:
    objects = list(stream.objects(f))
z = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters.from_level(
    1, write_checksum=True, write_content_size=False)).compressobj()
with open(os.path.join(here, "good-blocks.mcz"), "wb") as f:
    for raw in objects:
        f.write(z.compress(raw) + z.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    f.write(z.flush())

# the samples of C with parameters of 16 bits
for kind in "weights", "curve":
    s = mcz.read(os.path.join(here, "good-%s.mcz" % kind), kind)
    tensors, dtypes = dict(s.tensors), {}
    for i, name in enumerate(n for n in s.tensors if s.dtypes[n] == "float32"):
        if i % 3 == 0:
            tensors[name], dtypes[name] = (tensors[name].view("<u4") >> 16).astype("<u2"), "bfloat16"
        elif i % 3 == 1:
            tensors[name] = tensors[name].astype("<f2")
    mcz.write(os.path.join(here, "good-%s-16.mcz" % kind), kind, s.meta, tensors, dtypes=dtypes)
