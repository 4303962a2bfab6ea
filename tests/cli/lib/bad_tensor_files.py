# SPDX-License-Identifier: Apache-2.0
"""Write files that every reader must refuse: bad_tensor_files.py GOOD.npz FOLDER. Prints one line per file: its name and
part of the error message."""
import io
import json
import os
import struct
import sys
import warnings
import zipfile

import numpy as np
from safetensors_reader import build

warnings.simplefilter("ignore")  # about a duplicate name
good, folder = dict(np.load(sys.argv[1])), sys.argv[2]
os.mkdir(folder)


def put(name, why, raw):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(raw)
    print(name, why, sep="\t")


# ---- safetensors ----
header, data = {}, b""
for name, v in good.items():
    header[name] = {"dtype": "F32", "shape": list(v.shape), "data_offsets": [len(data), len(data) + v.nbytes]}
    data += v.tobytes()
names = list(header)
first, second, last = names[0], names[1], names[-1]
whole = build(header, data)


def st(name, why, change=None, data=data, text=None):
    h = json.loads(json.dumps(header))
    if change:
        h = change(h) or h
    put(name + ".safetensors", why, build(text if text is not None else h, data))


def entry(tensor, **keys):
    return lambda h: h[tensor].update(keys)


def shift(tensor, begin, end):
    def change(h):
        h[tensor]["data_offsets"][0] += begin
        h[tensor]["data_offsets"][1] += end
    return change


text = json.dumps(header).encode()
put("empty.safetensors", "truncated", b"")
put("seven.safetensors", "truncated", whole[:7])
put("length.safetensors", "truncated:*header needs", whole[:8])
put("cut-header.safetensors", "truncated:*header needs", whole[:100])
put("cut-data.safetensors", "its tensors need", whole[:-1])
put("longer.safetensors", "its tensors need", whole + b"\0")
put("above.safetensors", "truncated:*header needs", struct.pack("<Q", len(whole)) + whole[8:])
put("gigantic.safetensors", "header would*100000001 bytes", struct.pack("<Q", 100000001) + whole[8:])
put("2p63.safetensors", "header would*9223372036854775808 bytes", struct.pack("<Q", 1 << 63) + whole[8:])
put("2p64.safetensors", "header would*18446744073709551615 bytes", b"\xff" * 8 + whole[8:])
put("no-header.safetensors", "not start*'{'", b"\0" * 8 + data)
st("array", "not start*'{'", text=b"[]")
st("space", "not start*'{'", text=b" " + text)
st("utf8", "line 1", text=text.replace(first.encode(), b"\xff\xfe"))
st("nul", "line 1", text=text.replace(first.encode(), b"a\\u0000b"))
st("json", "line 1", text=text[:-1])
st("trailing", "line 1", text=text + b"{}")
st("deep", "nested at most 3 deep", text=b'{"a":' * 100000)
st("many", "at most 131072 values", text=b'{"a":[' + b"0," * 140000 + b"0]}")
st("twice", "line 1", text=b'{"%s": %s, %s' % (first.encode(), json.dumps(header[first]).encode(), text[1:]))
st("key-twice", "line 1", text=text.replace(b'"dtype"', b'"dtype": "F32", "dtype"', 1))
st("not-object", "exactly*dtype*shape*data_offsets", lambda h: {**h, first: 3})
st("no-shape", "exactly*dtype", lambda h: h[first].pop("shape") and None)
st("more-keys", "exactly*dtype", entry(first, layout="channels_last"))
st("dtype", "unknown dtype", entry(first, dtype="F31"))
st("dtype-number", "exactly*dtype", entry(first, dtype=32))
st("shape-real", "not a list*whole numbers", entry(first, shape=[1.0, 2]))
st("shape-negative", "not a list*whole numbers", entry(first, shape=[-1, -2]))
st("shape-2p64", "line 1", entry(first, shape=[1 << 64]))
st("shape-overflow", "shape*too large", entry(first, shape=[1 << 40, 1 << 40]))
st("shape-wraps", "shape*too large", entry(first, shape=[1 << 61, 8, header[first]["shape"][0]]))
st("shape-9", "more*8 dimensions", entry(first, shape=[1] * 9))
st("shape-other", "different sizes", entry(first, shape=[1]))
st("wider", "different sizes", entry(first, dtype="F64"))
st("half-byte", "shape*too large", entry(second, dtype="F4", shape=[3]))
st("offsets-3", "not a start*end", entry(first, data_offsets=[0, 1, 2]))
st("offsets-back", "not a start*end", entry(second, data_offsets=[8, 4]))
st("offsets-negative", "not a start*end", entry(first, data_offsets=[-4, 0]))
st("offsets-2p63", "line 1", entry(first, data_offsets=[0, 1 << 63]))
st("overlap", "overlap", lambda h: {**h, second: {**h[first]}})
st("overlap-part", "overlap", shift(second, -4, -4))
st("hole", "a hole", shift(second, 4, 4))
st("hole-first", "a hole", lambda h: [shift(n, 4, 4)(h) for n in names] and None, data=b"\0" * 4 + data)
st("out-of-range", "a hole", shift(last, 1 << 40, 1 << 40))
st("not-covered", "its tensors need", lambda h: h.pop(last) and None)
st("metadata-number", "__metadata__", lambda h: {"__metadata__": {"a": 1}, **h})
st("metadata-text", "__metadata__", lambda h: {"__metadata__": "a", **h})


# ---- npz ----
def npy(descr="'<f4'", order="False", shape=None, version=(1, 0), header=None, array=None):
    v = good[first] if array is None else array
    h = header or "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape or v.shape)
    h = h.encode("latin1") + b"\n"
    length = struct.pack("<H" if version[0] == 1 else "<I", len(h))
    return b"\x93NUMPY" + bytes(version) + length + h + v.tobytes()


