# SPDX-License-Identifier: Apache-2.0
"""A second reader of every kind of stream, written from formats/codecs/*.md, to compare with the C reader. The package mcz
reads the bytes. Messages are those of the C reader. read(path) does the checks of mc-info --check."""
import math
import re
from contextlib import nullcontext
from math import prod
from types import SimpleNamespace

import numpy as np
from mcz import graph, groups, stream
from mcz.errors import inside, need
from mcz.keys import array, count, get, is_number, is_whole, mapping, text

GROUPS_MAX, UNITS_MAX, SHARDS_MAX, POINTS_MAX, SIDE_MAX = 65536, 1 << 24, 65536, 64, 8192
MATRIX_UNITS_MAX = 1 << 22  # of a group, including the units of the groups within it
IMAGES_MAX = 1 << 40
NODES_MAX, VECTOR_MAX = 4096, 1 << 31


# ---- keys ------------------------------------------------------------------------------------------------------------

def number(m, key):
    return get(m, key, "a finite number", lambda v: is_number(v) and math.isfinite(v))


def single(m, key):
    return graph.single(number(m, key))


def flag(m, key):
    return get(m, key, "true or false", lambda v: isinstance(v, bool))


# ---- tensors ---------------------------------------------------------------------------------------------------------

FLOATS = "float32", "float16", "bfloat16"  # of parameters


def expect(announced, wanted):
    """Exactly these (name, dtype, shape), in this order."""
    need(len(announced) == len(wanted), "%d tensor%s expected, got %d" %
         (len(wanted), "" if len(wanted) == 1 else "s", len(announced)))
    for i, (t, (name, dtype, shape)) in enumerate(zip(announced, wanted)):
        need(t.name == name, "tensor %d must be \"%s\" (got \"%s\")" % (i, name, t.name))
        need((t.dtype, t.shape) == (dtype, list(shape)), "tensor \"%s\" must be %s (%s) (got %s (%s))" %
             (name, dtype, ",".join(map(str, shape)), t.dtype, ",".join(map(str, t.shape))))


def finite(a, name):
    need(np.isfinite(a).all(), "\"%s\" holds a value that is not finite" % name)


def in_order(announced, order):
    last = 0
    for index, _, _ in order:
        need(index >= last, "tensor \"%s\" is out of order" % announced[index].name)
        last = index


PAIRS = "rotation", "half-turn"
MAPS = "signed", *PAIRS, "orthogonal", "centred"  # what acts on units, if not a permutation


def groups_of(meta, most=UNITS_MAX, key="allows"):
    """[(name, size)]. key: that of a group which is, or allows, more than a permutation; None if it has no meaning."""
    found = []
    need(len(array(meta, "groups")) <= GROUPS_MAX, "more than %d groups" % GROUPS_MAX)
    for i, g in enumerate(meta["groups"]):
        name, size = text(g, "name", 119), count(g, "size", most)
        need(name and size, "group %d has no name or no units" % i)
        found.append((name, size))
        need(key not in g or g[key] in MAPS, "group %s: \"%s\" must be one of %s" % (name, key, ", ".join(MAPS)))
        need(g.get(key) not in PAIRS or size % 2 == 0, "group \"%s\": %s requires an even number of units (got %d)" % (
            name, g.get(key), size))
    for up, _ in nesting(meta, found).values():
        need(key not in meta["groups"][up], "group \"%s\" contains groups and has \"%s\"" % (found[up][0], key))
    return found


def assigned(meta):
    """Checks the results of an assignment in groups: all keys or none."""
    for g in meta["groups"]:
        if {"value", "bound", "gap", "ties"} & set(g):
            for key in "value", "bound", "gap":
                number(g, key)
            need(count(g, "ties", UNITS_MAX) <= g["size"], "group %s: \"ties\" must be at most %d (got %d)" % (
                g["name"], g["size"], g["ties"]))


