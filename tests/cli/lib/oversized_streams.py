# SPDX-License-Identifier: Apache-2.0
"""Run programs on short streams whose header announces, consistently, more than any memory; used by
streams/header-announced-sizes-allocate-nothing.sh."""
import os
import subprocess

import msgpack
import numpy as np
import xxhash
from stream_tools import LIMIT, ended, frame, run, sample, under

good = {k: sample(k) for k in ("dataset", "weights")}
subprocess.run(["mc-train", "-q", "--net", "mlp:3", "--data", good["dataset"], "--no-augment", "--threads", "1",
                "--epochs", "0", "-o", "plain.mcz"], check=True)
BYTES = {"float32": 4, "float64": 8, "int32": 4, "uint8": 1}


def linear(units):
    """A graph of one hidden layer, and its parameters."""
    both = {"bias": True, "weight_init": "zero", "bias_init": "zero"}
    graph = {"input": [1, 2, 2], "classes": 2, "nodes": [
        {"op": "normalise", "name": "n", "in": [], "mean": [0.5], "std": [0.5]},
        {"op": "flatten", "name": "f", "in": ["n"]},
        {"op": "linear", "name": "a", "in": ["f"], "out": units, **both},
        {"op": "relu", "name": "r", "in": ["a"], "delta": 0},
        {"op": "linear", "name": "b", "in": ["r"], "out": 2, **both},
        {"op": "loss", "name": "l", "in": ["b"], "weight": 1, "train_only": False}]}
    return graph, [["a.weight", "float32", [units, 4]], ["a.bias", "float32", [units]],
                   ["b.weight", "float32", [2, units]], ["b.bias", "float32", [2]]]


UNITS = 1 << 22
graph, params = linear(UNITS)
net = {"net": "mine", "dataset": "d", "graph": graph}
groups = [{"name": "g%d" % i, "size": 1 << 24} for i in range(256)]
big = 1 << 22
taps = {"at": "post", "groups": [{"name": "g", "size": big}],
        "taps": [{"name": "r", "group": 0, "start": 0, "count": big, "samples": 1 << 40}]}
