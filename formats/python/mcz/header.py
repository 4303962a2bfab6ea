# SPDX-License-Identifier: Apache-2.0
"""The objects of a stream (formats/README.md): header, history and the data of a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import keys
from .errors import need
from .framing import Memory, unpack, walk

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
NETWORKS = "weights", "curve"  # in blocks; of version 2 if they have tensors of 16 bits
RECORD_MAX = 64 << 20  # bytes of a packed record
CUT = 32 << 20  # bytes of the largest record
NAME_MAX, DIMS_MAX = 119, 8  # bytes, dimensions
# limits of an object: bytes, objects in it, depth, ext type 1 allowed
HEADER = 5 << 19, 262144, 24, False
HISTORY = 1 << 20, 32768, 8, False
RECORD = RECORD_MAX, 16384, 2, True
TENSOR = RECORD_MAX, 64, 2, False


@dataclass(repr=False, eq=False)
class Stream:
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
    records  the number of its records
    groups   the groups of a permutation that mcz.torch.align or align_many computed, else None
    network, reference  the content ids of a member (mcz.member), else None"""

    kind: str
    meta: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    dtypes: dict[str, str]
    history: list[dict[str, Any]]
    inputs: list[str]
    id: str
    records: int
    groups: Any = None
    network: str | None = None
    reference: str | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} stream, {len(self.tensors)} tensors, id {self.id}>"


@dataclass
class Tensor:
    """A tensor that the header announces."""

    name: str
    dtype: str
    shape: list[int]

    @property
    def rows(self) -> int:
        """The length of axis 0; 1 for a scalar."""
        return self.shape[0] if self.shape else 1

    @property
    def row_bytes(self) -> int:
        """The bytes of an entry of axis 0."""
        return prod(self.shape[1:]) * np.dtype(DTYPES[self.dtype]).itemsize

    @property
    def bytes(self) -> int:
        """The bytes of all entries."""
        return self.rows * self.row_bytes


def parse_tensor(o: Any) -> Tensor:
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


def header_version(kind: str, tensors: Sequence[Tensor]) -> int:
    """The version in the header of a stream, also of one in blocks: 2 for weights and curves with
    tensors of 16 bits, else 1."""
    return 2 if kind in NETWORKS and any(t.dtype in NARROW for t in tensors) else 1


def parse_header(o: Any) -> tuple[str, dict[str, Any], list[Tensor]]:
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
    version = header_version(kind, tensors)
    need(
        o["mcz"] == version,
        "format version must be {} for these tensors (got {})".format(version, o["mcz"]),
    )
    return kind, meta, tensors


def check_history(o: Any) -> None:
    """Raises Error unless an object is a history."""
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


def parse_part(t: Tensor, row: int, ext: bytes) -> tuple[NDArray[Any], bytes, int]:
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


def is_id(o: object) -> bool:
    """True for the text of a content id."""
    return isinstance(o, str) and len(o) == 32 and all(c in "0123456789abcdef" for c in o)
