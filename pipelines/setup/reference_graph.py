#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""formats/codecs/graph.md with its tables of operations and settings made from ops.json: reference_graph.py > graph.md

Comments mark the start and the end of each table. Operations with the same inputs and output
share a line, and so do equal settings of several operations."""
import json
import os
import sys

FORMATS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../formats")


def text_of(path):
    with open(os.path.join(FORMATS, path), encoding="utf-8") as f:
        return f.read()


def table(heads, lines):
    """A Markdown table."""
    return "".join("| %s |\n" % " | ".join(cells) for cells in [heads, ["---"] * len(heads), *lines])


def names(ops):
    return ", ".join("`%s`" % op for op in ops)


def operations(ops):
    lines = {}
    for op in ops:
        lines.setdefault((op["in"], op["out"]), []).append(op["name"])
    return table(["op", "`in`", "output"], [(names(of), *texts) for texts, of in lines.items()])


def values(setting):
    """The valid values, and the value of a setting that is left out."""
    absent = setting.get("absent", "")
    default = absent if isinstance(absent, str) else "%g" % absent
    return setting["values"] + ("; left out: " + default) * bool(default)


def settings(ops):
    """The table of settings: initialisations last, the others in the order of their first operation. In each operation,
    this must be the order of writing."""
    def row(s):
        return s["type"] == "init", s["key"], values(s), s["meaning"]

    lines, order = {}, []
    for op in ops:
        at = len(order)
        for s in reversed(op["settings"]):  # a new setting precedes what follows it in its operation
            lines.setdefault(row(s), []).append(op["name"])
            if row(s) in order:
                at = order.index(row(s))
            else:
                order.insert(at, row(s))
    order.sort(key=lambda line: line[0])
    for op in ops:
        places = [order.index(row(s)) for s in op["settings"]]
        if places != sorted(places):
            sys.exit("reference_graph: %s writes its settings in another order than the table" % op["name"])
    return table(["setting", "of", "value", "meaning"],
                 [("`%s`" % line[1], names(lines[line]), *line[2:]) for line in order])


def main():
    page, ops = text_of("codecs/graph.md"), json.loads(text_of("python/mcz/ops.json"))["ops"]
    for name, text in ("operations", operations(ops)), ("settings", settings(ops)):
        before, start, rest = page.partition("<!-- %s: make reference writes this table -->\n\n" % name)
        _, end, after = rest.partition("\n<!-- end of the %s -->" % name)
        if not start or not end:
            sys.exit("reference_graph: graph.md must have the comments around the table of %s" % name)
        page = before + start + text + end + after
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