N = (1 << 31) - 1
CASES = [
    ("dataset", {"name": "d", "split": "train", "order": "o", "classes": 2, "mean": [0.5], "std": [0.25],
                 "augment": {"rotate": 0, "flip": False, "pad": 0}},
     [["images", "uint8", [N, 1, 2, 2]], ["labels", "int32", [N]]],
     [["mc-train", "-q", "--net", "mlp:3", "--epochs", "1", "--data", "{}", "-o", "out.mcz"],
      ["mc-acts", "--data", "{}", good["weights"], good["weights"], "-o", "out.mcz"],
      ["mc-pgd", "--data", "{}", good["weights"], "-o", "out.mcz"]]),
    ("weights", net, params,
     [["mc-permute", "--random", "1", "{}", "-o", "out.mcz"],
      ["mc-eval", "--data", good["dataset"], "{}", "-o", "out.mcz"]]),
    ("curve", {**net, "curve": "bezier", "points": 64},
     [["%d/%s" % (i, t[0])] + t[1:] for i in range(64) for t in params],
     [["mc-bezier", "--point", "0.5", "{}", "-o", "out.mcz"]]),
    ("permutation", {"groups": groups}, [[g["name"], "int32", [g["size"]]] for g in groups],
     [["mc-permute", "{}", good["weights"], "-o", "out.mcz"]]),
    ("permutation", {"version": 2, "members": ["%032x" % i for i in range(4)], "groups": groups[:64]},
     [["%d/%s" % (i + 1, g["name"]), "int32", [g["size"]]] for i in range(4) for g in groups[:64]],
     [["mc-permute", "--member", "2", "{}", "-o", "out.mcz"]]),
    # members and groups that the header does not announce
    ("permutation", {"version": 2, "members": ["%032x" % i for i in range(1024)],
                     "groups": [{"name": "g%d" % i, "size": 1 << 24} for i in range(10000)]},
     [["1/g0", "int32", [1 << 24]]], [["mc-permute", "--member", "2", "{}", "-o", "out.mcz"]]),
    ("losses", {"points": 1 << 20, "data": [{"name": "d", "id": "", "images": 1 << 22}]},
     [["t", "float64", [1 << 20]], ["chord", "float64", [(1 << 20) - 1]], ["d/loss", "float32", [1 << 20, 1 << 22]],
      ["d/correct", "uint8", [1 << 20, 1 << 22]]], [["mc-bootstrap", "{}", "-o", "out.mcz"]]),
    ("matrices", {"measure": "m", "at": "post", "groups": [
        {"name": "g", "size": big, "taps": 1, "dead_a": [], "dead_b": []}]},
     [["g", "float64", [big, big]]], [["mc-hungarian", "{}", "-o", "out.mcz"]]),
    ("moments", {**taps, "images": 1 << 20, "shards": 1, "counted": [0]},
     [["0/r/%s" % p, "float64", [big] * d] for p, d in
      (("sum_a", 1), ("sum_b", 1), ("sumsq_a", 1), ("sumsq_b", 1), ("cross", 2))],
     [["mc-corr", "{}", "-o", "out.mcz"], ["mc-bound", "plain.mcz", "plain.mcz", "{}", "-o", "out.mcz"]]),
    # products of all pairs of units: the limit, and more
    *(("activations", {**taps, "images": 2, "batch": 2,
                       "taps": [{**taps["taps"][0], "count": wide, "samples": 16}],
                       "groups": [{"name": "g", "size": wide}]},
       [["0/r", "float32", [2, wide, 4, 2]]],
       [["mc-corr", "{}", "{}", "-o", "out.mcz"]]) for wide in (1 << 16, 1 << 17)),
    ("activations", {**taps, "images": 1 << 36, "batch": 1 << 20,
                     "taps": [{**taps["taps"][0], "count": 16, "samples": 1 << 38}],
                     "groups": [{"name": "g", "size": 16}]},
     [["0/r", "float32", [1 << 36, 16, 2, 2]]],
     [["mc-corr", "{}", "{}", "-o", "out.mcz"]]),
]


def stream(kind, meta, tensors, rows):
    """A stream with the given number of rows of the first tensor, and an end record for exactly these."""
    header = msgpack.packb({"mcz": 1, "kind": kind, "meta": meta, "tensors": tensors})
    hashed = xxhash.xxh3_128(header)
    objects = [header, msgpack.packb([])]
    if rows:
        name, dtype, shape = tensors[0]
        body = bytes(rows * int(np.prod(shape[1:], dtype=int)) * BYTES[dtype])
        data = msgpack.packb([[rows] + shape[1:], dtype, body])
        objects.append(msgpack.packb({"t": 0, "row": 0, "data": msgpack.ExtType(1, data),
                                      "xxh": xxhash.xxh3_64_intdigest(body)}))
        hashed.update(objects[-1])
    objects.append(msgpack.packb({"end": len(objects) - 2, "id": hashed.hexdigest(), "inputs": []}))
    return frame(objects)


failures, runs, most = [], 0, 0
for kind, meta, tensors, programs in CASES:
    row = int(np.prod(tensors[0][2][1:], dtype=int)) * BYTES[tensors[0][1]]
    for rows in (0, 1) if row <= 1 << 20 else (0,):
        with open("bad.mcz", "wb") as f:
            f.write(stream(kind, meta, tensors, rows))
        for program in programs:
            command = [a.replace("{}", "bad.mcz") for a in program]
            status, out, errors, rss = run(command)
            runs += 1
            most = max(most, rss)
            # sizes that are checked before reading exceed memory; they are not damage
            if (status != (1 if kind == "losses" else 3) or out or errors.count("\n") != 1 or "bad.mcz: " not in errors or
                    os.path.exists("out.mcz") or rss > LIMIT and not under):
                failures.append("%s, %d rows: %s: status %d, %d KiB: %s" % (
                    kind, rows, " ".join(command), status, rss, errors))

ended(failures, runs, most, 12)
