# SPDX-License-Identifier: Apache-2.0
# mypy: disallow-untyped-defs
"""Align, merge and connect two PyTorch networks without a graph. PyTorch runs the networks, mc's
programs align them, and the results are mc's streams and tables. mcz.torch has these names."""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

import mcz

from . import groups as _groups
from . import state as _state
from .batches import (
    Batches,
    Loss,
    Measured,
    first_tensor,
    input_of,
    labelled,
    loader_of,
    measure,
    read,
    to,
)
from .errors import inside, need, whole
from .evaluate import call
from .files import Path, replacing
from .merging import _door, duplicate, expect_same, permutation_of, rows_of, warn_other
from .norms import STATISTICS, norms, statistics
from .programs import find, pipe
from .state import first_names, listed, tensors_of
from .stream import Stream
from .structure import compare
from .table import Points
from .unchanged import evaluating, random_numbers_kept

Tensors = dict[str, torch.Tensor]
NO_LABELS = "no labels but -100, which do not count"
PROGRAMS = {
    "activations": ("mc-corr", "mc-hungarian"),
    "weights": ("mc-match",),
}  # that align by them


# ---- alignment -----------------------------------------------------------------------------------


def save(net: nn.Module, path: Path, groups: Any) -> str:
    """Writes a network's weights stream, as mc-convert --groups does: for mc-match, mc-permute and
    mc-info.

        mcz.torch.save(a, "a.mcz", groups)

    It has all floating-point tensors of the state_dict: float16 and bfloat16 unchanged, others as
    float32. Returns the content id, or raises mcz.Error if groups do not fit the network, or
    numbers are not finite."""
    meta = {"net": "groups", "dataset": "", "symmetry": _groups.text(rows_of(net, groups))}
    need(
        not any(v.is_complex() for v in tensors_of(net).values()), "streams hold no complex numbers"
    )
    wrong = [
        k
        for k, v in tensors_of(net).items()
        if v.is_floating_point() and not bool(v.isfinite().all())
    ]
    need(not wrong, f"streams hold finite numbers only (not {listed(wrong)})")
    tensors, dtypes = _door()._arrays(net)
    return mcz.write(path, "weights", meta, tensors, dtypes=dtypes)


def keep(found: bytes, path: Path | None, groups: Any) -> Stream:
    """The permutation or joint set of a stream, which is also written to the path."""
    if path is not None:
        with replacing(path) as f:
            f.write(found)
    p = mcz.read(io.BytesIO(found), "permutation")
    p.groups = groups
    return p


def check_arguments(loader: Batches | None, groups: Any, by: str, options: Sequence[str]) -> None:
    """Raises Error if align's arguments do not fit, FileNotFoundError if a program is missing."""
    need(by in PROGRAMS, f'by must be "activations" or "weights" (got {by!r})')
    need(
        not isinstance(options, str) and all(isinstance(v, str) for v in options),
        f'options must be a list of texts, such as ["--seed", "2"] (got {options!r})',
    )
    need(
        loader is not None or (by == "weights" and groups is not None),
        'a loader of batches expected, got None (groups suffice with by="weights")',
    )
    if loader is not None:
        loader_of(loader)
    for name in PROGRAMS[by]:
        find(name)


