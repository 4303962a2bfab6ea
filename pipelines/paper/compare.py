#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what the graphs measured with the paper's numbers and claims, or with the same tables measured before.

  compare.py cells [-f FORM] PAPER      each number of the paper (paper.tsv), ours next to it, and a verdict
  compare.py claims [-f FORM] PAPER     each claim of the paper (claims.tsv); ends with 1 and names the claims whose
                                        verdict disagrees with the cells
  compare.py report PAPER               write cells to PAPER/verdicts.tsv and PAPER/verdicts.md, and print how many
                                        cells have each verdict
  compare.py tables PUBLISHED AGAIN     a published table and the same table measured again, row by row, with the
                                        figure that differs most for its tolerance; ends with 1 if one exceeds it

FORM is markdown (default) or tsv. PAPER/NETWORK-DATA is a folder that connect.mk, pam.mk, measures.mk, middle.mk and
subsets.mk made, PAPER/grid-NETWORK-DATA one of grid.mk, PAPER/robust-NETWORK-DATA one of robust.mk,
PAPER/bound-mlp-DATA one of bound.mk. A name may have -WORDS after it. A cell has a row for each folder that has it
with other numbers.

A folder's file `length` has one line, which for the paper's length is: epochs=250 curve_epochs=250
permutation_epochs=20 points=65 pam=as-paper train_images=all (200 and 200 epochs for robust curves). If a folder has
less, or no such file, its cells are shown with what they lack, and have not run. PAM's cells also lack `pam` if its
permutation step is not the paper's. A file `scale` has the fraction of the length that was run.

A verdict follows from the 95% interval of ours minus the paper's: Welch's, from both means and deviations over pairs,
with the variance of the paper's rounding added.
  differs         the interval does not contain 0
  agrees          it does, and is at most half as wide as the effect of alignment, which is the difference between
                  aligned and unaligned in the paper's table; a number of the text is such an effect itself
  undecided       it is wider, or does not exist (one pair); "cannot agree": it is wider with any number of pairs
  not comparable  the authors' code measures something else; the note says what
  not run         missing, or not at full length
Of exact repetitions 3 to 4% differ.

