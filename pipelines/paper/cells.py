# SPDX-License-Identifier: Apache-2.0
"""The cells of the paper's tables: the paper's numbers, ours from a folder of cases, verdicts and effects."""
import collections
import fnmatch
import math
import os
import re
import statistics
import typing

from tsv import NUMBER, Fault, Line, read

HERE = os.path.dirname(os.path.realpath(__file__))


# ---- statistics ------------------------------------------------------------------------------------
class Sample(typing.NamedTuple):
    """Mean, standard deviation (n - 1) and number of values. sources: independent deviations; 2 for the ends' mean."""

    mean: float
    sd: typing.Optional[float]
    n: float
    sources: int = 1


def sample(column, mean, sd, n):
    return Sample(float(mean), float(sd) if sd else None, float(n), 2 if column.endswith("ends") else 1)


def welch(mean, terms, rounding=0.0):
    """Welch's 95% interval of a sum of slope * sample.mean with this mean; None if a sample has no deviation. terms: slopes
    and samples. rounding: added to the variance."""
    from scipy.special import stdtrit  # the quantiles of Student's distribution

    if any(s.sd is None or s.n < 2 for _, s in terms):
        return None
    variances = [(slope * s.sd) ** 2 / s.n for slope, s in terms]
    uncertain = sum(v**2 / (s.sources * (s.n - 1)) for v, (_, s) in zip(variances, terms))
    freedom = min((sum(variances) + rounding) ** 2 / uncertain, 1e6) if uncertain else 1e6
    half = stdtrit(freedom, 0.975) * math.sqrt(sum(variances) + rounding)
    return mean - half, mean + half


def interval(a, b, rounding=0.0):
    """The interval of a.mean - b.mean."""
    return welch(a.mean - b.mean, [(1, a), (-1, b)], rounding)


def rounded(paper, digits):
    """A number of the paper with the deviation that its rounding to `digits` decimals allows, and the variance of rounding."""
    variance = 100.0**-digits / 12
    sd, n = (0, 1e9) if paper.sd is None else (math.sqrt(paper.sd**2 + variance), paper.n)
    return paper._replace(sd=sd, n=n), variance


def compare(span, effect):
    """The verdict on a difference that should be 0."""
    if not span:
        return "undecided"
    if span[0] > 0 or span[1] < 0:
        return "differs"
    return "undecided" if span[1] - span[0] > effect / 2 else "agrees"


def verdict(result, paper, digits, effect):
    """The verdict on a result, and the interval. The paper's mean and deviation are rounded to `digits` decimals."""
    span = interval(result, *rounded(paper, digits))
    return compare(span, effect), span or ()


def can_agree(paper, digits, effect):
    """True if many pairs can agree, at the best deviation. The interval is not narrowest without a deviation."""
    step = math.sqrt(((paper.sd or 0) ** 2 + 100.0**-digits / 12) * 1e9 / paper.n) / 10
    results = (Sample(paper.mean, k * step, 1e9, paper.sources) for k in range(41))
    return paper.sd is None or any(verdict(r, paper, digits, effect)[0] == "agrees" for r in results)


# ---- our cells -------------------------------------------------------------------------------------
# Cells of a table's line: ROW.COLUMN, and =NAME if the table's column has another name. X: limits a cell to lines of
# path X. The ends are read from the unaligned curve, because another order of units rounds differently. The ends of
# robust curves have statistics of attacked images, as in the authors' code.
PATHS = "{path}.arc_mean {path}.minimum line-*:{path}.barrier_train_loss curve-unaligned:network.ends"
ROBUST = """{path}.KIND_minimum=minimum {path}.KIND_barrier=barrier_test_loss
    curve-unaligned-bn-attack:network.KIND_ends=ends"""
TABLES = {
    "table": PATHS,
    "pam": PATHS,
    "training": "{training}.objective",
    "saved": "curve-aligned.accuracy_saved curve-aligned.lead",
    "grid": "{path}.arc_mean@{lr},{batch}=arc_mean",
    "midpoint": "{path}.clean_gain {path}.robust_gain {path}.both_gain {path}.clean_best {path}.robust_best",
    "clean": ROBUST.replace("KIND", "clean"),
    "robust": ROBUST.replace("KIND", "robust"),
    "measures": "{path}.arc_mean {path}.minimum",
    "middle": "",
    "subsets": "{images}.differ",
    "signature": "",
    "pointwise": """curve-aligned.above curve-aligned.variation=variation_aligned
        curve-unaligned.variation=variation_unaligned""",
    "objective": "",
    "bound": "{way}.bound_max",
}
PAPERS_LENGTH = dict(epochs=250, curve_epochs=250, permutation_epochs=20, points=65, pam="as-paper", train_images="all")


