# SPDX-License-Identifier: Apache-2.0
"""Read and write safetensors files, without the safetensors package
(formats/exchange/convert.md)."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import Error, inside, need
from .files import Path, replacing
from .keys import is_whole

__all__ = ["read", "write"]

WRITTEN = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
}
INDEX = ".safetensors.index.json"
HEADER_MAX, DIMS_MAX, SIZE_MAX = 100 * 10**6, 8, 1 << 48


def write(
    path: Path, tensors: Mapping[str, ArrayLike], dtypes: Mapping[str, str] | None = None
) -> None:
    """Writes {name: array} with unchanged values.

        s = mcz.read("a.mcz")
        mcz.safetensors.write("a.safetensors", s.tensors, s.dtypes)

    path     the file. After an exception it is unchanged.
    tensors  {name: array} of float16, float32 or float64, as mc-convert requires, or of uint16 that
             is bfloat16.
    dtypes   {name: "bfloat16"} for arrays of uint16.

    Raises mcz.Error with the name of the first other array.
    """
    header, end, arrays = {}, 0, []
    for name, a in tensors.items():
        a = np.asarray(a)
        marked = (dtypes or {}).get(name) == "bfloat16" and a.dtype.name == "uint16"
        need(
            marked or a.dtype.name in WRITTEN,
            '"{}" is {}, not floating point ({}): leave it out, or convert it'.format(
                name, a.dtype, ", ".join(WRITTEN)
            ),
        )
        dtype = WRITTEN["bfloat16" if marked else a.dtype.name]
        header[name] = {
            "dtype": dtype,
            "shape": list(a.shape),
            "data_offsets": [end, end + a.nbytes],
        }
        end += a.nbytes
        arrays.append(a.astype(TYPES[dtype], order="C", copy=False))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for a in arrays:
            f.write(a.tobytes())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The dictionary of a JSON object. Error if a key occurs twice."""
    found = {}
    for key, value in pairs:
        need(key not in found, f"{json.dumps(key)} occurs twice in its header")
        found[key] = value
    return found


