# SPDX-License-Identifier: Apache-2.0
# mypy: disallow-untyped-defs
"""Align and merge more than two PyTorch networks without a graph. mcz.torch has these names."""
from __future__ import annotations

import copy
import io
import itertools
import os
import tempfile
from types import SimpleNamespace
from typing import Any, Iterator, Optional, Sequence

import torch
from torch import nn

import mcz

from .errors import need
from .files import Path
from .joined import Batches, Curve, _door, _keep, _match, _rows, save
from .programs import pipe
from .state import tensors_of


def align_many(nets: Sequence[nn.Module], loader: Optional[Batches] = None, groups: Any = None, by: str = "activations",
               path: Optional[Path] = None, options: Sequence[str] = (), **moments: Any) -> SimpleNamespace:
    """Brings the units of several networks to one order, with mc-corr and mc-hungarian --joint, or mc-match --joint.

        joint = mcz.torch.align_many(nets, loader)
        merged = mcz.torch.merge_many(nets, joint)

    nets     different networks of one architecture, each on any device.
    loader   batches (x, y) or x, which are read once for each pair of networks. With by="weights" groups suffice.
    groups   as mcz.groups describes; default: mcz.torch.groups(net, x) of the first network and batch.
    by       "activations": their correlation over the loader; "weights": inner products of the parameters.
    path     a permutation stream to write as well.
    options  options of mc-hungarian --joint, or with by="weights" of mc-match --joint: ["--seed", "2"].
    moments  further arguments of mcz.torch.moments: at, stage.

    Returns the joint set as mcz.read() does; its `groups` are those used. mcz.member() selects the permutation of one network.
    Raises mcz.Error if networks or groups do not fit or the loader is empty, and OSError if a program is not on PATH."""
    nets = list(nets)
    need(by in ("activations", "weights"), "by must be \"activations\" or \"weights\" (got %r)" % (by,))
    need(len(nets) > 1, "two or more networks expected (got %d)" % len(nets))
    need(not hasattr(loader, "__next__"),
         "a loader that can be read again expected, got an iterator (list(loader))")
    need(loader is not None or (by == "weights" and groups is not None),
         "a loader of batches expected, got None (groups suffice with by=\"weights\")")
    if groups is None:
        first = next(iter(_door()._batches(loader)), None)
        need(first is not None, "the loader yields no images")
        groups = _door().groups(nets[0], _door()._input(first))
    with tempfile.TemporaryDirectory() as folder:
        names = list(_inputs(nets, loader, groups, by, folder, moments))
        program = ["mc-match", "--no-progress"] if by == "weights" else ["mc-hungarian"]
        found = pipe(b"", [*program, "--joint", *options, *names])
    return _keep(found, path, groups)


def _inputs(nets: Sequence[nn.Module], loader: Any, groups: Any, by: str, folder: str, moments: Any) -> Iterator[str]:
    """Writes the networks, or the matrices of all pairs. Yields the paths."""
    if by == "weights":
        for i, net in enumerate(nets):
            yield os.path.join(folder, "net-%d.mcz" % (i + 1))
            save(net, os.path.join(folder, "net-%d.mcz" % (i + 1)), groups)
        return
    for i, j in itertools.combinations(range(len(nets)), 2):
        sums, name = io.BytesIO(), os.path.join(folder, "networks-%d-%d.mcz" % (i + 1, j + 1))
        _door().moments(nets[i], nets[j], loader, groups, sums, **moments)
        with open(name, "wb") as f:
            f.write(pipe(sums.getvalue(), ["mc-corr", "--no-progress"]))
        yield name


def merge_many(nets: Sequence[nn.Module], joint: Any = None, loader: Optional[Batches] = None, groups: Any = None,
               weights: Optional[Sequence[float]] = None) -> nn.Module:
    """The mean of several networks as mc-merge computes it, a new module in evaluation mode.

        merged = mcz.torch.merge_many(nets, mcz.torch.align_many(nets, loader), loader=loader)

    nets     networks of one architecture.
    joint    a joint set, as align_many() returns it, or the path of one; None if the networks are in one order.
    loader   batches (x, y) or x that re-estimate batch norm's statistics; without it they are averaged.
    groups   the groups of joint; default: joint.groups.
    weights  the networks' weights, which are divided by their sum; default: equal.

    Sums are in float64 and rounded once. Raises mcz.Error if the networks, the joint set or the weights do not fit."""
    nets = list(nets)
    weights = [1.] * len(nets) if weights is None else list(weights)
    need(len(nets) > 1, "two or more networks expected (got %d)" % len(nets))
    need(len(weights) == len(nets) and min(weights) >= 0 < sum(weights) < float("inf"),
         "one weight of at least 0 per network expected, finite and not all 0 (got %s)" % weights)
    weights = [w / max(weights) for w in weights]  # as mc-merge, bit for bit
    for net in nets[1:]:
        _match(nets[0], net)
    members = [None] * len(nets) if joint is None else _members(nets, joint, groups)
    groups = getattr(joint, "groups", None) if groups is None else groups
    merged, sums = copy.deepcopy(nets[0]), {}  # type: nn.Module, dict[str, torch.Tensor]
    for net, p, weight in zip(nets, members, weights):
        net = net if p is None else _door()._apply(copy.deepcopy(net), p, groups)
        for k, v in tensors_of(net).items():
            if v.is_floating_point():
                v = v.detach().cpu().double() * weight
                sums[k] = sums[k].add_(v) if k in sums else v
    with torch.no_grad():
        for k, v in tensors_of(merged).items():
            if k in sums:
                v.copy_(sums[k] / sum(weights))
    return Curve(merged, merged, control_points=0).point(0, loader) if loader is not None else merged.eval()


def _members(nets: Sequence[nn.Module], joint: Any, groups: Any) -> list[Any]:
    """The permutation of each network, found by its content id."""
    joint = mcz.read(joint, "permutation") if isinstance(joint, (str, os.PathLike)) else joint
    groups = getattr(joint, "groups", None) if groups is None else groups
    need("members" in getattr(joint, "meta", {}), "a joint set expected (align_many returns one)")
    need(groups is not None, "the groups of the joint set are missing (groups=)")
    ids = _door()._ids(nets, _rows(nets[0], groups), None)
    other = [str(i + 1) for i, own in enumerate(ids) if own not in joint.meta["members"]]
    need(not other, "the joint set was computed for other networks (not network %s)" % ", ".join(other))
    return [mcz.member(joint, own) for own in ids]
