# SPDX-License-Identifier: Apache-2.0
"""Tables of loss and accuracy along paths, from the summaries and tables of mc-eval."""
import math
import os
import re

from shared import Table, deviation, fail, grouped, mean, name_of, pair_of, read

PATHS = [(n, "%.2f") for n in ("end_a", "end_b", "mean", "arc_mean", "minimum", "at_t")] + [
    ("barrier_test_loss", "%.4f"), ("barrier_train_loss", "%.4f")]


def summary(path, robust):
    """The numbers of a path, in the order of PATHS, and the mean accuracy of its ends."""
    rows = {(r["data"].removesuffix(".robust"), r["quantity"]): r for r in read(path)
            if r["data"].endswith(".robust") == robust}
    accuracy = rows["test", "accuracy"]
    values = [float(accuracy[c]) for c in ("first", "last", "mean", "arc_mean", "min", "min_t")]
    values += [float(rows[d, "loss"]["barrier"]) for d in ("test", "train")]
    return values + [(values[0] + values[1]) / 2]


def paths(all_pairs, files, robust=False, key=("path",), words=lambda name: [name]):
    """words: a function that returns a path's key from its name."""
    table = Table(all_pairs, key, PATHS + ([("ends", "%.2f")] if all_pairs else []))
    for name, group in grouped(name_of, files).items():
        columns = list(zip(*(summary(f, robust) for f in group)))
        # half the root of the sum of both ends' variances, as in viz_curve.py of the paper's authors
        a, b = deviation(columns[0]), deviation(columns[1])
        ends = None if a is None else math.sqrt(a * a + b * b) / 2
        table.row(words(name), len(group), columns, {"ends": ends})


def robust(all_pairs, files):
    paths(all_pairs, files, robust=True)


def measures(all_pairs, files):
    paths(all_pairs, files, words=lambda name: [
        name.replace("curve-aligned", "correlation").replace("curve-", "")])


def grid(all_pairs, files):
    paths(all_pairs, files, key=("path", "lr", "batch"), words=lambda name: re.match(
        "(curve-[a-z]+)-lr(.*)-batch([0-9]+)", name).groups())


def pointwise(all_pairs, files):
    """The percentage of inner points at which the aligned curve is more accurate, and the total variation of
    both losses."""
    columns = [("above", "%.1f"), ("variation_unaligned", "%.4f"), ("variation_aligned", "%.4f")]
    rows = {}
    for pair, (unaligned, aligned) in grouped(pair_of, files).items():
        curves = [{float(r["t"]): r for r in read(f)} for f in (unaligned, aligned)]
        if curves[0].keys() != curves[1].keys():
            fail(f"{aligned}: the points differ from those of {unaligned}")
        first, second = ([float(r["test.accuracy"]) for t, r in c.items() if 0 < t < 1] for c in curves)
        better = [1 if b > a else .5 if a == b else 0 for a, b in zip(first, second)]
        losses = [[float(r["test.loss"]) for r in c.values()] for c in curves]
        rows[pair] = [100 * mean(better) if better else 0] + [
            sum(abs(y - x) for x, y in zip(l, l[1:])) for l in losses]
    table = Table(all_pairs, () if all_pairs else ("pair",), columns)
    if all_pairs:
        table.row((), len(rows), list(zip(*rows.values())))
    else:
        for pair, values in rows.items():
            table.row((pair,), 1, [[v] for v in values])


def moved_units(path):
    """[units that move, all units] in the output of mc-permute -v."""
    with open(path, encoding="utf-8") as f:
        counts = re.findall(r"([0-9]+) of ([0-9]+) units move$", f.read(), re.M)
    return [sum(map(int, column)) for column in zip(*counts)]


def subsets(all_pairs, files):
    """For each alignment, the units that it matches differently from the reference, and the barriers and the
    accuracy of the straight line (line-subset-IMAGES.summary.tsv). files: subset-IMAGES.moved of each pair."""
    columns = [("differ", "%.1f" if all_pairs else "%d"), ("barrier_test_loss", "%.4f"),
               ("barrier_train_loss", "%.4f"), ("arc_mean", "%.2f"), ("minimum", "%.2f")]
    table = Table(all_pairs, ("images", "reference"), columns, after=("units",))
    order = [name for name, _ in PATHS]
    for images, group in grouped(lambda f: re.search(r"subset-(\w+)", os.path.basename(f))[1], files).items():
        rows = []
        for path in group:
            moved, units = moved_units(path)
            line = summary(re.sub(r"subset-(\w+)\.moved$", r"line-subset-\1.summary.tsv", path), False)
            rows.append([moved] + [line[order.index(name)] for name, _ in columns[1:]])
        table.row((images, os.environ["REFERENCE"]), len(rows), list(zip(*rows)), after=(units,))


MIDPOINT = ("clean", "clean_ends", "clean_gain", "robust", "robust_ends", "robust_gain", "both_gain",
            "clean_best", "robust_best")


def midpoint(all_pairs, files):
    """The middle of a path between robust networks, compared with the mean of its ends. clean_best and
    robust_best are the largest gains of an inner point over the better end. both_gain is the largest gain that
    one point has in both."""
    table = Table(all_pairs, ("path",), [(name, "%.2f") for name in MIDPOINT])
    for name, group in grouped(name_of, files).items():
        rows = []
        for path in group:
            values, gains = [], []
            for column in ("test.accuracy", "test.robust.accuracy"):
                at = {float(r["t"]): float(r[column]) for r in read(path)}
                ends = at[0] / 2 + at[1] / 2
                values += [at[.5], ends, at[.5] - ends]
                gains.append([v - max(at[0], at[1]) for t, v in at.items() if 0 < t < 1])
            rows.append(values + [max(map(min, *gains)), max(gains[0]), max(gains[1])])
        table.row((name,), len(group), list(zip(*rows)))


def joined(all_pairs, files, key=("pair",), words=lambda f: [pair_of(f)]):
    """The rows of all files, each prefixed with the words of its file."""
    for i, path in enumerate(files):
        with open(path, encoding="utf-8") as lines:
            head = next(lines)
            if i == 0:
                print(*key, head, sep="\t", end="")
            for line in lines:
                print(*words(path), line, sep="\t", end="")


def middle(all_pairs, files):
    """files: middle-CURVE-END.tsv of each pair."""
    joined(all_pairs, files, ("pair", "curve", "end"),
           lambda f: [pair_of(f), *re.match("middle-(.*)-(.*)", name_of(f)).groups()])
