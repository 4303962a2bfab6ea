#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write the pages of docs/results/, or the paper's tables 1 and 2.

  pages.py results OUT [FOLDER [PAPER]]
  pages.py tables [-f FORM] accuracy|loss [NAME=]OUT...

results: writes each page NAME.md of FOLDER (results/ here) to OUT. Pages may name tables of FOLDER, NAME.tsv, and of the
published cases in PAPER (published/ here), NETWORK-DATA/NAME.tsv. Four more are derived from PAPER: cells.tsv and
numbers.tsv (each cell or number of the paper, and ours), claims.tsv, and effects.tsv (aligned minus unaligned). OUT has
numbers.tsv and claims.tsv too if a page names them. In a page,

  <!-- table: TABLE; COLUMN=TEXT; COLUMN!=TEXT; show=a,b:TITLE; form=%.2f -->
        is replaced by the rows that satisfy all conditions, with these columns and decimals in this form; * in TEXT
        matches any text; "None." if no row does
  {{TABLE; COLUMN=TEXT; show=a,b; form=%.1f}}
        by these columns, with deviations, of the one row that does, joined by " | "
  {{TABLE; COLUMN=TEXT}}
        by the number of rows
  <!-- let: NAME = TABLE; COLUMN=TEXT -->
        is removed; NAME stands for TABLE and these conditions in the rest of the page

tables: prints networks by data sets, as measured by connect.mk (and pam.mk if it ran) in each OUT. FORM is markdown
(default), latex (a tabular, with booktabs) or tsv (a row per curve). accuracy: test accuracy along the learned curves,
the mean by arc length and the minimum; a network's own row has that of its ends. loss: the mean objective, with weight
decay, of the last epoch of each curve; a network's own row has that of its training. Mean ± standard deviation (n - 1)
over the pairs (over all networks in that row of losses); without ± for one. NAME replaces the network's name.
"""
import fnmatch
import os
import re

from cells import COLUMNS, EFFECTS, HERE, cells, effects
from claims import CLAIMS, claims
from tsv import NUMBER, Fault, Line, Parser, markdown, read, run, tsv, write


# ---- docs/results/ ---------------------------------------------------------------------------------
class Tables:
    """The tables that pages name: derived from PAPER, or files of FOLDER or PAPER."""

    def __init__(self, folder, paper):
        self.folders, self.tables = (folder, paper), {}

    def __getitem__(self, name):
        if name not in self.tables:
            self.tables[name] = self.load(name)
        return self.tables[name]

    def load(self, name):
        if name == "cells.tsv":
            return COLUMNS, list(cells(self.folders[1]))
        if name == "numbers.tsv":
            return COLUMNS, [line for line in self["cells.tsv"][1] if line["paper"]]
        if name == "effects.tsv":
            return EFFECTS, list(effects(self["cells.tsv"][1]))
        if name == "claims.tsv":
            lines, contradictions = claims(os.path.join(HERE, name), self["cells.tsv"][1])
            if contradictions:
                raise Fault(contradictions[0])
            return CLAIMS, lines
        for path in (os.path.join(f, name) for f in self.folders):
            if os.path.exists(path):
                return read(path)
        raise Fault("table '%s' is missing" % name)


class Page:
    """A page's text, with its tables and numbers."""

    def __init__(self, tables):
        self.tables, self.names = tables, {}

    def let(self, match):
        self.names[match[1]] = match[2]
        return ""

    def pick(self, text):
        """The columns of a table, the lines that satisfy all conditions, and the columns to show."""
        name, *parts = text.split("; ")
        name, *more = self.names.get(name, name).split("; ")
        (columns, lines), words = self.tables[name], {}
        for part in more + parts:
            column, sign, value = part.partition("=")
            if not sign:
                raise Fault("'%s' must be COLUMN=TEXT" % part)
            if column in ("show", "form"):
                words[column] = value
            else:
                name, equal = column.rstrip("!"), not column.endswith("!")
                lines = [line for line in lines if fnmatch.fnmatchcase(line[name], value) == equal]
        if "form" in words:
            lines = [Line({c: decimals(words["form"], v) for c, v in line.items()}) for line in lines]
        return columns, lines, [s.partition(":")[::2] for s in re.split(",(?! )", words["show"])] if "show" in words else []

    def table(self, match):
        columns, lines, show = self.pick(match[1])
        if show:
            lines = [Line({t or c: shown(line, c) for c, t in show}) for line in lines]
            columns = [t or c for c, t in show]
        return markdown(columns, lines)[:-1]

    def number(self, match):
        _, lines, show = self.pick(match[1])
        if show and len(lines) != 1:
            raise Fault("'%s': %d rows instead of 1" % (match[1], len(lines)))
        return " | ".join(shown(lines[0], c) for c, _ in show) or str(len(lines))

    def line(self, text):
        text = re.sub(r"^<!-- let: (\w+) = (.*) -->\n", self.let, text)
        text = re.sub(r"^<!-- table: (.*) -->$", self.table, text)
        return re.sub(r"\{\{([^}]*)\}\}", self.number, text)


