# SPDX-License-Identifier: Apache-2.0
"""Derive the permutation groups of any module: list the axes of its parameters as rows of groups."""
from ..groups import Row, gather, nesting, write
from . import capture, observe
from .axes import ONE, Atom, Product, Sum, at, atoms, elements, outer, terms, tie
from .interpret import Interpretation

MAX_NAME = 90  # bytes; formats/exchange/groups.md allows 107 in a name


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
    """The permutation groups of a module, as mcz.torch.groups derives them. Iterates over its rows (mcz.groups.Row).

        g = mcz.torch.groups(a, x)
        print(len(g.sizes), [r for r in g if r.tensor == "fc.weight"], g.difference)

    rows        the rows, for mcz.groups.write, mcz.torch.permute and mcz.torch.moments
    sizes       {group: units}
    fixed       [(tensor, axis, offset, length, reason)]: the entries of parameters that stay in place
    taps        {group: values that show its units}, for mcz.torch.moments
    difference  the largest relative difference of outputs when the check permuted random networks"""

    def __init__(self, net, example):
        self.run, self.net, self.example, self.difference = Interpretation(net, example), net, example, None
        self.names, self.rows, self.fixed = {}, [], []  # names: {(atom, {(outer atom, unit)}): group}
        self._programs = dict(zip(capture.SIZES, self.run.programs))
        tensors, self.aliases = self.run.axes, {}  # aliases: {parameter: all its names}
        while any([_settle(axes) for axes in tensors.values()]):
            pass
        for name, t in self.run.state.items():
            self.aliases.setdefault(self.run.alias.get((t.data_ptr(), tuple(t.shape))), []).append(name)
        for tensor, axes in tensors.items():
            for axis, parts, offset, count, block, atom, unit in rows_of(axes):
                group = self._name(tensor, atom, unit)
                self.rows += [Row(name, axis, offset, count, block, group, parts) for name in self.aliases[tensor]]
            for axis, e in enumerate(axes):
                self.fixed += [(tensor, axis, *f) for f in _fixed(e)]
        self._drop_unseen()
        order = {name: i for i, name in enumerate(self.run.state)}
        self.rows.sort(key=lambda r: (order[r.tensor], r.axis, r.offset, -r.block))
        self.sizes = {r.group: r.count for r in self.rows}
        self.taps = observe.taps(self)

    def _name(self, tensor, atom, unit):
        key = atom, frozenset(unit.items())
        if key not in self.names:
            base = (tensor.rpartition(".")[0] or tensor)[-MAX_NAME:]
            if unit:
                base += "/block" + ".".join(map(str, unit.values()))
            elif any(d.value is None and not d.fixed and atom in d.varies for d in atom.dependents):
                base += "/blocks"
            used, name, n = set(self.names.values()), base, 2
            while name in used:
                name, n = "%s.%d" % (base, n), n + 1
            self.names[key] = name
        return self.names[key]

    def _drop_unseen(self):
        """Drops groups that no activation shows in a distinct order: those of entries that are read as equal, such as
        repeated channels, and of entries that are not read."""
        alias = {k: v for v, own in self.aliases.items() for k in own}
        seen = {a for v in self.run.activations() for e in v.axes for a in atoms(e)}
        axes = {}
        for r in self.rows:
            axes.setdefault(r.group, set()).add((alias[r.tensor], r.axis))
        reads = self.run.read - self.run.written
        unseen = {name for (atom, _), name in self.names.items()
                  if axes[name] <= reads or len(axes[name]) == 1 and atom not in seen}
        self.rows = [r for r in self.rows if r.group not in unseen]

    def _order(self, e, permutation):
        """The old entry of each new entry of an axis."""
        rows = [Row("", 0, offset, count, block, self.names[atom, frozenset(unit.items())])
                for offset, count, block, atom, unit in places(e, {}) if (atom, frozenset(unit.items())) in self.names]
        return gather(e.size, rows, permutation)

    def _program(self, n, example=None):
        """The exported program for a batch of n."""
        if n not in self._programs:
            self._programs[n] = capture.export(self.net, self.example if example is None else example, n)
        return self._programs[n]

    def write(self, path):
        """Writes a group file for `mc-convert --groups`.

            g.write("groups.tsv")

        If this raises OSError, `path` is unchanged."""
        write(path, self.rows)

    def report(self):
        """A table of the groups by size, and of what stays in place and why.

            print(g.report())

        Returns the text, with tabs between columns."""
        parents, found = nesting(self.rows, {k: t.shape for k, t in self.run.state.items()}), {}
        for g, n in self.sizes.items():
            found.setdefault((n, self.sizes[parents[g][0]] if g in parents else 0), []).append(g)
        lines = ["groups\tunits\tfirst"]
        for (n, outer), names in sorted(found.items(), key=lambda e: (e[0][1], e[0][0])):
            lines.append("%d\t%d%s\t%s" % (len(names), n, " in each of %d" % outer if outer else "", names[0]))
        reasons = {}
        for tensor, axis, offset, length, reason in self.fixed:
            reasons.setdefault(reason.split(" in ")[0], []).append("%s:%d" % (tensor, axis))
        lines += ["", "fixed axes\treason\tfirst"]
        lines += ["%d\t%s\t%s" % (len(own), reason, own[0]) for reason, own in sorted(reasons.items())]
        return "\n".join(lines)

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
