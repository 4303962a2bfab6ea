# SPDX-License-Identifier: Apache-2.0
# The modules of the Python package import without a circle, and its folders only point downwards. Modules without PyTorch
# import none with it. mcz.torch defines no function: it names those of other modules. Imports are at the top of a file,
# except those of optional packages.
cat >imports.py <<'END'
import ast, os, sys

package = sys.argv[1]
FOLDERS = "mcz", "mcz.nn", "mcz.export", "mcz.symmetry", "mcz.modules", "mcz.torch"  # the lowest first
OPTIONAL = {"mcz.plot": "mcz.plot.pictures", "mcz.torch": "mcz.modules.program"}  # imported late, inside a function


def check(ok, text):
    if not ok:
        sys.exit("imports.py: " + text)


def name_of(path):
    parts = os.path.relpath(path, package)[:-3].split(os.sep)
    return ".".join(["mcz", *parts]).removesuffix(".__init__")


def folder(module):
    return max((f for f in FOLDERS if module == f or module.startswith(f + ".")), key=len)


paths = {name_of(p): p for top, _, names in os.walk(package) for p in (os.path.join(top, n) for n in names) if p.endswith(".py")}
edges, late, torch_users = {}, [], set()
for module, path in paths.items():
    with open(path) as f:
        tree = ast.parse(f.read())
    parent = module.split(".") if path.endswith("__init__.py") else module.split(".")[:-1]
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parent[:len(parent) - node.level + 1] if node.level else [])
            base = ".".join(filter(None, [base, node.module]))
            targets = [base + "." + a.name if base + "." + a.name in paths else base for a in node.names]
        else:
            continue
        for target in targets:
            if target.split(".")[0] == "torch":
                torch_users.add(module)
            if target.split(".")[0] == "mcz":
                check(target in paths, "%s imports %s, which is missing" % (module, target))
                if id(node) not in top:
                    late.append((module, target))
                else:
                    edges.setdefault(module, set()).add(target)

done, running = set(), []


def visit(module):
    check(module not in running, "circle: " + " -> ".join([*running, module]))
    if module not in done:
        running.append(module)
        for other in sorted(edges.get(module, ())):
            visit(other)
        done.add(running.pop())


for module in sorted(paths):
    visit(module)
for module, others in edges.items():
    for other in others:
        up = FOLDERS.index(folder(other)) > FOLDERS.index(folder(module))
        check(not up, "%s imports %s, which is in a higher folder" % (module, other))
for module in torch_users:
    check(folder(module) != "mcz", module + " imports PyTorch")
for pair in late:
    check(OPTIONAL.get(pair[0]) == pair[1], "%s imports %s inside a function" % pair)
with open(paths["mcz.torch"]) as f:
    defined = [n.name for n in ast.walk(ast.parse(f.read())) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
check(not defined, "mcz.torch defines " + ", ".join(defined))
print(len(paths), "modules")
END
/usr/bin/python3 imports.py "$MC_ROOT/formats/python/mcz" >found || die 'imports of the package'
# the test finds a circle, and an import of a higher folder
cp -r "$MC_ROOT/formats/python/mcz" mcz
echo 'from .writing import write' >>mcz/header.py
fails 1 'circle*mcz.header*mcz.writing' /usr/bin/python3 imports.py mcz
cp "$MC_ROOT/formats/python/mcz/header.py" mcz
echo 'from ..symmetry.axes import ONE' >>mcz/nn/inputs.py
fails 1 'mcz.nn.inputs*mcz.symmetry.axes*higher' /usr/bin/python3 imports.py mcz