def nesting(meta, groups):
    """{group: (outer group, unit)}. All units of a group must contain equal groups."""
    around, inside, kinds, depth, n = {}, {}, {}, [0] * len(groups), len(groups)
    for i, g in enumerate(meta["groups"]):
        if "within" in g or "unit" in g:
            around[i] = count(g, "within", n - 1), count(g, "unit", UNITS_MAX)
            inside.setdefault(around[i][0], {}).setdefault(around[i][1], []).append(i)
    for i, (up, unit) in around.items():
        at = i
        while at in around and depth[i] <= n:
            at, depth[i] = around[at][0], depth[i] + 1
        need(depth[i] <= n and unit < groups[up][1],
             "group \"%s\": invalid nesting (the units of a group must contain equal groups)" % groups[i][0])
    for up, units in inside.items():
        need(sum(map(len, units.values())) % groups[up][1] == 0,
             "the units of group \"%s\" contain different groups" % groups[up][0])
    kind = {}
    for i in sorted(range(n) if around else (), key=lambda i: -depth[i]):
        units = [tuple(kind[c] for c in u) for u in inside.get(i, {}).values()]
        for u, k in zip(inside.get(i, {}).values(), units):
            need(k == units[0] and len(units) == groups[i][1],
                 "group \"%s\": invalid nesting (the units of a group must contain equal groups)" % groups[u[0]][0])
        kind[i] = kinds.setdefault((groups[i][1], units[0] if units else ()), len(kinds))
    return around


def shown(meta, groups):
    """The number of units of each group in taps and matrices. Among equal groups in the units of another, the first has the
    units of all of them, and the others and the outer group have none."""
    around, units = nesting(meta, groups), [size for _, size in groups]
    for i, (up, unit) in around.items():
        need(up not in around, "group %s: nested more than one level deep" % groups[i][0])
        units[i], units[up] = 0 if unit else groups[i][1] * groups[up][1], 0
    return units