def shown(line, column):
    return line[column] + (" ± " + line[column + "_sd"] if line.get(column + "_sd") else "")


def decimals(form, text):
    """The number in this form, but with no more decimals than it has."""
    if "." not in text or not re.fullmatch(NUMBER, text):
        return text
    number = form % float(text)
    return text if len(number.partition(".")[2]) > len(text.partition(".")[2]) else number


def results(out, folder, paper):
    tables, pages = Tables(folder, paper), {}
    for name in sorted(name for name in os.listdir(folder) if name.endswith(".md")):
        page, path = Page(tables), os.path.join(folder, name)
        pages[name] = "<!-- make results writes this page: edit pipelines/paper/results/%s -->\n" % name
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    pages[name] += page.line(line)
                except Fault as fault:
                    raise Fault("%s:%d: %s" % (path, number, fault.args[0]), *fault.args[1:]) from None
    pages.update((name, tsv(*table)) for name, table in tables.tables.items() if name in ("numbers.tsv", "claims.tsv"))
    os.makedirs(out, exist_ok=True)
    for name, text in pages.items():
        write(os.path.join(out, name), text)
    return ""


# ---- tables 1 and 2 --------------------------------------------------------------------------------
FIGURES = {"accuracy": ["ends", "arc_mean", "minimum"], "loss": ["objective"]}
PAPERS_CURVES = ["unaligned", "pam-unaligned", "pam-aligned", "aligned"]


def check(line, figure):
    for column in FIGURES[figure]:
        line.number(column)
        if line[column + "_sd"]:
            line.number(column + "_sd")


def collect(figure, operands):
    """found[network][data][curve]: the line of a table; the network's own figures are those of the curve ""."""
    found = {}
    for operand in operands:
        label, _, folder = operand.rpartition("=")
        # training.tsv has PAM's curves itself, pam.tsv also those of table.tsv
        key, first = ("path", folder + "/table.tsv") if figure == "accuracy" else ("training", folder + "/training.tsv")
        more = folder + "/pam.tsv"
        for path in [first, more] if figure == "accuracy" and os.path.exists(more) else [first]:
            lines = [line for line in read(path)[1] if line[key] == "network" or line[key].startswith("curve-")]
            for line in lines:
                check(line, figure)
                network = label or line["network"]
                rows = found.setdefault(network, {}).setdefault(line["data"], {})
                if figure == "accuracy" or line[key] == "network":
                    rows[""] = line
                other = rows.setdefault(line[key].partition("-")[2], line)
                if other is not line and (path == first or other.place[0] != first):
                    text = "%s: %s on %s is in %s too (NAME=OUT renames it)"
                    raise Fault(text % (path, network, line["data"], other.place[0]))
                if other != line:
                    text = "%s: its '%s' differs from table.tsv's (run pam.mk with the settings of connect.mk)"
                    raise Fault(text % (path, line[key]))
            if not any(line[key] != "network" for line in lines):
                raise Fault("%s: has no curves (CURVE_EPOCHS=0?)" % path)
    return found


