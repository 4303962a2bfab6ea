# SPDX-License-Identifier: Apache-2.0
"""Curves between two networks. mcz.torch has the public name."""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn import functional as F

from .. import groups as group_files
from ..errors import inside, need, warn, whole
from ..files import Path
from ..nn.batches import Batches, Loss, measure
from ..nn.copies import duplicate
from ..nn.inputs import expect_replaceable
from ..nn.load import copy, own_names
from ..nn.norms import STATISTICS, norms, statistics
from ..nn.state import Tensors, first_names, gradient_hooks, listed, tensors_of
from ..nn.unchanged import Snapshot, evaluating
from ..stream import read as read_stream
from ..stream import widened
from ..table import Points as Rows
from ..writing import history, write
from .merge import expect_same, expect_same_masks
from .network import Network
from .permute import permutation_of, reader, warn_other
from .points import NO_LABELS, Points, between
from .training import Trainer, check_arguments, step

T = TypeVar("T")
NARROW = torch.float16, torch.bfloat16


class Curve(Points):
    """A path of networks from a to b: a Bezier curve or a polygonal chain through control points,
    or a straight line.

        c = mcz.torch.Curve(a, b, p)                      # on the straight line
        c.train(loader, epochs=5).save("curve.mcz")
        c.evaluate({"train": loader, "test": test}).write("curve.tsv")
        middle = c.point(.5, loader)

    a, b     networks of one architecture, which are copied. The curve is on a's device.
    p        a permutation for b, as align() returns it, or the path of one; None if b is aligned.
    kind     "bezier": Σ C(n,i) tⁱ (1−t)ⁿ⁻ⁱ point_i; "chain": straight from point to point.
    control_points  the number of points between the ends, 0 (a straight line) to 62.
    groups   the groups of p; default: p.groups, which only align() and align_many() set. save()
             writes them too.

    As in mc-bezier, the ends stay fixed and the control points start on the straight line. Raises
    mcz.Error if networks or permutation do not fit."""

    def __init__(
        self,
        a: nn.Module,
        b: nn.Module,
        p: Any = None,
        kind: str = "bezier",
        control_points: int = 1,
        groups: Any = None,
    ) -> None:
        need(kind in ("bezier", "chain"), f'kind must be "bezier" or "chain" (got {kind!r})')
        whole("control_points", control_points, 0, 62)
        self.permutation, groups = permutation_of(p, groups)
        first = Network(a, groups)
        self.example = first.example
        self.hooked = gradient_hooks(a)
        self.unknown: list[str] = []  # statistics that a stream of mc-bezier lacks
        expect_same(first, b)
        second = first.twin(b)
        self.training: dict[str, Any] = {}  # the arguments of train(), for the stream
        self.symmetry, self.ids = group_files.text(first.rows), [first.id(), second.id()]
        source = reader(second, self.permutation)
        expect_same_masks(a, [reader(first, None), source])
        if self.permutation is not None:
            warn_other(self.permutation, {"a": first, "b": second}, self.ids)
            self.ids.append(self.permutation.id)
        super().__init__(duplicate(a), kind)
        start = self.tensors(tensors_of(self.net).__getitem__, False)
        end, last = self.tensors(source), control_points + 1
        inner = [
            {k: between(v, end[k], i / last, k in self.buffers) for k, v in start.items()}
            for i in range(1, last)
        ]
        self.points = [start, *inner, end]

    def __repr__(self) -> str:
        parameters = sum(self.points[0][k].numel() for k in self.names)
        return f"<{self.kind} curve, {len(self.points)} points, {parameters} parameters>"

    def coefficients(self, t: float) -> list[float]:
        """The weights of the points at t in [0, 1]; their sum is 1.

            mcz.torch.Curve(a, b, kind="chain").coefficients(.25)                # [.5, .5, 0]

        Raises mcz.Error for another t."""
        need(isinstance(t, (int, float)) and 0 <= t <= 1, f"t must be from 0 to 1 (got {t!r})")
        n = len(self.points) - 1
        if self.kind == "chain":
            return [max(0.0, 1 - abs(t * n - i)) for i in range(n + 1)]
        return [math.comb(n, i) * t**i * (1 - t) ** (n - i) for i in range(n + 1)]

    def train(
        self,
        loader: Batches,
        epochs: int = 250,
        lr: float = 0.01,
        momentum: float = 0.9,
        decay: float | None = None,
        schedule: Callable[[int], float] = step,
        optimizer: Callable[[list[torch.Tensor]], Any] | None = None,
        loss: Loss = F.cross_entropy,
        seed: int = 1,
        log: Path | None = None,
        progress: bool = True,
    ) -> Curve:
        """Trains the control points as mc-bezier does, with one t ~ U[0, 1] per batch. Returns the
        curve.

            c.train(loader, epochs=20, log="curve.log.json")
            c.train(loader, epochs=5, optimizer=lambda p: torch.optim.AdamW(p, weight_decay=0))

        loader     batches (x, y), or dictionaries with "labels", as for evaluate().
        lr, momentum  of SGD with Nesterov's momentum.
        decay      multiplies half the squared norm of the point at t; default: 5e-4, or 0 with your
                   own optimizer.
        schedule   a function of the epoch, from 0, that returns the factor of the learning rate.
                   Default: mc-bezier's, halved every 20 epochs and times .9996 per epoch.
        optimizer  makes an optimizer of the control points, instead of SGD.
        loss       loss(output, y), as in evaluate(). The default ignores auxiliary outputs.
        seed       of t, dropout, and a loader that uses PyTorch's global generator, which is
                   restored.
        log        a log to write, as mc-bezier --log-json does: for mc-plot log.
        progress   show a progress bar if tqdm is installed.

        Parameters of a with requires_grad=False stay on the straight line, and so do those that no
        gradient of the loss reaches. Modules that train() leaves in evaluation mode, such as a
        frozen batch norm, stay in it. Warns of hooks on gradients: they do not run. Raises
        mcz.Error, and leaves the curve unchanged, if the loss is not finite, if no gradient of it
        reaches a trained parameter, if the loader does not fit, or if a plain list or dictionary
        holds parameters (use nn.ParameterList or nn.ParameterDict)."""
        need(len(self.points) > 2, "a straight line has no control points to train")
        check_arguments(loader, epochs, schedule, optimizer)
        expect_replaceable(self.net, self.owners)
        if self.hooked:
            warn(f"hooks on gradients do not run along a curve ({listed(self.hooked)})")
        decay = (0.0 if optimizer else 5e-4) if decay is None else decay
        trainer = Trainer(self, decay, loss, schedule)
        try:
            sgd = functools.partial(
                torch.optim.SGD, lr=lr, momentum=momentum, nesterov=momentum > 0
            )
            trainer.start(optimizer or sgd)
            trainer.run(loader, epochs, seed, progress)
        except BaseException:
            trainer.undo()
            raise
        self.training = {
            "epochs": epochs,
            "lr": float(trainer.rates[0]),
            "weight-decay": float(decay),
            "seed": seed,
        }
        if log is not None:
            trainer.write_log(log)
        return self

    def _statistics(
        self, ts: Sequence[float], loader: Batches, progress: bool, example: Any = None
    ) -> list[Tensors]:
        """Batch norm's statistics at each t. example: as for input_of()."""
        if norms(self.net):
            expect_replaceable(self.net, self.owners)
        runs = [lambda x, t=t: self.run(self.at(t, self.names + self.others), x) for t in ts]
        return statistics(self.net, runs, loader, self.device, progress, example)

    def _expect_statistics(self, call: str) -> None:
        """Raises Error if the curve was read from a stream without statistics of batch norm."""
        need(
            not self.unknown,
            f"a curve of mc-bezier has no statistics of batch norm: give a loader ({call})",
        )

    def point(self, t: float, loader: Batches | None = None, progress: bool = False) -> nn.Module:
        """The network at t in [0, 1], a new module in evaluation mode.

            middle = c.point(.5, loader)

        loader  batches (x, y), x or dictionaries that re-estimate batch norm's statistics; without
                it they are interpolated. A curve of mc-bezier has none to interpolate.

        Raises mcz.Error for another t, or if the loader does not fit or is missing."""
        tensors = self.at(t)
        if loader is None:
            self._expect_statistics("point(t, loader)")
        else:
            tensors.update(self._statistics([t], loader, progress, self.example)[0])
        net = duplicate(self.net)
        state = tensors_of(net)
        with torch.no_grad():
            for k, v in tensors.items():
                state[k].copy_(v)
        net.eval()  # last: it may change weights
        return net

    def evaluate(
        self,
        loaders: Mapping[str, Batches] | Batches,
        points: int = 65,
        bn: Batches | None = None,
        loss: Loss = F.cross_entropy,
        progress: bool = True,
    ) -> Rows:
        """Measures loss and accuracy along the curve, as mc-eval does, in one pass over each
        loader.

            rows = c.evaluate({"train": loader, "test": test}, points=33)
            rows.write("curve.tsv", summary="curve.summary.tsv")

        loaders  {name: batches}, without augmentation; or the batches, for the name "data". A batch
                 is (x, y), the network's input and its labels, or a dictionary of its arguments
                 with "labels". x is a tensor, a tuple of arguments or {argument: value}. If the
                 network's forward has an argument "labels", it gets those of a dictionary.
        points   their number, at evenly spaced t from 0 to 1.
        bn       batches that re-estimate batch norm's statistics at each point; default: the first
                 of the loaders.
        loss     loss(output, y) of the network's whole output, the mean over a batch; y may be
                 anything. Default: cross entropy of the logits (N, K, ...), the first of several
                 outputs, and labels (N, ...), or the network's own output.loss if it got the
                 labels.

        The loss is the mean over all labels except those of -100; with your own loss, over all
        inputs. The network's own loss counts as the mean over the labels of a batch. The accuracy
        is that of the same labels, without those of your loss's ignore_index. It is left out if y
        are not classes of the logits, for your own loss if several outputs may be the logits, and
        for the network's own loss if an input has several labels: language models shift them.

        Returns the rows. Raises mcz.Error if a loss is not finite, if a loader does not fit, or if
        a plain list or dictionary holds parameters, as for train()."""
        whole("points", points, 2)
        expect_replaceable(self.net, self.owners)
        loaders = loaders if isinstance(loaders, Mapping) else {"data": loaders}
        need(loaders, "no loaders")
        ts = [i / (points - 1) for i in range(points)]
        rows: list[dict[str, float]] = [{"t": t} for t in ts]
        found = self._statistics(ts, next(iter(loaders.values())) if bn is None else bn, progress)
        for name, loader in loaders.items():
            with inside(name), evaluating(self.net), torch.no_grad():
                sums, weight, labels = self._sums(
                    self.batches(loader, name if progress else "", loss), ts, found, loss
                )
                need(weight, NO_LABELS)
            for row, (total, correct) in zip(rows, sums):
                need(
                    math.isfinite(total),
                    "the loss on {} is not finite at t = {:.9g}".format(name, row["t"]),
                )
                row[name + ".loss"] = total / weight
                if not math.isnan(correct):
                    row[name + ".accuracy"] = 100 * correct / labels
        return Rows(rows, self._chords(ts))

    def _chords(self, ts: Sequence[float]) -> list[float]:
        """The lengths in parameter space between neighbouring points."""
        return [
            math.sqrt(sum(float(((u[k] - v[k]) ** 2).sum()) for k in self.names))
            for u, v in itertools.pairwise(self.at(t, self.names) for t in ts)
        ]

    def _sums(
        self, batches: Iterable[Any], ts: Sequence[float], statistics: Sequence[Tensors], loss: Loss
    ) -> tuple[list[list[float]], int, int]:
        """([loss, correct labels] at each t, their weight and number of labels) over all
        batches."""
        sums, weight, labels = [[0.0, 0.0] for _ in ts], 0, 0
        ready = Snapshot(self.net)
        for x, y in batches:
            for t, own, s in zip(ts, statistics, sums):
                found = measure(self.run({**self.at(t), **own}, x), x, y, loss)
                s[:] = s[0] + float(found.loss) * found.weight, s[1] + found.correct
                ready.restore_attributes()  # such as a cache of weights at another t
            weight, labels = weight + found.weight, labels + found.labels
        return sums, weight, labels

    def save(self, path: Path, loader: Batches | None = None) -> str:
        """Writes a curve stream (formats/codecs/curve.md) for load(), mc-info and mc-bezier
        --point.

            c.save("curve.mcz")

        loader  batches that estimate batch norm's statistics at the ends, for a curve of mc-bezier,
                which has none.

        Numbers are float32. Integers and constants are not part of the stream. Returns its content
        id. Raises OSError if it cannot be written, and mcz.Error if the loader is missing."""
        if self.unknown and loader is not None:
            ends, last = self._statistics([0, 1], loader, False, self.example), len(self.points) - 1
            for k, v in ends[0].items():
                for i, p in enumerate(self.points):
                    first = self.owners[k]
                    p[first] = between(v, ends[1][k], i / last, True).to(p[first])
            self.unknown = []
        self._expect_statistics("save(path, loader)")
        meta = {
            "net": "groups",
            "dataset": "",
            "symmetry": self.symmetry,
            "curve": self.kind,
            "points": len(self.points),
        }
        tensors = {
            f"{i}/{k}": p[self.owners[k]].cpu().float().numpy()
            for i, p in enumerate(self.points)
            for k in sorted(self.owners, key=str.encode)
        }
        # curves hold permutations only; other maps are applied, and their stream is an input
        if self.permutation is not None and "version" not in self.permutation.meta:
            groups = self.permutation.meta["groups"]
            meta["groups"] = [
                {k: g[k] for k in ("name", "size", "within", "unit") if k in g} for g in groups
            ]
            tensors.update(
                ("permutation/" + g["name"], self.permutation.tensors[g["name"]]) for g in groups
            )
        made = history("mcz.torch.Curve", {"a": self.ids[0], "b": self.ids[1], **self.training})
        return write(path, "curve", meta, tensors, history=made, inputs=self.ids)

    @classmethod
    def load(cls, path: Path, net: nn.Module) -> Curve:
        """Reads a curve stream, also one of mc-bezier, for a network with the same tensors. Its
        integers, such as indices, and constants must be those of the curve's networks.

            c = mcz.torch.Curve.load("curve.mcz", Net())

        Warns if the network's dtype rounds the ends. Raises mcz.Error if the stream is damaged or
        the tensors do not match."""
        s = read_stream(path, "curve")
        nets, own, last = [], _buffers(net), s.meta["points"] - 1
        notes: list[str] = []
        for i in range(last + 1):
            nets.append(duplicate(net))
            if 0 < i < last:  # control points are wider than networks of 16 bits
                for v in itertools.chain(nets[-1].parameters(), nets[-1].buffers()):
                    v.data = v.data.float() if v.dtype in NARROW else v.data
            with inside(os.fspath(path)):
                notes += copy(nets[-1], {**own, **_below(f"{i}/", widened(s))})
        for note in notes[:1]:  # one for all points
            warn(f"{os.fspath(path)}: {note}")
        c = cls(nets[0], nets[-1], None, s.meta["curve"], len(nets) - 2)
        for point, middle in zip(c.points[1:-1], nets[1:-1]):
            point.update(c.tensors(tensors_of(middle).__getitem__))
        first = first_names(tensors_of(net))
        known = {first.get(k) for k in own_names(net, _below("0/", s.tensors))}
        estimated = [k + v for k in norms(net) for v in STATISTICS]
        c.unknown, c.hooked = [k for k in estimated if first[k] not in known], gradient_hooks(net)
        c.symmetry, c.ids = s.meta.get("symmetry", c.symmetry), s.inputs or c.ids
        if "groups" in s.meta:
            tensors = _below("permutation/", s.tensors)
            c.permutation = replace(s, kind="permutation", tensors=tensors)
        return c


def _below(prefix: str, tensors: Mapping[str, T]) -> dict[str, T]:
    """The tensors whose names start with a prefix, without it."""
    return {k[len(prefix) :]: v for k, v in tensors.items() if k.startswith(prefix)}


def _buffers(net: nn.Module) -> Tensors:
    """The tensors of a network that are not parameters."""
    own, parameters = tensors_of(net), dict(net.named_parameters(remove_duplicate=False))
    return {k: v for k, v in own.items() if k not in parameters}