def check_map(m, name, kind):
    with np.errstate(all="ignore"):
        good = np.abs(m.astype("f8") @ m.T - np.eye(len(m))).max() <= 1e-4
        good = good and (kind != "signed" or set(np.unique(np.abs(m))) == {0, 1})
        if good and kind == "rotation":
            blocks = m.reshape(2, len(m) // 2, 2, -1).transpose(1, 3, 0, 2)
            pairs = np.eye(len(blocks), dtype=bool)
            good = not blocks[~pairs].any() and (np.linalg.det(blocks[pairs]) > 0).all()
        if kind == "half-turn":
            signs = np.diag(m)
            good = good and (m == np.diag(np.tile(np.sign(signs[:len(m) // 2]), 2))).all()
        good = good and (kind != "centred" or np.abs(m.sum(1, dtype="f8") - 1).max() <= 1e-4)
    need(good, "group \"%s\": the matrix is not %s" % (name, kind))


def check_permutation(p, name):
    need(np.array_equal(np.sort(p), np.arange(len(p))), "group \"%s\": not every number from 0 to %d once" %
         (name, len(p) - 1))


# ---- the graph --------------------------------------------------------------------------------------------------------

INPUT = graph.Setting({"key": "input", "type": "int", "list": "image", "min": 1, "max": SIDE_MAX,
                       "values": "[channels, height, width], each an integer from 1 to 8192"})
CLASSES = graph.Setting({"key": "classes", "type": "int", "min": 2, "max": 1 << 20,
                         "values": "an integer from 2 to 1048576"})


class Graph:
    """A graph from its map in a stream or graph file. `parameters` and `statistics` are lists of (name, shape) in the order
    of a weights stream; `logits` is a node. Error names the invalid node."""

    def __init__(self, m):
        with inside("graph"):
            need(isinstance(m, dict), "not a map")
            for key in m:
                need(key in ("net", "input", "classes", "nodes"), "unknown key \"%s\"" % key)
            if "net" in m:
                text(m, "net", 63)
            for setting in INPUT, CLASSES:
                setting.check(get(m, setting.key), 0)
            self.image, self.classes, self.nodes = m["input"], m["classes"], []
            self.parameters, self.statistics = [], []
            need(self.image[0] <= 4, "an image must have 1 to 4 channels (got %d)" % self.image[0])
            need(array(m, "nodes"), "no nodes")
            need(len(m["nodes"]) <= NODES_MAX, "a graph has at most %d nodes" % NODES_MAX)
            self.by_name = {}
            for i, o in enumerate(m["nodes"]):
                need(isinstance(o, dict), "node %d: not a map" % i)
                with inside("node \"%s\"" % o.get("name", i)):
                    self._node(i, o)
            self._heads()
            for some in self.parameters, self.statistics:
                total = sum((-(-prod(s) // 16)) * 16 for _, s in some)
                need(total <= VECTOR_MAX, "more parameters than %d" % VECTOR_MAX)

    def _node(self, i, o):
        graph.check_node(o, self.image[0])
        name, op, ins = o["name"], o["op"], []
        need(name not in self.by_name, "two nodes are named \"%s\"" % name)
        for k, v in enumerate(array(o, "in")):
            need(isinstance(v, str), "input %d is not a node's name" % k)
            need(v in self.by_name, "input \"%s\" is not an earlier node" % v)
            need(self.by_name[v].op != "loss", "input must be an earlier node with an output")
            ins.append(self.by_name[v])
        least, most = graph.OPS[op]["inputs"]
        need(least <= len(ins) <= most and (op == "normalise") == (i == 0), "got %d inputs (%s requires %s)" %
             (len(ins), op, graph.OPS[op]["in"]))
        n = graph.Node(op, name, ins, {k: v for k, v in o.items() if k not in ("op", "name", "in")})
        n.shape = graph.shape(n, self.image)
        parameters, statistics = graph.tensors(n)
        self.parameters += parameters
        self.statistics += statistics
        self.nodes.append(n)
        self.by_name[name] = n

    def _heads(self):
        losses = [n for n in self.nodes if n.op == "loss"]
        for n in losses:
            need(n.shape[0] == self.classes, "node \"%s\": %dx%dx%d logits for %d classes" %
                 (n.name, *n.shape, self.classes))
        mains = [n for n in losses if not n["train_only"]]
        need(len(mains) == 1, "exactly one loss head must have \"train_only\" false (got %d)" % len(mains))
        self.logits = mains[0].ins[0]
        leads = set(losses)
        for n in reversed(self.nodes):
            need(n in leads, "node \"%s\": does not lead to a loss" % n.name)
            leads.update(n.ins)


# ---- the kinds: functions of meta and the declared tensors, which return the check of values and records -----------

def dataset(meta, announced):
    for key, most in ("name", 63), ("split", 15), ("order", 63):
        text(meta, key, most)
    classes = count(meta, "classes", 65536)
    a = mapping(meta, "augment")
    rotate, _, _ = single(a, "rotate"), flag(a, "flip"), count(a, "pad", SIDE_MAX)
    more = {k: single(a, k) if k in a else 0 for k in ("turn", "scale", "contrast", "saturation")}
    by_name = {t.name: t for t in announced}
    images = by_name.get("images")
    need(len(announced) == 2 and images and len(images.shape) == 4,
         "tensors \"images\" (N,C,H,W) and \"labels\" (N) expected")
    n, c, h, w = images.shape
    need(max(c, h, w) <= SIDE_MAX, "an image side must be at most %d (got %d)" % (SIDE_MAX, max(c, h, w)))
    need(1 <= c <= 4, "an image must have 1 to 4 channels (got %d)" % c)
    for key in "mean", "std":
        need(len(array(meta, key)) == c, "\"%s\" must have %d entries (got %d)" % (key, c, len(meta[key])))
        need(all(is_number(v) for v in meta[key]), "\"%s\" holds a value that is not a number" % key)
    if "class_names" in meta:
        names = array(meta, "class_names")
        need(len(names) == classes, "%d class names expected, got %d" % (classes, len(names)))
        for i, v in enumerate(names):
            need(isinstance(v, str), "class name %d is not a string" % i)
            need(len(v.encode()) <= 256, "class name %d has %d bytes (at most 256)" % (i, len(v.encode())))
    need(meta["name"] and meta["split"], "the data set has no name or no split")
    need(images.dtype in ("uint8", "float32"), "pixels must be uint8 or float32 (got %s)" % images.dtype)
    need(1 <= n < 1 << 31, "a data set must have 1 to %d images (got %d)" % ((1 << 31) - 1, n))
    need(h and w and images.row_bytes <= 16 << 20, "image size %d x %d is out of range" % (h, w))
    need(classes, "a data set must have 1 to 65536 classes (got 0)")
    for mean, std in zip(meta["mean"], meta["std"]):
        need(-1e3 <= mean <= 1e3 and 1e-6 <= std <= 1e6, "mean %g and std %g are not a valid normalisation" % (mean, std))
    need(0 <= rotate <= 180, "rotate %g or pad %d is out of range" % (rotate, a["pad"]))
    need(0 <= more["turn"] <= 180 and 0 <= more["scale"] <= graph.single(.9),
         "turn %g or scale %g is out "
         "of range" % (more["turn"], more["scale"]))
    need(0 <= more["contrast"] <= 1 and 0 <= more["saturation"] <= 1, "contrast %g or saturation %g is out "
         "of range" % (more["contrast"], more["saturation"]))
    need(c in (1, 3) or not (more["contrast"] or more["saturation"]), "contrast and saturation require 1 or 3 channels (got %d)" % c)
    expect([t for t in announced if t is not images], [("labels", "int32", [n])])

    def values(arrays, order):
        pending = 0  # images without labels so far; below 0: labels without images
        for index, _, rows in order:
            if announced[index] is images:
                need(pending <= 0, "images precede their labels")
                pending += rows
            else:
                pending -= rows
            need(-pending <= 1 << 24, "more than %d labels precede their images" % (1 << 24))
        labels, pixels = arrays["labels"], arrays["images"]
        wrong = np.flatnonzero((labels < 0) | (labels >= classes))
        need(not len(wrong), "image %d has label %d of %d classes" %
             ((wrong[0], labels[wrong[0]], classes) if len(wrong) else (0, 0, 0)))
        for i in range(len(pixels) if images.dtype == "float32" else 0):
            need((pixels[i] >= 0).all() and (pixels[i] <= 1).all(),
                 "image %d has a pixel outside [0, 1]" % i)
    return values


def declared(meta, announced, prefix):
    """[(name, shape)] of the tensors of a network that is described by rows of groups, {group: units}, and {group: (outer
    group, unit)}."""
    rows = text(meta, "symmetry", 2 << 20)
    of = [(t.name[len(prefix):], t.shape) for t in announced if t.name.startswith(prefix)]
    need(all(t.dtype in FLOATS for t in announced if t.name.startswith(prefix)) and
         all(len(name.encode()) <= 95 for name, _ in of), "tensor must be a float, with a name of at most 95 bytes")
    with inside("symmetry"):
        lines = [line.split("\t") for line in rows.split("\n")]
        need(lines.pop() == [""] and lines and lines[0] in map(list, (groups.FIELDS[:6], groups.FIELDS[:8], groups.FIELDS)),
             "rows of groups expected")
        for w in lines[1:]:
            axis = w[1].split("/") if len(w) == len(lines[0]) else []
            need(axis and (len(axis) == 1 or axis[0] == "1" and axis[1] != "1" and len(axis) == 2) and all(
                 v.isascii() and v.isdecimal() and str(int(v)) == v and int(v) < 1 << 63 for v in axis + w[2:5]) and
                 0 < len(w[5]) <= 119 and all("!" <= c <= "~" for c in w[5]), "a row has other words")
            need(w[6:8] in ([], ["-", "-"]) or w[7].isascii() and w[7].isdecimal() and str(int(w[7])) == w[7] and
                 int(w[7]) < 1 << 63, "\"unit\" must be a number")
            need(set(w[8:]) <= {"permutation", *MAPS}, "\"allows\" must be permutation or %s" % ", ".join(MAPS))
        need(len(set(map(tuple, lines))) == len(lines), "a row comes twice")
        allows = {}
        for w in lines[1:]:
            allows.setdefault(w[5], set()).update(w[8:])
        need(all(len(s) < 2 or s == {"permutation", "signed"} for s in allows.values()) and all(
            (len(allows[w[5]]) < 2 or w[6] == "-") and allows.get(w[6], set()) <= {"permutation"} and
            (w[8] not in PAIRS or int(w[3]) % 2 == 0) for w in lines[1:] if w[8:]), "\"allows\" does not fit its group")
        rows = [groups.parse(w) for w in lines[1:]]
        found, sizes = groups.rows(rows, dict(of))
        need(found == rows, "\"within\" and \"unit\" differ from the rows")
        return of, sizes, groups.nesting(found, dict(of))


def flat(meta, announced, prefixes, statistics, perm):
    """Checks vectors of a network with a graph or rows of groups, whose names have these prefixes, then a permutation of
    its groups."""
    text(meta, "net", 63), text(meta, "dataset", 63)
    need(not ("symmetry" in meta and "graph" in meta), "has both a \"graph\" and a \"symmetry\"")
    if "symmetry" in meta:
        of, sizes, around = declared(meta, announced, prefixes[0])
        if perm is not None:
            here = {perm[i][0]: (perm[up][0], unit) for i, (up, unit) in nesting(meta, perm).items()}
            need(perm == list(sizes.items()) and here == around, "the permutation is for another network")
    else:
        g = Graph(mapping(meta, "graph"))
        of = g.parameters + (g.statistics if statistics else [])
    dtypes = {t.name: t.dtype for t in announced if t.dtype in FLOATS}
    tensors = [(p + name, dtypes.get(p + name, "float32"), shape) for p in prefixes for name, shape in of]
    expect(announced, tensors + [("permutation/" + name, "int32", [size]) for name, size in perm or []])

    def values(arrays, order):
        in_order(announced, order)
        for name, dtype, _ in tensors:
            a = arrays[name] if dtype != "bfloat16" else (arrays[name].astype("<u4") << 16).view("<f4")
            finite(a, name.partition("/")[2] if not statistics else name)
            need(not name.endswith(".running_var") or (a >= 0).all(),
                 "\"%s\" holds a variance below 0" % name)
        for name, _ in perm or []:
            check_permutation(arrays["permutation/" + name], name)
    return values


def weights(meta, announced):
    return flat(meta, announced, [""], True, None)


def curve(meta, announced):
    kind, points = text(meta, "curve", 15), count(meta, "points", POINTS_MAX)
    need(kind in ("bezier", "chain"), "unknown curve \"%s\" (one of: bezier, chain)" % kind)
    need(points >= 2, "a curve must have at least 2 points (got %d)" % points)
    perm = groups_of(meta, key=None) if "groups" in meta else None
    if perm:
        assigned(meta)
    return flat(meta, announced, ["%d/" % i for i in range(points)], False, perm)


def members_of(meta):
    """The number of members of a joint set; 0: a single permutation."""
    if not {"version", "members"} & set(meta) or "members" not in meta and is_whole(meta["version"]) and meta["version"] == 3:
        return 0
    version = count(meta, "version", (1 << 32) - 1)
    need(version == 2, "permutation version %d (this program reads 1, 2 with \"members\" and 3 without)" % version)
    ids = array(meta, "members")
    need(2 <= len(ids) <= 1024, "\"members\" must list 2 to 1024 networks (got %d)" % len(ids))
    for i, m in enumerate(ids):
        need(isinstance(m, str) and re.fullmatch("[0-9a-f]{32}", m, re.ASCII),
             "\"members\": entry %d is not a content id" % i)
        need(m not in ids[:i], "\"members\" lists %s twice" % m)
    return len(ids)


def permutation(meta, announced):
    members = members_of(meta)
    groups = groups_of(meta, key="map" if "version" in meta and not members else None)
    maps = [g.get("map") if "version" in meta and not members else None for g in meta["groups"]]
    assigned(meta)
    prefixes = ["%d/" % (i + 1) for i in range(members)] or [""]
    names = [p + name for p in prefixes for name, _ in groups]
    expect(announced, list(zip(names, ["float32" if m else "int32" for m in maps] * len(prefixes),
                               [[size] * (2 if m else 1) for (_, size), m in zip(groups, maps)] * len(prefixes))))

    def values(arrays, order):
        in_order(announced, order)
        for i, p in enumerate(prefixes):
            with inside("member %d" % (i + 1)) if members else nullcontext():
                for (name, _), m in zip(groups, maps):
                    check_map(arrays[name], name, m) if m else check_permutation(arrays[p + name], name)
    return values


RANGES = {"correlation": (-1, 1), "l2": (-math.inf, 0)}


def matrices(meta, announced):
    low, high = RANGES.get(text(meta, "measure", 31), (-math.inf, math.inf))
    need(text(meta, "at", 7) in ("post", "pre"), "\"at\" must be post or pre (got \"%s\")" % meta["at"])
    groups = groups_of(meta, MATRIX_UNITS_MAX)
    units = shown(meta, groups)
    for (name, _), size, g in zip(groups, units, meta["groups"]):
        count(g, "taps", (1 << 32) - 1)
        need(size <= MATRIX_UNITS_MAX, "group %s: too many units (%d)" % (name, size))
        for key in "dead_a", "dead_b":
            dead = array(g, key)
            need(len(dead) <= size, "\"%s\" must list at most %d units (got %d)" % (key, size, len(dead)))
            need(all(is_whole(v) for v in dead) and dead == sorted(set(dead)) and (not dead or dead[-1] < size),
                 "\"%s\" is not an ascending list of units" % key)
    expect(announced, [(name, "float64", [size, size]) for (name, _), size in zip(groups, units) if size])

    def values(arrays, order):
        in_order(announced, order)
        for g in meta["groups"]:
            if g["name"] not in arrays:
                continue
            a = arrays[g["name"]]
            finite(a, g["name"])
            need((a >= low).all() and (a <= high).all(), "\"%s\" holds a value that is not %s's" % (g["name"], meta["measure"]))
            need(meta["measure"] != "l2" or not (g["dead_a"] or g["dead_b"]), "\"%s\" lists dead units, which l2 does not "
                 "have" % g["name"])
            need(not a[g["dead_a"]].any() and not a[:, g["dead_b"]].any(), "\"%s\": a dead unit has values" % g["name"])
    return values


def taps_of(meta):
    """([(name, size)] of the groups, [tap])"""
    at = text(meta, "at", 4)
    array(meta, "groups"), array(meta, "taps")
    need(at in ("post", "pre"), "\"at\" must be post or pre (got \"%s\")" % at)
    groups, taps = groups_of(meta), meta["taps"]
    assigned(meta)
    need(len(taps) <= GROUPS_MAX, "more than %d groups or taps" % GROUPS_MAX)
    units, seen = shown(meta, groups), [[] for _ in groups]
    for i, t in enumerate(taps):
        text(t, "name", 95), count(t, "group", GROUPS_MAX), count(t, "samples", 1 << 56)
        start, n = count(t, "start", UNITS_MAX), count(t, "count", UNITS_MAX)
        need(t["name"] and n, "tap %d has no name or no units" % i)
        need(t["group"] < len(groups) and start + n <= units[t["group"]],
             "tap %s: not within a group" % t["name"])
        seen[t["group"]].append((start, start + n))
    for (name, _), size, spans in zip(groups, units, seen):
        upto = 0
        for start, end in sorted(spans):
            upto = max(upto, end) if start <= upto else upto
        need(upto == size, "group %s: no tap observes unit %d" % (name, upto))
    return groups, taps


PARTS = "sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross"


def cut(meta, images, shards, counted):
    """Checks how the data are split into shards, and that `images` is the number in the counted shards."""
    version, total = count(meta, "version", (1 << 32) - 1), count(meta, "total", IMAGES_MAX)
    batch = count(meta, "batch", IMAGES_MAX) if shards > 1 else total
    need(version == 2, "moments of version %d (this program reads 2)" % version)
    need(total and batch, "\"total\" and \"batch\" must be at least 1")
    batches = -(-total // batch)
    here = sum(min((s + 1) * batches // shards * batch, total) - min(s * batches // shards * batch, total) for s in counted)
    need(images == here, "\"images\" must be %d for these shards of %d (got %d)" % (here, total, images))


def conditions(meta):
    """Checks how the activations were computed."""
    if "attack" in meta or "seed" in meta:
        need("attack" in meta and text(meta, "attack", 119), "has a \"seed\" without an \"attack\"")
        count(meta, "seed")
    if "precision" in meta:
        need(text(meta, "precision", 119) in ("tf32", "bf16", "f16"),
             "\"precision\" must be tf32, bf16 or f16 (got \"%s\")" % meta["precision"])


def moments(meta, announced):
    _, taps = taps_of(meta)
    images, shards = count(meta, "images", IMAGES_MAX), count(meta, "shards", SHARDS_MAX)
    counted = array(meta, "counted")
    need(1 <= len(counted) <= shards, "\"counted\" lists %d of %d shards" % (len(counted), shards))
    need(all(is_whole(v) for v in counted) and counted == sorted(set(counted)) and counted[-1] < shards,
         "\"counted\" is not an ascending list of shards")
    conditions(meta)
    cut(meta, images, shards, counted)
    need(len(announced) == len(PARTS) * len(taps), "%d tensors expected, got %d" %
         (len(PARTS) * len(taps), len(announced)))
    for t in taps:
        n = t["samples"]
        need(n and n % images == 0 if images else n == 0,
             "\"%s\" must have a multiple of %d samples (got %d)" % (t["name"], images, n))
    expect(announced, [("%d/%s/%s" % (i, t["name"], p), "float64", [t["count"]] * (2 if p == "cross" else 1))
                       for i, t in enumerate(taps) for p in PARTS])

    def values(arrays, order):
        in_order(announced, order)
        for k, t in enumerate(announced):
            name = taps[k // len(PARTS)]["name"]
            finite(arrays[t.name], name)
            need(not t.name.endswith(("/sumsq_a", "/sumsq_b")) or (arrays[t.name] >= 0).all(),
                 "\"%s\" holds a negative sum of squares" % name)
    return values


def activations(meta, announced):
    _, taps = taps_of(meta)
    images, batch = count(meta, "images", IMAGES_MAX), count(meta, "batch", 1 << 24)
    need(images and batch, "has no images or no batches")
    conditions(meta)
    need(len(announced) == len(taps), "%d tensors expected, got %d" % (len(taps), len(announced)))
    for i, (t, tap) in enumerate(zip(announced, taps)):
        need(len(t.shape) == 4 and all(1 <= k <= SIDE_MAX for k in t.shape[2:]),
             "tensor \"%s\" is not (images, K, H, W)" % t.name)
        h, w = t.shape[2:]
        expect([t], [("%d/%s" % (i, tap["name"]), "float32", [images, tap["count"], h, w])])
        need(tap["samples"] == images * h * w, "\"%s\" has %d samples, not those of %d images of %d pixels" %
             (tap["name"], tap["samples"], images, h * w))

    def values(arrays, order):
        tap = first = done = 0
        for index, _, rows in order:
            left = min(batch, images - first) - done
            need(index == tap and rows <= left, "tensor \"%s\" expected, got \"%s\"" %
                 (announced[tap].name, announced[index].name))
            done += rows
            if rows == left:
                tap, done = tap + 1, 0
            if tap == len(taps):
                tap, first = 0, first + batch
        for t, tap in zip(announced, taps):
            finite(arrays[t.name], tap["name"])
    return values


def losses(meta, announced):
    points, data = count(meta, "points", 1 << 20), array(meta, "data")
    need(1 <= len(data) <= 16, "1 to 16 data sets expected, got %d" % len(data))
    for d in data:
        text(d, "name", 79), text(d, "id", 32), count(d, "images", 1 << 22)
    need(points >= 2, "a path must have at least 2 points (got %d)" % points)
    need(all(d["name"] and d["images"] for d in data), "a data set has no name or no images")
    names = [d["name"] for d in data]
    for name in names:
        need(names.count(name) == 1, "two data sets are named \"%s\"" % name)
    expect(announced, [("t", "float64", [points]), ("chord", "float64", [points - 1])] +
           [(d["name"] + what, dtype, [points, d["images"]]) for d in data
            for what, dtype in (("/loss", "float32"), ("/correct", "uint8"))])

    def values(arrays, order):
        in_order(announced, order)
        t, chord = arrays["t"], arrays["chord"]
        need(t[0] == 0 and t[-1] == 1 and (np.diff(t) > 0).all(), "\"t\" does not ascend from 0 to 1")
        need(np.isfinite(chord).all() and (chord >= 0).all(), "\"chord\" holds a value that is not a distance")
        for name in names:
            finite(arrays[name + "/loss"], name)
            most = arrays[name + "/correct"].max()
            need(most <= 1, "\"%s/correct\" must hold 0 or 1 (got %d)" % (name, most))
    return values


def checkpoint(meta, announced):
    version = count(meta, "version", (1 << 32) - 1)
    need(version == 2, "checkpoint version %d (this program reads 2)" % version)
    return state(meta, announced)


def state(meta, announced):
    tool, settings = text(meta, "tool", 63), mapping(meta, "settings")
    for key, v in settings.items():
        need(isinstance(v, str) and len(v.encode()) <= 199, "setting \"%s\" is not a string of at most 199 bytes" % key)
    epoch, evaluation = count(meta, "epoch", (1 << 32) - 1), tool == "mc-eval"
    for t in announced:
        need(t.dtype == "float32" and len(t.shape) == 1, "tensor \"%s\" is not float32 (n)" % t.name)
    if evaluation:
        points = text(settings, "points", 9)
        need(points.isascii() and (points.isdecimal() or not points), "setting \"points\" is not a number of points")
        points = int(points or 0)
        need(epoch <= points, "\"epoch\" is %d of %d points" % (epoch, points))
        for t in announced:
            need(t.rows == points * (20 if "attack" in settings else 10), "tensor \"%s\" has %d numbers, which do not fit %d points" % (
                t.name, t.rows, points))

    def values(arrays, order):
        in_order(announced, order)
        for name, a in arrays.items():
            if not (evaluation or tool == "mc-pam" and name == "report"):
                finite(a, name)
    return values


KINDS = {f.__name__: f for f in (dataset, weights, curve, permutation, matrices, moments, activations, losses,
                                 checkpoint, state)}


def read(path):
    """Reads a stream and checks the rules of its kind. A stream of another kind may contain anything."""
    with inside(path), open(path, "rb") as f:
        r = stream.Reader(f)
        check = KINDS[r.kind](r.meta, r.tensors) if r.kind in KINDS else lambda arrays, order: None
        parts, order = [[] for _ in r.tensors], []
        for index, row, a in r.records():
            parts[index].append(a)
            order.append((index, row, len(a) if a.shape else 1))
        check({t.name: np.concatenate(p).reshape(t.shape) if p and t.shape else p[0] if p else
               np.zeros(t.shape, stream.DTYPES[t.dtype]) for t, p in zip(r.tensors, parts)}, order)
    return SimpleNamespace(kind=r.kind, meta=r.meta, id=r.id)
