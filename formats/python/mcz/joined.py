# SPDX-License-Identifier: Apache-2.0
# mypy: disallow-untyped-defs
"""Align, merge and connect two PyTorch networks without a graph. PyTorch runs the networks, mc's programs align them,
and the results are mc's streams and tables. mcz.torch has these names."""
from __future__ import annotations

import copy
import io
import itertools
import json
import math
import os
import tempfile
import time
import warnings
from types import SimpleNamespace
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence

import torch
from torch import nn
from torch.nn import functional as F

import mcz

from . import groups as _groups
from . import state as _state
from .errors import inside, need
from .evaluate import arguments, fit, outputs
from .files import Path, replacing
from .programs import pipe
from .state import tensors_of
from .table import Points

Batches = Iterable[Any]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Tensors = dict[str, torch.Tensor]
STATISTICS = "running_mean", "running_var"
BATCHES = "batches (x, y) of images and labels expected (several inputs: ((x1, x2), y) or ({argument: x}, y))"


def _door() -> Any:
    """mcz.torch, which imports this module."""
    import mcz.torch
    return mcz.torch


# ---- alignment -------------------------------------------------------------------------------------------------------

def _rows(net: nn.Module, groups: Any) -> list[Any]:
    return [] if groups is None else _groups.rows(groups, {k: v.shape for k, v in tensors_of(net).items()})[0]


def save(net: nn.Module, path: Path, groups: Any) -> str:
    """Writes a network's weights stream, as mc-convert --groups does: for mc-match, mc-permute and mc-info.

        mcz.torch.save(a, "a.mcz", groups)

    It has all floating-point tensors of the state_dict: float16 and bfloat16 unchanged, others as float32. Returns the
    content id, or raises mcz.Error if groups do not fit the network."""
    meta = {"net": "groups", "dataset": "", "symmetry": _groups.text(_rows(net, groups))}
    tensors, dtypes = _door()._arrays(net)
    return mcz.write(path, "weights", meta, tensors, dtypes=dtypes)


def _keep(found: bytes, path: Optional[Path], groups: Any) -> SimpleNamespace:
    """The permutation or joint set of a stream, which is also written to the path."""
    if path is not None:
        with replacing(path) as f:
            f.write(found)
    p = mcz.read(io.BytesIO(found), "permutation")
    p.groups = groups
    return p


def align(a: nn.Module, b: nn.Module, loader: Optional[Batches], groups: Any = None, by: str = "activations",
          path: Optional[Path] = None, options: Sequence[str] = (), **moments: Any) -> SimpleNamespace:
    """Aligns the units of b to those of a with mc-corr and mc-hungarian, or with mc-match.

        p = mcz.torch.align(a, b, loader)
        p.tensors["conv"]                                 # int32 (K): new unit i is b's unit p[i]

    a, b     networks of one architecture, each on any device.
    loader   batches (x, y) or x, as for mcz.torch.moments. With by="weights" and groups it may be None.
    groups   as mcz.groups describes; default: mcz.torch.groups(a, x) of the first batch.
    by       "activations": their correlation over the loader; "weights": inner products of the parameters.
    path     a permutation stream to write as well.
    options  options of mc-hungarian, or with by="weights" of mc-match: ["--seed", "2"].
    moments  further arguments of mcz.torch.moments: at, stage.

    Returns the stream as mcz.read() does; its `groups` are those used. Raises mcz.Error if networks or groups do not
    fit or the loader is empty, and OSError if a program is not on PATH."""
    need(by in ("activations", "weights"), "by must be \"activations\" or \"weights\" (got %r)" % (by,))
    need(loader is not None or by == "weights" and groups is not None,
         "a loader of batches expected, got None (groups suffice with by=\"weights\")")
    images: Iterator[Any] = iter(() if loader is None else _door()._batches(loader))
    if groups is None:
        first = next(images, None)
        need(first is not None, "the loader yields no images")
        groups, images = _door().groups(a, _door()._input(first)), itertools.chain([first], images)
    if by == "weights":
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, n) for n in ("a.mcz", "b.mcz")]
            for net, name in zip((a, b), names):
                save(net, name, groups)
            found = pipe(b"", ["mc-match", "--no-progress", *options, *names])
    else:
        sums = io.BytesIO()
        _door().moments(a, b, images, groups, sums, **moments)
        found = pipe(sums.getvalue(), ["mc-corr", "--no-progress"], ["mc-hungarian", *options])
    return _keep(found, path, groups)


