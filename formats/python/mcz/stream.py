# SPDX-License-Identifier: Apache-2.0
"""Read and write streams (formats/README.md): headers, histories and records. framing.py reads the
bytes."""

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from math import prod
from types import SimpleNamespace

import msgpack
import numpy as np
import xxhash
import zstandard

from . import keys
from .errors import Error, inside, need
from .files import replacing
from .framing import Frame, Memory, blocks, next_object, unpack, walk
from .groups import MAX_TEXT

DTYPES = {
    "float32": "<f4",
    "float64": "<f8",
    "float16": "<f2",
    "bfloat16": "<u2",
    "int64": "<i8",
    "int32": "<i4",
    "uint8": "u1",
}
NARROW = "float16", "bfloat16"
NETWORKS = "weights", "curve"  # kinds whose streams are written in blocks
RECORD_MAX = 64 << 20  # bytes of a packed record
CUT, BLOCK, BLOCK_IMAGES = (
    32 << 20,
    4 << 20,
    4096,
)  # largest record: bytes; for a data set's images: bytes and images
NAME_MAX, DIMS_MAX = 119, 8  # bytes, dimensions
DECLARED_NAME_MAX, PARAMETERS_MAX = (
    95,
    1 << 31,
)  # bytes and entries, of a network with rows of groups
# limits of an object: bytes, objects in it, depth, ext type 1 allowed
HEADER = 5 << 19, 262144, 24, False
HISTORY = 1 << 20, 32768, 8, False
RECORD = RECORD_MAX, 16384, 2, True
TENSOR = RECORD_MAX, 64, 2, False


# ---- objects -------------------------------------------------------------------------------------


class Stream(SimpleNamespace):
    """A stream that read() has read and verified.

        s = mcz.read("a.mcz")
        print(repr(s), list(s.tensors)[:3], s.meta["net"])

    kind     what it holds: "weights", "permutation", "curve", "dataset", "moments", ...
             (formats/codecs)
    meta     its settings, as the page of the kind describes
    tensors  {name: array}
    dtypes   {name: a key of DTYPES}
    history  how it was made: a list of {"tool", "version", "args", "parents"}
    inputs   the content ids of the streams that it was made from
    id       its content id: 32 hexadecimal digits
    records  the number of its records"""

    def __repr__(self):
        return f"<{self.kind} stream, {len(self.tensors)} tensors, id {self.id}>"


class Tensor(SimpleNamespace):
    """A tensor that the header announces: name, dtype, shape."""

    @property
    def rows(self):
        return self.shape[0] if self.shape else 1

    @property
    def row_bytes(self):
        return prod(self.shape[1:]) * np.dtype(DTYPES[self.dtype]).itemsize

    @property
    def bytes(self):
        return self.rows * self.row_bytes


def parse_tensor(o):
    """The Tensor of a header's [name, dtype, shape]."""
    need(
        isinstance(o, list)
        and len(o) == 3
        and isinstance(o[0], str)
        and isinstance(o[1], str)
        and isinstance(o[2], list),
        "a tensor is not announced as [name, dtype, shape]",
    )
    name, dtype, shape = o
    need(len(name.encode()) <= NAME_MAX, f"a tensor's name is longer than {NAME_MAX} bytes")
    need(dtype in DTYPES, f'tensor "{name}": unknown dtype')
    need(len(shape) <= DIMS_MAX, f'tensor "{name}": more than {DIMS_MAX} dimensions')
    need(all(keys.is_whole(k) for k in shape), f'tensor "{name}": a dimension is not a number')
    t = Tensor(name=name, dtype=dtype, shape=shape)
    size = prod(k or 1 for k in shape) * np.dtype(DTYPES[dtype]).itemsize
    need(
        name
        and all(c >= " " and c != "\x7f" for c in name)
        and size <= 1 << 48
        and t.row_bytes <= CUT,
        'tensor "{}": impossible name or size'.format(
            "".join(c if c >= " " else "?" for c in name)
        ),
    )
    return t


def _version(kind, tensors):
    """The version in the header of a stream, also of one in blocks: 2 for weights and curves with
    tensors of 16 bits, else 1."""
    return 2 if kind in ("weights", "curve") and any(t.dtype in NARROW for t in tensors) else 1