def cells_of_line(table, line):
    """The cells of a line: row, column, and mean, deviation and number of values."""
    if table == "grid":
        line.update((name, "%g" % line.number(name)) for name in ("lr", "batch"))
    for spec in TABLES[table].split():
        *path, spec = spec.split(":")
        if path and not fnmatch.fnmatchcase(line["path"], path[0]):
            continue
        name, _, source = spec.format_map(line).partition("=")
        row, column = name.split(".", 1)
        source = source or column
        if not line[source]:  # not measured in this run
            continue
        value = line[source], line[source + "_sd"], line["runs" if table == "training" else "pairs"]
        if not all(map(re.fullmatch, (NUMBER, "(%s)?" % NUMBER, "[1-9][0-9]*"), value)):
            text = "%s: line %d: '%s', '%s', '%s' must be mean, deviation and number of values"
            raise Fault(text % (*line.place, *value))
        yield row, column, value


def spread(form, values):
    return form % statistics.fmean(values), form % statistics.stdev(values) if len(values) > 1 else "", str(len(values))


def cells_of_layers(table, lines):
    """Cells over the pairs of the similarity of a curve's middle to the ends, or of the ends to each other: its mean over
    layers and ends, the mean that aligning adds, half of that, and the minimum over layers that aligning adds."""
    curves = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        before, after = line.number("identity"), line.number("permuted")
        curves[line["curve"] if table == "middle" else "ends"][line["pair"]].append((before, after - before))
    for curve, pairs in curves.items():
        likeness, gains = zip(*(map(statistics.fmean, zip(*layers)) for layers in pairs.values()))
        yield curve, "likeness", spread("%.4f", likeness)
        yield curve, "likeness_gain", spread("%.4f", gains)
        yield curve, "half_gain", spread("%.4f", [gain / 2 for gain in gains])
        yield curve, "least_gain", spread("%.4f", [min(gain for _, gain in layers) for layers in pairs.values()])


def cells_of_steps(lines):
    """Cells over the pairs of PAM's progress: the decrease of the objective minus the proximal terms, at its minimum over
    iterations; and how much the first permutation step lowered the loss of images that did not choose it."""
    paths = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        if line["decrease"]:
            paths[line["path"]][line["pair"]].append(line)
    for path, pairs in paths.items():
        yield path, "decrease", spread("%.6f", [min(s.number("decrease") for s in steps) for steps in pairs.values()])
        firsts = [steps[0] for steps in pairs.values() if steps[0]["others_before"] and steps[0]["others_after"]]
        gains = [first.number("others_before") - first.number("others_after") for first in firsts]
        if gains:  # else too few images were left
            yield path, "others_gain", spread("%.6f", gains)


def papers_name(part):
    """NETWORK-DATA, or a folder's name, with the paper's name of a network with dropout, which the paper has for
    CIFAR-100 only: tinyten."""
    return part.replace("-dropout-cifar100", "-cifar100")


def part_of(line):
    """NETWORK-DATA of a table's line."""
    return papers_name(line["network"] + "-" + line["data"])


def cells_of_table(path, part=None):
    """The cells of a table: NETWORK-DATA, row, column, and mean, deviation and number of values."""
    table, lines = os.path.basename(path)[:-4], read(path)[1]
    if not lines:
        raise Fault("%s: has no rows" % path)
    for line in lines:
        if part and "network" in line and part_of(line) != part:
            raise Fault("%s: has %s on %s, but the folder is of %s" % (path, line["network"], line["data"], part))
    part = part or part_of(lines[0])
    if table == "objective":
        found = cells_of_steps(lines)
    elif table in ("middle", "signature"):
        found = cells_of_layers(table, lines)
    else:
        found = (cell for line in lines for cell in cells_of_line(table, line))
    return [(part, *cell) for cell in found]


