#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""group_rows.py SEED COUNT: compare mc-convert --groups and mc-permute with mcz.groups on changed group files

Each file has the rows of a grouped convolution, of grouped-query attention or of heads, and most have a few changes. Both must
accept or refuse it, nest its groups in the same way, and move the same values. Exit status 1 with the file if they differ."""
import random
import subprocess
import sys

import numpy as np

import independent_reader
import mcz.safetensors
from mcz import Error, groups

SHAPES = {"w": (12, 6), "v": (12,), "o": (3, 24), "s": (12,)}


def grouped(parts, inputs):
    """A convolution in blocks, whose outputs are s and v, and whose inputs are columns of o."""
    n, m = 12 // parts, 6 * parts
    yield from (("w", 0, 0, parts, n, "x"), ("v", 0, 0, parts, n, "x"))
    if m <= 24 and inputs:
        yield "o", 1, 0, parts, 6, "x"
    for j in range(parts):
        yield from (("w", 0, n * j, n, 1, "b%d" % j), ("v", 0, n * j, n, 1, "b%d" % j))
        if inputs:
            yield "w", 1, 6 * j, 6, 1, "a%d" % j, parts
        if m <= 24 and inputs:
            yield "o", 1, 6 * j, 6, 1, "a%d" % j


def attention(kv, rep):
    """Keys s, values v and columns of o."""
    hd, wide = 12 // kv, 24 // kv
    hd = hd if wide % rep == 0 and wide // rep == hd else wide // rep
    if hd * kv <= 12:
        yield from (("v", 0, 0, kv, hd, "kv"), ("s", 0, 0, kv, hd, "kv"))
    yield "o", 1, 0, kv, wide, "kv"
    for j in range(kv):
        yield "o", 1, wide * j, rep, hd, "q%d" % j
        yield from (("o", 1, wide * j + hd * r, hd, 1, "v%d" % j) for r in range(rep))
        if hd * kv <= 12:
            yield "v", 0, hd * j, hd, 1, "v%d" % j


def changed(draw, rows):
    rows = [groups.Row(*r) for r in rows]
    for _ in range(draw.choice((0, 1, 1, 2))):
        i = draw.randrange(len(rows))
        how, r = draw.randrange(7), rows[i]
        if how == 5:  # drop an axis
            rows = [o for o in rows if o[:2] != r[:2]] or rows
        elif how == 6:  # drop the groups of all units in one place
            rows = [o for o in rows if o.group[0] != r.group[0]] or rows
        elif how == 0 and len(rows) > 1:
            del rows[i]
        elif how == 1:
            rows.insert(draw.randrange(len(rows)), r._replace(group=draw.choice([r.group, "new", rows[-1].group])))
        elif how == 2:
            rows[i] = r._replace(group=draw.choice(rows).group)
        else:
            field = draw.choice(("offset", "count", "block", "parts", "axis"))
            rows[i] = r._replace(**{field: max(0, draw.choice((getattr(r, field) + draw.choice((-1, 1, 2, 3)), 2, 6, 1)))})
            if rows[i].axis != 1 or rows[i].parts < 1:  # a file has no other parts
                rows[i] = rows[i]._replace(parts=1)
    if draw.random() < .2:
        draw.shuffle(rows)
    return rows


def moved(name, rows, permutation, values):
    """The values of a tensor after a permutation."""
    x = values[name]
    for axis in (1, 0):  # parts of axis 0 move last
        here = [r for r in rows if (r.tensor, r.axis) == (name, axis)]
        if here:
            parts = here[0].parts
            split = x.reshape(parts, x.shape[0] // parts, -1) if axis else x.reshape(1, x.shape[0], -1)
            index = groups.gather(parts * x.shape[axis], here, permutation).reshape(parts, -1) % x.shape[axis]
            x = np.stack([np.take(p, i, axis) for p, i in zip(split, index)]).reshape(x.shape)
    return x


def run(*command):
    done = subprocess.run(command, capture_output=True)
    if done.returncode not in (0, 3):
        raise SystemExit("%s: %s" % (command, done.stderr))
    return done.returncode == 0, done.stderr


def main(seed, count):
    draw, accepted, nested = random.Random(seed), 0, 0
    values = {k: np.arange(np.prod(s), dtype="f4").reshape(s) + 1 for k, s in SHAPES.items()}
    mcz.safetensors.write("net.safetensors", values)
    for i in range(count):
        kind = draw.randrange(3)
        rows = list(grouped(draw.choice((2, 3, 4, 6)), draw.random() < .8)) if kind else list(
            attention(draw.choice((2, 3, 4)), draw.choice((2, 3))))
        rows = changed(draw, rows)
        try:
            groups.rows(rows, SHAPES)
            inside = groups.nesting(rows, SHAPES)
            independent_reader.units_alike(rows, SHAPES)
            fine = True
        except Error as e:
            fine, inside = False, str(e)
        groups.write("rows.tsv", rows)
        ok, message = run("mc-convert", "-q", "net.safetensors", "--groups", "rows.tsv", "-o", "a.mcz")
        if ok != fine:
            raise SystemExit("%smc-convert: %s, mcz.groups: %s" % (groups.text(rows), message or "accepted", inside))
        if not fine:
            continue
        accepted, nested = accepted + 1, nested + bool(inside)
        run("mc-permute", "-q", "--random", str(i), "--perm-out", "p.mcz", "a.mcz", "-o", "b.mcz")
        p, b = mcz.read("p.mcz"), mcz.read("b.mcz").tensors
        of = p.meta["groups"]
        found = {g["name"]: (of[g["within"]]["name"], g["unit"]) for g in of if "within" in g}
        if found != inside:
            raise SystemExit("%smc-permute nests %s, mcz.groups %s" % (groups.text(rows), found, inside))
        for name in values:
            if not np.array_equal(moved(name, rows, p.tensors, values), b[name]):
                raise SystemExit("%s%s: moved differently" % (groups.text(rows), name))
    print("%d of %d files accepted, %d with nested groups" % (accepted, count, nested))
    if min(accepted, nested, count - accepted) < count // 8:
        raise SystemExit("too few files of one kind")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
