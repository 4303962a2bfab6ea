#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mutated_streams.py SEED COUNT FILE...: compare mc-info --check with independent_reader.py on changed streams

Most changed streams have correct framing, checksums and content ids, so that the change reaches the checks of the kind.
Every eighth has a changed bit of the file. Exit status 1 if the readers disagree on a stream, which is then kept in the
current folder, or refuse a FILE."""
import copy
import os
import random
import subprocess
import sys

import msgpack
import xxhash
import zstandard
import numpy as np
from mcz import Error, header, stream

import independent_reader

NUMBERS = [0, 1, 2, 3, 5, 64, 65, 255, 256, 8192, 8193, 65535, 65536, 65537, (1 << 22) + 1, 1 << 24, (1 << 24) + 1,
           1 << 31, 1 << 32, 1 << 40, 1 << 56, (1 << 63) - 1, (1 << 64) - 1, -1, -3, -(1 << 63), .5, -0.0, 1.0, 1e-7, -1e-300,
           1e300, float("nan"), float("inf"), -float("inf")]
TEXTS = ["", "x", "post", "pre", "l2", "correlation", "bezier", "chain", "mc-eval", "mc-pam", "f16", "f32", "2", "7", "-1", "é",
         "a b", "\n", "\x7f"] + ["x" * n for n in (31, 32, 63, 64, 95, 96, 119, 120, 199, 200)]
OTHERS = [None, True, False, [], {}, b"x", [0], [[]], {"a": 1}]
KEYS = ["version", "total", "batch", "attack", "seed", "precision", "within", "unit", "value", "bound", "gap", "ties", "groups",
        "graph", "symmetry", "net", "turn", "scale", "contrast", "saturation", "class_names", "points", "delta", "weight_init", "x"]
DTYPES = list(stream.DTYPES)
# The groups of a curve's permutation follow from its graph, by an algorithm (libcommon/graph/symmetry.h) that the reader does
# not implement.
EXCEPTION = "the permutation is for another network"


class Stream:
    """The parts of a stream: header, history, records as [tensor, first row, shape, dtype, bytes], inputs."""

    def __init__(self, path):
        with open(path, "rb") as f:
            head, past, *records, end = [msgpack.unpackb(raw) for raw in stream.objects(f)]
        self.head, self.past, self.inputs, self.records = head, past, end["inputs"], []
        for r in records:
            shape, dtype, body = msgpack.unpackb(r["data"].data)
            self.records.append([r["t"], r["row"], shape, dtype, bytearray(body)])

    def packed(self):
        head = msgpack.packb(self.head)
        records = [msgpack.packb({"t": t, "row": row, "data": msgpack.ExtType(1, msgpack.packb([shape, dtype, bytes(body)])),
                                  "xxh": xxhash.xxh3_64_intdigest(bytes(body))}) for t, row, shape, dtype, body in self.records]
        id_ = xxhash.xxh3_128_hexdigest(head + b"".join(records))
        end = msgpack.packb({"end": len(records), "id": id_, "inputs": self.inputs})
        z = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=False).compressobj()
        return z.compress(head + msgpack.packb(self.past) + b"".join(records) + end) + z.flush()


def places(o, found):
    """Yields (container, key) of every element of nested maps and lists."""
    for key in list(o) if isinstance(o, dict) else range(len(o)):
        found.append((o, key))
        if isinstance(o[key], (dict, list)):
            places(o[key], found)
    return found


def changed_value(rng, old, all_values):
    """A random replacement for a value."""
    if isinstance(old, (int, float)) and not isinstance(old, bool) and rng.random() < .4:
        return rng.choice([old + 1, old - 1, -old, float(old), old * 2])
    if isinstance(old, str) and old and rng.random() < .3:
        i = rng.randrange(len(old))
        return rng.choice([old[:i] + old[i + 1:], old[:i] + rng.choice("019\t\n. a") + old[i:], old + old[-1], old[:i]])
    return copy.deepcopy(rng.choice(rng.choice([NUMBERS, TEXTS, OTHERS, all_values])))


def change_map(rng, s):
    """Changes a key, a value or an item in the header's meta or tensors."""
    whole = {"meta": s.head["meta"], "tensors": s.head["tensors"]}
    found = places(whole, [])
    values = [c[k] for c, k in found]
    c, k = rng.choice(found[:1] if rng.random() < .02 else found)
    how = rng.random()
    if how < .6 or c is whole:
        c[k] = changed_value(rng, c[k], values)
    elif how < .72:
        del c[k]
    elif isinstance(c, list):
        other = rng.randrange(len(c))
        if how < .86:
            c[k], c[other] = c[other], c[k]
        else:
            c.insert(other, copy.deepcopy(c[k]))
    elif how < .86:
        c[rng.choice(KEYS)] = changed_value(rng, "", values)
    else:
        c[rng.choice(KEYS)] = c.pop(k)
    s.head["meta"], s.head["tensors"] = whole["meta"], whole["tensors"]