def content(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip()


def shortfall(folder):
    """The settings of a folder that are below the paper's length: those of all cells, and those of PAM's cells only."""
    plain, pam, length = [], [], content(folder + "/length")
    words = dict(word.partition("=")[::2] for word in (length or "").split())
    for name in sorted(words.keys() ^ PAPERS_LENGTH.keys()) if length is not None else ():
        raise Fault("%s/length: '%s' is %s" % (folder, name, "missing" if name in PAPERS_LENGTH else "unknown"))
    for name, value in words.items():
        full = PAPERS_LENGTH[name]
        if not re.fullmatch(".+" if isinstance(full, str) else NUMBER, value):
            raise Fault("%s/length: '%s=%s' is not a length" % (folder, name, value))
        if full == 250 and os.path.basename(folder).startswith("robust-"):
            full = 200
        if value != full if isinstance(full, str) else float(value) < full:
            (pam if name in ("pam", "permutation_epochs") else plain).append(name + "=" + value)
    return plain if length is not None else ["length unknown"], pam


def our_cells(paper, parts):
    """By NETWORK-DATA, row and column: for each folder with the cell, mean, deviation, number and shortfall."""
    result = collections.defaultdict(dict)
    folders = sorted(f for f in os.listdir(paper) if os.path.isdir(os.path.join(paper, f)))
    kinds = [(part, kind + part + "-") for part in parts for kind in ("", "grid-", "robust-")]
    found = [(part, f) for part, start in kinds for f in folders if (papers_name(f) + "-").startswith(start)]
    for part, name in found + [(None, f) for f in folders if f.startswith("bound-")]:
        folder = os.path.join(paper, name)
        plain, pam = shortfall(folder) if part else ([], [])  # the paper has no length for the bound
        for path in ("%s/%s.tsv" % (folder, table) for table in TABLES if (table == "bound") == (part is None)):
            for *key, row, column, value in cells_of_table(path, part) if os.path.exists(path) else ():
                lacks = " ".join(plain + (pam if "pam" in row else []))
                if result[(*key, row, column)].setdefault(name, (*value, lacks))[:3] != value:
                    text = "%s: its '%s' differs from table.tsv's (run pam.mk with the settings of connect.mk)"
                    raise Fault(text % (path, row))
    return result


# ---- the paper's cells -----------------------------------------------------------------------------
KEY = "item network data row column".split()
COLUMNS = KEY + "ours ours_sd pairs paper paper_sd difference interval effect folder short note verdict paper_pairs".split()


def form(x, digits):
    return re.sub(r"^-(0(\.0*)?)$", r"\1", "%.*f" % (digits, x))


def cells(paper):
    """Lines of COLUMNS: each cell of paper.tsv, once per folder that has it with other numbers. One of them has the
    verdict: the first at the paper's length, or else the first."""
    if not os.path.isdir(paper):
        raise Fault("'%s' is not a folder" % paper, 1)
    lines = read(os.path.join(HERE, "paper.tsv"))[1]
    results = our_cells(paper, dict.fromkeys(c["network"] + "-" + c["data"] for c in lines if c["item"] != "bound"))
    means = {tuple(c[k] for k in KEY): float(c["mean"] or 0) for c in lines}
    for c in lines:
        item, network, data, row, column = key = tuple(c[k] for k in KEY)
        digits, reference = int(c["digits"]), sample(column, c["mean"], c["sd"], c["n"]) if c["mean"] else None
        curve = column.replace("ends", "arc_mean")
        aligned, unaligned = (*key[:3], "curve-aligned", curve), (*key[:3], "curve-unaligned", curve)
        effect = c["mean"] if item == "text" else ""
        if unaligned in means:
            effect = form(abs(means.get(aligned, 0) - means[unaligned]), digits)
        size = float(effect or 0)
        note = c["withheld"] or ("cannot agree" if reference and not can_agree(reference, digits, size) else "")
        found = results.get((network + "-" + data, row, column), {"": ("", "", "", "")})
        chosen = next((f for f in found if not found[f][3]), next(iter(found)))
        for folder, (mean, sd, n, lacks) in found.items():
            if folder != chosen and not lacks and (mean, sd, n) == found[chosen][:3]:
                continue
            word = "not run" if lacks or not folder else "not comparable" if reference and c["withheld"] else ""
            difference, span = "", ()
            if reference and not word:
                word, span = verdict(sample(column, mean, sd, n), reference, digits, size)
                difference = form(float(mean) - reference.mean, digits + 1)
            values = mean, sd, n, c["mean"], c["sd"], difference, " to ".join(form(end, digits + 1) for end in span)
            values += effect, folder, lacks, note, word if folder == chosen else "", c["n"]
            yield Line(zip(COLUMNS, key + values))


# ---- the effect of alignment -----------------------------------------------------------------------
EFFECTS = "item network data row column ours interval paper pairs folder short".split()
UNALIGNED = {"curve-aligned": "curve-unaligned", "correlation": "unaligned"}
UNALIGNED["curve-aligned-bn-attack"] = "curve-unaligned-bn-attack"


def effects(lines):
    """Lines of EFFECTS: of each folder and column aligned minus unaligned, its interval, and the paper's difference."""
    def key(line, row):
        return (*(line[k] for k in ("item", "network", "data", "column", "folder")), row)

    cells = {key(line, line["row"]): line for line in lines if line["ours"]}
    for a in list(cells.values()):
        b = cells.get(key(a, UNALIGNED.get(a["row"])))
        if b:
            digits = {k: len(a[k].partition(".")[2]) for k in ("ours", "paper")}
            effect = {k: "%+.*f" % (digits[k], float(a[k]) - float(b[k])) if a[k] and b[k] else "" for k in digits}
            span = interval(*(sample(c["column"], c["ours"], c["ours_sd"], c["pairs"]) for c in (a, b))) or ()
            values = {**a, **effect, "interval": " to ".join(form(end, digits["ours"]) for end in span)}
            yield Line({column: values[column] for column in EFFECTS})