# ---- batches ---------------------------------------------------------------------------------------------------------

def _batches(loader: Batches, device: torch.device, text: str = "", labels: Optional[Loss] = None) -> Iterator[Any]:
    """The batches (x, y) on a device. labels: the loss that needs them; if None, y is None. If `text`, shows progress with
    tqdm."""
    batch = None
    loader = _door()._batches(loader)
    try:
        with warnings.catch_warnings():  # in a notebook without ipywidgets
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
        loader = tqdm(loader, desc=text, leave=False, disable=None) if text else loader  # type: ignore[call-overload]
    except ImportError:
        pass
    for batch in loader:
        batch = _door()._to(batch, device)
        x, *y = batch if isinstance(batch, (tuple, list)) else [batch]
        need(not labels or len(y) == 1 and (isinstance(y[0], torch.Tensor) or labels is not F.cross_entropy), BATCHES)
        yield x, y[0] if labels else None
    need(batch is not None, "the loader yields no images")


def _labelled(output: torch.Tensor, y: Any, loss: Loss) -> bool:
    """True if y are labels (N, ...), integers, of logits (N, K, ...). Raises Error if not, and the loss is the default."""
    shape = output.shape[:1] + output.shape[2:]
    found = isinstance(y, torch.Tensor) and not (y.is_floating_point() or y.is_complex())
    found = found and output.dim() > 1 and y.shape == shape
    need(found or loss is not F.cross_entropy, "labels %s of integers expected, got %s of %s (other labels need your own loss=)" % (
        tuple(shape), tuple(y.shape), str(y.dtype)[len("torch."):]) if isinstance(y, torch.Tensor) else BATCHES)
    return found


def _correct(output: torch.Tensor, y: Any, loss: Loss) -> float:
    """The number of correct labels, or nan if y are not labels (_labelled)."""
    return int((output.argmax(1) == y).sum()) if _labelled(output, y, loss) else math.nan


def _size(*batch: Any) -> int:
    """The number of inputs in a batch."""
    return next(len(v) for v in torch.utils._pytree.tree_leaves(batch) if isinstance(v, torch.Tensor) and v.dim())


def _count(y: Any) -> int:
    """The number of labels."""
    return y.numel() if isinstance(y, torch.Tensor) else 1


def _norms(net: nn.Module) -> dict[str, nn.Module]:
    """The batch norms with running statistics, by the prefix of their tensors."""
    return {k + "." * bool(k): m for k, m in net.named_modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)
            and m.running_mean is not None}


def _moments(x: torch.Tensor) -> Any:
    """(count, sum, sum of squares) per channel of x (N, C, ...)."""
    variance, mean = torch.var_mean(x.float() if torch.finfo(x.dtype).bits < 32 else x, [
        d for d in range(x.dim()) if d != 1], unbiased=False)
    wide = torch.float32 if x.device.type == "mps" else torch.float64  # mps has no float64
    n, mean = x.numel() // x.shape[1], mean.to(wide)
    return n, n * mean, n * (variance.to(wide) + mean * mean)


# ---- curves ----------------------------------------------------------------------------------------------------------

def _match(a: nn.Module, b: nn.Module) -> None:
    """Raises Error unless the networks have the same tensors."""
    x, y = ({k: (v.shape, v.dtype) for k, v in tensors_of(n).items()} for n in (a, b))
    other = [k for k in {**x, **y} if x.get(k) != y.get(k)]
    need(not other, "a and b are different networks: %d tensors of another name, shape or dtype (%s)" % (
        len(other), ", ".join(other[:_state.SHOWN] + ["..."] * (len(other) > _state.SHOWN))))
    need(not any(dtype.is_complex for _, dtype in x.values()), "tensors of complex numbers are not supported")