def parse_header(o):
    """(kind, meta, tensors) of a header."""
    need(isinstance(o, dict), "is not a map")
    need(
        keys.count(o, "mcz") in (1, 2, 3),
        "format version {!r} (this program reads 1 to 3)".format(o["mcz"]),
    )
    need(len(o) == 4, "unknown keys")
    kind, meta = keys.text(o, "kind", 32), keys.mapping(o, "meta")
    tensors = keys.array(o, "tensors")
    need(
        kind and all(c in "abcdefghijklmnopqrstuvwxyz0123456789-_" for c in kind),
        '"kind" is not a name',
    )
    tensors = [parse_tensor(t) for t in tensors]
    names = set()
    for t in tensors:
        need(t.name not in names, f'tensor "{t.name}" is announced twice')
        names.add(t.name)
    version = _version(kind, tensors)
    need(
        o["mcz"] == version,
        "format version must be {} for these tensors (got {})".format(version, o["mcz"]),
    )
    return kind, meta, tensors


def check_history(o):
    need(isinstance(o, list), "is not an array")
    for i, e in enumerate(o):
        need(isinstance(e, dict) and len(e) == 4, "an entry is not a map of 4")
        keys.text(e, "tool", 127), keys.text(e, "version", 127)
        for a in keys.array(e, "args"):
            need(
                isinstance(a, list)
                and len(a) == 2
                and isinstance(a[0], str)
                and isinstance(a[1], (str, int, float)),
                '"args" is not a list of [name, value]',
            )
        need(
            all(keys.is_whole(p) and p < i for p in keys.array(e, "parents")),
            '"parents" is not a list of earlier entries',
        )


def parse_part(t, row, ext):
    """The rows of tensor t in a record that starts at row `row`: (flat array, its bytes, number of
    rows)."""
    need(walk(Memory(ext), TENSOR) == len(ext), "trailing bytes after the data")
    a = unpack(ext)
    need(
        isinstance(a, list)
        and len(a) == 3
        and isinstance(a[0], list)
        and isinstance(a[1], str)
        and isinstance(a[2], bytes),
        "its data are not [shape, dtype, bytes]",
    )
    shape, dtype, body = a
    need(dtype == t.dtype, f"its dtype is not the declared {t.dtype}")
    need(len(shape) == len(t.shape), f"it does not have the declared {len(t.shape)} dimensions")
    need(
        all(keys.is_whole(k) for k in shape) and shape[1:] == t.shape[1:],
        "its shape is not the declared one",
    )
    rows = shape[0] if shape else 1
    need(0 < rows <= t.rows - row, f"it has {rows} rows (from 1 to {t.rows - row} expected)")
    need(len(body) == rows * t.row_bytes, f"its {len(body)} bytes do not match its shape")
    return np.frombuffer(body, DTYPES[dtype]), body, rows


def is_id(o):
    return isinstance(o, str) and len(o) == 32 and all(c in "0123456789abcdef" for c in o)


# ---- reading -------------------------------------------------------------------------------------


def objects(f):
    """Yields the packed bytes of each object of a stream, including its end record."""
    frame = Frame(f)
    for limits in (HEADER, HISTORY):
        yield next_object(frame, limits)[1]
    while True:
        o, raw = next_object(frame, RECORD)
        yield raw
        if "end" in o:
            return frame.finish()


