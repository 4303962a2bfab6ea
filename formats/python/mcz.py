# SPDX-License-Identifier: Apache-2.0
"""Read and write mcz streams (formats/README.md) with msgpack, zstandard, xxhash and NumPy.

    import mcz
    s = mcz.read("a.mcz")                    # or a binary file object: sys.stdin.buffer
    s.kind, s.meta, s.tensors["layers.0.conv.weight"], s.id, s.history, s.inputs
    mcz.write("p.mcz", "permutation", {"groups": [...]}, {"layer0": perm},
              history=mcz.history("my-assign", {"seed": 1}, [s]), inputs=[s.id])

Everything is verified: damage, truncation and trailing bytes raise mcz.Error. As a program:
`python3 mcz.py FILE...` prints kind, content id and tensors. bfloat16, which NumPy lacks, is held
as uint16 and named by `dtypes`: {"tensor": "bfloat16"}.
"""
import os
import sys
from types import SimpleNamespace

import msgpack
import numpy as np
import xxhash
import zstandard

DTYPES = {"float32": "<f4", "float64": "<f8", "float16": "<f2", "bfloat16": "<u2",
          "int64": "<i8", "int32": "<i4", "uint8": "u1"}
CUT = 32 << 20         # a record's data is no larger
RECORD_MAX = 64 << 20  # a packed record is no larger
WINDOW_MAX = 8 << 20
MAGIC = b"\x28\xb5\x2f\xfd"


class Error(Exception):
    pass


def _need(ok, what):
    if not ok:
        raise Error(what)


def _decoded(f):
    """The decoded bytes of an input that is exactly one zstd frame with a checksum, in pieces."""
    data = f.read(6)
    while 0 < len(data) < 6:
        more = f.read(6 - len(data))
        if not more:
            break
        data += more
    _need(data, "is empty, not an mcz stream")
    _need(MAGIC.startswith(data[:4]), "is not an mcz stream")
    _need(len(data) == 6, "truncated")
    _need(data[4] & 0x04, "its zstd frame has no checksum")
    _need(not data[4] & 0x1b, "its zstd frame has a dictionary or reserved bits")
    d = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX).decompressobj()
    while data:
        try:
            piece = d.decompress(data)
        except zstandard.ZstdError as e:
            raise Error("damaged: %s" % e) from None
        for i in range(0, len(piece), 1 << 20):
            yield piece[i:i + (1 << 20)]
        if d.eof:
            _need(not d.unused_data and not f.read(1), "bytes after the end of the stream")
            return
        data = f.read(2048)  # each may become 64 MiB
    raise Error("truncated")


def _pairs(items):
    _need(len({k for k, v in items}) == len(items), "a map has the same key twice")
    return dict(items)


def _objects(pieces):
    """(object, its packed bytes) one after the other; the bytes fed and not yet unpacked are kept."""
    u = msgpack.Unpacker(raw=False, strict_map_key=True, object_pairs_hook=_pairs,
                         max_buffer_size=RECORD_MAX + (4 << 20))
    fed, start = bytearray(), 0  # fed[0] is byte `start` of the stream
    for piece in pieces:
        u.feed(piece)
        fed += piece
        while True:
            try:
                o = u.unpack()
            except msgpack.OutOfData:
                break
            except (ValueError, msgpack.UnpackException) as e:
                raise Error("damaged: %s" % e) from None
            n = u.tell() - start
            _need(n <= RECORD_MAX, "an object is too large")
            yield o, bytes(fed[:n])
            del fed[:n]
            start += n
        _need(len(fed) <= RECORD_MAX, "an object is too large")
    _need(not fed, "ends before its end record")


def _read(f):
    objects = _objects(_decoded(f))
    head, raw = next(objects, (None, b""))
    _need(isinstance(head, dict) and head.get("mcz") == 1, "header: not of version 1")
    _need(set(head) == {"mcz", "kind", "meta", "tensors"}, "header: wrong keys")
    hash_ = xxhash.xxh3_128(raw)
    hist, _ = next(objects, (None, b""))
    _need(isinstance(hist, list), "history: is not an array")
    s = SimpleNamespace(kind=head["kind"], meta=head["meta"], history=hist, tensors={}, dtypes={},
                        inputs=[], id="", records=0)
    announced, pieces, rows = head["tensors"], [], []
    for name, dtype, shape in announced:
        _need(dtype in DTYPES, "tensor %r: unknown dtype" % name)
        _need(name not in s.dtypes, "tensor %r is announced twice" % name)
        s.dtypes[name] = dtype
        pieces.append([])
        rows.append(0)
    end = None
    for o, raw in objects:
        _need(end is None, "bytes after the end record")
        _need(isinstance(o, dict), "a record is not a map")
        if "end" in o:
            end = o
            continue
        _need(set(o) == {"t", "row", "data", "xxh"}, "a record has the wrong keys")
        s.records += 1
        where = "record %d: " % s.records
        i = o["t"]
        _need(isinstance(i, int) and 0 <= i < len(announced), where + "of no tensor")
        name, dtype, shape = announced[i]
        _need(o["row"] == rows[i], where + "tensor %r: rows are missing" % name)
        _need(isinstance(o["data"], msgpack.ExtType) and o["data"].code == 1, where + "no tensor")
        got, kind, body = msgpack.unpackb(o["data"].data, raw=False)
        _need(kind == dtype and len(got) == len(shape) and got[1:] == shape[1:],
              where + "tensor %r: not what was announced" % name)
        a = np.frombuffer(body, DTYPES[dtype])
        _need(a.size == int(np.prod(got, dtype=object)) and a.size, where + "wrong size")
        _need(xxhash.xxh3_64_intdigest(body) == o["xxh"],
              where + "tensor %r: checksum mismatch" % name)
        rows[i] += got[0] if got else 1
        pieces[i].append(a)
        hash_.update(raw)
    _need(end is not None, "ends before its end record")
    for i, (name, dtype, shape) in enumerate(announced):
        size = int(np.prod(shape, dtype=object))
        _need(sum(p.size for p in pieces[i]) == size, "tensor %r is not complete" % name)
        whole = np.concatenate(pieces[i]) if pieces[i] else np.zeros(0, DTYPES[dtype])
        s.tensors[name] = whole.reshape(shape)
    s.id, s.inputs = hash_.hexdigest(), end.get("inputs")
    _need(set(end) == {"end", "id", "inputs"}, "end record: wrong keys")
    _need(end["end"] == s.records, "end record: counts %r records, not %d" % (end["end"], s.records))
    _need(end["id"] == s.id, "end record: wrong content id")
    return s


