#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""group_rows.py SEED COUNT: compare mc-convert --groups and mc-permute with mcz.groups on changed group files

Each file has the rows of a grouped convolution, of a convolution with blocks to itself, of grouped-query attention, or of a
mixture of experts. Most have a few changed rows or bytes. Both must accept or refuse it, nest its groups in the same way, and
move the same values. mcz.groups also accepts files without the columns within and unit, and finds both. Exit status 1 with the
file if they differ."""
import random
import subprocess
import sys

import numpy as np

import mcz.safetensors
from mcz import Error, groups

SHAPES = {"w": (12, 6), "v": (12,), "o": (3, 24), "s": (12,), "q": (12, 12), "empty": (12, 0), "up": (12, 8, 3), "mid": (12, 4, 4),
          "down": (12, 3, 4)}


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


def own(parts, inner):
    """A convolution whose inputs and outputs have one order: blocks, with their channels (a residual with group norm)."""
    n = 12 // parts
    for j in range(parts):
        yield "q", 1, 12 * j, parts, n, "x", parts
        yield from (("q", 1, 12 * j + n * i, n, 1, "b%d" % i, parts) for i in range(parts) if inner)
    for name in "q", "v", "s":
        yield name, 0, 0, parts, n, "x"
        yield from ((name, 0, n * i, n, 1, "b%d" % i) for i in range(parts) if inner)


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


def mixture(parts, tied):
    """Experts, and the order of the hidden units of each, or one order if it is tied."""
    yield from ((name, 0, 0, parts, 12 // parts, "x") for name in ("up", "mid", "down"))
    yield from (("up", 2, 0, 3, 1, "s"), ("down", 1, 0, 3, 1, "s"))
    for j in range(parts):
        group = "b" if tied else "b%d" % j
        yield from (("up", 1, 8 * j + i, 4, 1, group, parts) for i in (0, 4))
        yield from (("mid", axis, 4 * j, 4, 1, group, parts) for axis in (1, 2))
        yield "down", 2, 4 * j, 4, 1, group, parts


def changed(draw, rows):
    for _ in range(draw.choice((0, 1, 1, 2))):
        i = draw.randrange(len(rows))
        how, r = draw.randrange(9), rows[i]
        if how == 5:  # drop an axis
            rows = [o for o in rows if o[:2] != r[:2]] or rows
        elif how == 6:  # drop the groups of all units in one place
            rows = [o for o in rows if o.group[0] != r.group[0]] or rows
        elif how > 6:  # another unit
            rows[i] = r._replace(**draw.choice((
                {"within": ""}, {"within": draw.choice(rows).group}, {"unit": draw.randrange(4)})))
        elif how == 0 and len(rows) > 1:
            del rows[i]
        elif how == 1:
            rows.insert(draw.randrange(len(rows)), r._replace(group=draw.choice([r.group, "new", rows[-1].group])))
        elif how == 2:
            rows[i] = r._replace(group=draw.choice(rows).group)
        else:
            field = draw.choice(("offset", "count", "block", "parts", "axis"))
            rows[i] = r._replace(**{field: max(0, draw.choice((getattr(r, field) + draw.choice((-1, 1, 2, 3)), 2, 6, 1)))})
            if rows[i].axis < 1 or rows[i].parts < 1:  # a file has no other parts
                rows[i] = rows[i]._replace(parts=1)
    if draw.random() < .2:
        draw.shuffle(rows)
    return with_units(rows) if draw.random() < .6 else rows


def with_units(rows):
    """The rows with their units, or without them if the rows are wrong."""
    rows = [groups.Row(*r)._replace(within="", unit=0) for r in rows]
    try:
        return groups.rows(rows, SHAPES)[0]
    except Error:
        return rows


WORDS = ("0", "1", "2", "6", "12", "00", "01", "+1", "-1", " 1", "1 ", "", "1.0", "0x1", "1_0", "\u0661", "\u00b2", "2147483648",
         "2147483649", "4294967297", "99999999999999999999", "9" * 5000, "1/2", "1/1", "1/0", "1/02", "1/", "/2", "0/2", "2/2",
         "1/2/2", "1/4", "2/4", "02/2", "8/2", "w", "v", "net.w", "empty", "a b", "g\u00e9", "x" * 119, "x" * 120, "\x7f", "#w", "group",
         "-", "x", "b0", "permutation", "signed")
LINES = (b"", b" ", b"\t", b"\r", b"# a comment", b"# \xff", b" # x", b"\f", b"w\t0\t0\t2\t1", b"v\t0\t0\t2\t1\ty\t", b"#\0",
         b"\xef\xbb\xbf", b"tensor\taxis\toffset\tcount\tblock\tgroup", b"w\t0\t0\t2\t1\tg\t-\t-",
         b"empty\t0\t0\t2\t1\tz", b"x\xff\t0\t0\t2\t1\tz")


def mutated(draw, text):
    """The bytes of a group file, most with a change that concerns its form."""
    lines = text.encode().split(b"\n")
    if b"within" in lines[0] and draw.random() < .3:
        signs = draw.choice((0, 0, .3, .9))
        lines[:-1] = [line + (b"\tallows" if not n else b"\tsigned" if draw.random() < signs else b"\tpermutation")
                      for n, line in enumerate(lines[:-1])]
    i, how = draw.randrange(len(lines)), draw.randrange(12)
    words = lines[i].split(b"\t")
    if how < 3 and lines[i]:
        words[draw.randrange(len(words))] = draw.choice(WORDS).encode()
        lines[i] = b"\t".join(words)
    elif how < 5:
        lines.insert(i, draw.choice(LINES))
    elif how == 5:
        lines = [line + b"\r" * draw.choice((1, 1, 1, 2)) for line in lines]
    elif how == 6:
        lines.insert(draw.randrange(len(lines)), lines[i])
    elif how == 7 and len(lines) > 2:
        j = draw.randrange(1, len(lines) - 1)
        lines[1:-1] = lines[j:-1] + lines[1:j]
    elif how == 8:
        lines[i] += draw.choice((b"\t", b"\r", b" ", b"\0", b"\r\r"))
    raw = b"\n".join(lines)
    if how == 9:
        raw = raw[:draw.randrange(len(raw) + 1)]
    elif how == 10:
        at = draw.randrange(len(raw))
        raw = raw[:at] + bytes([draw.choice(b"\t\n\r #/019gwx\0\x80")]) + raw[at + draw.randrange(2):]
    return raw


def moved(name, rows, permutation, values):
    """The values of a tensor after a permutation."""
    x = values[name]
    for axis in (2, 1, 0):  # parts of axis 0 move last
        here = [r for r in rows if (r.tensor, r.axis) == (name, axis)]
        if here:
            parts = here[0].parts
            split = x.reshape(parts, x.shape[0] // parts, *x.shape[1:])
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
        kind = draw.randrange(5)
        rows = list(attention(draw.choice((2, 3, 4)), draw.choice((2, 3))) if kind == 0 else
                    own(draw.choice((2, 3, 4)), draw.random() < .8) if kind == 1 else
                    mixture(draw.choice((2, 3, 4, 12)), draw.random() < .3) if kind == 2 else
                    grouped(draw.choice((2, 3, 4, 6)), draw.random() < .8))
        rows = with_units(rows)
        raw = groups.text(rows).encode()
        if draw.random() < .6:
            raw = groups.text(changed(draw, rows)).encode()
        elif draw.random() < .8:
            raw = mutated(draw, raw.decode())
        with open("rows.tsv", "wb") as f:
            f.write(raw)
        try:
            rows = groups.rows("rows.tsv", SHAPES)[0]
            inside = groups.nesting(rows, SHAPES)
            fine = rows == groups.read("rows.tsv")
        except Error as e:
            fine, inside = False, str(e)
        ok, message = run("mc-convert", "-q", "net.safetensors", "--groups", "rows.tsv", "-o", "a.mcz")
        if ok != fine and "no groups" not in inside:  # the programs accept networks without groups
            raise SystemExit("%r: mc-convert: %s, mcz.groups: %s" % (raw, message or "accepted", inside))
        if not fine:
            continue
        accepted, nested = accepted + 1, nested + bool(inside)
        run("mc-permute", "-q", "--random", str(i), "--perm-out", "p.mcz", "a.mcz", "-o", "b.mcz")
        p, b = mcz.read("p.mcz"), mcz.read("b.mcz").tensors
        of = p.meta["groups"]
        found = {g["name"]: (of[g["within"]]["name"], g["unit"]) for g in of if "within" in g}
        if found != inside:
            raise SystemExit("%r: mc-permute nests %s, mcz.groups %s" % (raw, found, inside))
        for name in values if not any("map" in g for g in of) else ():
            if not np.array_equal(moved(name, rows, p.tensors, values), b[name]):
                raise SystemExit("%r: %s: moved differently" % (raw, name))
    print("%d of %d files accepted, %d with nested groups" % (accepted, count, nested))
    if min(accepted, nested, count - accepted) < count // 8:
        raise SystemExit("too few files of one kind")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
