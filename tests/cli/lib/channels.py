# SPDX-License-Identifier: Apache-2.0
"""What a permutation does to the channels that a matrix shows."""
import numpy as np


def channels(stream):
    """{group: what comes to each place that a matrix shows}: of groups in the units of another, of all together."""
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
