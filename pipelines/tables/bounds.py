# SPDX-License-Identifier: Apache-2.0
"""Tables of the bounds of mc-bound and the barriers that they limit."""
import os

from shared import Table, mean, name_of, pair_of, read

BOUND = ("bound_max", "bound_mean", "barrier_max", "barrier_mean")


def bounds(files):
    """{way: {pair: numbers of BOUND}}, from bound-WAY.tsv and the barrier-WAY.summary.tsv next to it."""
    found = {}
    for path in files:
        way = name_of(path).removeprefix("bound-")
        last = read(path)[-1]
        barrier = os.path.join(os.path.dirname(path), f"barrier-{way}.summary.tsv")
        loss = next(r for r in read(barrier) if r["quantity"] == "loss")
        ends = (float(loss["first"]) + float(loss["last"])) / 2
        found.setdefault("correlation" if way == "aligned" else way, {})[pair_of(path)] = [
            float(last["max"]), float(last["mean"]), float(loss["barrier"]), float(loss["mean"]) - ends]
    return found


def bound(all_pairs, files):
    table = Table(all_pairs, ("way",), [(name, "%.4f") for name in BOUND])
    for way, rows in bounds(files).items():
        table.row((way,), len(rows), list(zip(*rows.values())))


def ordered(values):
    """The keys in the order of their values: "a < b = c"."""
    keys = sorted(values, key=values.get)
    signs = [" < " if values[x] != values[y] else " = " for x, y in zip(keys, keys[1:])]
    return "".join(key + sign for key, sign in zip(keys, signs + [""]))


def ranks(all_pairs, files):
    """The ways to align, ordered by the bound and by the barrier, and the number of couples of ways with the same
    order in both. Ways with equal numbers (if the constraint has no effect) count once."""
    ways = bounds(files)
    pairs = list(next(iter(ways.values())))
    print("pair", "of", "bound", "barrier", "alike", "couples", "same", sep="\t")

    def sign(x):
        return (x > 0) - (x < 0)
    for pair in pairs + (["mean"] if len(pairs) > 1 else []):
        values = {w: r[pair] if pair in r else [mean(c) for c in zip(*r.values())] for w, r in ways.items()}
        distinct = list({tuple(v): v for v in values.values()}.values())
        couples = [(x, y) for i, x in enumerate(distinct) for y in distinct[:i]]
        for i, quantity in enumerate(("max", "mean")):
            alike = sum(sign(x[i] - y[i]) == sign(x[i + 2] - y[i + 2]) for x, y in couples)
            orders = (ordered({w: v[k] for w, v in values.items()}) for k in (i, i + 2))
            same = "yes" if alike == len(couples) else "no"
            print(pair, quantity, *orders, alike, len(couples), same, sep="\t")
