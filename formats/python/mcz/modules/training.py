# SPDX-License-Identifier: Apache-2.0
"""Training of a curve's control points, as mc-bezier does it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn

from ..errors import need, whole
from ..files import Path, replacing
from ..nn.batches import Batches, Loss, Measured, expect_repeatable, measure
from ..nn.copies import duplicate
from ..nn.state import Tensors
from ..nn.unchanged import evaluating
from .points import NO_LABELS, Points

NO_GRADIENT = (
    "no gradient of the loss reaches a trained parameter (the network and the loss must not detach "
    "tensors or run in torch.no_grad())"
)


def step(epoch: int) -> float:
    """mc-bezier's default schedule: the factor of the learning rate in an epoch, counted from 0."""
    return 0.5 ** (epoch // 20) * 0.9996**epoch


def _modes(net: nn.Module) -> list[bool]:
    """The modes of a network's modules after train(), which may be overridden."""
    copy = duplicate(net)
    copy.train()
    return [m.training for m in copy.modules()]


def check_arguments(loader: Any, epochs: Any, schedule: Any, optimizer: Any) -> None:
    """Raises Error if these arguments of Curve.train are wrong."""
    whole("epochs", epochs, 1)
    if epochs > 1:
        expect_repeatable(loader)
    need(
        optimizer is None or not isinstance(optimizer, torch.optim.Optimizer),
        "optimizer must make an optimizer of the control points (lambda p: "
        "torch.optim.AdamW(p, 1e-3))",
    )
    need(callable(schedule), f"schedule must be a function of the epoch (got {schedule!r})")


@torch.enable_grad()
def gradient_at(
    curve: Points, t: float, x: Any, y: Any, loss: Loss
) -> tuple[Measured, Tensors, Tensors]:
    """(loss and accuracy, parameters at t, the loss's gradient there by those that it reaches)."""
    point = {k: v.requires_grad_() for k, v in curve.at(t, curve.names).items()}

    def differentiate(output: Any) -> tuple[Measured, Sequence[torch.Tensor | None]]:
        found = measure(output, x, y, loss)
        if not found.loss.requires_grad:
            return found, [None] * len(point)
        return found, torch.autograd.grad(found.loss, list(point.values()), allow_unused=True)

    # all buffers: a norm that stays in evaluation mode reads its statistics
    tensors = {**curve.at(t, curve.buffers), **point}
    found, gradient = curve.run(tensors, x, differentiate)
    torch.clear_autocast_cache()  # it would keep a copy of each point until autocast ends
    return (
        found._replace(loss=found.loss.detach()),
        {k: v.detach() for k, v in point.items()},
        {k: g for k, g in zip(point, gradient) if g is not None},
    )


class Trainer:
    """Trains the control points of a curve, with one t ~ U[0, 1] per batch.

    decay     multiplies half the squared norm of the point at t
    loss      loss(output, y)
    schedule  the factor of the learning rate in an epoch, counted from 0
    rates     the learning rates of the optimizer before training"""

    def __init__(
        self, curve: Points, decay: float, loss: Loss, schedule: Callable[[int], float]
    ) -> None:
        self.curve, self.decay, self.loss, self.schedule = curve, decay, loss, schedule
        self.names = [k for k in curve.names if curve.trained[k]]
        need(self.names, "no parameter of a requires gradients")
        self.free = curve.points[1:-1]
        self.before = [dict(p) for p in self.free]
        self.log = ""

    def start(self, optimizer: Callable[[list[torch.Tensor]], Any]) -> None:
        """Replaces the control points by copies, which an optimizer trains."""
        flat = []
        for p in self.free:
            p.update((k, p[k].clone()) for k in self.curve.names)
            flat += [p[k] for k in self.names]
        self.opt = optimizer(flat)
        self.rates: list[float] = [g["lr"] for g in self.opt.param_groups]

    def undo(self) -> None:
        """Restores the control points."""
        for p, old in zip(self.free, self.before):
            p.update(old)

    def run(self, loader: Batches, epochs: int, seed: int, progress: bool) -> None:
        """Trains. Raises Error if the loss is not finite, or in an epoch without gradients."""
        net = self.curve.net
        with evaluating(net, training=_modes(net)):
            torch.default_generator.manual_seed(seed)
            # torch.manual_seed would also seed a CUDA that starts later
            if self.curve.device.type == "cuda":
                torch.cuda.manual_seed_all(seed)
            if self.curve.device.type == "mps":
                torch.mps.manual_seed(seed)
            draws = torch.Generator().manual_seed(seed)
            for epoch in range(1, epochs + 1):
                for group, rate in zip(self.opt.param_groups, self.rates):
                    group["lr"] = rate * self.schedule(epoch - 1)
                text = f"epoch {epoch}/{epochs}" if progress else ""
                means = self._epoch(self.curve.batches(loader, text, self.loss), draws)
                need(
                    math.isfinite(means["objective"]),
                    f"the loss is not finite in epoch {epoch} (try a smaller lr)",
                )
                line = {"event": "epoch", "epoch": epoch, "epochs": epochs, **means}
                self.log += json.dumps(line, separators=(",", ":")) + "\n"

    def write_log(self, path: Path) -> None:
        """Writes the log, as mc-bezier --log-json does."""
        with replacing(path, "t") as f:
            f.write(self.log)

    def _epoch(
        self, batches: Iterable[tuple[Any, Any]], draws: torch.Generator
    ) -> dict[str, float]:
        """Trains an epoch. Returns its means for the log."""
        images = labels = weight = steps = 0
        total, norm, correct, start = 0.0, 0.0, 0.0, time.monotonic()
        reached = False
        for x, y in batches:
            t = float(torch.rand((), generator=draws, device="cpu"))
            found, point, gradient = gradient_at(self.curve, t, x, y, self.loss)
            reached = reached or not gradient.keys().isdisjoint(self.names)
            self.opt.zero_grad()  # as in PyTorch, what no gradient reaches stays
            for c, p in zip(self.curve.coefficients(t)[1:-1], self.free):
                for k in gradient.keys() & self.names:
                    p[k].grad = c * (gradient[k] + self.decay * point[k])
            self.opt.step()
            images, steps = images + found.inputs, steps + 1
            weight, labels = weight + found.weight, labels + found.labels
            total, correct = total + float(found.loss) * found.weight, correct + found.correct
            norm += 0.5 * self.decay * float(sum((point[k] * point[k]).sum() for k in self.names))
            if not math.isfinite(total + norm):
                break
        self.opt.zero_grad()
        need(weight, NO_LABELS)
        need(reached, NO_GRADIENT)
        accuracy = {} if math.isnan(correct) else {"accuracy": 100 * correct / labels}
        return {
            "loss": total / weight,
            **accuracy,
            "decay": norm / steps,
            "objective": total / weight + norm / steps,
            "lr": self.opt.param_groups[0]["lr"],
            "images_per_second": images / max(time.monotonic() - start, 1e-9),
        }