def align(
    a: nn.Module,
    b: nn.Module,
    loader: Batches | None,
    groups: Any = None,
    by: str = "activations",
    path: Path | None = None,
    options: Sequence[str] = (),
    progress: bool = True,
    **moments: Any,
) -> Stream:
    """Aligns the units of b to those of a with mc-corr and mc-hungarian, or with mc-match.

        p = mcz.torch.align(a, b, loader)
        p.tensors["conv"]                                 # int32 (K): new unit i is b's unit p[i]

    a, b     networks of one architecture, each on any device.
    loader   batches, as for mcz.torch.moments. With by="weights" and groups it may be None.
    groups   as mcz.groups describes; default: mcz.torch.groups(a, x) of the first batch.
    by       "activations": their correlation over the loader; "weights": inner products of the
             parameters.
    path     a permutation stream to write as well.
    options  options of mc-hungarian, or with by="weights" of mc-match: ["--seed", "2"].
    progress  show a progress bar if tqdm is installed.
    moments  further arguments of mcz.torch.moments: at, stage.

    Returns the stream, as mcz.read() does; its `groups` are those used. The programs' warnings
    become Python's. Raises mcz.Error if networks or groups do not fit or the loader is empty, and
    OSError, before it reads the loader, if a program is missing."""
    check_arguments(loader, groups, by, options)
    with random_numbers_kept():
        images: Iterator[Any] = iter(
            () if loader is None else read(loader, "align" if progress else "")
        )
        if groups is None:
            first = next(images)
            groups, images = (
                _door().groups(a, input_of(first), progress=progress),
                itertools.chain([first], images),
            )
        if by == "activations":
            sums = io.BytesIO()
            _door().moments(a, b, images, groups, sums, **moments)
            return keep(
                pipe(sums.getvalue(), ["mc-corr", "--no-progress"], ["mc-hungarian", *options]),
                path,
                groups,
            )
    with tempfile.TemporaryDirectory() as folder:
        compare(a, b, groups)
        names = [os.path.join(folder, n) for n in ("a.mcz", "b.mcz")]
        for net, name in zip((a, b), names):
            save(net, name, groups)
        return keep(pipe(b"", ["mc-match", "--no-progress", *options, *names]), path, groups)


# ---- curves --------------------------------------------------------------------------------------


def _modes(net: nn.Module) -> list[bool]:
    """The modes of a network's modules after train(), which may be overridden."""
    return [m.training for m in duplicate(net).train().modules()]