def paper_table(figure, form, operands):
    found = collect(figure, operands)
    sets = list(dict.fromkeys(data for of_network in found.values() for data in of_network))
    rows = []  # network, curve
    for network, of_network in found.items():
        curves = dict.fromkeys(["", *PAPERS_CURVES, *(c for rows_of_set in of_network.values() for c in rows_of_set)])
        rows += [(network, c) for c in curves if not c or any(c in rows_of_set for rows_of_set in of_network.values())]
    if form == "tsv":
        columns = ["pairs"] if figure == "accuracy" else ["runs", "epochs"]
        columns = ["network", "data", "curve", *columns, *(c + sd for c in FIGURES[figure] for sd in ("", "_sd"))]
        lines = []
        for network, data in ((n, d) for n in found for d in sets if d in found[n]):
            kept = [c for n, c in rows if n == network and c and c in found[n][data]]
            lines += [Line(found[network][data][c], network=network, curve=c) for c in kept]
        return tsv(columns, lines)
    latex, columns = form == "latex", FIGURES[figure][1:] or FIGURES[figure]

    def escaped(text):
        return re.sub(r"([_%&#$])", r"\\\1", text) if latex else text.replace("|", r"\|")

    def value(network, curve, data, column):
        line, own = found[network].get(data, {}).get(curve), FIGURES[figure][0]
        if not line or not curve and column != columns[0]:
            return ""
        column = column if curve else own
        parts = ["%.*f" % (1 if figure == "accuracy" else 3, float(x)) for x in (line[column], line[column + "_sd"]) if x]
        return "$%s$" % r" \pm ".join(parts) if latex else " ± ".join(parts)

    def put(*cells):
        return " & ".join(cells) + r" \\" if latex else "| " + " | ".join(cells) + " |"

    titles = {"arc_mean": ", mean", "minimum": ", min.", "objective": ""}
    corner = ("Model " if latex else "model ") + escaped("(test accuracy, %)" if figure == "accuracy" else "(objective)")
    head = [corner, *(escaped(d) + titles[c] for d in sets for c in columns)]
    text = [put(*head), put("---", *["---:"] * (len(head) - 1))]
    if latex:
        text = [r"\begin{tabular}{l%s}" % ("r" * (len(head) - 1)), r"\toprule", put(*head)]
    for network, curve in rows:
        name = escaped(curve or network) if latex or curve else "**%s**" % escaped(network)
        text += [r"\midrule"] if latex and not curve else []
        text.append(put(name, *(value(network, curve, d, c) for d in sets for c in columns)))
    return "\n".join(text + ([r"\bottomrule", r"\end{tabular}"] if latex else [])) + "\n"


def main():
    parser = Parser("pages.py", __doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    results_parser, tables_parser = commands.add_parser("results"), commands.add_parser("tables")
    results_parser.add_argument("out", metavar="OUT")
    results_parser.add_argument("folder", metavar="FOLDER", nargs="?", default=os.path.join(HERE, "results"))
    results_parser.add_argument("paper", metavar="PAPER", nargs="?", default=os.path.join(HERE, "published"))
    forms = ["markdown", "latex", "tsv"]
    tables_parser.add_argument("-f", dest="form", metavar="FORM", choices=forms, default="markdown")
    tables_parser.add_argument("figure", metavar="accuracy|loss", choices=FIGURES)
    tables_parser.add_argument("folders", metavar="[NAME=]OUT", nargs="+")
    options = parser.parse_args()
    if options.command == "results":
        return results(options.out, options.folder, options.paper), 0
    return paper_table(options.figure, options.form, options.folders), 0


if __name__ == "__main__":
    run(main)
