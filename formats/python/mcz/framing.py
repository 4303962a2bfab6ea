# SPDX-License-Identifier: Apache-2.0
"""The bytes of a stream (formats/README.md): one zstd frame that holds MessagePack objects.

Each object is walked before it is unpacked. A damaged length can therefore not allocate memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgpack
import numpy as np
import zstandard

from .errors import Error, need

WINDOW_MAX = 8 << 20  # bytes
KEYS_MAX = 1024
MAGIC = b"\x28\xb5\x2f\xfd"
BLOCKS = b"\x81\xa3mcz\x03"  # the object {"mcz": 3}, after which the frame holds blocks
BLOCK_MAX = 1 << 20  # bytes
BLOCK_VALUES, OBJECTS = 131072, 64 << 10  # values and bytes in a written block

Limits = tuple[int, int, int, bool]  # of an object: bytes, objects, depth; ext type 1 allowed


# ---- the frame -----------------------------------------------------------------------------------


class Frame:
    """Decodes an input that must be exactly one zstd frame with a checksum. `buffer` starts with
    the current object; more(n) fills it to n bytes. bytes_read counts the input's bytes. `rest` are
    bytes of the frame before the next block, if the frame holds blocks."""

    def __init__(self, f: BinaryIO) -> None:
        self.f, self.buffer, self.bytes_read = f, bytearray(), 0
        self.frame, self.rest = self._pieces(self._head()), bytearray()
        self.pieces = self._objects()

    def _read(self, n: int) -> bytes:
        data = self.f.read(n)
        self.bytes_read += len(data)
        return data

    def _head(self) -> bytes:
        data = self._read(6)
        while 0 < len(data) < 6:
            more = self._read(6 - len(data))
            if not more:
                break
            data += more
        need(data, "is empty, not an mcz stream")
        need(MAGIC.startswith(data[:4]), "is not an mcz stream")
        need(len(data) == 6, "is truncated")
        need(data[4] & 0x04, "its zstd frame has no checksum")
        need(not data[4] & 0x1B, "its zstd frame has a dictionary or reserved bits")
        return data

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        d = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX).decompressobj()
        while data:
            try:
                piece = d.decompress(data)
            except zstandard.ZstdError as e:
                reason = str(e)
                raise Error(
                    "its zstd window is over 8 MiB"
                    if "too much memory" in reason
                    else "the frame's checksum is wrong"
                    if "checksum" in reason
                    else "damaged: " + reason
                ) from None
            for i in range(0, len(piece), 1 << 20):
                yield piece[i : i + (1 << 20)]
            if d.eof:
                need(not d.unused_data and not self._read(1), "bytes after the end of the stream")
                return
            data = self._read(2048)  # decodes to at most 64 MiB
        raise Error("truncated")

    def _fill(self, n: int) -> bool:
        """Fills `rest` to n bytes. False at the frame's end."""
        while len(self.rest) < n:
            piece = next(self.frame, None)
            if piece is None:
                return False
            self.rest += piece
        return True

    def _take(self, n: int) -> bytes:
        need(self._fill(n), "ends before its end record")
        taken = bytes(self.rest[:n])
        del self.rest[:n]
        return taken

    def _objects(self) -> Iterator[bytes]:
        """Yields the bytes of the objects, of blocks or of the frame itself."""
        self._fill(len(BLOCKS))
        if not self.rest.startswith(BLOCKS):
            yield self._take(len(self.rest))
            yield from self.frame
            return
        self._take(len(BLOCKS))
        while self._fill(1):
            head = self._take(5)
            width, n = head[0], int.from_bytes(head[1:], "little")
            need(
                width in (1, 2, 4, 8) and 0 < n <= BLOCK_MAX and not n % width,
                f"a block of {n} bytes of width {width} is not valid",
            )
            yield np.frombuffer(self._take(n), "u1").reshape(width, -1).T.tobytes()

    def more(self, n: int) -> None:
        """Fills the buffer to n bytes."""
        while len(self.buffer) < n:
            piece = next(self.pieces, None)
            if piece is None:
                raise Error("ends before its end record")
            self.buffer += piece

    def finish(self) -> None:
        """Raises Error unless the stream ends here."""
        need(not self.buffer and not self.rest, "bytes after the end record")
        for piece in self.frame:
            need(not piece, "bytes after the end record")


def blocks(parts: Iterable[tuple[bytes, int]]) -> Iterator[bytes]:
    """Yields the bytes of a frame with blocks. parts: pairs of bytes and the width of their values,
    1 for objects."""
    yield BLOCKS
    objects = bytearray()

    def block(width: int, raw: bytes | bytearray) -> bytes:
        planes: bytes = np.frombuffer(raw, "u1").reshape(-1, width).T.tobytes()
        return bytes([width]) + len(raw).to_bytes(4, "little") + planes

    for raw, width in parts:
        if width == 1:
            objects += raw
        if objects and (width > 1 or len(objects) >= OBJECTS):
            yield from (block(1, objects[i : i + OBJECTS]) for i in range(0, len(objects), OBJECTS))
            objects.clear()
        if width > 1:
            step = BLOCK_VALUES * width
            yield from (block(width, raw[i : i + step]) for i in range(0, len(raw), step))
    if objects:
        yield from (block(1, objects[i : i + OBJECTS]) for i in range(0, len(objects), OBJECTS))


