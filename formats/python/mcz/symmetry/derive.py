# SPDX-License-Identifier: Apache-2.0
"""Derive the permutation groups of any module: interpret its operations on axes (rules.py), then list the axes of its
parameters as rows of groups."""
import operator

import torch

from ..errors import Error, need
from ..groups import Row
from . import capture
from .axes import ONE, Atom, Product, Sum, at, atoms, confine, elements, fix, fixed, free, outer, terms, tie, vary
from .rules import Call, Value, apply, uniform

MAX_NAME = 100
STATISTICS = "batch_norm", "_native_batch_norm_legit_no_training", "instance_norm"


def _operation(node):
    """The name of an ATen operation without its overload."""
    return getattr(node.target, "_opname", None) or getattr(node.target, "__name__", str(node.target))


class Interpretation:
    """`axes`: {parameter: axes}, `values`: {node: Value or list}, `observed`: values that layers contract, in order."""

    def __init__(self, net, example):
        self.programs = [capture.export(net, example, n) for n in capture.SIZES]
        self.axes, self.values, self.observed, self.constants = {}, {}, [], {}
        signature = self.programs[0].graph_signature
        self.specs = {s.arg.name: s for s in signature.input_specs if hasattr(s.arg, "name")}
        self.alias = {}  # {data_ptr: parameter}
        self.state = {k: v for k, v in net.state_dict(keep_vars=True).items() if isinstance(v, torch.Tensor)}
        self._run(list(capture.pairs(self.programs)), {})
        for name in signature.user_outputs:
            for v in self._flat(self.values.get(name)):
                for e in v.axes:
                    fix(e, "output")

    @staticmethod
    def _flat(v):
        return [v] if isinstance(v, Value) else [x for y in v or () for x in Interpretation._flat(y)] if isinstance(
            v, (list, tuple)) else []

    def _sizes(self, x, y):
        """The encoded sizes of a node's value."""
        if isinstance(x, (list, tuple)):
            return [self._sizes(a, b) for a, b in zip(x, y)]
        return [capture.encoded(int(a), int(b)) for a, b in zip(x.shape, y.shape)] if isinstance(x, torch.Tensor) else []

    def _constant(self, node, tensor, sizes):
        """A tensor that depends on no parameter and no input. Its entries may be in any order along an axis on which they
        are equal."""
        same = uniform(sizes)
        axes = [free(n) if tensor.numel() and n < capture.BATCH and bool((tensor == tensor.select(k, 0).unsqueeze(k)).all())
                else fixed(n, "constant") for k, n in enumerate(sizes)]
        for k, e in enumerate(axes):
            if isinstance(e, Atom) and not e.fixed:
                axes[k] = same[k]
        self.constants[node.name] = tensor
        return Value(node.name, axes)

    def _placeholder(self, node, other):
        spec = self.specs.get(node.name)
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return None
        sizes = self._sizes(value, other.meta["val"])
        if spec.kind.name == "USER_INPUT":
            return Value(node.name, [fixed(n, "batch" if n % capture.BATCH == 0 else "input") for n in sizes])
        tensor = self.state.get(spec.target)
        if tensor is None:
            program = self.programs[0]
            return self._constant(node, program.constants.get(spec.target, program.state_dict.get(spec.target)), sizes)
        users = list(node.users)
        moves = spec.kind.name == "PARAMETER" or users and all(_operation(u) in STATISTICS for u in users)
        name = self.alias.setdefault((tensor.data_ptr(), tuple(tensor.shape)), spec.target)
        if name not in self.axes:
            self.axes[name] = [free(n) if moves else fixed(n, "buffer") for n in sizes]
            if moves and sizes and isinstance(self.axes[name][0], Atom):
                for e in self.axes[name][1:]:
                    if isinstance(e, Atom):
                        vary(e, self.axes[name][0])
        return Value(node.name, self.axes[name])

    def _argument(self, a, b):
        if isinstance(a, torch.fx.Node):
            return self.values.get(a.name)
        if isinstance(a, (list, tuple)):
            return [self._argument(x, y) for x, y in zip(a, b)]
        if type(a) is int and type(b) is int and a != b:
            return capture.encoded(a, b)
        return a

    def _run(self, nodes, given):
        for n, other in nodes:
            if n.op == "placeholder":
                self.values[n.name] = given[n.name] if n.name in given else self._placeholder(n, other)
            elif n.op == "call_function" and "_assert_" not in str(n.target):
                try:
                    self.values[n.name] = self._call(n, other)
                except AssertionError as e:
                    raise Error("module \"%s\": %s: %s" % (capture.place(n), _operation(n), e)) from e
            elif n.op == "output":
                return [self.values.get(a.name) if isinstance(a, torch.fx.Node) else None for a in
                        torch.utils._pytree.tree_leaves(n.args)]
        return []

    def _call(self, n, other):
        if n.target is operator.getitem:
            source = self.values[n.args[0].name]
            return source[n.args[1]] if isinstance(source, (list, tuple)) else None
        args = [self._argument(a, b) for a, b in zip(n.args, other.args)]
        kwargs = {k: self._argument(v, other.kwargs[k]) for k, v in n.kwargs.items()}
        module = next((a for a in n.args if isinstance(a, torch.fx.Node) and a.op == "get_attr"), None)
        if module is not None:
            return self._nested(n, other, module, args)
        op = n.target
        if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ()) and "dropout" not in _operation(n) and (
                "scaled_dot" not in _operation(n)):
            raise Error("module \"%s\": %s draws random numbers" % (capture.place(n), _operation(n)))
        sizes = self._sizes(n.meta.get("val"), other.meta.get("val"))
        inputs = [x for x in torch.utils._pytree.tree_leaves((n.args, n.kwargs)) if isinstance(x, torch.fx.Node)]
        if all(x.name in self.constants for x in inputs) and isinstance(n.meta.get("val"), torch.Tensor):
            take = lambda x: self.constants[x.name]
            value = op(*torch.fx.map_arg(n.args, take), **torch.fx.map_arg(n.kwargs, take))
            return self._constant(n, value, sizes)
        names = [a.name for a in op._schema.arguments] if hasattr(op, "_schema") else []
        arguments = dict(zip(names, args), **kwargs)
        where = capture.place(n)
        c = Call(_operation(n), arguments, sizes, _operation(n) + (" in " + where if where else ""),
                 lambda i: any(u.target is operator.getitem and u.args[1] == i for u in n.users), self.observed.append)
        out = apply(c, op)
        return self._value(n, out, sizes)

    def _value(self, n, out, sizes):
        if sizes and isinstance(sizes[0], list):
            return [self._checked(n, axes, s) for axes, s in zip(out, sizes)]
        return self._checked(n, out, sizes)

    def _checked(self, n, axes, sizes):
        have = [e.size for e in axes]
        assert have == sizes, "axes of sizes %s, not %s" % (have, sizes)
        confine(axes)
        return Value(n.name, axes)

    def _nested(self, n, other, module, args):
        """The outputs of an operation on a submodule, such as autocast."""
        if not str(n.target).startswith("wrap_with"):
            for a in args:
                for v in self._flat(a):
                    for e in v.axes:
                        fix(e, str(n.target))
            sizes = self._sizes(n.meta["val"], other.meta["val"])
            return [Value(n.name, [fixed(k, str(n.target)) for k in s]) for s in sizes]
        graphs = [getattr(p.graph_module, x.target).graph for p, x in zip(
            self.programs, (module, next(a for a in other.args if isinstance(a, torch.fx.Node) and a.op == "get_attr")))]
        own = args[n.args.index(module) + 1:]
        nodes = list(zip(*(g.nodes for g in graphs)))
        names = [x.name for x, _ in nodes if x.op == "placeholder"]
        kept = self.values
        self.values = dict(zip(names, own))
        out = self._run(nodes, self.values)
        self.values = kept
        return out


