# SPDX-License-Identifier: Apache-2.0
"""Align two or more networks: PyTorch runs them, mc's programs match their units. mcz.torch has the
public names."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ..errors import Error, inside, need, whole
from ..files import Path, expect_stream_name, replacing
from ..header import Stream
from ..nn.batches import Batches, Loss, expect_repeatable, input_of, loader_of, read
from ..nn.state import listed
from ..nn.unchanged import LOCK, random_numbers_kept
from ..programs import find, pipe, report, run
from ..stream import read as read_stream
from ..writing import write
from .derive import groups as derive
from .moments import joint_moments
from .network import Network
from .permute import expect_canonical
from .refine import refine as learn

# the programs of an alignment, by (by, maps)
PROGRAMS = {
    ("activations", "permutations"): ("mc-corr", "mc-hungarian"),
    ("activations", "all"): ("mc-corr", "mc-procrustes"),
    ("weights", "permutations"): ("mc-match",),
    ("weights", "all"): ("mc-match",),
}


# part of mc-procrustes' message about directions without data
FEW_DATA = "give the networks to map them by weights"


def save(net: nn.Module, path: Path, groups: Any) -> str:
    """Writes a network's weights stream, as mc-convert --groups does: for mc-match, mc-permute and
    mc-info.

        mcz.torch.save(a, "a.mcz", groups)

    It has all floating-point tensors of the state_dict: float16 and bfloat16 unchanged, others as
    float32. Returns the content id, or raises mcz.Error if groups do not fit the network, or
    numbers are not finite in float32."""
    network = Network(net, groups)
    meta, own = network.meta(), network.tensors
    need(not any(v.is_complex() for v in own.values()), "streams hold no complex numbers")
    wrong = [k for k, v in own.items() if not _is_finite(v)]
    need(not wrong, f"streams hold finite numbers of float32 only (not {listed(wrong)})")
    tensors, dtypes = network.arrays()
    return write(path, "weights", meta, tensors, dtypes=dtypes)


def _is_finite(v: torch.Tensor) -> bool:
    """True if a tensor's numbers are finite in a stream, which holds float64 as float32."""
    stored = v.float() if v.dtype == torch.float64 else v
    return not v.is_floating_point() or bool(stored.isfinite().all())


def _keep(found: bytes, path: Path | None, groups: Any) -> Stream:
    """The permutation or joint set of a stream, which is also written to the path."""
    if path is not None:
        with replacing(path) as f:
            f.write(found)
    p = read_stream(io.BytesIO(found), "permutation")
    p.groups = groups
    return p


def _check_arguments(
    loader: Batches | None,
    groups: Any,
    by: str,
    path: Any,
    maps: str,
    options: Sequence[str],
    at: Any,
    refine: int,
) -> None:
    """Raises Error if align's arguments do not fit, FileNotFoundError if a program is missing."""
    expect_stream_name(path)
    need(by in ("activations", "weights"), f'by must be "activations" or "weights" (got {by!r})')
    need(maps in ("permutations", "all"), f'maps must be "permutations" or "all" (got {maps!r})')
    need(
        not isinstance(options, str) and all(isinstance(v, str) for v in options),
        f'options must be a list of texts, such as ["--seed", "2"] (got {options!r})',
    )
    need(
        loader is not None or (by == "weights" and groups is not None),
        'a loader of batches expected, got None (groups suffice with by="weights")',
    )
    need(at is None or by == "activations", 'at requires by="activations"')
    whole("refine", refine, 0)
    need(not refine or by == "activations", 'refine requires by="activations"')
    if loader is not None:
        loader_of(loader)
    if refine:
        expect_repeatable(loader)
    for name in PROGRAMS[by, maps]:
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
    maps: str = "permutations",
    refine: int = 0,
    loss: Loss = F.cross_entropy,
    at: Mapping[str, Any] | None = None,
) -> Stream:
    """Aligns the units of b to those of a with mc-corr and mc-hungarian or mc-procrustes, or with
    mc-match.

        p = mcz.torch.align(a, b, loader)
        p.tensors["conv"]                                 # int32 (K): new unit i is b's unit p[i]

    a, b     networks of one architecture, each on any device.
    loader   batches, as for mcz.torch.moments. With by="weights" and groups it may be None.
    groups   as mcz.groups describes; default: mcz.torch.groups(a, x) of the first batch.
    by       "activations": their correlation over the loader; "weights": inner products of the
             parameters.
    path     a permutation stream to write as well.
    options  options of mc-hungarian or mc-procrustes, or with by="weights" of mc-match:
             ["--seed", "2"].
    progress  show a progress bar if tqdm is installed.
    maps     "permutations", or "all" that the groups allow, by second moments or weights: rotations
             too, if a and b are results of mcz.torch.canonical. Such a map is a float32 matrix M
             (K, K): the new unit i is the sum over j of M[i, j] times b's unit j. Weights decide
             directions that no activation reaches; a warning counts them.
    refine   train the maps on this many batches (x, y) of the loader, to lower the loss near the
             middle. It starts from the maps by activations, and runs a copy of a on a's device. The
             loader must be one that can be read again. Parameters must be registered, as for
             Curve.train.
    loss     loss(output, y) for refine, as for Curve.train.
    at       {group: module, or list of modules} that show the units, for declared groups without
             "at", as for mcz.torch.moments.

    Padded positions count as samples like all others, also if an attention mask hides them. To
    leave them out, give batches without padding.

    Returns the stream, as mcz.read() does; its `groups` are those used. The programs' warnings
    become Python's. Raises mcz.Error if networks or groups do not fit or the loader is empty, and
    OSError, before it reads the loader, if a program is missing."""
    _check_arguments(loader, groups, by, path, maps, options, at, refine)
    with random_numbers_kept():
        images: Iterator[Any] = iter(())
        if loader is not None:
            images = read(loader, "align" if progress else "")
        if groups is None:
            first = next(images)
            groups = derive(a, input_of(a, first), progress=progress)
            images = itertools.chain([first], images)
        network, sums = Network(a, groups), io.BytesIO()
        with LOCK:
            network.compare(b)
            if maps == "all":
                _expect_maps(network, network.twin(b))
            if by == "activations":
                joint_moments(network, b, images, sums, at)
    if by == "weights":
        every = ["--maps"] if maps == "all" else []
        with tempfile.TemporaryDirectory() as folder:
            files = _weights((a, b), groups, folder)
            found = pipe(b"", ["mc-match", "--no-progress", *every, *options, *files])
        return _keep(found, path, groups)
    measure = ["--measure", "moment"] if maps == "all" else []
    matrices = pipe(sums.getvalue(), ["mc-corr", "--no-progress", *measure])
    program = PROGRAMS[by, maps][1]
    if maps == "permutations":
        found = pipe(matrices, [program, *options])
    else:
        found = _mapped(matrices, program, options, (a, b), groups)
    if refine:
        found = learn(network, network.twin(b), found, matrices, loader_of(loader), refine, loss)
    return _keep(found, path, groups)