def archive(entries, how=zipfile.ZIP_STORED):
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", how) as z:
        for name, raw in entries:
            z.writestr(name, raw)
    return f.getvalue()


def npz(name, why, raw=None, how=zipfile.ZIP_STORED, more=()):
    entries = [(n + ".npy", npy(array=v)) for n, v in good.items()]
    if raw is not None:
        entries[0] = (first + ".npy", raw)
    put(name + ".npz", why, archive(entries + list(more), how))


whole = archive([(n + ".npy", npy(array=v)) for n, v in good.items()])
put("empty.npz", "zip", b"")
put("text.npz", "zip", b"not a zip archive at all, only some text\n" * 9)
for n in (10, 100, len(whole) // 2, len(whole) - 22, len(whole) - 1):
    put("cut-%d.npz" % n, "npz: ", whole[:n])
npz("big-endian", "not floating point %s*>f4" % first, npy("'>f4'"))
npz("integers", "not floating point %s*<i4" % first, npy("'<i4'"))
npz("object", "not floating point %s*|O" % first, npy("'|O'"))
npz("record", "not*dtype, order*shape", npy("[('a', '<f4')]"))
npz("code", "not*dtype, order*shape", npy(header="__import__('os').system('touch no')"))
npz("more-keys", "not*dtype, order*shape",
    npy(header="{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"))
npz("key-twice", "not*dtype, order*shape",
    npy(header="{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"))
npz("shape-negative", "not*dtype, order*shape", npy(shape="(-1,)"))
npz("shape-9", "not*dtype, order*shape", npy(shape="(1,1,1,1,1,1,1,1,1)"))
npz("shape-2p64", "not*dtype, order*shape", npy(shape="(18446744073709551616,)"))
npz("shape-overflow", "shape*too large", npy(shape="(4294967296, 4294967296)"))
npz("shape-bytes", "shape*too large", npy(shape="(4611686018427387904,)"))
npz("shape-other", "wrong shape", npy(shape=str(good[first].shape[::-1])))
npz("shape-large", "truncated", npy(shape="(1000000000, 1000000000)"))
npz("method", "neither stored nor deflated", npy(), zipfile.ZIP_BZIP2)
npz("version", "(got 4.0)", npy(version=(4, 0)))
npz("header-4g", "header*too large", b"\x93NUMPY\2\0" + b"\xff" * 4)
npz("header-cut", "truncated", b"\x93NUMPY\1\0\xff\xff{")
npz("short", "truncated", npy()[:-1])
npz("long", "bytes after*data", npy() + b"\0")
npz("magic", "not a NumPy array", b"\x93NUMPI" + npy()[6:])
npz("tiny", "truncated", b"\x93NUM")
npz("text-inside", "not an array (PyTorch pickles*read", more=[("readme.txt", b"hello")])
npz("torch", "not an array (PyTorch pickles*read", more=[("archive/data.pkl", b"\x80\x02}q\0.")])
npz("again", "more than once", more=[(first + ".npy", npy())])
# a zip bomb: 256 MiB of zeros, a thousand times the declared size; and one in an entry that no reader needs
npz("bomb", "bytes after*data", npy() + bytes(1 << 28), zipfile.ZIP_DEFLATED)
npz("bomb-more", "unexpected bomb", how=zipfile.ZIP_DEFLATED,
    more=[("bomb.npy", npy(shape="(67108864,)", array=np.zeros(1 << 26, np.float32)))])
at = whole.index(good[first].tobytes())
put("flipped.npz", "CRC", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
# skipped entries are checked too: first, between others, last
counts = "%s.num_batches_tracked.npy" % next(n for n in names if n.endswith(".running_var"))[:-12]
counted = npy("'<i8'", shape="()", array=np.int64(123456789))
all_of_it = [(n + ".npy", npy(array=v)) for n, v in good.items()]
for place, i in ("first", 0), ("between", len(good) // 2), ("last", len(good)):
    raw = archive(all_of_it[:i] + [(counts, counted)] + all_of_it[i:])
    at = raw.index(np.int64(123456789).tobytes())
    put("flipped-count-%s.npz" % place, "num_batches_tracked\": its data: CRC error",
        raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1:])
packed_whole = archive([(n + ".npy", npy(array=v)) for n, v in good.items()], zipfile.ZIP_DEFLATED)
deflated = bytearray(packed_whole)
at = len(first) + 34 + 60
deflated[at:at + 8] = b"\xff" * 8
put("flipped-deflated.npz", "npz: ", bytes(deflated))
# wrong sizes in the directory: both, the packed size, more bytes than DEFLATE can expand to
for name, raw, packed, size in (("wrong-both", whole, 1 << 31, 1 << 31), ("wrong-packed", whole, 1 << 31, None),
                                ("wrong-stored", whole, None, 1 << 31), ("wrong-deflated", packed_whole, None, 1 << 31)):
    raw = bytearray(raw)
    at = raw.index(b"PK\1\2")
    for offset, v in (20, packed), (24, size):
        if v is not None:
            raw[at + offset:at + offset + 4] = struct.pack("<I", v)
    put(name + ".npz", "which the file cannot hold", raw)
# a directory of 2^33 entries: a zip64 end record before the end record
end, directory = whole[-22:], whole.index(b"PK\1\2")
record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1 << 33, 1 << 33, len(whole) - 22 - directory,
                     directory)
locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(whole) - 22, 1)
end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
put("directory.npz", "npz: ", whole[:-22] + record + locator + end)