class Reader:
    """Reads a stream record by record. kind, meta, history and tensors (announced) are set at once;
    records() yields the data, verifies the end and then sets inputs and id."""

    def __init__(self, f):
        self.frame, self.n, self.inputs, self.id = Frame(f), 0, [], ""
        with inside("header"):
            head, raw = next_object(self.frame, HEADER)
            self.kind, self.meta, self.tensors = parse_header(head)
        self.hash = xxhash.xxh3_128(raw)
        with inside("history"):
            self.history, _ = next_object(self.frame, HISTORY)
            check_history(self.history)
        self.rows_read = [0] * len(self.tensors)

    def _record(self, o):
        index, row, sum_ = (keys.count(o, k) for k in ("t", "row", "xxh"))
        data = o.get("data")
        need(len(o) == 4 and isinstance(data, msgpack.ExtType), "is not {t, row, data, xxh}")
        need(index < len(self.tensors), f'"t" must be below {len(self.tensors)} (got {index})')
        t = self.tensors[index]
        with inside(f'tensor "{t.name}"'):
            need(t.bytes, "an empty tensor must not have records")
            need(
                row == self.rows_read[index], f"row {self.rows_read[index]} expected, got row {row}"
            )
            a, body, rows = parse_part(t, row, data.data)
            need(xxhash.xxh3_64_intdigest(body) == sum_, "checksum mismatch")
        self.rows_read[index] += rows
        return index, row, a.reshape([rows, *t.shape[1:]] if t.shape else [])

    def _end(self, o):
        n, inputs, id_ = keys.count(o, "end"), keys.array(o, "inputs"), o.get("id")
        need(len(o) == 3 and is_id(id_), "is not {end, id, inputs}")
        need(n == self.n, f"announces {n} records, got {self.n}")
        for t, n in zip(self.tensors, self.rows_read):
            need(not t.bytes or n == t.rows, f'tensor "{t.name}" has {n} of {t.rows} rows')
        self.id = self.hash.hexdigest()
        need(id_ == self.id, f"the content id is {self.id}, not the declared {id_}")
        need(all(is_id(i) for i in inputs), '"inputs" is not a list of content ids')
        self.inputs = inputs
        self.frame.finish()

    def records(self):
        """Yields (index of the tensor, first row, array of rows) for each record."""
        while True:
            place = f"record {self.n + 1}"
            try:
                o, raw = next_object(self.frame, RECORD)
                need(isinstance(o, dict), "is not a map")
                if "end" in o:
                    place = "end record"
                    return self._end(o)
                found = self._record(o)
            except Error as e:
                where = place if place == "end record" else f"{place}, byte {self.frame.bytes_read}"
                raise Error(f"{where}: {e}") from None
            self.hash.update(raw)
            self.n += 1
            yield found


def read_file(f):
    """read() of an open binary file; errors do not name the file."""
    r = Reader(f)
    pieces = [[] for _ in r.tensors]
    for index, _, a in r.records():
        pieces[index].append(a)
    s = Stream(
        kind=r.kind,
        meta=r.meta,
        history=r.history,
        tensors={},
        inputs=r.inputs,
        id=r.id,
        records=r.n,
        dtypes={t.name: t.dtype for t in r.tensors},
    )
    for t, parts in zip(r.tensors, pieces):
        s.tensors[t.name] = (
            np.zeros(t.shape, DTYPES[t.dtype])
            if not parts
            else np.concatenate(parts)
            if t.shape
            else parts[0].copy()
        )
    return s


def read(source, kind=None):
    """Reads a whole stream and verifies its bytes.

        s = mcz.read("a.mcz", "weights")
        s.tensors["fc.weight"].shape, s.meta["net"], s.id

    source  a path, "-" (standard input) or an open binary file.
    kind    the required kind, such as "weights" or "permutation"; None accepts any.

    Returns a Stream. Raises mcz.Error if the stream is damaged or of another kind, OSError if it
    cannot be read. mcz.check() tests the rules of the kind.
    """
    name = (
        source
        if isinstance(source, str)
        else os.fspath(source)
        if isinstance(source, os.PathLike)
        else getattr(source, "name", "stream")
    )
    with inside("stdin" if name == "-" else name):
        f = source if hasattr(source, "read") else sys.stdin.buffer if name == "-" else None
        with nullcontext(f) if f is not None else open(source, "rb") as f:
            s = read_file(f)
        need(kind in (None, s.kind), f"{kind} expected, got {s.kind}")
    return s


def widened(s):
    """{name: array} of a stream, with float16 and bfloat16 as float32, which holds each value.

        mcz.widened(mcz.read("a.mcz"))["fc.weight"].mean()

    The other arrays are the stream's own. Never raises for a stream of read()."""
    return {
        name: (a.astype("<u4") << 16).view("<f4")
        if s.dtypes[name] == "bfloat16"
        else a.astype("<f4")
        if s.dtypes[name] == "float16"
        else a
        for name, a in s.tensors.items()
    }


# ---- writing -------------------------------------------------------------------------------------


def _plain(v):
    """A value of a header or a history, with NumPy's numbers, booleans and strings as Python's.
    Error names the key of a value that a stream cannot hold."""
    if isinstance(v, Mapping):
        found = {}
        for key, value in v.items():
            need(isinstance(key, str), f"a key must be a string (got {key!r})")
            with inside(f'"{key}"'):
                found[_plain(key)] = _plain(value)
        return found
    if isinstance(v, (list, tuple)):
        return [_plain(value) for value in v]
    if isinstance(v, str):
        need(not any("\ud800" <= c <= "\udfff" for c in v), "is not Unicode text")
        return str(v)
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (int, np.integer)):
        need(-1 << 63 <= v < 1 << 64, f"must be at least -2^63 and less than 2^64 (got {v})")
        return int(v)
    if isinstance(v, (float, np.floating)):
        return float(v)
    need(
        v is None or isinstance(v, bytes),
        f"a string, number, boolean, list or map expected, got {type(v).__name__}",
    )
    return v


