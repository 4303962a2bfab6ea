# SPDX-License-Identifier: Apache-2.0
"""The cells of the paper's tables: the paper's numbers, ours from a folder of experiments, and verdicts."""
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
    """Mean, standard deviation (n - 1) and number of values. That of the ends' mean has two sources, the ends."""

    mean: float
    sd: typing.Optional[float]
    n: float
    sources: int = 1


def sample(column, mean, sd, n):
    return Sample(float(mean), float(sd) if sd else None, float(n), 2 if column.endswith("ends") else 1)


def interval(a, b, rounding=0.0):
    """Welch's 95% interval of a.mean - b.mean, or None without deviations. rounding: a variance of the difference."""
    from scipy.special import stdtrit  # the quantiles of Student's distribution

    if a.sd is None or b.sd is None or min(a.n, b.n) < 2:
        return None
    va, vb = a.sd**2 / a.n, b.sd**2 / b.n
    uncertain = va**2 / (a.sources * (a.n - 1)) + vb**2 / (b.sources * (b.n - 1))
    freedom = min((va + vb + rounding) ** 2 / uncertain, 1e6) if uncertain else 1e6
    half = stdtrit(freedom, 0.975) * math.sqrt(va + vb + rounding)
    return a.mean - b.mean - half, a.mean - b.mean + half


def verdict(ours, paper, digits, effect):
    """The verdict on ours, and the interval. The paper's mean and deviation are rounded to `digits` after the point."""
    rounding = 100.0**-digits / 12
    sd, n = (0, 1e9) if paper.sd is None else (math.sqrt(paper.sd**2 + rounding), paper.n)
    span = interval(ours, paper._replace(sd=sd, n=n), rounding)
    if not span:
        return "undecided", ()
    if span[0] > 0 or span[1] < 0:
        return "differs", span
    return "undecided" if span[1] - span[0] > effect / 2 else "agrees", span


def can_agree(paper, digits, effect):
    """Whether many pairs of ours, of any deviation, can agree. The interval is not narrowest without a deviation."""
    step = math.sqrt(((paper.sd or 0) ** 2 + 100.0**-digits / 12) * 1e9 / paper.n) / 10
    ours = (Sample(paper.mean, k * step, 1e9, paper.sources) for k in range(41))
    return paper.sd is None or any(verdict(o, paper, digits, effect)[0] == "agrees" for o in ours)


# ---- our cells -------------------------------------------------------------------------------------
# The cells of a table's line, ROW.COLUMN, and after = the table's column if that has another name. "X:" before a cell:
# only lines of path X have it. The ends are read from the unaligned curve: in another order the rounding, and so the
# accuracy, may differ. For the ends of robust curves the statistics are from attacked images, as in the authors' code.
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
    """Row, column, and mean, deviation and number of values of each cell of a line."""
    if table == "grid":
        line.update((name, "%g" % line.number(name)) for name in ("lr", "batch"))
    for spec in TABLES[table].split():
        *path, spec = spec.split(":")
        if path and not fnmatch.fnmatchcase(line["path"], path[0]):
            continue
        name, _, source = spec.format_map(line).partition("=")
        row, column = name.split(".", 1)
        source = source or column
        value = line[source], line[source + "_sd"], line["runs" if table == "training" else "pairs"]
        if not all(map(re.fullmatch, (NUMBER, "(%s)?" % NUMBER, "[1-9][0-9]*"), value)):
            text = "%s: line %d: '%s', '%s', '%s' must be mean, deviation and number of values"
            raise Fault(text % (*line.place, *value))
        yield row, column, value


def spread(form, values):
    return form % statistics.fmean(values), form % statistics.stdev(values) if len(values) > 1 else "", str(len(values))


def cells_of_layers(table, lines):
    """How like an end the middle of a curve is, or one end the other, and what aligning adds: the means over layers and
    ends, and the minimum over layers of what it adds; over the pairs."""
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
    """By how much PAM lowered the objective beyond the prices of its steps, the minimum over iterations; and by how
    much its first permutation step lowered the loss of the images that did not choose it; over the pairs."""
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


def cells_of_table(path, part=None):
    """Its network and data, row, column, and mean, deviation and number of values of each cell of a table."""
    table, lines = os.path.basename(path)[:-4], read(path)[1]
    if not lines:
        raise Fault("%s: has no rows" % path)
    for line in lines:
        if part and "network" in line and line["network"] + "-" + line["data"] != part:
            raise Fault("%s: is of %s on %s, not of the folder's %s" % (path, line["network"], line["data"], part))
    part = part or lines[0]["network"] + "-" + lines[0]["data"]
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
    """The words of a folder's length that are below the paper's, and those that only PAM's cells need."""
    plain, pam, length = [], [], content(folder + "/length")
    words = dict(word.partition("=")[::2] for word in (length or "").split())
    for name in sorted(words.keys() ^ PAPERS_LENGTH.keys()) if length is not None else ():
        raise Fault("%s/length: '%s' is %s" % (folder, name, "missing" if name in PAPERS_LENGTH else "unknown"))
    scale = content(folder + "/scale") or "1"
    if not re.fullmatch(NUMBER, scale) or not 0 < float(scale) <= 1:
        raise Fault("%s/scale: must be above 0 and at most 1 (got '%s')" % (folder, scale))
    for name, value in {"scale": scale, **words}.items():
        full = {"scale": 1, **PAPERS_LENGTH}[name]
        if not re.fullmatch(".+" if isinstance(full, str) else NUMBER, value):
            raise Fault("%s/length: '%s=%s' is not a length" % (folder, name, value))
        if full == 250 and os.path.basename(folder).startswith("robust-"):
            full = 200
        if value != full if isinstance(full, str) else float(value) < full:
            (pam if name in ("pam", "permutation_epochs") else plain).append(name + "=" + value)
    return plain if length is not None else ["length unknown", *plain], pam