def _mapped(
    matrices: bytes, program: str, options: Sequence[str], nets: Sequence[nn.Module], groups: Any
) -> bytes:
    """The maps by mc-procrustes, which gets the networks if data are few and they can be saved."""
    loud = [v for v in options if not re.match("-[a-z]*q|--q", v)]
    found, lines = run(matrices, program, *loud)
    if any(FEW_DATA in line for line in lines):
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Error, OSError):
            return pipe(matrices, [program, *options, "-", *_weights(nets, groups, folder)])
    if loud != list(options):
        lines = [v for v in lines if "warning: " in v]
    report(program, lines, options)
    return found


def _expect_maps(network: Network, other: Network) -> None:
    """Raises Error if no group allows more than permutations, or a network is not canonical."""
    for name, n in ("a", network), ("b", other):
        with inside(name):
            expect_canonical(n)
    need(
        any(r.allows != "permutation" for r in network.rows),
        "no group allows more than permutations (mcz.torch.canonical rewrites a network such that "
        "they do)",
    )


def align_many(
    nets: Sequence[nn.Module],
    loader: Batches | None = None,
    groups: Any = None,
    by: str = "activations",
    path: Path | None = None,
    options: Sequence[str] = (),
    progress: bool = True,
    maps: str = "permutations",
    refine: int = 0,
    loss: Loss = F.cross_entropy,
    at: Mapping[str, Any] | None = None,
) -> Any:
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
    maps, refine, loss, at  as for align. With maps="all" each network is aligned to the first.
             refine requires it.

    Returns the joint set, as mcz.read() does; its `groups` are those used. mcz.member() selects the
    permutation of one network. With maps="all", returns a list for merge_many: None for the first
    network, and align's stream for each other. Raises mcz.Error if networks or groups do not fit or
    the loader is empty, and OSError if a program is missing."""
    need(not isinstance(nets, nn.Module), "a list of networks expected, got one")
    nets = list(nets)
    _check_arguments(loader, groups, by, path, maps, options, at, refine)
    need(maps != "all" or path is None, 'path cannot hold the streams of maps="all"')
    need(not refine or maps == "all", 'refine of several networks requires maps="all"')
    need(len(nets) > 1, f"two or more networks expected (got {len(nets)})")
    expect_repeatable(loader)
    with random_numbers_kept(), tempfile.TemporaryDirectory() as folder:
        if groups is None and loader is not None:
            groups = derive(nets[0], input_of(nets[0], next(read(loader))), progress=progress)
        network = Network(nets[0], groups)
        with LOCK:
            for i, net in enumerate(nets[1:], 2):
                network.compare(net, ("network 1", f"network {i}"))
        if maps == "all":
            rest = (groups, by, None, options, progress, maps, refine, loss, at)
            return [None, *(align(nets[0], n, loader, *rest) for n in nets[1:])]
        if by == "weights":
            names = _weights(nets, groups, folder)
            program = ["mc-match", "--no-progress"]
        else:
            text = "align {} and {}" if progress else ""
            names = list(_matrices(nets, loader_of(loader), groups, folder, text, at))
            program = ["mc-hungarian"]
        return _keep(pipe(b"", [*program, "--joint", *options, *names]), path, groups)


def _weights(nets: Sequence[nn.Module], groups: Any, folder: str) -> list[str]:
    """Writes the networks. Returns the paths."""
    names = [os.path.join(folder, f"net-{i + 1}.mcz") for i in range(len(nets))]
    for net, name in zip(nets, names):
        save(net, name, groups)
    return names


def _matrices(
    nets: Sequence[nn.Module],
    loader: Batches,
    groups: Any,
    folder: str,
    text: str,
    at: Mapping[str, Any] | None,
) -> Iterator[str]:
    """Writes the matrices of all pairs of networks. Yields the paths. text: of a progress bar, with
    places for the networks' numbers, or empty."""
    networks = [Network(net, groups) for net in nets]
    for (i, a), (j, b) in itertools.combinations(enumerate(networks, 1), 2):
        sums, name = io.BytesIO(), os.path.join(folder, f"networks-{i}-{j}.mcz")
        with LOCK:
            joint_moments(a, b.module, read(loader, text.format(i, j)), sums, at)
        with open(name, "wb") as f:
            f.write(pipe(sums.getvalue(), ["mc-corr", "--no-progress"]))
        yield name
