# SPDX-License-Identifier: Apache-2.0
"""Read streams (formats/README.md). framing.py reads the bytes, header.py their objects."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO, cast

import msgpack
import numpy as np
import xxhash
from numpy.typing import NDArray

from . import keys
from .errors import Error, inside, need
from .files import Path
from .framing import Frame, next_object
from .header import (
    DTYPES,
    HEADER,
    HISTORY,
    RECORD,
    Stream,
    check_history,
    is_id,
    parse_header,
    parse_part,
)


def objects(f: BinaryIO) -> Iterator[bytes]:
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

    def __init__(self, f: BinaryIO) -> None:
        self.frame, self.n, self.id = Frame(f), 0, ""
        self.inputs: list[str] = []
        with inside("header"):
            head, raw = next_object(self.frame, HEADER)
            self.kind, self.meta, self.tensors = parse_header(head)
        self.hash = xxhash.xxh3_128(raw)
        with inside("history"):
            self.history, _ = next_object(self.frame, HISTORY)
            check_history(self.history)
        self.rows_read = [0] * len(self.tensors)

    def _record(self, o: dict[str, Any]) -> tuple[int, int, NDArray[Any]]:
        index, row, sum_ = (keys.count(o, k) for k in ("t", "row", "xxh"))
        data = o.get("data")
        if len(o) != 4 or not isinstance(data, msgpack.ExtType):
            raise Error("is not {t, row, data, xxh}")
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

    def _end(self, o: dict[str, Any]) -> None:
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

    def records(self) -> Iterator[tuple[int, int, NDArray[Any]]]:
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


def read_file(f: BinaryIO) -> Stream:
    """read() of an open binary file; errors do not name the file."""
    r = Reader(f)
    pieces: list[list[NDArray[Any]]] = [[] for _ in r.tensors]
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


def read(source: Path | BinaryIO, kind: str | None = None) -> Stream:
    """Reads a whole stream and verifies its bytes.

        s = mcz.read("a.mcz", "weights")
        s.tensors["fc.weight"].shape, s.meta["net"], s.id

    source  a path, "-" (standard input) or an open binary file.
    kind    the required kind, such as "weights" or "permutation"; None accepts any.

    Returns a Stream. Raises mcz.Error if the stream is damaged or of another kind, OSError if it
    cannot be read. mcz.check() tests the rules of the kind.
    """
    path = source if isinstance(source, (str, os.PathLike)) else None
    name = getattr(source, "name", "stream") if path is None else os.fspath(path)
    with inside("stdin" if name == "-" else name), ExitStack() as stack:
        if path is None:
            f = cast(BinaryIO, source)
        else:
            f = sys.stdin.buffer if name == "-" else stack.enter_context(open(path, "rb"))
        s = read_file(f)
        need(kind in (None, s.kind), f"{kind} expected, got {s.kind}")
    return s


def widened(s: Stream) -> dict[str, NDArray[Any]]:
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