A claim's verdict in claims.tsv is written by hand. Column `cells` names the cells that it rests on, joined by " & ":
ITEM NETWORK DATA CELL, or ITEM NETWORK DATA CELL > CELL, which is checked: the 95% interval of the difference must be
above 0. CELL is ROW.COLUMN or a number; * in a name matches any text. The verdict is `in part` if some cells have not
run, and `built` if a program or graph shows the claim and no cell decides it.
"""
import collections
import fnmatch
import math
import os
import re
import sys

from cells import COLUMNS, HERE, KEY, cells, interval, sample
from tsv import NUMBER, Fault, Line, Parser, markdown, read, run, tsv, write


# ---- claims ----------------------------------------------------------------------------------------
CLAIMS = ["claim", "where", "shown by", "in the paper's own numbers", "verdict", "in shorter runs", "here", "kind"]


def side(text, cells):
    """The cells that one side of a comparison names, or its number as a cell."""
    if re.fullmatch(NUMBER, text):
        return [Line(column="", ours=text, ours_sd="0", pairs="2", verdict="")]
    return [c for c in cells if fnmatch.fnmatchcase(c["row"] + "." + c["column"], text)]


def judge(left, right):
    """The verdict on left > right; "run" or "not run" if there is only one cell."""
    if "not run" in (left["verdict"], right and right["verdict"]):
        return "not run"
    if not right:
        return "run"
    span = interval(*(sample(*(c[k] for k in ("column", "ours", "ours_sd", "pairs"))) for c in (left, right)))
    return "agrees" if span and span[0] > 0 else "differs" if span and span[1] < 0 else "undecided"


def outcomes(part, groups):
    """What the cells say that a part of a claim names. groups: by ITEM NETWORK DATA, cells by row and column."""
    words, found = part.split(), []
    if not re.fullmatch(r"(\S+ ){3}\S+( > \S+)?", part):
        raise Fault("'%s' must be ITEM NETWORK DATA CELL or ITEM NETWORK DATA CELL > CELL" % part)
    for cells in (group.values() for key, group in groups.items() if fnmatch.fnmatchcase(key, " ".join(words[:3]))):
        rights = side(words[5], cells) if words[5:] else [None]
        found += [judge(left, right) for left in side(words[3], cells) for right in rights]
    if not found:
        raise Fault("'%s' names no cells" % part)
    return found


def possible(found):
    """The verdicts by hand that these outcomes allow."""
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
    """Such as "8 of 9 agree, 1 undecided"; empty if nothing was compared."""
    if set(found) <= {"not run"} or "run" in found:
        return ""
    words = {"agrees": "agree", "differs": "differ", "undecided": "undecided", "not run": "not run"}
    texts = ["%d %s" % (found.count(v), words[v]) for v in words if v in found]
    return ", ".join(texts).replace(" ", " of %d " % len(found), 1)


def claims(path, lines):
    """The claims of a file, with the counts of their comparisons; and sentences on those that the cells contradict."""
    groups, shown, wrong = collections.defaultdict(dict), [], []
    for line in lines:
        *group, row, column = (line[k] for k in KEY)
        if line["verdict"] or not line["short"]:  # a cell's first line that has its verdict
            groups[" ".join(group)].setdefault((row, column), line)
    for claim in read(path)[1]:
        try:
            parts = claim["cells"].split(" & ") if claim["cells"] else []
            found = [verdict for part in parts for verdict in outcomes(part, groups)]
        except Fault as fault:
            raise Fault("%s: line %d: %s" % (*claim.place, fault)) from None
        missing = "%d not run" % found.count("not run")
        if claim["verdict"] not in possible(found):
            wrong.append("%s: line %d: the verdict is '%s', but its cells say %s" % (
                *claim.place, claim["verdict"], " or ".join(map(repr, possible(found)))))
        elif {"run", "not run"} <= set(found) and missing not in claim["here"]:
            wrong.append("%s: line %d: column here must say '%s'" % (*claim.place, missing))
        shown.append(Line(claim, here="; ".join(filter(None, [counts(found), claim["here"]]))))
    return shown, wrong


# ---- a table measured again ------------------------------------------------------------------------
KEYS = "data path pair curve end layer images quantity figure".split()  # the columns that tell rows apart


def excess(row, column, published, again):
    """The difference in tolerances, and the tolerance."""
    tolerance = 0.1
    if " loss " in row or re.search("loss|variation|identity|permuted", column):
        tolerance = 0.005  # losses and correlations
    elif column.startswith("above"):
        tolerance = 5  # percent of the points
    elif re.fullmatch("(differ|dead_[ab])(_sd)?", column):
        tolerance = 2  # units
    if published == again:
        return 0.0, tolerance
    figures = re.fullmatch(NUMBER, published) and re.fullmatch(NUMBER, again)
    return abs(float(published) - float(again)) / tolerance if figures else math.inf, tolerance


def compare_tables(published, again):
    """A line for each row with the figure that differs most; and the status, 1 if one is missing or differs too far."""
    (columns, old), (others, new) = read(published), read(again)
    text, status = ["row\tfigures\tdiffers most\tpublished\tagain\ttolerance"], 0 if old else 1
    if columns != others:
        return "%s\nother columns: %s\n" % (text[0], "\t".join(others)), 1
    keys = [c for c in columns if c in KEYS and not (c == "data" and columns[0] == "network")]
    old, new = ({" ".join(line[c] for c in keys): line for line in lines} for lines in (old, new))
    figures = [c for c in columns if not re.match("(at_t|network$|data$|reference$)", c) and c not in KEYS]
    for row, line in old.items():
        if row not in new:
            text.append(row + "\tnot measured again")
            status = 1
            continue
        far = {c: excess(" %s " % row, c, line[c], new[row][c]) for c in figures}
        worst = max(far, key=lambda c: far[c][0])
        text.append("%s\t%d\t%s\t%s\t%s\t%g" % (row, len(figures), worst, line[worst], new[row][worst], far[worst][1]))
        status = 1 if far[worst][0] > 1.000001 else status
    text += [row + "\tnot published" for row in new if row not in old] + ([] if old else ["no rows"])
    return "\n".join(text) + "\n", status


# ---- the command -----------------------------------------------------------------------------------
def report(paper, lines, numbers):
    for name, text in ("tsv", tsv(COLUMNS, lines)), ("md", markdown(COLUMNS, numbers)):
        write(os.path.join(paper, "verdicts." + name), text)
    tally = sorted("%d %s" % (n, v) for v, n in collections.Counter(line["verdict"] for line in numbers).items())
    return "numbers of the paper: %s; %s/verdicts.md, verdicts.tsv\n" % (",".join(tally), paper)


def main():
    parser = Parser("compare.py", __doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in "cells", "claims", "report":
        command = commands.add_parser(name)
        command.add_argument("paper", metavar="PAPER")
        command.add_argument("-f", dest="form", metavar="FORM", choices=["markdown", "tsv"], default="markdown")
        command.add_argument("-c", dest="claims", metavar="CLAIMS", default=os.path.join(HERE, "claims.tsv"))
    command = commands.add_parser("tables")
    command.add_argument("published", metavar="PUBLISHED")
    command.add_argument("again", metavar="AGAIN")
    options = parser.parse_args()
    if options.command == "tables":
        return compare_tables(options.published, options.again)
    lines = list(cells(options.paper))
    numbers = [line for line in lines if line["paper"]]
    if options.command != "claims" and not any(line["folder"] for line in lines):
        print("compare.py: %s: no tables (expected folders such as tinyten-cifar10)" % options.paper, file=sys.stderr)
    if options.command == "report":
        return report(options.paper, lines, numbers), 0
    if options.command == "cells":
        return tsv(COLUMNS, lines) if options.form == "tsv" else markdown(COLUMNS, numbers), 0
    shown, wrong = claims(options.claims, lines)
    for sentence in wrong:
        print("compare.py: " + sentence, file=sys.stderr)
    return (tsv if options.form == "tsv" else markdown)(CLAIMS, shown), 1 if wrong else 0


if __name__ == "__main__":
    run(main)
