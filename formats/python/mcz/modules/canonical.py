# SPDX-License-Identifier: Apache-2.0
"""The canonical form of a network. mcz.torch has the public name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from ..errors import Error, need
from ..groups import Row
from ..nn.copies import duplicate
from ..nn.permuted import rounded
from ..nn.state import Tensors, tensors_of
from ..nn.unchanged import LOCK
from ..symmetry import capture
from ..symmetry.allows import Allowances, gains_of, grouped, places_of, unfolded
from ..symmetry.calls import Call, Node, Program, key
from ..symmetry.check import apart
from ..symmetry.derive import Derivation
from ..symmetry.flow import Reader, followed, passes_linear, passes_mean, reader_of
from ..symmetry.probe import Probe, outputs
from ..symmetry.rotary import Attention, attentions, channels, pairs_of
from ..symmetry.rules.kinds import MOVES_ONE

EXACT = 1e-9  # relative difference of outputs in float64


class Canonical:
    """Rewrites the parameters of a network, in float64.

    state  {parameter: tensor}, also what the operations' constants are computed from"""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation, self.run = derivation, derivation.run
        self.state: Tensors = {k: capture.doubled(v).clone() for k, v in self.run.state.items()}
        self.run.state = self.state = {k: self.state[o] for k, o in self.run.owners.items()}
        self.rows = grouped(derivation.rows, self.run.owners)
        self.atoms = {g: a for (a, _), g in derivation.names.items() if g in self.rows}

    def rewrite(self) -> None:
        """Folds gains and biases, centres streams and balances products."""
        found = Allowances(self.run, self.derivation.names)
        if len(found.programs) == 1:
            for call in found.programs[0].calls:
                for node in gains_of(call):
                    self._fold(found.programs[0], call, node)
        found = Allowances(self.run, self.derivation.names)
        linear = {
            g: [r for r in self.rows[g] if r.parts == 1 and r.tensor not in found.gains]
            for g, a in self.atoms.items()
            if {"invertible", "scaled"} & found.of(a)
        }
        rotary = list(attentions(found.programs[0]))
        probe = Probe(self.derivation, linear, found.gains, rotary)
        sides = {g: probe.sides(g) for g in linear}
        for g, rows in linear.items():
            if sides[g] and "invertible" in found.of(self.atoms[g]):
                self._drop_biases(found.programs, probe, rows)
        for g, a in self.atoms.items():
            if "centred" in found.of(a) and "orthogonal" not in found.of(a):
                for side in found.writers(a, self.rows[g]):
                    for r in side:
                        self._write(r, centred(unfolded(self.state[r.tensor], r)))
        for g, rows in linear.items():
            self._balance(rows, sides[g], "invertible" in found.of(self.atoms[g]))
        for own, sums in zip(rotary, probe.products):
            self._balance_pairs(own, pairs_of(sums, scaled=True))

    # ---- gains and biases of norms ---------------------------------------------------------------

    def _fold(self, program: Program, call: Call, node: Node) -> None:
        """Moves a gain into the layers that read its product or, like LayerScale, into the layer
        that writes it: W (g * x) = (W diag g) x, g * (W x + b) = (diag g W) x + g * b. A gain stays
        if anything else reads its product."""
        gain = program.gain(node)
        value = program.values_of(node)[0]
        axes = [k for k, e in enumerate(value.axes) if e.size > 1]
        if gain is None or len(axes) != 1:
            return
        name, number = gain
        if len(uses([program], name)) != 1:
            return
        g = self.state[name].flatten() + number
        if bool((g == 1).all()):
            return
        e = key(value.axes[axes[0]])
        found = self._readers(program, call.node, e)
        bias = call.args.get("bias")
        if found and (bias is None or self._fold_bias(program, call, g, found)):
            for weight in dict.fromkeys(program.parameter(*r.weight) for r in found):
                if weight:
                    self._scale(*weight, g)
        elif found or call.name != "mul" or not self._fold_back(program, call, node, e, g):
            return
        self.state[name].fill_(1 - number)

    def _readers(self, program: Program, start: Node, e: Any) -> list[Reader]:
        """The layers that read an axis, if nothing else does and nothing else reads their
        weights."""
        found = followed(program, start, e, passes_linear)
        if isinstance(found, str):
            return []
        calls = {r.call.node for r in found}
        for r in found:
            own = program.parameter(*r.weight)
            if own is None or any(u not in calls for u in uses([program], own[0])):
                return []
            if key(program.run.axes[own[0]][own[1]]) != e:
                return []
        return found

    def _fold_bias(
        self, program: Program, call: Call, g: torch.Tensor, found: Sequence[Reader]
    ) -> bool:
        """Moves the bias of a norm into those of the layers that read it: W (x + b) + c = W x +
        (W b + c). If one has none, the bias stays, as b / g. False if that is not finite."""
        own = program.parameter(call.args["bias"])
        if own is None or len(uses([program], own[0])) != 1:
            return False
        b, e = self.state[own[0]], key(program.run.axes[own[0]][0])
        direct = followed(program, call.node, e, passes_mean)
        targets = [self._bias_of([program], program, r) for r in found]
        if isinstance(direct, str) or not all(targets):
            if bool(((g == 0) & (b != 0)).any()):
                return False
            b.copy_(torch.where(g == 0, 0.0, b / g))
            return True
        for r, target in zip(found, targets):
            tensor, axis = program.parameter(*r.weight) or ("", 0)
            w = self.state[tensor].movedim(axis, -1) @ b
            self.state[target or ""] += w.flatten(1).sum(1) if w.dim() > 1 else w
        b.zero_()
        return True

    def _bias_of(self, programs: Sequence[Program], program: Program, r: Reader) -> str | None:
        """The bias of a layer, if only the layer reads it and each output sums all inputs once."""
        own = None if r.bias is None else program.parameter(r.bias)
        padding = r.call.args.get("padding", 0) if r.call.kind == "convolution" else 0
        several = padding if isinstance(padding, (list, tuple)) else [padding]
        padded = any(v not in (0, "valid") for v in several)
        return own[0] if own and not padded and len(uses(programs, own[0])) == 1 else None

    def _fold_back(self, program: Program, call: Call, node: Node, e: Any, g: torch.Tensor) -> bool:
        """Moves a gain into the layer whose outputs it multiplies, which nothing else reads."""
        source = next((n for n in call.nodes if n is not node), None)
        while source is not None and len(source.users) == 1:
            own = program.of.get(source)
            if own is None or source in program.constants:
                return False
            r = reader_of(own)
            if r:
                tensors = [(program.parameter(r.weight[0]), int(r.weight[1] == -2))]
                tensors += [(program.parameter(r.bias), 0)] if r.bias is not None else []
                places = [(found[0], k) for found, k in tensors if found]
                if len(places) != len(tensors) or any(
                    len(uses([program], t)) != 1 or key(self.run.axes[t][k]) != e for t, k in places
                ):
                    return False
                for t, k in places:
                    self._scale(t, k, g)
                return True
            if own.kind not in MOVES_ONE or not any(key(f) == e for f in own.outputs[0].axes):
                return False
            source = own.nodes[0]
        return False

    def _scale(self, tensor: str, axis: int, g: torch.Tensor) -> None:
        """Multiplies the entries of an axis."""
        self.state[tensor].mul_(g.reshape(-1, *[1] * (self.state[tensor].dim() - axis - 1)))

    # ---- biases within heads ---------------------------------------------------------------------

    def _drop_biases(self, programs: Sequence[Program], probe: Probe, rows: Sequence[Row]) -> None:
        """Drops a bias without effect, such as that of keys, which softmax ignores. Moves a bias
        that reaches a later one unchanged, such as that of values, whose attentions sum to 1: its
        derivative is W^T times that of the later bias c, so that f(b, c) = f(0, c + W b)."""
        for r in [r for r in rows if self.state[r.tensor].dim() == 1]:
            if any(self._matters(r, gradients) for gradients in probe.gradients):
                found = self._later(programs, rows)
                if not found or any(
                    self._differs(r, found, gradients, probe) for gradients in probe.gradients
                ):
                    continue
                b = unfolded(self.state[r.tensor], r).flatten()
                for w, c in self._matrices(found, self.state):
                    self.state[c] += w @ b
            self._write(r, torch.zeros(r.count, r.block))

    def _matters(self, r: Row, gradients: Tensors) -> bool:
        """True if a bias changes the outputs of an example."""
        norm = unfolded(gradients[r.tensor], r).norm()
        return bool(norm > EXACT * max(v.norm() for v in gradients.values()))

    def _differs(
        self, r: Row, found: Sequence[tuple[Row, str]], gradients: Tensors, probe: Probe
    ) -> bool:
        """True if the derivative by a bias is not that through the later ones."""
        g = unfolded(gradients[r.tensor], r).flatten()
        back = sum(w.T @ gradients[c] for w, c in self._matrices(found, probe.state))
        return bool((g - back).norm() > 1e-8 * g.norm())

    def _later(self, programs: Sequence[Program], rows: Sequence[Row]) -> list[tuple[Row, str]]:
        """[(row, bias)] of the layers with a bias that read a group."""
        found, program = [], programs[0]
        for reader in filter(None, map(reader_of, program.calls)):
            own, c = program.parameter(*reader.weight), self._bias_of(programs, program, reader)
            found += [(r, c) for r in rows if c and own == (r.tensor, r.axis)]
        return found

    def _matrices(
        self, found: Iterable[tuple[Row, str]], state: Tensors
    ) -> Iterable[tuple[torch.Tensor, str]]:
        """(outputs x units, bias) of layers."""
        for r, c in found:
            yield unfolded(state[r.tensor], r).reshape(r.count * r.block, -1).T, c

    # ---- products --------------------------------------------------------------------------------

    def _balance(self, rows: Sequence[Row], sides: list[int] | None, invertible: bool) -> None:
        """Gives both halves of a product the same singular values, or of units that may only be
        scaled, the same norms."""
        if sides is None:
            return
        halves = [[r for r, s in zip(rows, sides) if s == side] for side in (1, -1)]
        left, right = (
            torch.cat([unfolded(self.state[r.tensor], r) for r in own], 1) for own in halves
        )
        if invertible:
            left, right = balanced(left, right)
        else:
            a, b = left.norm(dim=1), right.norm(dim=1)
            t = torch.where((a > 0) & (b > 0), (b / a).sqrt(), 1.0)[:, None]
            left, right = t * left, right / t
        for own, x in zip(halves, (left, right)):
            widths = [
                self.state[r.tensor].numel() // self.state[r.tensor].shape[r.axis] * r.block
                for r in own
            ]
            for r, part in zip(own, torch.split(x, widths, 1)):
                self._write(r, part)

    def _balance_pairs(self, own: Attention, pairs: Sequence[tuple[int, int]]) -> None:
        """Gives each frequency of rotary positions the same norm in queries and keys."""
        k, q = (
            torch.cat([channels(self.state[p], places) for p in names], 3).square().sum((1, 3))
            for names, _, places in own.sides
        )
        t = torch.ones_like(k)
        for i, j in pairs:
            a, b = (s[:, i] + s[:, j] for s in (q, k))
            t[:, i] = t[:, j] = torch.where((a > 0) & (b > 0), (a / b) ** 0.25, 1.0)
        for (names, _, places), factor in zip(own.sides, (t, 1 / t)):
            for p in names:
                v = self.state[p]
                v[places] *= factor.reshape(len(t), 1, -1, *[1] * (v.dim() - 1))

    def _write(self, r: Row, x: torch.Tensor) -> None:
        """Replaces the entries of a row's units."""
        target = self.state[r.tensor].movedim(r.axis, 0)
        places = places_of(r).flatten().to(target.device)
        target[places] = x.reshape(len(places), *target.shape[1:]).to(target)