# ---- rows ------------------------------------------------------------------------------------------------------------

def _settle(axes):
    """Ties what rows cannot express. Returns whether anything changed. axes: those of one tensor."""
    lead = elements(axes[0])[0] if axes and elements(axes[0]) else None

    def check(e, k, enclosing):
        parts = elements(e)
        if len(terms(e)) > 1:
            return any([check(t, k, enclosing) for t in terms(e)])
        for i, p in enumerate(parts):
            if isinstance(p, Sum):
                return check(Product(parts[i:]), k, enclosing)
            wrong = [q for q in outer(p) if q not in enclosing and not (k == 1 and q is lead)]
            free_outer = [q for q in p.varies if not q.fixed]
            wrong += [q for q in free_outer if any(not r.fixed for r in q.varies)] + free_outer[1:]
            if wrong and not p.fixed:
                for q in wrong:
                    tie(p, q)
                return True
            if p.unrolled and parts[i + 1:]:
                rest = Product(parts[i + 1:])
                return any([check(at(rest, p, j), k, enclosing | {p}) for j in range(p.size)])
            enclosing = enclosing | {p}
        return False
    return any([check(e, k, frozenset()) for k, e in enumerate(axes)])


def places(e, unit, offset=0):
    """Yields (offset, count, block, atom, unit) of the free atoms of an axis. unit: {atom: index}."""
    for t in terms(e):
        p, *rest = elements(t) or [ONE]
        rest = Product(rest)
        if p is not ONE and not p.fixed:
            yield offset, p.size, rest.size, p, {q: unit.get(q) for q in p.varies}
        if any(not a.fixed for a in atoms(rest)) or p is not ONE and p.unrolled and rest.size > 1:
            for j in range(p.size):
                yield from places(at(rest, p, j) if p.unrolled else rest, {**unit, p: j}, offset + j * rest.size)
        offset += t.size


