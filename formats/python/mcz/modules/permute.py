# SPDX-License-Identifier: Apache-2.0
"""Permute the units of a network, and what depends on them. mcz.torch has the public name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ..errors import need, warn
from ..header import Stream
from ..nesting import PAIRS, allows_of
from ..nn.maps import is_matrix, problem
from ..nn.permuted import Axes, axes_of, moved
from ..nn.state import expect_writable, gradient_hooks, listed, owners
from ..stream import read
from .network import Network

TOOLS = "mc-hungarian", "mc-match", "mc-procrustes", "mcz.torch.align"  # that compute maps
# state of optimizers with the parameter's shape
LIKE_PARAMETER = {
    *("grad", "momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "exp_inf", "sum"),
    *("square_avg", "grad_avg", "acc_delta", "prev", "step_size", "ax"),
}


# ---- the networks of a permutation ---------------------------------------------------------------


def permutation_of(p: Any, groups: Any) -> tuple[Stream | None, Any]:
    """(stream or None, groups) of a permutation stream or the path of one."""
    p = read(p, "permutation") if isinstance(p, (str, os.PathLike)) else p
    need(
        p is None or hasattr(p, "meta"), f"p must be a permutation stream (got {type(p).__name__})"
    )
    groups = getattr(p, "groups", None) if groups is None else groups
    need(p is None or groups is not None, "the groups of the permutation are missing (groups=)")
    return p, groups


def _expected(p: Any, groups: Any) -> tuple[str | None, str | None] | None:
    """The ids of the networks (a, b) that a permutation stream was computed for, None for one that
    is unknown. None if both are, or if they may be ids with other groups than these."""
    made = getattr(p, "history", None) or []
    sources = [e for e in made if e["tool"] in ("mcz.torch.moments", "mc-match")]
    same = all(e["tool"] == "mcz.torch.moments" for e in sources)
    if getattr(p, "groups", None) is not None:
        same = p.groups is groups
    if not sources or not same or any(dict(e["args"]).get("streams") for e in sources):
        return None
    if getattr(p, "network", None) is not None:  # a member of a joint set
        return p.reference, p.network
    if len(sources) != 1 or made[-1]["tool"] not in TOOLS:
        return None
    own = dict(sources[0]["args"])
    return own.get("a"), own.get("b")


def warn_other(p: Any, networks: Mapping[str, Network], ids: Sequence[str] | None = None) -> None:
    """Warns if a permutation was computed for other networks than these: {"a": network, "b":
    network}, or one of them. ids: theirs, if they are known."""
    expected = _expected(p, next(iter(networks.values())).groups)
    if expected:
        own = dict(zip(networks, ids or [n.id() for n in networks.values()]))
        other = [n for n, x in zip("ab", expected) if n in own and x not in (None, own[n])]
        if other:
            names = " and ".join(other)
            warn(f"the permutation was computed for other networks (not this {names})")


# ---- orders --------------------------------------------------------------------------------------


def orders_of(network: Network, permutation: Any) -> dict[str, NDArray[Any]]:
    """{group: order or matrix} of a permutation, which must fit the network and its groups."""
    need(
        "members" not in getattr(permutation, "meta", {}),
        "one permutation expected, got a joint set (mcz.member selects one)",
    )
    permutation = getattr(permutation, "tensors", permutation)
    need(
        isinstance(permutation, Mapping),
        f"a permutation expected: a stream, or {{group: integers}} (got "
        f"{type(permutation).__name__})",
    )
    maps = {k: np.asarray(v) for k, v in permutation.items()}
    need(network.groups is not None, "the groups of the permutation are missing (groups=)")
    sizes, left = network.sizes, _biases_left(network)
    if left:
        warn(f"the groups move the outputs of layers without their biases ({listed(left)})")
    wrong = [
        '"{}" is only in the {}'.format(g, "groups" if g in sizes else "permutation")
        for g in sorted(set(sizes) ^ set(maps))
    ]
    wrong += [
        f'"{g}": {sizes[g]} units expected, got {len(np.atleast_1d(maps[g]))}'
        for g in sizes
        if g in maps and maps[g].shape not in ((sizes[g],), (sizes[g], sizes[g]))
    ]
    wrong += [
        f'"{g}": integers, or a square matrix of numbers, expected, got {p.dtype}'
        for g, p in maps.items()
        if p.dtype.kind not in ("f" if is_matrix(p) else "iu")
    ]
    need(not wrong, "the permutation does not match the groups: {}".format("; ".join(wrong)))
    allows = allows_of(network.rows)
    for g, p in maps.items():
        if is_matrix(p):
            wrong_map = problem(p, allows[g])
            need(not wrong_map, f'group "{g}": {wrong_map}')
        else:
            need(
                np.array_equal(np.sort(p), np.arange(len(p))),
                f'group "{g}": each unit must occur once',
            )
            need(
                allows[g] not in PAIRS or np.array_equal(p, np.arange(len(p))),
                f'group "{g}": units stay in place ({allows[g]} expected)',
            )
    expect_canonical(network)
    return maps


def expect_canonical(network: Network) -> None:
    """Raises Error if a gain that derived groups take for constant is not, and so do not move."""
    own, names = network.tensors, network.derived.constant if network.derived else ()
    wrong = [k for k in names if not bool((own[k] == own[k].flatten()[0]).all())]
    need(not wrong, f"the network is not canonical: gains differ ({listed(wrong)})")


def _biases_left(network: Network) -> list[str]:
    """The biases of layers whose outputs the groups move, but not these biases."""
    shapes, moving = network.shapes, {(r.tensor, r.axis) for r in network.rows}
    return [
        k
        for k, shape in shapes.items()
        if len(shape) == 1
        and k.endswith(".bias")
        and (k, 0) not in moving
        and (k[:-4] + "weight", 0) in moving
        and shapes[k[:-4] + "weight"][0] == shape[0]
    ]


def reader(network: Network, permutation: Any) -> Callable[[str], torch.Tensor]:
    """A function that returns the tensor of a name, permuted if there is a permutation, which is
    checked first."""
    state = network.tensors
    if permutation is None:
        return state.__getitem__
    orders = orders_of(network, permutation)
    axes, first = axes_of(state, network.rows), owners(state)
    return lambda name: moved(state[name], axes.get(first[name], []), orders)


def _training_state(
    network: Network, optimizers: Sequence[torch.optim.Optimizer], axes: Mapping[str, Axes]
) -> list[tuple[torch.Tensor, Axes]]:
    """[(tensor, axes)] of the optimizers' state, and of the gradients, that permute with the
    parameters. Warns of parameters that move and are in no optimizer."""
    trained = [{id(p) for g in o.param_groups for p in g["params"]} for o in optimizers]
    found: list[tuple[torch.Tensor, Axes]] = []
    first, parameters = owners(network.tensors), dict(network.module.named_parameters())
    wrong = [
        f'its attribute "{k}"'
        for o in optimizers
        for k, v in vars(o).items()
        if isinstance(v, torch.optim.Optimizer)
    ]
    left = [
        k
        for k, p in parameters.items()
        if p.requires_grad and axes.get(first.get(k, k)) and not any(id(p) in v for v in trained)
    ]
    for name, p in parameters.items():
        state = (item for o in optimizers for item in o.state.get(p, {}).items())
        for k, v in [("grad", p.grad), *state]:
            if k in LIKE_PARAMETER and isinstance(v, torch.Tensor) and v.shape == p.shape:
                found.append((v, axes.get(first[name], [])))
            elif not isinstance(v, (int, float, type(None))) and not (
                isinstance(v, torch.Tensor) and v.numel() == 1
            ):
                wrong.append(f'"{k}" of {name}')
    known = [not own.isdisjoint(map(id, parameters.values())) for own in trained]
    need(all(known), "an optimizer has none of the network's parameters")
    need(not wrong, f"the optimizer's state cannot be permuted: {listed(wrong)}")
    if left:
        warn(f"parameters that move are in no given optimizer (give all in a list): {listed(left)}")
    return found


def permute(
    net: nn.Module,
    permutation: Any,
    groups: Any,
    optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer] | None = None,
) -> nn.Module:
    """Permutes the units of a network in place, or applies the other maps that its groups allow.
    The network computes the same function. Returns the network.

        mcz.torch.permute(b, "p.mcz", groups)

    permutation  the path of a permutation stream, a stream of mcz.read() or mcz.member(), or
                 {group: integers (K)}: the new unit i is the old unit p[i]; or matrices (K, K):
                 the new unit i is the sum over j of M[i, j] times the old unit j.
    groups       as mcz.groups describes.
    optimizer    the network's optimizer, or a list of all that it has, if training is to continue.
                 Without it, gradients and the optimizer's state are not permuted, and training
                 continues differently. Permute copies of the network too, such as an average (EMA).

    State of PyTorch's elementwise optimizers, such as momentum, exp_avg and exp_avg_sq, is permuted
    as its parameter. Numbers, such as step, stay. Other state, such as Adafactor's factors or that
    of LBFGS, is refused by name.

    Raises mcz.Error, and leaves network and optimizer unchanged, if groups, sizes, values or state
    do not fit. Warns if align computed the permutation for another network, such as one that is
    permuted already, and with an optimizer, of hooks on gradients."""
    p = permutation
    if isinstance(permutation, (str, os.PathLike)):
        p = read(permutation, "permutation")
    network = Network(net, groups)
    if network.derived:
        known = Network(network.derived.net, groups)
        known.compare(net, ("the network of the groups", "this network"))
    orders, tensors = orders_of(network, p), network.tensors
    axes = axes_of(tensors, network.rows)
    several = optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]
    optimizers: list[Any] = [o for o in several if o is not None]
    need(
        all(hasattr(o, "param_groups") for o in optimizers),
        f"optimizer must be an optimizer or a list of them (got {optimizer!r})",
    )
    need(
        not optimizers or not any(map(is_matrix, orders.values())),
        "the optimizer's state can be permuted, but not rotated (make a new optimizer)",
    )
    moving = _training_state(network, optimizers, axes) if optimizers else []
    hooked = [k for k in gradient_hooks(net) if axes.get(k)]
    if optimizers and hooked:
        warn(
            f"hooks on gradients are not permuted, such as masks of frozen units ({listed(hooked)})"
        )
    warn_other(p, {"b": network})
    moving += [(v, axes[k]) for k, v in tensors.items() if k in axes]
    moving = list({id(v): (v, own) for v, own in moving}.values())  # optimizers may share state
    expect_writable(v for v, _ in moving)
    with torch.no_grad():
        # the largest first: if memory runs out, nothing has moved yet
        for tensor, own in sorted(moving, key=lambda m: -m[0].nbytes):
            tensor.copy_(moved(tensor, own, orders))
    return net
