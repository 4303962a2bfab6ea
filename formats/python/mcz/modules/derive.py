# SPDX-License-Identifier: Apache-2.0
"""Derive the groups of a network and check them. mcz.torch has the public name."""

from __future__ import annotations

import itertools
from typing import Any

from torch import nn

from ..errors import need
from ..nn.state import tensors_of
from ..nn.unchanged import LOCK
from ..symmetry import Groups, check


def groups(net: nn.Module, *examples: Any, unused: str = "refuse", progress: bool = True) -> Groups:
    """Derives the permutation groups of any module from the graph that torch.export records.

        g = mcz.torch.groups(net, torch.rand(2, 3, 16, 16))
        print(g.report())
        g.write("groups.tsv")                                    # for mc-convert --groups
        mcz.torch.moments(a, b, loader, g, "m.mcz")              # align() does this and more

    net       an nn.Module. Its evaluation mode is derived.
    examples  inputs: a tensor, a tuple of the arguments, or a dictionary of them. The first axis of
              each tensor is the batch. The groups hold for all examples. Give one for each way in
              which you call the network: other arguments, or the other side of a branch. Batches
              for moments have the arguments of the first example, with any number and shape of
              inputs.
    unused    "refuse", or "keep": tensors that no example uses, such as auxiliary heads, stay in
              place, so calls that use them change. report() lists them as "not used by these
              examples".
    progress  show a progress bar if tqdm is installed.

    Returns mcz.symmetry.Groups. Groups of a result of mcz.torch.canonical also say which further
    maps they allow. The groups contain every order that the operations are known to
    allow; an operation without a rule fixes the axes that it reads. All outputs of the network stay
    in place. Buffers that a call writes move with the units that they hold. Tensors outside the
    state_dict (plain attributes and buffers with persistent=False) stay in place.

    Checks the groups at once: networks with random tensors are permuted, or moved by random maps
    that the groups allow, in float64. Their outputs must be equal to 1e-9, also those of a second
    call if the first writes buffers. Raises mcz.Error with the first module that differs; if
    torch.export cannot record the network; if the second call differs from the first, unless by
    buffers; if two tensors share memory in different shapes; or with the tensors that no example
    uses. Does not notice state that only a later call shows, or random numbers that are not
    PyTorch's."""
    need(examples, "an example of the network's input expected")
    need(unused in ("refuse", "keep"), f'unused must be "refuse" or "keep" (got {unused!r})')
    need(isinstance(net, nn.Module), f"torch.nn.Module expected, got {type(net).__name__}")
    need(
        not any(map(nn.parameter.is_lazy, itertools.chain(net.parameters(), net.buffers()))),
        "the network has lazy modules, without parameters: run the network once first",
    )
    need(
        not any(v.is_meta for v in tensors_of(net).values()),
        "the network is on the meta device, without numbers",
    )

    with LOCK:
        found = Groups(net, examples, unused, "groups: record" if progress else "")
        if found.sizes:
            found.difference = check.difference(found, "groups: check" if progress else "")
    return found