class Memory:
    """Bytes in memory, with Frame's interface."""

    def __init__(self, data: bytes) -> None:
        self.buffer = data

    def more(self, n: int) -> None:
        """Raises Error unless there are n bytes."""
        need(len(self.buffer) >= n, "an object ends too early")


# ---- objects -------------------------------------------------------------------------------------

# The objects that start with bytes c0 to df: (form, number of bytes of the value or of its length)
FORMS: list[tuple[str | None, int]] = (
    [("value", 0), (None, 0), ("value", 0), ("value", 0)]
    + [("bin", n) for n in (1, 2, 4)]
    + [("ext", n) for n in (1, 2, 4)]
    + [("value", n) for n in (4, 8, 1, 2, 4, 8, 1, 2, 4, 8)]
    + [("fixext", n) for n in (1, 2, 4, 8, 16)]
    + [("str", n) for n in (1, 2, 4)]
    + [("array", n) for n in (2, 4)]
    + [("map", n) for n in (2, 4)]
)


class Walk:
    """One pass over an object."""

    def __init__(self, source: Frame | Memory, limits: Limits) -> None:
        self.source, self.at, self.objects = source, 0, 0
        self.max_bytes, self.max_objects, self.max_depth, self.ext_allowed = limits

    def need(self, n: int) -> None:
        """Makes the next n bytes available."""
        need(
            self.at + n <= self.max_bytes, f"an object is over its limit of {self.max_bytes} bytes"
        )
        if self.at + n > len(self.source.buffer):
            self.source.more(self.at + n)

    def read(self, n: int) -> bytes:
        """The next n bytes."""
        self.need(n)
        self.at += n
        return bytes(self.source.buffer[self.at - n : self.at])

    def skip(self, n: int) -> None:
        """Skips n bytes."""
        self.need(n)
        self.at += n

    def add_objects(self, n: int) -> None:
        """Counts n more objects."""
        self.objects += n
        need(self.objects <= self.max_objects, f"more than {self.max_objects} objects in one")

    def text(self, n: int) -> str:
        """A string of n bytes."""
        try:
            s = bytes(self.read(n)).decode()
        except UnicodeDecodeError:
            s = "\0"
        need("\0" not in s, "a string is not UTF-8 text without NUL")
        return s

    def ext(self, n: int) -> None:
        """Skips an ext object of n bytes, if it is allowed."""
        code = self.read(1)[0]
        need(
            self.ext_allowed and code == 1,
            f"an ext object of type {(code ^ 128) - 128} is out of place",
        )
        self.skip(n)

    def object(self, depth: int = 0) -> str | None:
        """Walks one object. Returns a string's text, else None."""
        form: str | None
        c = self.read(1)[0]
        if c <= 0x7F or c >= 0xE0:
            return None
        if c <= 0xBF:
            form, n = (
                ("map", c & 15)
                if c <= 0x8F
                else ("array", c & 15)
                if c <= 0x9F
                else ("str", c & 31)
            )
        else:
            form, n = FORMS[c - 0xC0]
            need(form, "byte 0xc1 is not MessagePack")
            if form not in ("value", "fixext"):
                n = int.from_bytes(self.read(n), "big")
        if form == "str":
            return self.text(n)
        if form == "array":
            self.add_objects(n)
            need(depth < self.max_depth, f"nested deeper than {self.max_depth}")
            for _ in range(n):
                self.object(depth + 1)
        elif form == "map":
            need(n <= KEYS_MAX, f"more than {KEYS_MAX} keys in a map")
            self.add_objects(2 * n)
            need(depth < self.max_depth, f"nested deeper than {self.max_depth}")
            keys = set()
            for _ in range(n):
                key = self.object(depth + 1)
                need(isinstance(key, str), "a map's key is not a string")
                keys.add(key)
                self.object(depth + 1)
            need(len(keys) == n, "a map has the same key twice")
        elif form in ("ext", "fixext"):
            self.ext(n)
        else:
            self.skip(n)
        return None


def walk(source: Frame | Memory, limits: Limits) -> int:
    """The size in bytes of the next object of a Frame or Memory, without unpacking it. Error if it
    exceeds the limits (see Walk) or breaks a rule of the format."""
    w = Walk(source, limits)
    w.add_objects(1)
    w.object()
    return w.at


def unpack(raw: bytes) -> Any:
    """The object in these bytes, which must have been walked."""
    try:
        return msgpack.unpackb(raw, raw=False, strict_map_key=True, use_list=True)
    except (ValueError, msgpack.UnpackException):
        raise Error("cannot be unpacked") from None


def next_object(frame: Frame, limits: Limits) -> tuple[Any, bytes]:
    """Removes the next object from the frame. Returns (object, packed bytes)."""
    n = walk(frame, limits)
    raw = bytes(frame.buffer[:n])
    del frame.buffer[:n]
    return unpack(raw), raw