def _header(raw: bytes) -> tuple[dict[str, Any], int]:
    """(header, its size in bytes)"""
    size = int.from_bytes(raw[:8], "little")
    need(8 + size <= len(raw) and size <= HEADER_MAX, "not a safetensors file, or truncated")
    try:
        head = json.loads(raw[8 : 8 + size].decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as e:
        raise Error(f"its header is not JSON: {e}") from None
    need(isinstance(head, dict), "its header is not a JSON object")
    return head, size


def _check(t: Any) -> None:
    """Raises Error if an entry of the header is not a tensor that NumPy can hold."""
    need(
        isinstance(t, dict) and set(t) == {"dtype", "shape", "data_offsets"},
        "dtype, shape and data_offsets expected",
    )
    need(
        isinstance(t["dtype"], str) and t["dtype"] in TYPES,
        "unsupported dtype {} (one of: {})".format(t["dtype"], ", ".join(TYPES)),
    )
    for key, limit in ("shape", DIMS_MAX), ("data_offsets", 2):
        need(
            isinstance(t[key], list) and len(t[key]) <= limit and all(is_whole(k) for k in t[key]),
            f"its {key} is not a list of at most {limit} integers",
        )
    need(prod(k or 1 for k in t["shape"]) <= SIZE_MAX, "its shape is too large")
    size = prod(t["shape"]) * np.dtype(TYPES[t["dtype"]]).itemsize
    need(
        len(t["data_offsets"]) == 2 and t["data_offsets"][1] - t["data_offsets"][0] == size,
        f"its data_offsets must be {size} bytes apart, for its shape",
    )


def _array(t: dict[str, Any], data: bytes) -> NDArray[Any]:
    start, end = t["data_offsets"]
    a: NDArray[Any] = np.frombuffer(data[start:end], TYPES[t["dtype"]]).reshape(t["shape"])
    return (a.astype("<u4") << 16).view("<f4") if t["dtype"] == "BF16" else a


def _read_file(path: str) -> dict[str, NDArray[Any]]:
    with open(path, "rb") as f:
        raw = f.read()
    with inside(path):
        head, size = _header(raw)
        head.pop("__metadata__", None)
        data, at = raw[8 + size :], 0
        for name, t in head.items():
            with inside(json.dumps(name)):
                _check(t)
        for name, t in sorted(head.items(), key=lambda e: e[1]["data_offsets"]):
            need(
                t["data_offsets"][0] == at,
                "{} starts at byte {} of the data, not at {}".format(
                    json.dumps(name), t["data_offsets"][0], at
                ),
            )
            at = t["data_offsets"][1]
        need(at == len(data), f"its header describes {at} bytes of data, got {len(data)}")
        return {name: _array(t, data) for name, t in head.items()}


def _in_folder(folder: str) -> str:
    """The path of a folder's only index or, if it has none, of its only file."""
    names = [n for n in sorted(os.listdir(folder)) if not n.startswith(".")]
    found = [n for n in names if n.endswith(INDEX)]
    kind = "indexes" if found else "safetensors files and no index"
    found = found or [n for n in names if n.endswith(".safetensors")]
    need(found, f"{folder}: a folder without safetensors files")
    need(
        len(found) == 1,
        "{}: a folder with {} {} (name one: {}{})".format(
            folder, len(found), kind, ", ".join(found[:2]), ", ..." if len(found) > 2 else ""
        ),
    )
    return os.path.join(folder, found[0])


def _weight_map(path: str) -> dict[str, str]:
    """{tensor: shard} of an index."""
    with open(path, "rb") as f, inside("not an index of shards"):
        try:
            index = json.loads(f.read().decode(), object_pairs_hook=_once)
        except (ValueError, RecursionError) as e:
            raise Error(f"not JSON: {e}") from None
    found = index.get("weight_map") if isinstance(index, dict) else None
    if not found or not isinstance(found, dict):
        raise Error('a "weight_map" that names each tensor\'s shard is required')
    for name, shard in found.items():
        need(
            isinstance(shard, str)
            and len(shard) > len(".safetensors")
            and shard.endswith(".safetensors")
            and "/" not in shard
            and "\0" not in shard,
            'tensor "{}": its shard must be a *.safetensors file in the index\'s folder{}'.format(
                name, f' (got "{shard}")' if isinstance(shard, str) else ""
            ),
        )
    return found


def _read_shards(path: str) -> dict[str, NDArray[Any]]:
    found: dict[str, tuple[str, NDArray[Any]]] = {}
    with inside(path):
        places = _weight_map(path)
    for shard in sorted(set(places.values())):
        file = os.path.join(os.path.dirname(path), shard)
        need(os.path.exists(file), f"cannot open '{file}': No such file or directory")
        need(os.path.isfile(file), f"{file}: not a regular file")
        tensors = _read_file(file)
        with inside(path):
            for name in tensors:
                need(name not in found, f'holds "{name}" more than once')
                need(name in places, f'"{name}" of {shard} is not in the index')
        found.update((name, (shard, a)) for name, a in tensors.items())
    with inside(path):
        for name, shard in places.items():
            need(name in found, f'"{name}" is missing in {shard}')
            need(
                found[name][0] == shard, f'"{name}" must be in {shard} (found in {found[name][0]})'
            )
    return {name: a for name, (_, a) in found.items()}


def is_safetensors(path: str) -> bool:
    """True for the names that read() accepts: a file, an index of shards, a folder."""
    return path.endswith((".safetensors", INDEX)) or os.path.isdir(path)


def read(path: Path) -> dict[str, NDArray[Any]]:
    """{name: array} of a file, of sharded files or of a folder, with bfloat16 as float32, which
    holds each value.

        mcz.safetensors.read("a.safetensors")["fc.weight"].shape       # or an index.json

    path  a file; an index, with its shards in the same folder; a folder that contains one index or,
          without an index, one file.

    Raises mcz.Error if a file is damaged, or if shards and index differ; OSError if a file cannot
    be read.
    """
    path = os.fspath(path)
    path = _in_folder(path) if os.path.isdir(path) else path
    return (_read_shards if path.endswith(INDEX) else _read_file)(path)
