# SPDX-License-Identifier: Apache-2.0
"""Joint sets of permutations, which mc-hungarian --joint writes."""

from __future__ import annotations

import os

import numpy as np

from .errors import need, whole
from .files import Path
from .header import Stream
from .stream import read
from .writing import content_id


def member(source: Stream | Path, which: int | str) -> Stream:
    """One permutation of a joint set.

        p = mcz.member("joint.mcz", 3)
        print(p.network, p.tensors["conv"])       # int32 (K): network 3's unit at each place

    source: the path of a permutation stream, or a stream of mcz.read().
    which: the member's number, from 1, or the content id of its network.
    Returns the permutation as a Stream, for mcz.torch.permute, merge and Curve. Two more attributes
    are content ids: network, that of the member's network, and reference, that of network 1 if it
    keeps its order, else None. Raises mcz.Error if the stream is not a joint set or has no such
    member.
    `mc-permute --member N --to M` writes the map to another member's order.
    """
    s = read(source, "permutation") if isinstance(source, (str, os.PathLike)) else source
    ids: list[str] = s.meta.get("members", [])
    need(ids, "a joint set expected, got one permutation")
    if isinstance(which, str):
        need(which in ids, f"none of the {len(ids)} networks has the id {which}")
        which = ids.index(which) + 1
    whole("the member", which, 1, len(ids))
    first, tensors = (
        {g["name"]: s.tensors["{}/{}".format(i, g["name"])] for g in s.meta["groups"]}
        for i in (1, which)
    )
    meta = {"groups": s.meta["groups"]}
    return Stream(
        kind=s.kind,
        meta=meta,
        tensors=tensors,
        dtypes=dict.fromkeys(tensors, "int32"),
        history=s.history,
        inputs=[s.id],
        id=content_id(s.kind, meta, tensors),
        records=len(tensors),
        network=ids[which - 1],
        reference=ids[0] if all(np.array_equal(v, range(len(v))) for v in first.values()) else None,
        groups=s.groups,
    )
