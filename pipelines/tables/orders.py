# SPDX-License-Identifier: Apache-2.0
"""Tables of several networks in one order: soup.mk and methods.mk."""
import os
import re

from shared import deviation, formatted, mean, name_of, names, read


def soup(all_pairs, files):
    """files: accuracy.tsv of mc-eval and the table of mc-hungarian --joint. Rows of the mean in joint order have the
    objective of that order, and that of the best order with one network as reference."""
    print("network", "data", "weights", "loss", "accuracy", "objective", "best_reference", sep="\t")
    total = read(files[1])[-1]
    best = max(float(value) for name, value in total.items() if name.startswith("reference_"))
    objectives = ["%.2f" % float(total["objective"]), "%.2f" % best]
    for row in read(files[0]):
        weights = os.path.basename(row["network"]).removesuffix(".mcz")
        print(*names(), weights, "%.4f" % float(row["test.loss"]), "%.2f" % float(row["test.accuracy"]),
              *objectives if weights.startswith("mean-joint") else ("", ""), sep="\t")


STAGES = ("averaged", "reestimated", "repaired")
# results that an order of this matching is computed from: of each pair, and of all networks
MADE = {"activations": ("moments", "matrices", "permutation"), "weights": ("permutation-weights",),
        "pam": ("moments", "matrices", "permutation", "permutation-pam")}


def cost(folder, seeds, name, matching, order):
    """(seconds, MB) of an order of the networks `seeds`: the sum of its jobs' processor time, and the largest job's peak memory. None if RESULT.cost is
    missing, because the result was copied or another experiment made it."""
    pairs = [p for p in os.listdir(folder) if re.fullmatch("[0-9]+-[0-9]+", p) and seeds.issuperset(p.split("-"))]
    kinds = MADE.get(matching, ())
    if order.isdigit():
        pairs = [p for p in pairs if order in p.split("-")]
    elif (matching, order) == ("activations", "joint"):
        kinds = kinds[:2]
    else:
        pairs = []
    costs = [f"{folder}/{job}.cost" for job in [f"{p}/{kind}" for p in pairs for kind in kinds] + [name]]
    if not all(map(os.path.exists, costs)):
        return None, None
    numbers = [list(map(float, open(path, encoding="utf-8").read().split())) for path in costs]
    return sum(s for s, _ in numbers), max(m for _, m in numbers)


def orders(all_pairs, files):
    """files: accuracy-methods.tsv, and objective-ORDER.tsv of each order."""
    print("network", "data", "networks", "matching", "order", "ends", *STAGES, "objective", "cpu_seconds", "memory_mb", sep="\t")
    accuracy = {name_of(r["network"].removesuffix(".mcz")): float(r["test.accuracy"]) for r in read(files[0])}
    nets = {name: v for name, v in accuracy.items() if name.startswith("net-")}
    ends, seeds = list(nets.values()), {name.removeprefix("net-") for name in nets}
    for path in files[1:]:
        name = name_of(path).removeprefix("objective-")
        matching, _, order = {"unaligned": "identity", "joint": "activations-joint"}.get(name, name).partition("-")
        order = order.removeprefix("to-")
        means = [accuracy["mean-" + name + end] for end in ("", "-reestimated", "-repaired")]
        seconds, memory = cost(os.path.dirname(files[0]), seeds, name, matching, order)
        print(*names(), len(ends), matching, order, *("%.2f" % v for v in [mean(ends)] + means),
              "%.2f" % float(read(path)[-1]["objective"]), formatted("%.2f", seconds), formatted("%.0f", memory), sep="\t")


def methods(all_pairs, files):
    """files: orders.tsv. The rows of one matching with a reference are joined: their mean and deviation, and the row of the
    highest objective."""
    columns = [*STAGES, "objective", "cpu_seconds", "memory_mb"]
    deviates = columns[:4]
    print("network", "data", "networks", "matching", "order", "orders", "ends",
          *(n for c in columns for n in ([c, c + "_sd"] if c in deviates else [c])), sep="\t")
    groups = {}
    for row in read(files[0]):
        groups.setdefault((row["matching"], "pairwise" if row["order"].isdigit() else row["order"]), []).append(row)

    def show(order, rows):
        cells = []
        for c in columns:
            values = [float(r[c]) for r in rows if r[c]]
            value = None if len(values) < len(rows) else max(values) if c == "memory_mb" else mean(values)
            cells.append(formatted("%.0f" if c == "memory_mb" else "%.2f", value))
            if c in deviates:
                cells.append(formatted("%.2f", deviation(values)))
        first = rows[0]
        print(first["network"], first["data"], first["networks"], first["matching"], order, len(rows), first["ends"], *cells, sep="\t")
    for (matching, order), rows in groups.items():
        running = "MergeMany" if matching == "weights" else "running mean"
        show(running if order == "running" else order, rows)
        if order == "pairwise":
            show("best reference", [max(rows, key=lambda r: float(r["objective"]))])
