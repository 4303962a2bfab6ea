#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write docs/results/index.md, or the paper's tables 1 and 2, to standard output.

  pages.py results [FOLDER [PAPER]]
  pages.py tables [-f FORM] accuracy|loss [NAME=]OUT...

results: FOLDER (results/ here) has text.md, written by hand, and tables. PAPER (published/ here) has the published
experiments: their tables are NETWORK-DATA/NAME.tsv, and compare.py makes cells.tsv and claims.tsv of them. In text.md

  <!-- table: FILE; COLUMN=TEXT; COLUMN!=TEXT; show=a,b; form=%.2f -->
                  is replaced by the rows of a table that satisfy all conditions ("None." without a row), with
                  these columns and decimals in this form
  {{FILE; COLUMN=TEXT}}
                  by the number of such rows
  {{FILE; COLUMN=TEXT; value=COLUMN; form=%.1f}}
                  by that column of the one such row

tables: networks by data sets, from what connect.mk, and pam.mk if it was run too, measured in each OUT. FORM is
markdown (default), latex (a tabular, with booktabs) or tsv (a row per curve). accuracy: test accuracy along the learned
curves, the mean by arc length and the minimum; in a network's own row that of its ends. loss: the mean objective, with
weight decay, of the last epoch of each curve; in a network's own row that of its training. Mean ± standard deviation
(n - 1) over the pairs (over all networks in that row of losses); without ± for one. NAME replaces the network's name.
"""
import argparse
import os
import re

from cells import COLUMNS, HERE, cells
from compare import CLAIMS, claims
from tsv import NUMBER, Fault, Line, Parser, markdown, read, run, tsv


# ---- docs/results/index.md -------------------------------------------------------------------------------
class Page:
    """The tables that a text names: those made of PAPER, files of FOLDER, files of PAPER."""

    def __init__(self, folder, paper):
        self.folders, self.tables = (folder, paper), {}

    def table(self, name):
        if name not in self.tables:
            self.tables[name] = self.load(name)
        return self.tables[name]

    def load(self, name):
        if name == "cells.tsv":
            return COLUMNS, list(cells(self.folders[1]))
        if name == "claims.tsv":
            shown, wrong = claims(os.path.join(HERE, name), self.table("cells.tsv")[1])
            if wrong:
                raise Fault(wrong[0])
            return CLAIMS, shown
        for path in (os.path.join(f, name) for f in self.folders):
            if os.path.exists(path):
                return read(path)
        raise Fault("table '%s' is missing" % name)

    def pick(self, text):
        """The columns of a table, the lines that satisfy all conditions, and the words show, value and form."""
        name, *parts = text.split("; ")
        (columns, lines), words = self.table(name), {}
        for part in parts:
            column, sign, value = part.partition("=")
            if not sign:
                raise Fault("'%s' must be COLUMN=TEXT" % part)
            if column in ("show", "value", "form"):
                words[column] = value
            else:
                lines = [line for line in lines if (line[column.rstrip("!")] == value) != column.endswith("!")]
        if "form" in words:
            lines = [Line({c: decimals(words["form"], c, v) for c, v in line.items()}) for line in lines]
        return columns, lines, words

    def show(self, match):
        columns, lines, words = self.pick(match[1])
        if "show" in words:
            columns = [c for s in words["show"].split(",") for c in (s, s + "_sd") if c in columns or c == s]
        return markdown(columns, lines)[:-1]

    def number(self, match):
        _, lines, words = self.pick(match[1])
        if "value" in words and len(lines) != 1:
            raise Fault("'%s': %d rows instead of 1" % (match[1], len(lines)))
        return lines[0][words["value"]] if "value" in words else str(len(lines))


def decimals(form, column, text):
    return form % float(text) if "." in text and re.fullmatch(NUMBER, text) and not column.endswith("_sd") else text


def results(folder, paper):
    page, text, path = Page(folder, paper), "", os.path.join(folder, "text.md")
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                line = re.sub(r"^<!-- table: (.*) -->$", page.show, line)
                text += re.sub(r"\{\{([^}]*)\}\}", page.number, line)
            except Fault as fault:
                raise Fault("%s:%d: %s" % (path, number, fault.args[0]), *fault.args[1:]) from None
    return text


# ---- tables 1 and 2 --------------------------------------------------------------------------------
FIGURES = {"accuracy": ["ends", "arc_mean", "minimum"], "loss": ["objective"]}
PAPERS_CURVES = ["unaligned", "pam-unaligned", "pam-aligned", "aligned"]


def check(line, what):
    for column in FIGURES[what]:
        line.number(column)
        if line[column + "_sd"]:
            line.number(column + "_sd")


def collect(what, operands):
    """found[network][data][curve]: the line of a table; the network's own figures are those of the curve ""."""
    found = {}
    for operand in operands:
        label, _, folder = operand.rpartition("=")
        # training.tsv has PAM's curves itself, pam.tsv also those of table.tsv
        kind, first = ("path", folder + "/table.tsv") if what == "accuracy" else ("training", folder + "/training.tsv")
        more = folder + "/pam.tsv"
        for path in [first, more] if what == "accuracy" and os.path.exists(more) else [first]:
            lines = [line for line in read(path)[1] if line[kind] == "network" or line[kind].startswith("curve-")]
            for line in lines:
                check(line, what)
                network = label or line["network"]
                rows = found.setdefault(network, {}).setdefault(line["data"], {})
                if what == "accuracy" or line[kind] == "network":
                    rows[""] = line
                other = rows.setdefault(line[kind].partition("-")[2], line)
                if other is not line and (path == first or other.place[0] != first):
                    text = "%s: %s on %s is in %s too (NAME=OUT renames it)"
                    raise Fault(text % (path, network, line["data"], other.place[0]))
                if other != line:
                    text = "%s: its '%s' differs from table.tsv's (run pam.mk with the settings of connect.mk)"
                    raise Fault(text % (path, line[kind]))
            if not any(line[kind] != "network" for line in lines):
                raise Fault("%s: has no curves (CURVE_EPOCHS=0?)" % path)
    return found


