# SPDX-License-Identifier: Apache-2.0
"""The channel order that a permutation produces, for the channels of a matrix."""
import numpy as np


def channels(stream):
    """{group: the source of each place in its matrix}. A group within another group's units is combined with it."""
    groups, of, all_of = stream.meta["groups"], list(stream.tensors.values()), {}
    for g, p in zip(groups, of):
        if not any(h.get("within") == groups.index(g) for h in groups) and not g.get("unit"):
            all_of[g["name"]] = p
        if g.get("unit") == 0:
            slots = [[i for i, h in enumerate(groups) if h.get("within") == g["within"] and h["unit"] == u]
                     for u in of[g["within"]]]
            slot = slots[list(of[g["within"]]).index(0)].index(groups.index(g))
            all_of[g["name"]] = np.concatenate(
                [u * len(p) + of[inside[slot]] for u, inside in zip(of[g["within"]], slots)])
    return all_of
