# SPDX-License-Identifier: Apache-2.0
# mypy: disallow-untyped-defs
"""Align more than two PyTorch networks without a graph. mcz.torch has these names."""

from __future__ import annotations

import io
import itertools
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from torch import nn

from .batches import Batches, input_of, read
from .errors import need
from .files import Path
from .joined import check_arguments, keep, save
from .merging import _door
from .programs import pipe
from .stream import Stream
from .structure import compare
from .unchanged import random_numbers_kept


def align_many(
    nets: Sequence[nn.Module],
    loader: Batches | None = None,
    groups: Any = None,
    by: str = "activations",
    path: Path | None = None,
    options: Sequence[str] = (),
    progress: bool = True,
    **moments: Any,
) -> Stream:
    """Brings the units of several networks to one order, with mc-corr and mc-hungarian --joint, or
    mc-match --joint.

        joint = mcz.torch.align_many(nets, loader)
        merged = mcz.torch.merge_many(nets, joint)

    nets     different networks of one architecture, each on any device.
    loader   batches, as for mcz.torch.moments, which are read once for each pair of networks. With
             by="weights" groups suffice.
    groups   as mcz.groups describes; default: mcz.torch.groups(net, x) of the first network and
             batch.
    by       "activations": their correlation over the loader; "weights": inner products of the
             parameters.
    path     a permutation stream to write as well.
    options  options of mc-hungarian --joint, or with by="weights" of mc-match --joint: ["--seed",
             "2"].
    progress  show a progress bar for each pair if tqdm is installed.
    moments  further arguments of mcz.torch.moments: at, stage.

    Returns the joint set, as mcz.read() does; its `groups` are those used. mcz.member() selects the
    permutation of one network. Raises mcz.Error if networks or groups do not fit or the loader is
    empty, and OSError if a program is not on PATH."""
    need(not isinstance(nets, nn.Module), "a list of networks expected, got one")
    nets = list(nets)
    check_arguments(loader, groups, by, options)
    need(len(nets) > 1, f"two or more networks expected (got {len(nets)})")
    need(
        not hasattr(loader, "__next__"),
        "a loader that can be read again expected, got an iterator (list(loader))",
    )
    with random_numbers_kept(), tempfile.TemporaryDirectory() as folder:
        if groups is None:
            first = next(read(loader))  # type: ignore[arg-type]
            groups = _door().groups(nets[0], input_of(first), progress=progress)
        text = "align {} and {}" if progress else ""
        names = list(_inputs(nets, loader, groups, by, folder, text, moments))
        program = ["mc-match", "--no-progress"] if by == "weights" else ["mc-hungarian"]
        return keep(pipe(b"", [*program, "--joint", *options, *names]), path, groups)


def _inputs(
    nets: Sequence[nn.Module],
    loader: Any,
    groups: Any,
    by: str,
    folder: str,
    text: str,
    moments: Any,
) -> Iterator[str]:
    """Writes the networks, or the matrices of all pairs. Yields the paths."""
    for i, net in enumerate(nets[1:], 2):
        compare(nets[0], net, groups, ("network 1", f"network {i}"))
    if by == "weights":
        for i, net in enumerate(nets):
            yield os.path.join(folder, f"net-{i + 1}.mcz")
            save(net, os.path.join(folder, f"net-{i + 1}.mcz"), groups)
        return
    for i, j in itertools.combinations(range(len(nets)), 2):
        sums, name = io.BytesIO(), os.path.join(folder, f"networks-{i + 1}-{j + 1}.mcz")
        _door().joint_moments(
            nets[i], nets[j], read(loader, text.format(i + 1, j + 1)), groups, sums, **moments
        )
        with open(name, "wb") as f:
            f.write(pipe(sums.getvalue(), ["mc-corr", "--no-progress"]))
        yield name