def step(epoch: int) -> float:
    """mc-bezier's default schedule: the factor of the learning rate in an epoch, counted from 0."""
    return .5 ** (epoch // 20) * .9996 ** epoch


class Curve:
    """A path of networks from a to b: a Bezier curve or a polygonal chain through control points, or a straight line.

        c = mcz.torch.Curve(a, b, p)                      # on the straight line
        c.train(loader, epochs=5).save("curve.mcz")
        c.evaluate({"train": loader, "test": test}).write("curve.tsv")
        middle = c.point(.5, loader)

    a, b     networks of one architecture, which are copied. The curve is on a's device.
    p        a permutation for b, as align() returns it, or the path of one; None if b is aligned.
    kind     "bezier": Σ C(n,i) tⁱ (1−t)ⁿ⁻ⁱ point_i; "chain": straight from point to point.
    control_points  the number of points between the ends, 0 (a straight line) to 62.
    groups   the groups of p; default: p.groups. save() writes them too.

    As in mc-bezier, the ends stay fixed and the control points start on the straight line. Requires PyTorch 2.0. Raises
    mcz.Error if networks or permutation do not fit."""

    def __init__(self, a: nn.Module, b: nn.Module, p: Any = None, kind: str = "bezier", control_points: int = 1,
                 groups: Any = None) -> None:
        need(kind in ("bezier", "chain"), "kind must be \"bezier\" or \"chain\" (got %r)" % (kind,))
        need(0 <= control_points <= 62, "control_points must be from 0 to 62 (got %r)" % (control_points,))
        _match(a, b)
        p = mcz.read(p, "permutation") if isinstance(p, (str, os.PathLike)) else p
        need(p is None or hasattr(p, "meta"), "p must be a permutation stream (got %s)" % type(p).__name__)
        groups = getattr(p, "groups", None) if groups is None else groups
        self.kind, self.permutation, self.training = kind, p, {}  # type: str, Any, dict[str, Any]
        rows = _rows(a, groups)
        self.symmetry, self.ids = _groups.text(rows), _door()._ids([a, b], rows, None)
        self.net, b = copy.deepcopy(a), copy.deepcopy(b)
        if p is not None:
            need(groups is not None, "the groups of the permutation are missing (groups=)")
            expected = _door()._expected(p, groups) or self.ids
            other = [n for n, x, y in zip("ab", expected, self.ids) if x != y]
            _door()._apply(b, p, groups)
            if other:
                warnings.warn(_door().OTHERS % " and ".join(other), stacklevel=2)
            self.ids.append(p.id)
        self.owners, first, state = {}, {}, tensors_of(self.net)  # type: dict[str, str], dict[Any, str], Tensors
        for k, v in state.items():  # a tied tensor has one entry, under its first name
            if v.is_floating_point():
                self.owners[k] = first.setdefault((v.data_ptr(), v.shape, v.stride()) if v.numel() else k, k)
        trained = {k for k, _ in self.net.named_parameters(remove_duplicate=False)}
        self.names, self.buffers = ([k for k in first.values() if (k in trained) == ok] for ok in (True, False))
        self.device = next(iter(state.values())).device
        own = {k + s for k in _norms(self.net) for s in STATISTICS}
        self.others = [k for k in self.buffers if k not in own]
        start, end, last = self._tensors(self.net), self._tensors(b), control_points + 1
        self.points = [start] + [{k: torch.lerp(start[k], end[k], i / last) for k in start}
                                 for i in range(1, last)] + [end]

    def __repr__(self) -> str:
        return "<%s curve, %d points, %d parameters>" % (self.kind, len(self.points), sum(
            self.points[0][k].numel() for k in self.names))

    def _tensors(self, net: nn.Module) -> Tensors:
        """Copies of a network's tensors on the curve's device, in float32 or wider."""
        state = tensors_of(net)
        return {k: state[k].detach().to(self.device, torch.promote_types(state[k].dtype, torch.float32), copy=True)
                for k in self.names + self.buffers}

    def coefficients(self, t: float) -> list[float]:
        """The weights of the points at t in [0, 1]; their sum is 1.

            mcz.torch.Curve(a, b, kind="chain").coefficients(.25)                # [.5, .5, 0]

        Raises mcz.Error for another t."""
        need(0 <= t <= 1, "t must be from 0 to 1 (got %r)" % (t,))
        n = len(self.points) - 1
        if self.kind == "chain":
            return [max(0., 1 - abs(t * n - i)) for i in range(n + 1)]
        return [math.comb(n, i) * t ** i * (1 - t) ** (n - i) for i in range(n + 1)]

    @torch.no_grad()
    def _at(self, t: float, names: Optional[Iterable[str]] = None) -> Tensors:
        c = self.coefficients(t)
        return {k: torch.stack([w * p[k] for w, p in zip(c, self.points) if w]).sum(0)
                for k in (self.names + self.buffers if names is None else names)}

    def _run(self, tensors: Tensors, x: Any) -> torch.Tensor:
        """The logits with these tensors, cast to the network's dtypes. x: its input, a tuple of arguments, or {argument: value}."""
        state = {**dict(self.net.named_parameters()), **dict(self.net.named_buffers())}
        tensors = {k: v.to(state[k].dtype) for k, v in tensors.items()}
        args, kwargs = arguments(x)
        fit(self.net, args, kwargs)
        return outputs(torch.func.functional_call(self.net, tensors, args, kwargs))[0]

    @torch.enable_grad()
    def _gradient(self, t: float, x: Any, y: Any, loss: Loss
                  ) -> tuple[torch.Tensor, torch.Tensor, Tensors, Tensors]:
        """(loss, logits, parameters at t, the loss's gradient there), in training mode: batch norm uses the batch's
        statistics, and dropout is active."""
        point = {k: v.requires_grad_() for k, v in self._at(t, self.names).items()}
        self.net.train()
        output = self._run({**self._at(t, self.others), **point}, x)
        _labelled(output, y, loss)
        value = loss(output, y)
        found = torch.autograd.grad(value, list(point.values()), allow_unused=True)
        return value.detach(), output.detach(), {k: v.detach() for k, v in point.items()}, {
            k: torch.zeros_like(v) if g is None else g for (k, v), g in zip(point.items(), found)}

    def train(self, loader: Batches, epochs: int = 250, lr: float = .01, momentum: float = .9, decay: float = 5e-4,
              schedule: Callable[[int], float] = step, optimizer: Optional[Callable[[list[torch.Tensor]], Any]] = None,
              loss: Loss = F.cross_entropy, seed: int = 1, log: Optional[Path] = None, progress: bool = True) -> Curve:
        """Trains the control points as mc-bezier does, with one t ~ U[0, 1] per batch. Returns the curve.

            c.train(loader, epochs=20, log="curve.log.json")
            c.train(loader, epochs=5, optimizer=lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=0))

        loader     batches (x, y): the network's input, a tensor, a tuple of arguments or {argument: value}, and labels (N).
        lr, momentum, decay  of SGD with Nesterov's momentum. decay multiplies half the squared norm of the point at t.
        schedule   the factor of the learning rate in an epoch, counted from 0.
        optimizer  makes an optimizer of the control points, instead of SGD.
        loss       of the output and y, as in evaluate(). Auxiliary outputs are ignored.
        seed       of t, dropout, and a loader that uses PyTorch's global generator, which is restored.
        log        a log to write, as mc-bezier --log-json does: for mc-plot log.
        progress   show a progress bar if tqdm is installed.

        Raises mcz.Error, and leaves the curve unchanged, if the loss is not finite or the loader does not fit."""
        need(len(self.points) > 2, "a straight line has no control points to train")
        need(epochs >= 1, "epochs must be at least 1 (got %r)" % (epochs,))
        free = self.points[1:-1]
        before, flat = [dict(p) for p in free], []
        for p in free:
            p.update((k, p[k].clone()) for k in self.names)
            flat += [p[k] for k in self.names]
        opt = optimizer(flat) if optimizer else torch.optim.SGD(flat, lr, momentum, nesterov=momentum > 0)
        rates, lines = [g["lr"] for g in opt.param_groups], ""
        try:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                draws = torch.Generator().manual_seed(seed)
                for epoch in range(1, epochs + 1):
                    for group, rate in zip(opt.param_groups, rates):
                        group["lr"] = rate * schedule(epoch - 1)
                    text = "epoch %d/%d" % (epoch, epochs)
                    batches = _batches(loader, self.device, text if progress else "", loss)
                    means: dict[str, Any] = {"event": "epoch", "epoch": epoch, "epochs": epochs}
                    means.update(self._epoch(batches, opt, decay, loss, draws))
                    need(math.isfinite(means["objective"]),
                         "the loss is not finite in epoch %d (try a smaller lr)" % epoch)
                    lines += json.dumps(means, separators=(",", ":")) + "\n"
        except BaseException:
            for p, old in zip(free, before):
                p.update(old)
            raise
        self.training = {"epochs": epochs, "lr": float(rates[0]), "weight-decay": float(decay), "seed": seed}
        if log is not None:
            with replacing(log, "t") as f:
                f.write(lines)
        return self

    def _epoch(self, batches: Batches, opt: Any, decay: float, loss: Loss, draws: torch.Generator) -> dict[str, float]:
        """Trains an epoch. Returns its means for the log."""
        images = labels = steps = 0
        total, norms, correct, start = 0., 0., 0., time.monotonic()
        for x, y in batches:
            t = float(torch.rand((), generator=draws))
            value, output, point, gradient = self._gradient(t, x, y, loss)
            for c, p in zip(self.coefficients(t)[1:-1], self.points[1:-1]):
                for k in self.names:
                    p[k].grad = c * (gradient[k] + decay * point[k])
            opt.step()
            n = _size(y, x)
            images, labels, steps = images + n, labels + _count(y), steps + 1
            total, correct = total + float(value) * n, correct + _correct(output, y, loss)
            norms += .5 * decay * float(sum((v * v).sum() for v in point.values()))
            if not math.isfinite(total + norms):
                break
        opt.zero_grad()
        accuracy = {} if math.isnan(correct) else {"accuracy": 100 * correct / labels}
        return {"loss": total / images, **accuracy, "decay": norms / steps,
                "objective": total / images + norms / steps, "lr": opt.param_groups[0]["lr"],
                "images_per_second": images / max(time.monotonic() - start, 1e-9)}

    @torch.no_grad()
    def _statistics(self, ts: Sequence[float], loader: Batches, progress: bool) -> list[Tensors]:
        """Batch norm's statistics at each t, by mc-eval's definition: mean and unbiased variance, pooled over all
        images, while each batch is normalised by its own."""
        norms, sums, i = _norms(self.net.eval()), [{} for _ in ts], 0  # type: Any, list[dict[str, Any]], int

        def add(name: str, x: torch.Tensor) -> None:
            sums[i][name] = [u + v for u, v in zip(sums[i].get(name, (0, 0, 0)), _moments(x))]

        hooks = [m.train().register_forward_pre_hook(lambda m, x, k=k: add(k, x[0])) for k, m in norms.items()]
        try:
            for x, _ in _batches(loader, self.device, "batch norm" if progress else ""):
                for i, t in enumerate(ts):
                    self._run(self._at(t, self.names + self.others), x)
        finally:
            for h in hooks:
                h.remove()
        return [{k + s: v for k, (n, u, q) in found.items() for s, v in zip(STATISTICS, (
            u / n, (q / n - (u / n) ** 2).clamp(min=0) * (n / max(n - 1, 1))))} for found in sums]

    def point(self, t: float, loader: Optional[Batches] = None, progress: bool = False) -> nn.Module:
        """The network at t in [0, 1], a new module in evaluation mode.

            middle = c.point(.5, loader)

        loader  batches (x, y) or x that re-estimate batch norm's statistics; without it they are interpolated.

        Raises mcz.Error for another t, or if the loader does not fit."""
        tensors = self._at(t)
        if loader is not None and _norms(self.net):
            tensors.update(self._statistics([t], loader, progress)[0])
        net = copy.deepcopy(self.net).eval()
        state = tensors_of(net)
        for k, v in tensors.items():
            state[k].copy_(v)
        return net

    @torch.no_grad()
    def evaluate(self, loaders: Mapping[str, Batches] | Batches, points: int = 65, bn: Optional[Batches] = None,
                 loss: Loss = F.cross_entropy, progress: bool = True) -> Points:
        """Measures loss and accuracy along the curve, as mc-eval does, in one pass over each loader.

            rows = c.evaluate({"train": loader, "test": test}, points=33)
            rows.write("curve.tsv", summary="curve.summary.tsv")

        loaders  {name: batches (x, y)}, without augmentation; or the batches, for the name "data".
        points   their number, at evenly spaced t from 0 to 1.
        bn       batches that re-estimate batch norm's statistics at each point; default: the first of the loaders.
        loss     of the output and y: the mean over a batch. With your own loss y may be anything. The accuracy is left out
                 unless y are integers of the output's shape without axis 1.

        Returns the rows. Raises mcz.Error if a loss is not finite or a loader does not fit."""
        need(points >= 2, "points must be at least 2 (got %r)" % (points,))
        loaders = loaders if isinstance(loaders, Mapping) else {"data": loaders}
        need(loaders, "no loaders")
        ts = [i / (points - 1) for i in range(points)]
        rows, statistics = [{"t": t} for t in ts], [{} for _ in ts]  # type: list[dict[str, float]], list[Tensors]
        if _norms(self.net):
            statistics = self._statistics(ts, next(iter(loaders.values())) if bn is None else bn, progress)
        self.net.eval()
        for name, loader in loaders.items():
            sums, images, labels = [[0., 0] for _ in ts], 0, 0
            with inside(name):
                for x, y in _batches(loader, self.device, name if progress else "", loss):
                    n = _size(y, x)
                    images, labels = images + n, labels + _count(y)
                    for t, own, s in zip(ts, statistics, sums):
                        output = self._run({**self._at(t), **own}, x)
                        right = _correct(output, y, loss)
                        s[:] = s[0] + float(loss(output, y)) * n, s[1] + right
            for row, (total, correct) in zip(rows, sums):
                need(math.isfinite(total), "the loss on %s is not finite at t = %.9g" % (name, row["t"]))
                row[name + ".loss"] = total / images
                if not math.isnan(correct):
                    row[name + ".accuracy"] = 100 * correct / labels
        return Points(rows, [math.sqrt(sum(float(((u[k] - v[k]) ** 2).sum()) for k in self.names))
                             for u, v in itertools.pairwise(self._at(t, self.names) for t in ts)])

    def save(self, path: Path) -> str:
        """Writes a curve stream (formats/codecs/curve.md) for load(), mc-info and mc-bezier --point.

            c.save("curve.mcz")

        Returns its content id. Raises OSError if it cannot be written."""
        meta = {"net": "groups", "dataset": "", "symmetry": self.symmetry, "curve": self.kind,
                "points": len(self.points)}
        tensors = {"%d/%s" % (i, k): p[self.owners[k]].cpu().float().numpy() for i, p in enumerate(self.points)
                   for k in sorted(self.owners, key=str.encode)}
        if self.permutation is not None:
            groups = self.permutation.meta["groups"]
            meta["groups"] = [{k: g[k] for k in ("name", "size", "within", "unit") if k in g} for g in groups]
            tensors.update(("permutation/" + g["name"], self.permutation.tensors[g["name"]]) for g in groups)
        made = mcz.history("mcz.torch.Curve", {"a": self.ids[0], "b": self.ids[1], **self.training})
        return mcz.write(path, "curve", meta, tensors, history=made, inputs=self.ids)

    @classmethod
    def load(cls, path: Path, net: nn.Module) -> Curve:
        """Reads a curve stream, also one of mc-bezier, for a network with the same tensors.

            c = mcz.torch.Curve.load("curve.mcz", Net())

        Raises mcz.Error if the stream is damaged or the tensors do not match."""
        s = mcz.read(path, "curve")
        nets, own = [], {k: v for k, v in tensors_of(net).items() if k not in dict(net.named_parameters())}
        for i in range(s.meta["points"]):
            prefix = "%d/" % i
            nets.append(copy.deepcopy(net))
            with inside(os.fspath(path)):
                _state.copy(nets[-1], {**own, **{k[len(prefix):]: v for k, v in mcz.widened(s).items()
                                                 if k.startswith(prefix)}})
        c = cls(nets[0], nets[-1], None, s.meta["curve"], len(nets) - 2)
        for point, middle in zip(c.points[1:-1], nets[1:-1]):
            point.update(c._tensors(middle))
        c.symmetry, c.ids = s.meta.get("symmetry", c.symmetry), s.inputs or c.ids
        if "groups" in s.meta:
            c.permutation = SimpleNamespace(meta=s.meta, tensors={
                k[len("permutation/"):]: v for k, v in s.tensors.items() if k.startswith("permutation/")})
        return c


def merge(a: nn.Module, b: nn.Module, p: Any = None, t: float = .5, loader: Optional[Batches] = None,
          groups: Any = None) -> nn.Module:
    """The network at t on the straight line from a (t = 0) to b, a new module in evaluation mode.

        merged = mcz.torch.merge(a, b, mcz.torch.align(a, b, loader), loader=loader)

    p, groups  a permutation for b, as for Curve, or {group: integers (K)}; None if b is aligned.
    loader     batches (x, y) or x that re-estimate batch norm's statistics; without it they are interpolated.

    Raises mcz.Error if networks or permutation do not fit."""
    if isinstance(p, Mapping):
        need(groups is not None, "the groups of the permutation are missing (groups=)")
        b, p = _door().permute(copy.deepcopy(b), p, groups), None
    return Curve(a, b, p, control_points=0, groups=groups).point(t, loader)
