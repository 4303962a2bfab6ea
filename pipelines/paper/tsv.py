# SPDX-License-Identifier: Apache-2.0
"""Tables of tab-separated values, and the start and end of the programs here."""
import argparse
import collections
import os
import re
import sys

NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?"


class Fault(Exception):
    """A message for the user, and the exit status if it is not 3."""


class Parser(argparse.ArgumentParser):
    """Parses a program's options; an invalid one is a Fault."""

    def __init__(self, prog, description=None, **settings):
        raw = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, argparse.SUPPRESS, description, formatter_class=raw, **settings)

    def error(self, message):
        raise Fault("%s (see %s --help)" % (message, os.path.basename(sys.argv[0])), 2)


def run(main):
    """Print the text that main returns and exit with the status that it returns."""
    try:
        text, status = main()
        sys.stdout.reconfigure(encoding="utf-8")
        print(text, end="", flush=True)
        fault = None
    except Fault as error:
        fault, status = [*error.args, 3][:2]
    except OSError as error:
        fault, status = "cannot use '%s': %s" % (error.filename or "standard output", error.strerror), 1
    except ImportError:
        fault, status = "SciPy is missing (Debian: python3-scipy)", 1
    if fault:
        print("%s: %s" % (os.path.basename(sys.argv[0]), fault), file=sys.stderr)
    sys.stderr.flush()
    os._exit(status)  # a plain exit would report a broken standard output again


class Line(dict):
    """A line of a table: cells by column name."""

    place = ("this table", 0)  # file, number

    def __missing__(self, column):
        raise Fault("%s: line 1: column '%s' is missing" % (self.place[0], column))

    def number(self, column):
        if not re.fullmatch(NUMBER, self[column]):
            raise Fault("%s: line %d: %s '%s' is not a number" % (*self.place, column, self[column]))
        return float(self[column])


def read(path):
    """The columns of a table and its lines."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        columns, *rows = [line.rstrip("\n").split("\t") for line in file] or [[]]
    lines = []
    for name, times in collections.Counter(columns).items():
        if times > 1:
            raise Fault("%s: two columns '%s'" % (path, name))
    for number, row in enumerate(rows, 2):
        if len(row) != len(columns):
            raise Fault("%s: line %d: %d columns, line 1 has %d" % (path, number, len(row), len(columns)))
        lines.append(Line(zip(columns, row)))
        lines[-1].place = path, number
    return columns, lines


def write(path, text):
    """Write a file whole or not at all."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def tsv(columns, lines):
    return "".join("\t".join(row) + "\n" for row in [columns, *([line[c] for c in columns] for line in lines)])


def markdown(columns, lines):
    """A table in Markdown; a column a_sd is shown in column a, as "1.0 ± 0.1"."""
    shown = [c for c in columns if not (c.endswith("_sd") and c[:-3] in columns)]
    rows = [[line[c] + (" ± " + line[c + "_sd"] if line.get(c + "_sd") else "") for c in shown] for line in lines]
    rows = [shown, ["---"] * len(shown), *rows]
    rows = [[" " + cell.replace("|", r"\|") if cell else "" for cell in row] for row in rows]
    return "".join("|%s |\n" % " |".join(row) for row in rows) if lines else "None.\n"
