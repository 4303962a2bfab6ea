# SPDX-License-Identifier: Apache-2.0
"""The paper's claims: verdicts on comparisons of cells, from runs at the paper's length, from shorter runs, and from the
paper's own numbers.

Column `cells` of claims.tsv has a claim's comparisons, joined by " & ". Each is ITEM NETWORK DATA SUM, or ITEM NETWORK
DATA SUM > SUM, or with =. A sum consists of terms joined by + or -, a term of factors joined by * or /, a factor is
ROW.COLUMN or a number, all separated by spaces. * in a name matches any text. The second sum may start with
NETWORK/DATA:, whose names may be * or, for the network or data of the first sum, NETWORK or DATA. Then the first sum is
compared with each of these, except with itself.

  SUM        has the verdict of its cell; without one it only has run or not
  SUM > SUM  agrees if the 95% interval of the difference is above 0, differs if it is below 0
  SUM = SUM  agrees if the interval contains 0 and is at most half as wide as the paper's effect of alignment on the first
             cell, and differs if it does not contain 0
"""
import collections
import fnmatch
import itertools
import re

from cells import KEY, compare, rounded, sample, welch
from tsv import NUMBER, Fault, Line, read

CLAIMS = ["claim", "where", "shown by", "in the paper's own numbers", "verdict", "in shorter runs", "here", "kind"]
WORDS = {"agrees": "agree", "differs": "differ", "undecided": "undecided", "not run": "not run"}


class Value:
    """A number computed from cells. terms: by cell, the derivative, the sample and its variance of rounding."""

    def __init__(self, mean, terms=()):
        self.mean, self.terms = mean, dict(terms)

    def joined(self, op, other):
        a, b = self.mean, other.mean
        slopes = {"+": (1, 1), "-": (1, -1), "*": (b, a), "/": (b and 1 / b, b and -a / b**2)}[op]
        terms = collections.defaultdict(lambda: (0,))
        for value, slope in zip((self, other), slopes):
            for cell, (derivative, *rest) in value.terms.items():
                terms[cell] = (terms[cell][0] + slope * derivative, *rest)
        return Value({"+": a + b, "-": a - b, "*": a * b, "/": b and a / b}[op], terms)

    def interval(self):
        rounding = sum(slope**2 * variance for slope, _, variance in self.terms.values())
        return welch(self.mean, [(slope, s) for slope, s, _ in self.terms.values()], rounding)


def ours(cell):
    """The value of a cell here, or None."""
    return cell["ours"] and (sample(*(cell[k] for k in ("column", "ours", "ours_sd", "pairs"))), 0.0)


def papers(cell):
    """The value of a cell in the paper, or None."""
    if not cell["paper"]:
        return None
    number = sample(*(cell[k] for k in ("column", "paper", "paper_sd", "paper_pairs")))
    return rounded(number, len(cell["paper"].partition(".")[2]))


def values(text, cells, side):
    """A sum's values, one for each choice of cells that its names match; None if a cell has no value on this side."""
    words = text.split(" ")
    names = [w for w in words[::2] if not re.fullmatch(NUMBER, w)]
    for chosen in itertools.product(*([c for c in cells if fnmatch.fnmatchcase(c, name)] for name in names)):
        cell, total, sign = iter(chosen), Value(0.0), "+"
        found = {c: side(cells[c]) for c in chosen}
        if not all(found.values()):
            yield None
            continue
        term = None
        for op, word in zip(["+", *words[1::2]], words[::2]):
            key = next(cell) if word in names else None
            factor = Value(found[key][0].mean, {(id(cells), key): (1, *found[key])}) if key else Value(float(word))
            if op in "*/":
                term = term.joined(op, factor)
            else:
                total, term, sign = total.joined(sign, term) if term else total, factor, op
        yield total.joined(sign, term)


SUM = r"\S+(?: [-+*/] \S+)*"
PART = re.compile(r"(\S+) (\S+) (\S+) (%s)(?: ([>=]) (?:(\S+)/(\S+): )?(%s))?" % (SUM, SUM))