def step(epoch: int) -> float:
    """mc-bezier's default schedule: the factor of the learning rate in an epoch, counted from 0."""
    return 0.5 ** (epoch // 20) * 0.9996**epoch


class Curve:
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

    As in mc-bezier, the ends stay fixed and the control points start on the straight line. Requires
    PyTorch 2.2. Raises mcz.Error if networks or permutation do not fit."""

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
        p, groups = permutation_of(p, groups)
        expect_same(a, b, groups)
        self.kind, self.permutation, self.training = kind, p, {}  # type: str, Any, dict[str, Any]
        rows = rows_of(a, groups)
        self.symmetry, self.ids = _groups.text(rows), _door()._ids([a, b], rows, None)
        source = _door()._reader(b, p, groups)
        if p is not None:
            warn_other(p, groups, {"a": a, "b": b}, self.ids)
            self.ids.append(p.id)
        self.net = duplicate(a)
        state = tensors_of(self.net)  # a tied tensor has one entry, under its first name
        self.owners = first_names({k: v for k, v in state.items() if v.is_floating_point()})
        self.trained = {
            k: p.requires_grad for k, p in self.net.named_parameters(remove_duplicate=False)
        }
        own = dict.fromkeys(self.owners.values())
        self.names, self.buffers = (
            [k for k in own if (k in self.trained) == ok] for ok in (True, False)
        )
        self.device = next(iter(state.values())).device
        estimated = {k + s for k in norms(self.net) for s in STATISTICS}
        self.others = [k for k in self.buffers if k not in estimated]
        start, end, last = (
            self._tensors(state.__getitem__, False),
            self._tensors(source),
            control_points + 1,
        )
        self.points = (
            [start]
            + [{k: torch.lerp(start[k], end[k], i / last) for k in start} for i in range(1, last)]
            + [end]
        )

    def __repr__(self) -> str:
        parameters = sum(self.points[0][k].numel() for k in self.names)
        return f"<{self.kind} curve, {len(self.points)} points, {parameters} parameters>"

    def _tensors(self, source: Callable[[str], torch.Tensor], copies: bool = True) -> Tensors:
        """The tensors of a network on the curve's device, in float32 or wider. copies: those of the
        parameters."""
        found = {}
        for k in self.names + self.buffers:
            v = source(k).detach()
            found[k] = v.to(
                self.device,
                torch.promote_types(v.dtype, torch.float32),
                copy=copies or k in self.buffers,
            )
        return found

    def coefficients(self, t: float) -> list[float]:
        """The weights of the points at t in [0, 1]; their sum is 1.

            mcz.torch.Curve(a, b, kind="chain").coefficients(.25)                # [.5, .5, 0]

        Raises mcz.Error for another t."""
        need(isinstance(t, (int, float)) and 0 <= t <= 1, f"t must be from 0 to 1 (got {t!r})")
        n = len(self.points) - 1
        if self.kind == "chain":
            return [max(0.0, 1 - abs(t * n - i)) for i in range(n + 1)]
        return [math.comb(n, i) * t**i * (1 - t) ** (n - i) for i in range(n + 1)]

    @torch.no_grad()
    def _at(self, t: float, names: Iterable[str] | None = None) -> Tensors:
        c = self.coefficients(t)
        return {
            k: torch.stack([w * p[k] for w, p in zip(c, self.points) if w]).sum(0)
            for k in (self.names + self.buffers if names is None else names)
        }

    def _run(self, tensors: Tensors, x: Any) -> Any:
        """The network's output for an input with these tensors, cast to its dtypes."""
        state = {**dict(self.net.named_parameters()), **dict(self.net.named_buffers())}
        tensors = {k: v.to(state[k].dtype) for k, v in tensors.items()}
        return call(
            self.net,
            x,
            lambda *args, **kwargs: torch.func.functional_call(self.net, tensors, args, kwargs),
        )

    def _batches(self, loader: Batches, text: str, loss: Loss) -> Iterator[tuple[Any, Any]]:
        """The inputs and labels of a loader's batches, on the curve's device."""
        for batch in read(loader, text):
            yield labelled(self.net, to(batch, self.device), loss)

    @torch.enable_grad()
    def _gradient(self, t: float, x: Any, y: Any, loss: Loss) -> tuple[Measured, Tensors, Tensors]:
        """(loss and accuracy, parameters at t, the loss's gradient there)."""
        point = {k: v.requires_grad_() for k, v in self._at(t, self.names).items()}
        found = measure(self._run({**self._at(t, self.others), **point}, x), x, y, loss)
        gradient = torch.autograd.grad(found.loss, list(point.values()), allow_unused=True)
        return (
            found._replace(loss=found.loss.detach()),
            {k: v.detach() for k, v in point.items()},
            {
                k: torch.zeros_like(v) if g is None else g
                for (k, v), g in zip(point.items(), gradient)
            },
        )

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
        schedule   the factor of the learning rate in an epoch, counted from 0.
        optimizer  makes an optimizer of the control points, instead of SGD.
        loss       loss(output, y), as in evaluate(). The default ignores auxiliary outputs.
        seed       of t, dropout, and a loader that uses PyTorch's global generator, which is
                   restored.
        log        a log to write, as mc-bezier --log-json does: for mc-plot log.
        progress   show a progress bar if tqdm is installed.

        Parameters of a with requires_grad=False stay on the straight line. Modules that train()
        leaves in evaluation mode, such as a frozen batch norm, stay in it. Raises mcz.Error, and
        leaves the curve unchanged, if the loss is not finite or the loader does not fit."""
        need(len(self.points) > 2, "a straight line has no control points to train")
        whole("epochs", epochs, 1)
        once = epochs > 1 and hasattr(loader, "__next__")
        need(not once, "a loader that can be read again expected, got an iterator (list(loader))")
        need(
            optimizer is None or not isinstance(optimizer, torch.optim.Optimizer),
            "optimizer must make an optimizer of the control points (lambda p: "
            "torch.optim.AdamW(p, 1e-3))",
        )
        need(callable(schedule), f"schedule must be a function of the epoch (got {schedule!r})")
        names = [k for k in self.names if self.trained[k]]
        need(names, "no parameter of a requires gradients")
        decay = 0.0 if optimizer and decay is None else 5e-4 if decay is None else decay
        free = self.points[1:-1]
        before, flat = [dict(p) for p in free], []
        for p in free:
            p.update((k, p[k].clone()) for k in self.names)
            flat += [p[k] for k in names]
        opt = (
            optimizer(flat)
            if optimizer
            else torch.optim.SGD(flat, lr, momentum, nesterov=momentum > 0)
        )
        rates, lines = [g["lr"] for g in opt.param_groups], ""
        try:
            with torch.random.fork_rng(), evaluating(self.net, training=_modes(self.net)):
                torch.manual_seed(seed)
                draws = torch.Generator().manual_seed(seed)
                for epoch in range(1, epochs + 1):
                    for group, rate in zip(opt.param_groups, rates):
                        group["lr"] = rate * schedule(epoch - 1)
                    text = f"epoch {epoch}/{epochs}"
                    batches = self._batches(loader, text if progress else "", loss)
                    means: dict[str, Any] = {"event": "epoch", "epoch": epoch, "epochs": epochs}
                    means.update(self._epoch(batches, opt, decay, loss, draws))
                    need(
                        math.isfinite(means["objective"]),
                        f"the loss is not finite in epoch {epoch} (try a smaller lr)",
                    )
                    lines += json.dumps(means, separators=(",", ":")) + "\n"
        except BaseException:
            for p, old in zip(free, before):
                p.update(old)
            raise
        self.training = {
            "epochs": epochs,
            "lr": float(rates[0]),
            "weight-decay": float(decay),
            "seed": seed,
        }
        if log is not None:
            with replacing(log, "t") as f:
                f.write(lines)
        return self

    def _epoch(
        self, batches: Batches, opt: Any, decay: float, loss: Loss, draws: torch.Generator
    ) -> dict[str, float]:
        """Trains an epoch. Returns its means for the log."""
        images = labels = weight = steps = 0
        total, norm, correct, start = 0.0, 0.0, 0.0, time.monotonic()
        for x, y in batches:
            t = float(torch.rand((), generator=draws))
            found, point, gradient = self._gradient(t, x, y, loss)
            for c, p in zip(self.coefficients(t)[1:-1], self.points[1:-1]):
                for k in (k for k in self.names if self.trained[k]):
                    p[k].grad = c * (gradient[k] + decay * point[k])
            opt.step()
            images, steps = images + len(first_tensor((y, x))), steps + 1
            weight, labels = weight + found.weight, labels + found.labels
            total, correct = total + float(found.loss) * found.weight, correct + found.correct
            norm += (
                0.5 * decay * float(sum((v * v).sum() for k, v in point.items() if self.trained[k]))
            )
            if not math.isfinite(total + norm):
                break
        opt.zero_grad()
        need(weight, NO_LABELS)
        accuracy = {} if math.isnan(correct) else {"accuracy": 100 * correct / labels}
        return {
            "loss": total / weight,
            **accuracy,
            "decay": norm / steps,
            "objective": total / weight + norm / steps,
            "lr": opt.param_groups[0]["lr"],
            "images_per_second": images / max(time.monotonic() - start, 1e-9),
        }

    def _statistics(self, ts: Sequence[float], loader: Batches, progress: bool) -> list[Tensors]:
        """Batch norm's statistics at each t."""
        runs = [lambda x, t=t: self._run(self._at(t, self.names + self.others), x) for t in ts]
        return statistics(self.net, runs, loader, self.device, progress)

    def point(self, t: float, loader: Batches | None = None, progress: bool = False) -> nn.Module:
        """The network at t in [0, 1], a new module in evaluation mode.

            middle = c.point(.5, loader)

        loader  batches (x, y), x or dictionaries that re-estimate batch norm's statistics; without
                it they are interpolated.

        Raises mcz.Error for another t, or if the loader does not fit."""
        tensors = self._at(t)
        if loader is not None and norms(self.net):
            tensors.update(self._statistics([t], loader, progress)[0])
        net = duplicate(self.net)
        state = tensors_of(net)
        with torch.no_grad():
            for k, v in tensors.items():
                state[k].copy_(v)
        return net.eval()  # last: it may change weights

    def evaluate(
        self,
        loaders: Mapping[str, Batches] | Batches,
        points: int = 65,
        bn: Batches | None = None,
        loss: Loss = F.cross_entropy,
        progress: bool = True,
    ) -> Points:
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
                 anything. Default: cross entropy of the logits (N, K, ...) and labels (N, ...), or
                 the network's own output.loss if it got the labels.

        The loss is the mean over all labels except those of -100; with your own loss, over all
        inputs. The network's own loss counts as the mean over the labels of a batch. The accuracy
        is that of the same labels. It is left out if y are not classes of the logits, and for the
        network's own loss if an input has several labels: language models shift them.

        Returns the rows. Raises mcz.Error if a loss is not finite or a loader does not fit."""
        whole("points", points, 2)
        loaders = loaders if isinstance(loaders, Mapping) else {"data": loaders}
        need(loaders, "no loaders")
        ts = [i / (points - 1) for i in range(points)]
        rows: list[dict[str, float]] = [{"t": t} for t in ts]
        statistics: list[Tensors] = [{} for _ in ts]
        if norms(self.net):
            statistics = self._statistics(
                ts, next(iter(loaders.values())) if bn is None else bn, progress
            )
        for name, loader in loaders.items():
            with inside(name), evaluating(self.net), torch.no_grad():
                sums, weight, labels = self._sums(
                    self._batches(loader, name if progress else "", loss), ts, statistics, loss
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
        return Points(
            rows,
            [
                math.sqrt(sum(float(((u[k] - v[k]) ** 2).sum()) for k in self.names))
                for u, v in itertools.pairwise(self._at(t, self.names) for t in ts)
            ],
        )

    def _sums(
        self, batches: Iterable[Any], ts: Sequence[float], statistics: Sequence[Tensors], loss: Loss
    ) -> tuple[list[list[float]], int, int]:
        """([loss, correct labels] at each t, their weight and number of labels) over all
        batches."""
        sums, weight, labels = [[0.0, 0.0] for _ in ts], 0, 0
        for x, y in batches:
            for t, own, s in zip(ts, statistics, sums):
                found = measure(self._run({**self._at(t), **own}, x), x, y, loss)
                s[:] = s[0] + float(found.loss) * found.weight, s[1] + found.correct
            weight, labels = weight + found.weight, labels + found.labels
        return sums, weight, labels

    def save(self, path: Path) -> str:
        """Writes a curve stream (formats/codecs/curve.md) for load(), mc-info and mc-bezier
        --point.

            c.save("curve.mcz")

        Numbers are float32. Integers and constants are not part of the stream. Returns its content
        id. Raises OSError if it cannot be written."""
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
        if self.permutation is not None:
            groups = self.permutation.meta["groups"]
            meta["groups"] = [
                {k: g[k] for k in ("name", "size", "within", "unit") if k in g} for g in groups
            ]
            tensors.update(
                ("permutation/" + g["name"], self.permutation.tensors[g["name"]]) for g in groups
            )
        made = mcz.history("mcz.torch.Curve", {"a": self.ids[0], "b": self.ids[1], **self.training})
        return mcz.write(path, "curve", meta, tensors, history=made, inputs=self.ids)

    @classmethod
    def load(cls, path: Path, net: nn.Module) -> Curve:
        """Reads a curve stream, also one of mc-bezier, for a network with the same tensors. Its
        integers, such as indices, and constants must be those of the curve's networks.

            c = mcz.torch.Curve.load("curve.mcz", Net())

        Raises mcz.Error if the stream is damaged or the tensors do not match."""
        s = mcz.read(path, "curve")
        nets, own = (
            [],
            {
                k: v
                for k, v in tensors_of(net).items()
                if k not in dict(net.named_parameters(remove_duplicate=False))
            },
        )
        for i in range(s.meta["points"]):
            prefix = f"{i}/"
            nets.append(duplicate(net))
            with inside(os.fspath(path)):
                _state.copy(
                    nets[-1],
                    {
                        **own,
                        **{
                            k[len(prefix) :]: v
                            for k, v in mcz.widened(s).items()
                            if k.startswith(prefix)
                        },
                    },
                )
        c = cls(nets[0], nets[-1], None, s.meta["curve"], len(nets) - 2)
        for point, middle in zip(c.points[1:-1], nets[1:-1]):
            point.update(c._tensors(tensors_of(middle).__getitem__))
        c.symmetry, c.ids = s.meta.get("symmetry", c.symmetry), s.inputs or c.ids
        if "groups" in s.meta:
            c.permutation = SimpleNamespace(
                meta=s.meta,
                tensors={
                    k[len("permutation/") :]: v
                    for k, v in s.tensors.items()
                    if k.startswith("permutation/")
                },
            )
        return c