def history(tool, args, parents=(), version="1"):
    """The history of a stream, for write().

        made = mcz.history("my-assign", {"seed": 1}, [mcz.read("a.mcz")])

    tool     the name of the program or function that makes it.
    args     {name: string, number or boolean}: what determines the result.
    parents  the streams that it is made from.
    version  the tool's version.

    Numbers, booleans and strings may be NumPy's. Returns the list of entries: those of the parents,
    equal ones once, and its own. Raises mcz.Error with the name of an argument of another type."""
    entries, own = [], []
    for p in parents:
        places = []
        for e in p.history:
            e = {
                "tool": e["tool"],
                "version": e["version"],
                "args": e["args"],
                "parents": [places[i] for i in e["parents"]],
            }
            if e not in entries:
                entries.append(e)
            places.append(entries.index(e))
        own += places[-1:]
    args = _plain(args)
    for name, value in args.items():
        need(
            isinstance(value, (str, int, float)),
            f'"{name}": a string, number or boolean expected, got {type(value).__name__}',
        )
    return [
        *entries,
        {"tool": tool, "version": version, "args": [list(a) for a in args.items()], "parents": own},
    ]


def _record(i, row, a, dtype):
    """The packed bytes of a record: before its values, its values, after them."""
    body = a.tobytes()
    sum_ = xxhash.xxh3_64_intdigest(body)
    inner = msgpack.packb([list(a.shape), dtype, body])
    raw = msgpack.packb({"t": i, "row": row, "data": msgpack.ExtType(1, inner), "xxh": sum_})
    end = len(raw) - len(msgpack.packb("xxh") + msgpack.packb(sum_))
    return raw[: end - len(body)], body, raw[end:]


def _announce(tensors, dtypes):
    """([Tensor], [array]) to write. Error if an array's dtype does not fit."""
    announced, arrays = [], []
    for name, a in tensors.items():
        a = np.asarray(a)
        dtype = dtypes.get(name, a.dtype.name)
        need(
            dtype in DTYPES, 'tensor "{}": {} is none of {}'.format(name, dtype, ", ".join(DTYPES))
        )
        need(
            a.dtype.newbyteorder("<") == np.dtype(DTYPES[dtype]),
            f'tensor "{name}": an array of {a.dtype}, not of {np.dtype(DTYPES[dtype]).name} '
            f"({dtype})",
        )
        arrays.append(a.astype(DTYPES[dtype], order="C", copy=False))
        announced.append(Tensor(name=name, dtype=dtype, shape=list(a.shape)))
    return announced, arrays


def _head(kind, meta, announced):
    return msgpack.packb(
        _plain(
            {
                "mcz": _version(kind, announced),
                "kind": kind,
                "meta": meta,
                "tensors": [[t.name, t.dtype, t.shape] for t in announced],
            }
        )
    )


