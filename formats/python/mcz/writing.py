# SPDX-License-Identifier: Apache-2.0
"""Write streams (formats/README.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, BinaryIO, cast

import msgpack
import numpy as np
import xxhash
import zstandard
from numpy.typing import ArrayLike, NDArray

from . import keys
from .errors import inside, need
from .files import Path, expect_stream_name, replacing
from .framing import Memory, blocks, unpack, walk
from .groups import MAX_TEXT
from .header import (
    CUT,
    DTYPES,
    HEADER,
    HISTORY,
    NETWORKS,
    Stream,
    Tensor,
    check_history,
    header_version,
    is_id,
    parse_header,
)

BLOCK, BLOCK_IMAGES = 4 << 20, 4096  # bytes and images of a data set's largest record
# bytes and entries, of a network with rows of groups
DECLARED_NAME_MAX, PARAMETERS_MAX = 95, 1 << 31


def _plain(v: Any) -> Any:
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


def history(
    tool: str, args: Mapping[str, Any], parents: Iterable[Stream] = (), version: str = "1"
) -> list[dict[str, Any]]:
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
        places: list[int] = []
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


def _record(i: int, row: int, a: NDArray[Any], dtype: str) -> tuple[bytes, bytes, bytes]:
    """The packed bytes of a record: before its values, its values, after them."""
    body = a.tobytes()
    sum_ = xxhash.xxh3_64_intdigest(body)
    inner = msgpack.packb([list(a.shape), dtype, body])
    raw = msgpack.packb({"t": i, "row": row, "data": msgpack.ExtType(1, inner), "xxh": sum_})
    end = len(raw) - len(msgpack.packb("xxh") + msgpack.packb(sum_))
    return raw[: end - len(body)], body, raw[end:]


def _announce(
    tensors: Mapping[str, ArrayLike], dtypes: Mapping[str, str]
) -> tuple[list[Tensor], list[NDArray[Any]]]:
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


def _head(kind: str, meta: Mapping[str, Any], announced: Sequence[Tensor]) -> bytes:
    packed: bytes = msgpack.packb(
        _plain(
            {
                "mcz": header_version(kind, announced),
                "kind": kind,
                "meta": meta,
                "tensors": [[t.name, t.dtype, t.shape] for t in announced],
            }
        )
    )
    return packed


def _order(
    kind: str, meta: Mapping[str, Any], announced: Sequence[Tensor]
) -> list[tuple[int, int, int]]:
    """[(tensor's index, first row, rows)] of the records, in the order of the kind: tensor by
    tensor, except that a data set alternates blocks of images and their labels, and activations
    come batch by batch."""

    def cut(i: int, t: Tensor, first: int, end: int) -> list[tuple[int, int, int]]:
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


def _records(
    order: Iterable[tuple[int, int, int]],
    announced: Sequence[Tensor],
    arrays: Sequence[NDArray[Any]],
) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yields the packed records in this order, each as _record()."""
    for i, row, rows in order:
        a, t = arrays[i], announced[i]
        yield _record(i, row, a[row : row + rows] if t.shape else a, t.dtype)


def check_declared(rows: Any, shapes: Mapping[str, Sequence[int]]) -> None:
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


def content_id(
    kind: str,
    meta: Mapping[str, Any],
    tensors: Mapping[str, ArrayLike],
    dtypes: Mapping[str, str] | None = None,
) -> str:
    """The content id of a stream with this header and these tensors, which are not checked."""
    announced, arrays = _announce(tensors, dtypes or {})
    hash_ = xxhash.xxh3_128(_head(kind, meta, announced))
    for parts in _records(_order(kind, meta, announced), announced, arrays):
        hash_.update(b"".join(parts))
    return hash_.hexdigest()


def _write(
    f: BinaryIO,
    kind: str,
    meta: Mapping[str, Any],
    tensors: Mapping[str, ArrayLike],
    hist: Sequence[Any],
    inputs: Sequence[str],
    dtypes: Mapping[str, str],
) -> str:
    announced, arrays = _announce(tensors, dtypes)
    with inside("header"):
        head = _head(kind, meta, announced)
        walk(Memory(head), HEADER)
        kind, meta, announced = parse_header(unpack(head))
        if kind in NETWORKS and "symmetry" in meta:
            point = "0/" if kind == "curve" else ""
            check_declared(
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

    def parts() -> Iterator[tuple[bytes, int]]:
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


def write(
    target: Path | BinaryIO,
    kind: str,
    meta: Mapping[str, Any],
    tensors: Mapping[str, ArrayLike],
    history: Iterable[Any] = (),
    inputs: Iterable[str] = (),
    dtypes: Mapping[str, str] | None = None,
) -> str:
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
    dtype is invalid, or if the path has the name of another format, such as .pt. Numbers, booleans
    and strings of meta may be NumPy's.
    """
    expect_stream_name(target)
    rest = kind, meta, tensors, list(history), list(inputs), dtypes or {}
    if target == "-":  # a separate file object: errors of the last write appear here, not at exit
        sys.stdout.flush()
        with open(sys.stdout.fileno(), "wb", closefd=False) as f:
            return _write(f, *rest)
    if not isinstance(target, (str, os.PathLike)):
        return _write(target, *rest)
    with replacing(target) as f, inside(os.fspath(target)):
        return _write(cast(BinaryIO, f), *rest)