def judge(left, op, right, effect):
    """The verdict on a comparison of two values; None is one that was not run."""
    if left is None or right is None:
        return "not run"
    span = left.joined("-", right).interval()
    if op == "=":
        return compare(span, effect)
    return "agrees" if span and span[0] > 0 else "differs" if span and span[1] < 0 else "undecided"


def outcomes(part, groups, side):
    """The verdicts on a part of a claim. groups: cells by ROW.COLUMN, by item, network, data and folder."""
    parsed = PART.fullmatch(part)
    if not parsed:
        raise Fault("'%s' must be ITEM NETWORK DATA SUM, or the same with > SUM or = SUM" % part)
    item, network, data, left, op, *other, right = parsed.groups()
    for key, cells in groups.items():
        if not all(map(fnmatch.fnmatchcase, key, (item, network, data))):
            continue
        others = [key]
        if other[0]:
            place = {"NETWORK": key[1], "DATA": key[2]}
            names = (item, *(place.get(name, name) for name in other), key[3])
            others = [k for k in groups if k != key and all(map(fnmatch.fnmatchcase, k, names))]
        first = next((c for c in cells if fnmatch.fnmatchcase(c, left.split(" ")[0])), None)
        for a in values(left, cells, side):
            if not op:
                yield "not run" if a is None or side is papers else cells[first]["verdict"] or "run"
                continue
            effect = float(first and cells[first]["effect"] or 0)
            yield from (judge(a, op, b, effect) for k in others for b in values(right, groups[k], side))


def possible(found):
    """The verdicts by hand that are consistent with these outcomes."""
    if not found:
        return ["agrees", "differs", "undecided", "not run", "built"]
    if set(found) == {"not run"}:
        return ["not run"]
    if "differs" in found:
        return ["differs"]
    if "run" in found:
        return ["in part" if "not run" in found else "agrees", "differs", "undecided"]
    return ["in part" if "not run" in found else "undecided" if "undecided" in found else "agrees"]


def counts(found):
    """Such as "8 of 9 agree, 1 undecided"; empty if nothing ran."""
    if set(found) <= {"not run"}:
        return ""
    texts = ["%d %s" % (found.count(v), words) for v, words in WORDS.items() if v in found]
    return ", ".join(texts).replace(" ", " of %d " % len(found), 1)


def grouped(lines, folder):
    groups = collections.defaultdict(dict)
    for line in lines:
        item, network, data, row, column = (line[k] for k in KEY)
        groups[item, network, data, line["folder"] if folder else ""].setdefault(row + "." + column, line)
    return groups


def claims(path, lines):
    """The claims of a file with the counts of their comparisons, and an error for each that contradicts its cells."""
    full = grouped((c for c in lines if c["verdict"] or not c["short"]), False)
    short = grouped((c for c in lines if c["short"]), True)
    shown, wrong = [], []
    for claim in read(path)[1]:
        parts = claim["cells"].split(" & ") if claim["cells"] else []
        try:
            every = [list(outcomes(part, full, lambda c: None if c["verdict"] == "not run" else ours(c))) for part in parts]
        except Fault as fault:
            raise Fault("%s: line %d: %s" % (*claim.place, fault)) from None
        for part in (part for part, found in zip(parts, every) if not found):
            raise Fault("%s: line %d: '%s' names no cells" % (*claim.place, part))
        found = [verdict for verdicts in every for verdict in verdicts]
        in_paper, in_short = (
            counts([v for part in parts for v in outcomes(part, groups, side) if v in WORDS and v != "not run"])
            for groups, side in ((full, papers), (short, ours)))  # fmt: skip
        if claim["verdict"] not in possible(found):
            wrong.append("%s: line %d: the verdict is '%s', but its cells say %s" % (
                *claim.place, claim["verdict"], " or ".join(map(repr, possible(found)))))  # fmt: skip
        here = "; ".join(filter(None, [counts(found), claim["here"]]))
        shown.append(Line({**claim, "in the paper's own numbers": in_paper, "in shorter runs": in_short, "here": here}))
    return shown, wrong