def change_number(rng, s):
    """Sets an element of a tensor, or changes a byte of it."""
    r = rng.choice(s.records)
    size = {"uint8": 1, "float16": 2, "bfloat16": 2, "float64": 8, "int64": 8}.get(r[3], 4)
    body, at = r[4], rng.randrange(len(r[4]) // size) * size
    if rng.random() < .3:
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
    elif rng.random() < .3:
        other = rng.randrange(len(body) // size) * size
        body[at:at + size] = body[other:other + size]
    elif r[3] in header.NARROW:
        body[at:at + size] = rng.choice([b"\0\0", b"\0\x80", b"\x80\x7f", b"\x80\xff", b"\0\x7c", b"\1\x7e", b"\xff\x7b"])
    else:
        form = {"float32": "<f4", "float64": "<f8"}.get(r[3])
        v = rng.choice([0, 1, -1, 2, 1.5, float("nan"), float("inf")]) if form else rng.choice([0, 1, 2, 3, 255])
        body[at:at + size] = np.array(v, form).tobytes() if form else int(v).to_bytes(size, "little")


def change_records(rng, s):
    """Moves, drops, splits or repeats a record; or changes a tensor's dtype or name everywhere."""
    rs, i = s.records, rng.randrange(len(s.records))
    t, row, shape, dtype, body = rs[i]
    how = rng.randrange(6)
    if how == 0:
        rs.insert(rng.randrange(len(rs)), rs.pop(i))
    elif how == 1:
        del rs[i]
    elif how == 2 and shape and shape[0] > 1:
        first, step = rng.randrange(1, shape[0]), len(body) // shape[0]
        rs[i:i + 1] = [[t, row, [first] + shape[1:], dtype, body[:first * step]],
                       [t, row + first, [shape[0] - first] + shape[1:], dtype, body[first * step:]]]
        if rng.random() < .5:
            rs.insert(rng.randrange(len(rs)), rs.pop(i + rng.randrange(2)))
    elif how == 3:
        rs.insert(rng.randrange(len(rs)), rs[i])
    elif how == 4:
        new = rng.choice(DTYPES)
        s.head["tensors"][t][1] = new
        s.head["mcz"] = rng.choice([1, 2])
        for r in rs:
            if r[0] == t:
                r[3] = new
    else:
        s.head["tensors"][t][0] = changed_value(rng, s.head["tensors"][t][0], TEXTS)


def change_name(rng, s):
    """Changes a text of the header everywhere, including inside other texts; or only at the ends of texts outside the
    graph."""
    names = sorted({c[k] for c, k in places(s.head["meta"], []) if isinstance(c[k], str) and len(c[k]) > 1})
    old = rng.choice(names)
    new = changed_value(rng, old, TEXTS)
    graph = s.head["meta"].get("graph") if rng.random() < .3 else None

    def renamed(o):
        if isinstance(o, str):
            return o.replace(old, new) if not graph else o[:-len(old)] + new if o.endswith(old) else o
        if isinstance(o, dict):
            return {renamed(k): renamed(v) for k, v in o.items()}
        return [renamed(v) for v in o] if isinstance(o, list) else o
    s.head["meta"], s.head["tensors"] = renamed(s.head["meta"]), renamed(s.head["tensors"])
    if graph:
        s.head["meta"]["graph"] = graph


def mutated(rng, path):
    """The bytes of a changed stream."""
    if rng.random() < .125:
        with open(path, "rb") as f:
            raw = bytearray(f.read())
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        return bytes(raw)
    while True:
        s = Stream(path)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            change = rng.choice([change_map] * 5 + [change_number] * 2 + [change_records] * 2 + [change_name])
            if s.records or change in (change_map, change_name):
                try:
                    change(rng, s)
                except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
                    break  # not applicable after an earlier change
        try:
            return s.packed()
        except (ValueError, OverflowError, TypeError):
            continue  # MessagePack cannot represent the number


def verdicts_of_c(names):
    """{name: (True if accepted, the line about it)}"""
    found = {}
    for i in range(0, len(names), 500):
        p = subprocess.run(["mc-info", "--check", *names[i:i + 500]], stdin=subprocess.DEVNULL, capture_output=True)
        assert p.returncode in (0, 3), (p.returncode, p.stderr[-300:])
        found.update((line.split(":")[0], (True, line)) for line in p.stdout.decode().splitlines())
        found.update((line.split(": ")[1], (False, line)) for line in p.stderr.decode(errors="replace").splitlines())
    assert sorted(found) == sorted(names), set(names) ^ set(found)
    return found


def verdict_of_reader(name):
    try:
        s = independent_reader.read(name)
    except Error as e:
        return False, str(e)
    return True, "%s: ok, kind %s, id %s, " % (name, s.kind, s.id)


def main(seed, count, paths):
    rng, wrong, accepted, excepted = random.Random(seed), 0, 0, 0
    names = ["%d-%s" % (i, os.path.basename(paths[i % len(paths)])) for i in range(len(paths) + count)]
    for i, name in enumerate(names):
        with open(paths[i % len(paths)], "rb") as f:
            raw = f.read() if i < len(paths) else mutated(rng, f.name)
        with open(name, "wb") as f:
            f.write(raw)
    c = verdicts_of_c(names)
    for i, name in enumerate(names):
        (ok, line), (mine, own) = c[name], verdict_of_reader(name)
        if ok == mine and (mine or i >= len(paths)) and (not mine or line.startswith(own)):
            accepted += mine
        elif mine and not ok and EXCEPTION in line and "good-curve" in name and i >= len(paths):
            excepted += 1
        else:
            wrong += 1
            print("%s; the reader: %s" % (line, own))
            continue
        os.remove(name)
    print("%d changed streams of %d: both accept %d; %d exceptions; %d wrong" % (
        count, len(paths), accepted - len(paths), excepted, wrong))
    return 1 if wrong or accepted - len(paths) < count // 10 else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