def paper_table(what, form, operands):
    found = collect(what, operands)
    sets = list(dict.fromkeys(data for of_network in found.values() for data in of_network))
    rows = []  # network, curve
    for network, of_network in found.items():
        curves = dict.fromkeys(["", *PAPERS_CURVES, *(c for rows_of_set in of_network.values() for c in rows_of_set)])
        rows += [(network, c) for c in curves if not c or any(c in rows_of_set for rows_of_set in of_network.values())]
    if form == "tsv":
        columns = ["pairs"] if what == "accuracy" else ["runs", "epochs"]
        columns = ["network", "data", "curve", *columns, *(c + sd for c in FIGURES[what] for sd in ("", "_sd"))]
        lines = []
        for network, data in ((n, d) for n in found for d in sets if d in found[n]):
            shown = [c for n, c in rows if n == network and c and c in found[n][data]]
            lines += [Line(found[network][data][c], network=network, curve=c) for c in shown]
        return tsv(columns, lines)
    latex, shown = form == "latex", FIGURES[what][1:] or FIGURES[what]

    def escaped(text):
        return re.sub(r"([_%&#$])", r"\\\1", text) if latex else text.replace("|", r"\|")

    def value(network, curve, data, column):
        line, own = found[network].get(data, {}).get(curve), FIGURES[what][0]
        if not line or not curve and column != shown[0]:
            return ""
        column = column if curve else own
        parts = ["%.*f" % (1 if what == "accuracy" else 3, float(x)) for x in (line[column], line[column + "_sd"]) if x]
        return "$%s$" % r" \pm ".join(parts) if latex else " ± ".join(parts)

    def put(*cells):
        return " & ".join(cells) + r" \\" if latex else "| " + " | ".join(cells) + " |"

    titles = {"arc_mean": ", mean", "minimum": ", min.", "objective": ""}
    corner = ("Model " if latex else "model ") + escaped("(test accuracy, %)" if what == "accuracy" else "(objective)")
    head = [corner, *(escaped(d) + titles[c] for d in sets for c in shown)]
    text = [put(*head), put("---", *["---:"] * (len(head) - 1))]
    if latex:
        text = [r"\begin{tabular}{l%s}" % ("r" * (len(head) - 1)), r"\toprule", put(*head)]
    for network, curve in rows:
        name = escaped(curve or network) if latex or curve else "**%s**" % escaped(network)
        text += [r"\midrule"] if latex and not curve else []
        text.append(put(name, *(value(network, curve, d, c) for d in sets for c in shown)))
    return "\n".join(text + ([r"\bottomrule", r"\end{tabular}"] if latex else [])) + "\n"


def main():
    parser = Parser("pages.py", __doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    results_parser, tables_parser = commands.add_parser("results"), commands.add_parser("tables")
    results_parser.add_argument("folder", metavar="FOLDER", nargs="?", default=os.path.join(HERE, "results"))
    results_parser.add_argument("paper", metavar="PAPER", nargs="?", default=os.path.join(HERE, "published"))
    forms = ["markdown", "latex", "tsv"]
    tables_parser.add_argument("-f", dest="form", metavar="FORM", choices=forms, default="markdown")
    tables_parser.add_argument("what", metavar="accuracy|loss", choices=FIGURES)
    tables_parser.add_argument("folders", metavar="[NAME=]OUT", nargs="+")
    options = parser.parse_args()
    if options.command == "results":
        return results(options.folder, options.paper), 0
    return paper_table(options.what, options.form, options.folders), 0


if __name__ == "__main__":
    run(main)