def our_cells(paper, parts):
    """(NETWORK-DATA, row, column): for each folder that has the cell, mean, deviation, number, and what it lacks."""
    ours = collections.defaultdict(dict)
    folders = sorted(f for f in os.listdir(paper) if os.path.isdir(os.path.join(paper, f)))
    kinds = [(part, kind + part + "-") for part in parts for kind in ("", "grid-", "robust-")]
    found = [(part, f) for part, start in kinds for f in folders if (f + "-").startswith(start)]
    for part, name in found + [(None, f) for f in folders if f.startswith("bound-")]:
        folder = os.path.join(paper, name)
        plain, pam = shortfall(folder) if part else ([], [])  # the paper has no length for the bound
        for path in ("%s/%s.tsv" % (folder, table) for table in TABLES if (table == "bound") == (part is None)):
            for *key, row, column, value in cells_of_table(path, part) if os.path.exists(path) else ():
                lacks = " ".join(plain + (pam if "pam" in row else []))
                if ours[(*key, row, column)].setdefault(name, (*value, lacks))[:3] != value:
                    text = "%s: its '%s' differs from table.tsv's (run pam.mk with the settings of connect.mk)"
                    raise Fault(text % (path, row))
    return ours


# ---- the paper's cells -----------------------------------------------------------------------------
KEY = "item network data row column".split()
COLUMNS = KEY + "ours ours_sd pairs paper paper_sd difference interval effect folder short note verdict".split()


def form(x, digits):
    return re.sub(r"^-(0(\.0*)?)$", r"\1", "%.*f" % (digits, x))


def cells(paper):
    """Lines of COLUMNS: each cell of paper.tsv, once for each folder that has it with other numbers. One of these has
    the verdict: the first at the paper's length, else the first."""
    if not os.path.isdir(paper):
        raise Fault("'%s' is not a folder" % paper, 1)
    lines = read(os.path.join(HERE, "paper.tsv"))[1]
    ours = our_cells(paper, dict.fromkeys(c["network"] + "-" + c["data"] for c in lines if c["item"] != "bound"))
    means = {tuple(c[k] for k in KEY): float(c["mean"] or 0) for c in lines}
    for c in lines:
        item, network, data, row, column = key = tuple(c[k] for k in KEY)
        digits, theirs = int(c["digits"]), sample(column, c["mean"], c["sd"], c["n"]) if c["mean"] else None
        curve = column.replace("ends", "arc_mean")
        aligned, unaligned = (*key[:3], "curve-aligned", curve), (*key[:3], "curve-unaligned", curve)
        effect = c["mean"] if item == "text" else ""
        if unaligned in means:
            effect = form(abs(means.get(aligned, 0) - means[unaligned]), digits)
        size = float(effect or 0)
        note = c["withheld"] or ("cannot agree" if theirs and not can_agree(theirs, digits, size) else "")
        found = ours.get((network + "-" + data, row, column), {"": ("", "", "", "")})
        chosen = next((f for f in found if not found[f][3]), next(iter(found)))
        for folder, (mean, sd, n, lacks) in found.items():
            if folder != chosen and not lacks and (mean, sd, n) == found[chosen][:3]:
                continue
            word = "not run" if lacks or not folder else "not comparable" if theirs and c["withheld"] else ""
            difference, span = "", ()
            if theirs and not word:
                word, span = verdict(sample(column, mean, sd, n), theirs, digits, size)
                difference = form(float(mean) - theirs.mean, digits + 1)
            values = mean, sd, n, c["mean"], c["sd"], difference, " to ".join(form(end, digits + 1) for end in span)
            values += effect, folder, lacks, note, word if folder == chosen else ""
            yield Line(zip(COLUMNS, key + values))


# ---- the effect of alignment -----------------------------------------------------------------------
EFFECTS = "item network data row column ours interval paper pairs folder short".split()
UNALIGNED = {"curve-aligned": "curve-unaligned", "curve-aligned-bn-attack": "curve-unaligned-bn-attack",
             "correlation": "unaligned"}


def effects(lines):
    """Aligned minus unaligned: the difference of two cells of a folder, its interval, and the paper's difference."""
    key = lambda line, row: (*(line[k] for k in ("item", "network", "data", "column", "folder")), row)
    unaligned = {key(line, line["row"]): line for line in lines if line["ours"]}
    pairs = ((line, unaligned.get(key(line, UNALIGNED.get(line["row"])))) for line in unaligned.values())
    effects = []
    for a, b in ((a, b) for a, b in pairs if b):
        digits = len(a["ours"].partition(".")[2])
        span = interval(*(sample(c["column"], c["ours"], c["ours_sd"], c["pairs"]) for c in (a, b))) or ()
        paper = ["%+.*f" % (len(a["paper"].partition(".")[2]), float(a["paper"]) - float(b["paper"]))] if b["paper"] else [""]
        values = ["%+.*f" % (digits, float(a["ours"]) - float(b["ours"])), " to ".join(form(end, digits) for end in span)]
        values = [a[k] for k in EFFECTS[:5]] + values + paper + [a[k] for k in EFFECTS[-3:]]
        effects.append(Line(zip(EFFECTS, values)))
    return EFFECTS, effects