def read(source):
    """A whole stream, from a path, "-" (stdin) or a binary file object, verified to its end."""
    name = source if isinstance(source, str) else getattr(source, "name", "stream")
    name = "stdin" if name == "-" else name
    try:
        if not isinstance(source, str):
            return _read(source)
        if source == "-":
            return _read(sys.stdin.buffer)
        with open(source, "rb") as f:
            return _read(f)
    except Error as e:
        raise Error("%s: %s" % (name, e)) from None
    except (TypeError, ValueError, AttributeError, KeyError) as e:
        raise Error("%s: damaged: %s" % (name, e)) from None


def history(tool, args, parents=(), version="1"):
    """The history of a run of `tool` on the streams `parents`; equal entries are kept once."""
    entries, own = [], []
    for p in parents:
        places = []
        for e in p.history:
            e = {"tool": e["tool"], "version": e["version"], "args": e["args"],
                 "parents": [places[i] for i in e["parents"]]}
            if e not in entries:
                entries.append(e)
            places.append(entries.index(e))
        own += places[-1:]
    return entries + [{"tool": tool, "version": version, "args": [list(a) for a in args.items()],
                       "parents": own}]


def _record(i, row, a, dtype):
    body = a.tobytes()
    inner = msgpack.packb([list(a.shape), dtype, body])
    return msgpack.packb({"t": i, "row": row, "data": msgpack.ExtType(1, inner),
                          "xxh": xxhash.xxh3_64_intdigest(body)})


def _write(f, kind, meta, tensors, hist, inputs, dtypes):
    named = []
    for name, a in tensors.items():
        a = np.asarray(a)
        dtype = dtypes.get(name, a.dtype.name)
        named.append((name, dtype, a.astype(DTYPES[dtype], order="C", copy=False)))
    z = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=False)
    z = z.compressobj()
    head = msgpack.packb({"mcz": 1, "kind": kind, "meta": meta,
                          "tensors": [[n, d, list(a.shape)] for n, d, a in named]})
    hash_, count = xxhash.xxh3_128(head), 0
    f.write(z.compress(head) + z.compress(msgpack.packb(hist)))
    for i, (name, dtype, a) in enumerate(named):
        if not a.size:
            continue  # complete without a record
        rows = a.reshape(a.shape or (1,))
        step = CUT // (a.nbytes // len(rows))
        for row in range(0, len(rows), step):
            raw = _record(i, row, rows[row:row + step] if a.shape else a, dtype)
            hash_.update(raw)
            f.write(z.compress(raw))
            count += 1
    end = {"end": count, "id": hash_.hexdigest(), "inputs": list(inputs)}
    f.write(z.compress(msgpack.packb(end)) + z.flush())
    f.flush()
    return end["id"]


def write(target, kind, meta, tensors, history=(), inputs=(), dtypes={}):
    """Write a stream to a path (whole or not at all), "-" (stdout) or a file object; its id."""
    if target == "-":
        target = sys.stdout.buffer
    if not isinstance(target, str):
        return _write(target, kind, meta, tensors, list(history), inputs, dtypes)
    temporary = os.path.join(os.path.dirname(target),
                             ".%s.%d.mcz-tmp" % (os.path.basename(target)[:200], os.getpid()))
    try:
        with open(temporary, "xb") as f:
            id_ = _write(f, kind, meta, tensors, list(history), inputs, dtypes)
            os.fsync(f.fileno())
        os.replace(temporary, target)
        return id_
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def main():
    status = 0
    for path in sys.argv[1:] or ["-"]:
        try:
            s = read(path)
        except (Error, OSError) as e:
            print("mcz.py: %s" % e, file=sys.stderr)
            status = 3 if isinstance(e, Error) else 1
            continue
        print("%s: ok, kind %s, id %s, %d records" % (path, s.kind, s.id, s.records))
        for name, a in s.tensors.items():
            print("  %-8s  %-16s  %s" % (s.dtypes[name], "x".join(map(str, a.shape)) or "scalar",
                                         name))
    return status


if __name__ == "__main__":
    sys.exit(main())
