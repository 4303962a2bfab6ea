#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as one Markdown page: reference_python.py > docs/reference/python.md

Each module of MODULES has a section, and each name in its __all__ an entry, made from signatures and docstrings. A class's
public methods are entries too. Reads the sources without importing them, so it needs no other package.

A docstring consists of paragraphs. Indented by 4, it is an example. If its first line is a name, two spaces and a text, it
is a list of arguments or attributes. An entry without an example is an error."""
import ast
import os
import re
import sys
import textwrap

PACKAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../formats/python")
MODULES = "mcz", "mcz.torch", "mcz.symmetry", "mcz.table", "mcz.groups", "mcz.data", "mcz.safetensors"
HEAD = """\
# Python

Every public function of the Python package `mcz`, made from its docstrings. `make reference` writes this page; do not edit it.
[guides/any-module.md](../guides/any-module.md) and the [notebook](../notebooks/align.ipynb) show how the functions work together.

The examples share these names: `net`, `a` and `b` are networks of one class `Net`. `x` is a batch of inputs, `loader` and `test` are
lists of batches (inputs, labels). The `.mcz` files are streams of these networks."""


def path_of(module):
    """The source file of a module."""
    name = os.path.join(PACKAGE, *module.split("."))
    return os.path.join(name, "__init__.py") if os.path.isdir(name) else name + ".py"


def tree_of(module):
    with open(path_of(module), encoding="utf-8") as f:
        return ast.parse(f.read())


def public(module):
    """The names in __all__."""
    return next(ast.literal_eval(n.value) for n in tree_of(module).body
                if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")


def docstring(node):
    """The docstring of a node without the indentation of its code, or None."""
    if not ast.get_docstring(node, clean=False):
        return None
    first, *rest = ast.get_docstring(node, clean=False).split("\n")
    return "\n".join([first] + [line[node.body[0].col_offset:] for line in rest]).strip()


def definition(module, name):
    """(node, docstring) of a name of a module, also if it is imported from another module of the package."""
    found, text = None, None
    for n in tree_of(module).body:
        if isinstance(n, ast.ImportFrom) and name in [a.asname or a.name for a in n.names]:
            package = module if path_of(module).endswith("__init__.py") else module.rpartition(".")[0]
            return definition(".".join(filter(None, [package if n.level else "", n.module])), name)
        if getattr(n, "name", None) == name:
            found, text = n, docstring(n)
        elif isinstance(n, ast.Assign):
            target = ast.unparse(n.targets[0])
            if target == name:
                found = n
            elif target == name + ".__doc__":
                text = n.value.value
    return found, text


def signature(node, first=False):
    """The arguments of a function without annotations. first: leave the first one out."""
    args = node.args
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
        a.annotation = None
    if first:
        args.args = args.args[1:]
    return "(%s)" % ast.unparse(args).replace("'", '"')


def is_code(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def paragraphs(text):
    """[(kind, text)] of a docstring: "text", "example" (Python), "block" (anything else that is indented) or "list"."""
    found = []
    for part in re.split(r"\n\n+(?! {4})|\n\n+(?= {4})", text.strip("\n")):
        if part.startswith("    "):
            part = textwrap.dedent(part).strip()
            found.append(("example" if is_code(part) else "block", part))
        else:
            found.append(("list" if re.match(r"\S+(, \S+)* {2,}\S", part) else "text", part))
    return found


def rows(text):
    """[(name, description)] of a list."""
    found = []
    for line in text.splitlines():
        if line.startswith(" "):
            found[-1][1] += " " + line.strip()
        else:
            found.append(list(re.split(r" {2,}", line, maxsplit=1)))
    return found


def markdown(text):
    """The Markdown of a docstring, with links to the pages that it names."""
    for kind, part in paragraphs(text):
        if kind in ("list", "text"):
            part = re.sub(r"\b((?:docs|formats)/[\w/-]+\.md)", r"[\1](../../\1)", part)
        if kind == "list":
            lines = ["| | |", "| --- | --- |"]
            lines += ["| %s | %s |" % (", ".join("`%s`" % n for n in name.split(", ")), says.replace("|", r"\|"))
                      for name, says in rows(part)]
            yield "\n".join(lines)
        elif kind == "text":
            yield part
        else:
            yield "```%s\n%s\n```" % ("python" if kind == "example" else "", part)


def entries():
    """Yields (module, heading, call, docstring) of each public name."""
    for module in MODULES:
        for name in sorted(public(module), key=lambda n: (n.lower(), n)):
            node, text = definition(module, name)
            full = "%s.%s" % (module, name)
            if isinstance(node, ast.Assign):
                yield module, full, "%s = %s" % (full, ast.unparse(node.value).replace("'", '"')) if not text else full, text
                continue
            if isinstance(node, ast.FunctionDef):
                yield module, full, full + signature(node), text
                continue
            methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
            made = "__init__" in methods and name in ("Curve", "Error")  # others are results of functions
            yield module, full, full + signature(methods["__init__"], True) if made else full, text
            for m in methods.values():
                if not m.name.startswith("_"):
                    heading = "%s.%s" % (name, m.name)
                    yield module, heading, heading + signature(m, True), docstring(m)


def examples():
    """Yields (heading, code) of each entry. Error if one has none."""
    for _, heading, call, text in entries():
        if text is None and " = " in call:
            continue
        found = [part for kind, part in paragraphs(text or "") if kind == "example"]
        if not found:
            sys.exit("reference_python: %s has no example" % heading)
        yield heading, "\n".join(found)


def main():
    list(examples())
    print(HEAD)
    seen = None
    for module, heading, call, text in entries():
        if module != seen:
            print("\n## %s\n" % module)
            print("\n\n".join(markdown(docstring(tree_of(module)))))
            seen = module
        print("\n### %s" % heading)
        if call != heading:
            print("\n```python\n%s\n```" % call)
        if text:
            print("\n" + "\n\n".join(markdown(text)))


if __name__ == "__main__":
    main()
