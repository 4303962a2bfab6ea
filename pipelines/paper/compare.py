#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what the experiments measured with the paper's numbers and claims, or with the same tables measured before.

  compare.py cells [-f FORM] PAPER      print each number of the paper (paper.tsv) with ours and a verdict
  compare.py claims [-f FORM] [-c CLAIMS] PAPER
                                        print each claim of the paper (claims.tsv); exit with 1 and name the claims
                                        whose verdict contradicts the cells
  compare.py report PAPER               write cells to PAPER/verdicts.tsv and PAPER/verdicts.md, and print how many
                                        cells have each verdict
  compare.py tables PUBLISHED AGAIN     compare a published table with the same table measured again: per row the
                                        value that differs most, relative to its tolerance; exit with 1 if one
                                        exceeds it

FORM is markdown (default) or tsv. PAPER/NETWORK-DATA is the OUT of connect.mk, pam.mk, measures.mk, middle.mk and
subsets.mk, PAPER/grid-NETWORK-DATA of grid.mk, PAPER/robust-NETWORK-DATA of robust.mk, PAPER/bound-mlp-DATA of bound.mk.
A name may end in -WORDS. If folders have different values of a cell, each has a row.

A folder's file `length` has one line. At the paper's length it is: epochs=250 curve_epochs=250 permutation_epochs=20
points=65 pam=as-paper train_images=all (200 and 200 epochs for robust curves). If a folder has less, or no such file,
column `short` of its cells has the difference, and they count as not run. For PAM's cells this includes `pam`, the kind
of permutation step.

A verdict follows from Welch's 95% interval of ours minus the paper's, from both means and deviations over pairs. It
includes the paper's rounding.
  differs         the interval does not contain 0
  agrees          it contains 0 and is at most half as wide as the effect of alignment: the paper's aligned minus its
                  unaligned value, or a number of the text itself
  undecided       it is wider, or does not exist (one pair); "cannot agree": it is wider with any number of pairs
  not comparable  the authors' code measures another quantity; the note names it
  not run         missing, or not at full length
Exact repetitions differ in 3 to 4% of the cells.

A claim's verdict in claims.tsv is written by hand and checked against the comparisons in its column `cells`, which are
evaluated for runs at the paper's length, for shorter runs, and for the paper's own numbers. claims.py explains them. The
verdict is `in part` if some cells have not run, and `built` if a program or experiment shows the claim and no cell decides it.
"""
import collections
import math
import os
import re
import sys

from cells import COLUMNS, HERE, cells
from claims import CLAIMS, claims
from tsv import NUMBER, Fault, Parser, markdown, read, run, tsv, write


# ---- a table measured again ------------------------------------------------------------------------
# columns that identify a row
KEYS = """data path pair curve end layer images quantity figure t x y mark name training lr batch way outer of weights
    matching order""".split()


def excess(row, column, published, again):
    """The difference divided by its tolerance, and the tolerance."""
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
    """A line per row with the value that differs most; and the status: 1 if a row is missing or exceeds a tolerance."""
    (columns, old), (others, new) = read(published), read(again)
    text, status = ["row\tfigures\tdiffers most\tpublished\tagain\ttolerance"], 0 if old else 1
    if columns != others:
        return "%s\nother columns: %s\n" % (text[0], "\t".join(others)), 1
    keys = [c for c in columns if c in KEYS and not (c == "data" and columns[0] == "network")]
    rows = len(old)
    keys = keys or columns[:1] if rows > 1 else keys
    old, new = ({" ".join(line[c] for c in keys): line for line in lines} for lines in (old, new))
    if len(old) < rows:
        raise Fault("%s: several rows have the same %s" % (published, ", ".join(keys)))
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
        if name != "report":
            command.add_argument("-f", dest="form", metavar="FORM", choices=["markdown", "tsv"], default="markdown")
        if name == "claims":
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