def rows_of(axes):
    """Yields (axis, parts, offset, count, block, atom, unit) of the free atoms of a tensor."""
    for k, e in enumerate(axes):
        lead = elements(axes[0])[0] if k == 1 and elements(axes[0]) else None
        if lead is not None and any(lead in outer(a) for a in atoms(e)):
            for j in range(lead.size):
                for offset, *row in places(at(e, lead, j) if lead.unrolled else e, {lead: j}, j * e.size):
                    yield (k, lead.size, offset, *row)
        else:
            for row in places(e, {}):
                yield (k, 1, *row)


class Groups:
    """The permutation groups of a module. Iterates over its rows (mcz.groups.Row).

    rows        the rows, for mcz.groups.write, mcz.torch.permute and mcz.torch.moments
    sizes       {group: units}
    fixed       [(tensor, axis, offset, length, reason)]: the entries of parameters that stay in place
    difference  the largest relative difference of outputs when the check permuted random networks"""

    def __init__(self, net, example):
        self.run, self.example, self.difference = Interpretation(net, example), example, None
        tensors = self.run.axes
        while any([_settle(axes) for axes in tensors.values()]):
            pass
        self.keys, self.rows, self.fixed = {}, [], []
        aliases = {}
        for name, t in self.run.state.items():
            aliases.setdefault(self.run.alias.get((t.data_ptr(), tuple(t.shape))), []).append(name)
        self.names = {}  # {group key: name}
        for tensor, axes in tensors.items():
            for k, parts, offset, count, block, atom, unit in rows_of(axes):
                group = self._name(tensor, k, atom, unit)
                self.rows += [Row(name, k, offset, count, block, group, *[parts] * (parts > 1))
                              for name in aliases[tensor]]
            for k, e in enumerate(axes):
                self.fixed += [(tensor, k, *f) for f in _fixed(e)]
        order = {name: i for i, name in enumerate(self.run.state)}
        self.rows.sort(key=lambda r: (order[r.tensor], r.axis, r.offset, -r.block))
        self.sizes = {r.group: r.count for r in self.rows}

    def _name(self, tensor, axis, atom, unit):
        key = (atom, frozenset(unit.items()))
        if key not in self.names:
            base = tensor.rpartition(".")[0] or tensor
            blocks = any(d.value is None and not d.fixed for d in atom.dependents if atom in d.varies)
            base = base[-MAX_NAME:] + ("/block%d" % list(unit.values())[0] if unit else "/blocks" if blocks else "")
            used, name, n = set(self.names.values()), base, 2
            while name in used:
                name, n = "%s.%d" % (base, n), n + 1
            self.names[key] = name
        return self.names[key]

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        return "<%d groups of %d units, in %d rows>" % (len(self.sizes), sum(self.sizes.values()), len(self.rows))


def _fixed(e, offset=0):
    """Yields (offset, length, reason) of the segments of an axis whose entries all stay in place."""
    for t in terms(e):
        if t.size > 1 and all(a.fixed for a in atoms(t)):
            yield offset, t.size, next(atoms(t)).fixed
        offset += t.size