def _order(kind, meta, announced):
    """[(tensor's index, first row, rows)] of the records, in the order of the kind: tensor by
    tensor, except that a data set alternates blocks of images and their labels, and activations
    come batch by batch."""

    def cut(i, t, first, end):
        step = max(1, CUT // max(1, t.row_bytes))
        return (
            [(i, row, min(step, end - row)) for row in range(first, end, step)] if t.bytes else []
        )

    names = {t.name: i for i, t in enumerate(announced)}
    if kind == "dataset" and set(names) == {"images", "labels"}:
        t = announced[names["images"]]
        step = max(1, min(BLOCK // max(1, t.row_bytes), BLOCK_IMAGES))
        return [
            (names[k], row, min(step, t.rows - row))
            for row in range(0, t.rows, step)
            for k in ("images", "labels")
        ]
    rows = max((t.rows for t in announced), default=0)
    batch = meta.get("batch") if kind == "activations" else rows
    batch = batch if keys.is_whole(batch) and batch else max(1, rows)
    return [
        r
        for first in range(0, rows, batch)
        for i, t in enumerate(announced)
        for r in cut(i, t, first, min(first + batch, t.rows))
    ]


def _records(order, announced, arrays):
    """Yields the packed records in this order, each as _record()."""
    for i, row, rows in order:
        a, t = arrays[i], announced[i]
        yield _record(i, row, a[row : row + rows] if t.shape else a, t.dtype)


def _check_declared(rows, shapes):
    """Checks the limits of a network with rows of groups (formats/exchange/groups.md). shapes:
    {tensor: shape}."""
    need(len(str(rows).encode()) <= MAX_TEXT, f'"symmetry" is longer than {MAX_TEXT} bytes')
    for name in shapes:
        need(
            len(name.encode()) <= DECLARED_NAME_MAX,
            f'tensor "{name}": a name must have at most {DECLARED_NAME_MAX} bytes',
        )
    entries = sum((prod(shape) + 15) // 16 * 16 for shape in shapes.values())
    need(entries <= PARAMETERS_MAX, f"more than {PARAMETERS_MAX} parameters")


def content_id(kind, meta, tensors, dtypes=None):
    """The content id of a stream with this header and these tensors, which are not checked."""
    announced, arrays = _announce(tensors, dtypes or {})
    hash_ = xxhash.xxh3_128(_head(kind, meta, announced))
    for parts in _records(_order(kind, meta, announced), announced, arrays):
        hash_.update(b"".join(parts))
    return hash_.hexdigest()


def _write(f, kind, meta, tensors, hist, inputs, dtypes):
    announced, arrays = _announce(tensors, dtypes)
    with inside("header"):
        head = _head(kind, meta, announced)
        walk(Memory(head), HEADER)
        kind, meta, announced = parse_header(unpack(head))
        if kind in NETWORKS and "symmetry" in meta:
            point = "0/" if kind == "curve" else ""
            _check_declared(
                meta["symmetry"],
                {t.name[len(point) :]: t.shape for t in announced if t.name.startswith(point)},
            )
    with inside("history"):
        past = msgpack.packb(_plain(hist))
        walk(Memory(past), HISTORY)
        check_history(unpack(past))
    need(all(is_id(i) for i in inputs), '"inputs" is not a list of content ids')
    order = _order(kind, meta, announced)
    z = zstandard.ZstdCompressor(
        level=1, write_checksum=True, write_content_size=False
    ).compressobj()
    hash_ = xxhash.xxh3_128(head)

    def parts():
        """The bytes of the stream, with the width of their values."""
        yield head + past, 1
        for (i, _, _), record in zip(order, _records(order, announced, arrays)):
            hash_.update(b"".join(record))
            yield from zip(record, (1, arrays[i].dtype.itemsize, 1))
        yield msgpack.packb({"end": len(order), "id": hash_.hexdigest(), "inputs": inputs}), 1

    for piece in blocks(parts()) if kind in NETWORKS else (raw for raw, _ in parts()):
        f.write(z.compress(piece))
    f.write(z.flush())
    f.flush()
    return hash_.hexdigest()


def write(target, kind, meta, tensors, history=(), inputs=(), dtypes=None):
    """Writes a stream. Returns its content id.

        s = mcz.read("m.mcz")
        order = {"g": np.array([2, 0, 1], "i4")}
        mcz.write("mine.mcz", "permutation", {"groups": [{"name": "g", "size": 3}]}, order,
                  history=mcz.history("my-assign", {}, [s]), inputs=[s.id])

    target   a path, "-" (standard output) or an open binary file. After an exception a path is
             unchanged.
    kind     the kind, lower case. The page of the kind in formats/codecs describes meta and
             tensors.
    meta     {key: value}: its settings.
    tensors  {name: array} in the order of the file.
    history  the result of history().
    inputs   the content ids of the streams that this one was made from.
    dtypes   {name: "bfloat16"} for tensors in uint16 arrays.

    Raises mcz.Error, before anything is written, if the header, the history, an id or an array's
    dtype is invalid. Numbers, booleans and strings of meta may be NumPy's.
    """
    rest = kind, meta, tensors, list(history), list(inputs), dtypes or {}
    if target == "-":  # a separate file object: errors of the last write appear here, not at exit
        sys.stdout.flush()
        with open(sys.stdout.fileno(), "wb", closefd=False) as f:
            return _write(f, *rest)
    if hasattr(target, "write"):
        return _write(target, *rest)
    with replacing(target) as f, inside(os.fspath(target)):
        return _write(f, *rest)
