# SPDX-License-Identifier: Apache-2.0
"""Batch norm's running statistics, re-estimated on a loader by mc-eval's definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from ..errors import warn
from .batches import Batches, input_of, read, to
from .state import listed
from .unchanged import Snapshot, evaluating

STATISTICS = "running_mean", "running_var"


def norms(net: nn.Module) -> dict[str, nn.Module]:
    """The batch norms with running statistics, by the prefix of their tensors."""
    return {
        k + "." * bool(k): m
        for k, m in net.named_modules()
        if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.running_mean is not None
    }


def _moments(x: torch.Tensor) -> Any:
    """(count, sum, sum of squares) per channel of x (N, C, ...)."""
    variance, mean = torch.var_mean(
        x.float() if torch.finfo(x.dtype).bits < 32 else x,
        [d for d in range(x.dim()) if d != 1],
        unbiased=False,
    )
    wide = torch.float32 if x.device.type == "mps" else torch.float64  # mps has no float64
    n, mean = x.numel() // x.shape[1], mean.to(wide)
    return n, n * mean, n * (variance.to(wide) + mean * mean)


@torch.no_grad()
def statistics(
    net: nn.Module,
    runs: Sequence[Callable[[Any], Any]],
    loader: Batches,
    device: torch.device,
    progress: bool = False,
    example: Any = None,
) -> list[dict[str, torch.Tensor]]:
    """The statistics {name: tensor} in each of `runs`, which run the network's modules on an input:
    mean and unbiased variance, pooled over all images, while each batch is normalised by its own.
    The network is unchanged. Warns of statistics of layers that are not batch norms, or that do not
    run: these are not estimated. Without batch norms, the loader is not read."""
    found, sums, i = norms(net), [{} for _ in runs], 0  # type: Any, list[dict[str, Any]], int

    def add(name: str, x: torch.Tensor) -> None:
        sums[i][name] = [u + v for u, v in zip(sums[i].get(name, (0, 0, 0)), _moments(x))]

    with evaluating(net):
        for k, m in found.items():
            m.training = True
            m.register_forward_pre_hook(
                lambda m, x, named, k=k: add(k, [*x, *named.values()][0]), with_kwargs=True
            )
        ready = Snapshot(net)
        for batch in read(loader, "batch norm" if progress else "") if found else ():
            x = to(input_of(net, batch, example), device)
            for i, run in enumerate(runs):  # noqa: B007 (add() reads i)
                run(x)
                ready.restore_attributes()  # such as a cache of weights at another point
    left = [
        k
        for k, _ in net.named_buffers()
        if k.rpartition(".")[2] in STATISTICS
        and k.rpartition(".")[0] + "." * ("." in k) not in sums[0]
    ]
    if left:
        warn(f"these statistics are interpolated, not re-estimated: {listed(left)}")
    return [
        {
            k + s: v
            for k, (n, u, q) in own.items()
            for s, v in zip(
                STATISTICS, (u / n, (q / n - (u / n) ** 2).clamp(min=0) * (n / max(n - 1, 1)))
            )
        }
        for own in sums
    ]
