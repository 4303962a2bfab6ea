# SPDX-License-Identifier: Apache-2.0
"""The bytes of a stream (formats/README.md): one zstd frame, and the MessagePack objects in it, one at a time. An
object is walked before it is unpacked, so that no memory is taken for what it only announces."""
import msgpack
import zstandard

from .errors import Error, need

WINDOW_MAX = 8 << 20  # bytes
KEYS_MAX = 1024
MAGIC = b"\x28\xb5\x2f\xfd"


# ---- the frame -------------------------------------------------------------------------------------------------------

class Frame:
    """The decoded bytes of an input that is exactly one zstd frame with a checksum. `have` begins with the current
    object; more(n) makes n bytes of it available."""

    def __init__(self, f):
        self.f, self.have, self.read = f, bytearray(), 0
        self.pieces = self._pieces(self._head())

    def _take(self, n):
        data = self.f.read(n)
        self.read += len(data)
        return data

    def _head(self):
        data = self._take(6)
        while 0 < len(data) < 6:
            more = self._take(6 - len(data))
            if not more:
                break
            data += more
        need(data, "is empty, not an mcz stream")
        need(MAGIC.startswith(data[:4]), "is not an mcz stream")
        need(len(data) == 6, "is truncated")
        need(data[4] & 0x04, "its zstd frame has no checksum")
        need(not data[4] & 0x1b, "its zstd frame has a dictionary or reserved bits")
        return data

    def _pieces(self, data):
        d = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX).decompressobj()
        while data:
            try:
                piece = d.decompress(data)
            except zstandard.ZstdError as e:
                why = str(e)
                raise Error("its zstd window is over 8 MiB" if "too much memory" in why else
                            "the frame's checksum is wrong" if "checksum" in why else "damaged: " + why) from None
            for i in range(0, len(piece), 1 << 20):
                yield piece[i:i + (1 << 20)]
            if d.eof:
                need(not d.unused_data and not self._take(1), "bytes after the end of the stream")
                return
            data = self._take(2048)  # each may become 64 MiB
        raise Error("truncated")

    def more(self, n):
        while len(self.have) < n:
            piece = next(self.pieces, None)
            need(piece is not None, "ends before its end record")
            self.have += piece

    def finish(self):
        need(not self.have, "bytes after the end record")
        for piece in self.pieces:
            need(not piece, "bytes after the end record")


class Whole:
    """Bytes that are all at hand."""

    def __init__(self, data):
        self.have = data

    def more(self, n):
        need(len(self.have) >= n, "an object ends too early")


# ---- objects ---------------------------------------------------------------------------------------------------------

# What begins with the bytes c0 to df: (form, bytes that follow or that hold the length)
FORMS = ([("value", 0), (None, 0), ("value", 0), ("value", 0)] + [("bin", n) for n in (1, 2, 4)] +
         [("ext", n) for n in (1, 2, 4)] + [("value", n) for n in (4, 8, 1, 2, 4, 8, 1, 2, 4, 8)] +
         [("fixext", n) for n in (1, 2, 4, 8, 16)] + [("str", n) for n in (1, 2, 4)] +
         [("array", n) for n in (2, 4)] + [("map", n) for n in (2, 4)])


class Walk:
    """One pass over an object. limits: its most bytes, objects and depth, and whether ext type 1 may occur in it."""

    def __init__(self, source, limits):
        self.source, self.at, self.objects = source, 0, 0
        self.max_bytes, self.max_objects, self.max_depth, self.ext_allowed = limits

    def need(self, n):
        need(self.at + n <= self.max_bytes, "an object is over its limit of %d bytes" % self.max_bytes)
        if self.at + n > len(self.source.have):
            self.source.more(self.at + n)

    def take(self, n):
        self.need(n)
        self.at += n
        return self.source.have[self.at - n:self.at]

    def skip(self, n):
        self.need(n)
        self.at += n

    def announce(self, n):
        self.objects += n
        need(self.objects <= self.max_objects, "more than %d objects in one" % self.max_objects)

    def text(self, n):
        try:
            s = bytes(self.take(n)).decode()
        except UnicodeDecodeError:
            s = "\0"
        need("\0" not in s, "a string is not UTF-8 text without NUL")
        return s

    def ext(self, n):
        code = self.take(1)[0]
        need(self.ext_allowed and code == 1, "an ext object of type %d is out of place" % ((code ^ 128) - 128))
        self.skip(n)

    def object(self, depth=0):
        """Walks one; a string is returned."""
        c = self.take(1)[0]
        if c <= 0x7f or c >= 0xe0:
            return None
        if c <= 0xbf:
            form, n = ("map", c & 15) if c <= 0x8f else ("array", c & 15) if c <= 0x9f else ("str", c & 31)
        else:
            form, n = FORMS[c - 0xc0]
            need(form, "byte 0xc1 is not MessagePack")
            if form not in ("value", "fixext"):
                n = int.from_bytes(self.take(n), "big")
        if form == "str":
            return self.text(n)
        if form == "array":
            self.announce(n)
            need(depth < self.max_depth, "nested deeper than %d" % self.max_depth)
            for _ in range(n):
                self.object(depth + 1)
        elif form == "map":
            need(n <= KEYS_MAX, "more than %d keys in a map" % KEYS_MAX)
            self.announce(2 * n)
            need(depth < self.max_depth, "nested deeper than %d" % self.max_depth)
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


def walk(source, limits):
    """The bytes that the next object of a Frame or a Whole takes. Error where it is over its limits (those of Walk) or
    is not what the format allows; nothing of it is unpacked."""
    w = Walk(source, limits)
    w.announce(1)
    w.object()
    return w.at


def unpack(raw):
    """The object that these bytes are; they have been walked."""
    try:
        return msgpack.unpackb(raw, raw=False, strict_map_key=True, use_list=True)
    except (ValueError, msgpack.UnpackException):
        raise Error("cannot be unpacked") from None


def next_object(frame, limits):
    """(object, its packed bytes), which the frame then no longer has."""
    n = walk(frame, limits)
    raw = bytes(frame.have[:n])
    del frame.have[:n]
    return unpack(raw), raw
