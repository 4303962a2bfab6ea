# SPDX-License-Identifier: Apache-2.0
"""Shared by all tables: reading results, and printing rows with means and deviations."""
import csv
import json
import math
import os
import re
import sys


def fail(text):
    sys.exit(f"tables: {text}")


def read(path):
    """The rows of a TSV file as dictionaries."""
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def events(path, *kinds):
    """Yields the events of these kinds in a log. Ignores an incomplete last line, which a killed run leaves."""
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.endswith("}\n") and any(f'"event":"{k}"' in line for k in kinds):
                yield json.loads(line, parse_int=str, parse_float=str)


def pair_of(path):
    return os.path.basename(os.path.dirname(path))


def name_of(path):
    return re.sub(r"(\.summary)?\.tsv$", "", os.path.basename(path))


def grouped(key, paths):
    """{key: paths}, in the order of the first path of each key."""
    groups = {}
    for path in paths:
        groups.setdefault(key(path), []).append(path)
    return groups


def mean(values):
    total = 0.0
    for v in values:
        total += v
    return total / len(values)


def deviation(values):
    """Standard deviation (n - 1); None for one value."""
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else None


def formatted(form, value):
    """A number in this format; "" for None."""
    return "" if value is None else form % value


class Table:
    """A table on standard output. columns: (name, format). In a table of all pairs, each number is followed by
    its deviation, and the key by the number of pairs."""

    def __init__(self, all_pairs, key, columns, count="pairs", after=()):
        self.all_pairs, self.columns = all_pairs, columns
        head = ["network", "data", *key, count, *after] if all_pairs else [*key, *after]
        for name, _ in columns:
            head += [name, name + "_sd"] if all_pairs else [name]
        print(*head, sep="\t")

    def row(self, key, count, values, deviations=None, after=()):
        """values: a list per column, with a number per pair. deviations: {column: deviation} that differ from
        the deviation of these numbers."""
        cells = [*names(), *key, count, *after] if self.all_pairs else [*key, *after]
        for (name, form), numbers in zip(self.columns, values):
            cells.append(form % mean(numbers))
            if self.all_pairs:
                cells.append(formatted(form, (deviations or {}).get(name, deviation(numbers))))
        print(*cells, sep="\t")


def names():
    """(network, data) as tables and titles name them."""
    def last(path, ending):
        return os.path.basename(path.rstrip("/").removesuffix(ending))
    net, data, folder = (os.environ.get(n, "") for n in ("NET", "DATA", "DATA_DIR"))
    if "/" in net or net.endswith(".json"):
        net = last(net, ".json")
    return net, last(folder, ".npz") if data in ("folder", "npz", "idx") else data


def title(all_pairs, pairs):
    seeds = "seeds " + ", ".join(p.replace("-", "–") for p in pairs)
    count = f"{len(pairs)} {'pairs' if '-' in pairs[0] else 'networks'}"
    print("{} on {}, {}".format(*names(), count if len(pairs) > 4 else seeds))
