# SPDX-License-Identifier: Apache-2.0
"""Joint sets of permutations, which mc-hungarian --joint writes."""
import os
from types import SimpleNamespace

from .errors import need
from .stream import read


def member(source, which):
    """One permutation of a joint set.

        p = mcz.member("joint.mcz", 3)
        print(p.network, p.tensors["conv"])               # int32 (K): the unit of network 3 at each place

    source: the path of a permutation stream, or a stream of mcz.read().
    which: the member's number, from 1, or the content id of its network.
    Returns an object with kind, meta and tensors {group: array} of a permutation, and network, the content id. It fits
    mcz.torch.permute and, with meta and tensors, mcz.write. Raises mcz.Error if the stream is not a joint set or has no
    such member. `mc-permute --member N --to M` writes the map to another member's order.
    """
    s = read(source, "permutation") if isinstance(source, (str, os.PathLike)) else source
    ids = s.meta.get("members")
    need(ids is not None, "a joint set expected, got one permutation")
    if isinstance(which, str):
        need(which in ids, "none of the %d networks has the id %s" % (len(ids), which))
        which = ids.index(which) + 1
    need(1 <= which <= len(ids), "the member must be from 1 to %d (got %d)" % (len(ids), which))
    tensors = {g["name"]: s.tensors["%d/%s" % (which, g["name"])] for g in s.meta["groups"]}
    return SimpleNamespace(kind=s.kind, meta={"groups": s.meta["groups"]}, tensors=tensors, network=ids[which - 1])