def centred(x: torch.Tensor) -> torch.Tensor:
    """(I - 1 1^T / n) x."""
    return x - x.mean(0)


def balanced(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(M left, M^-T right) with the same singular values: with left^T right = U S V^T they are
    S^1/2 U^T and S^1/2 V^T. Singular values of 0 leave rows of zeros."""
    (p, x), (q, y) = (torch.linalg.qr(v.T) for v in (left, right))
    u, s, v = torch.linalg.svd(x @ y.T, full_matrices=False)
    root = s.sqrt()[:, None]
    halves = root * (p @ u).T, root * (q @ v.T).T
    missing = left.shape[0] - len(s)
    out = [torch.cat([h, h.new_zeros(missing, h.shape[1])]) for h in halves]
    return out[0], out[1]


def uses(programs: Iterable[Program], name: str) -> list[Node]:
    """The operations that read a parameter, itself or with its axes in another order."""
    found: list[Node] = []
    for program in programs:
        todo = [n for n in program.nodes if program.parameters.get(n.name) == name]
        while todo:
            for user in todo.pop().users:
                if program.parameter(user) and user.op == "call_function":
                    todo.append(user)
                elif "_assert_" not in str(user.target):
                    found.append(user)
    return found


def heads_untied(net: nn.Module, derivation: Derivation) -> bool:
    """Copies a parameter that a layer reads and that is used otherwise too, for the layer alone: a
    head that is tied to the embedding. Returns True if there are such."""
    program, changed = Program(derivation.run, 0), False
    for r in filter(None, map(reader_of, program.calls)):
        node, own = r.call.node, program.parameter(*r.weight)
        if own is None or all(u is node for u in uses([program], own[0])):
            continue
        for path in derivation.aliases[own[0]]:
            where, _, name = path.rpartition(".")
            if where == capture.place(node):
                module = net.get_submodule(where)
                old = getattr(module, name)
                setattr(module, name, nn.Parameter(old.detach().clone(), old.requires_grad))
                changed = True
                break
    return changed


def _outputs(derivation: Derivation, state: Tensors) -> list[torch.Tensor]:
    """The outputs for all examples with these tensors."""
    runs = zip(derivation.examples, derivation.run.programs)
    return [v for example, programs in runs for v in outputs(programs[0], state, example)]


@torch.no_grad()
def canonical(
    net: nn.Module, *examples: Any, untie: bool = False, unused: str = "refuse"
) -> nn.Module:
    """Rewrites a network such that more maps than permutations leave it unchanged, for align with
    maps="all". Returns a new module with the same parameter names and the same function.

        new = mcz.torch.canonical(net, x)
        print(mcz.torch.groups(new, x).report())

    examples  inputs, as for mcz.torch.groups. The first three of each are run. Give examples with
              which each layer has an effect: otherwise all groups allow permutations only.
    untie     give a head that is tied to an embedding its own tensor. Otherwise the last norm keeps
              its gain, and the stream allows permutations only.
    unused    "refuse", or "keep", as for mcz.torch.groups. Calls that use these tensors
              then return other results.

    From the operations that torch.export records:

    - Gains of norms go into the layers that read them, and so do their biases if these layers have
      one. LayerScale goes into the layer that it scales. The gains become 1; those of queries and
      keys stay, and with several examples all gains.
    - The bias of keys becomes 0 if softmax ignores it; that of values goes into the output's bias.
    - If only LayerNorms read a residual stream, the layers that write it are centred, and so are
      those that read these norms.
    - In each head, the weights of queries and keys get the same singular values. So do those of
      values and output, and of consecutive linear layers. Any invertible map of these channels left
      the function unchanged; only orthogonal maps also keep this form.
    - With rotary positions, the weights of each frequency get the same norm in queries and keys,
      unless norms read queries or keys.
    - The hidden units of ReLU get the same norm on both sides.

    Computed in float64 and rounded once. Raises mcz.Error as groups() does, and if outputs would
    differ in float64."""
    need(examples, "an example of the network's input expected")
    with LOCK:
        result = duplicate(net)
        derivation = Derivation(result, examples, unused)
        before = _outputs(derivation, tensors_of(net))
        if untie and heads_untied(result, derivation):
            derivation = Derivation(result, examples, unused)
        new = Canonical(derivation)
        new.rewrite()
        worst = max(map(apart, before, _outputs(derivation, new.state)))
        if worst > EXACT:
            raise Error(
                f"the canonical form changes the network by {worst:.2g} (please report this)"
            )
        for k, v in tensors_of(result).items():
            if v.is_floating_point():
                v.copy_(rounded(new.state[k], v.dtype))
    return result
