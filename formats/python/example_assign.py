#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An example stage: SciPy's assignment instead of mc-hungarian.

    mc-acts --data train.mcz a.mcz b.mcz | mc-corr | example_assign.py |
        mc-permute - b.mcz -o pb.mcz

Reads a matrices stream from a file or standard input. Writes a permutation stream to standard
output.
"""

import os
import sys

from scipy.optimize import linear_sum_assignment

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mcz

try:
    s = mcz.read(sys.argv[1] if len(sys.argv) > 1 else "-", "matrices")
except (mcz.Error, OSError) as e:
    print(f"example_assign.py: {e}", file=sys.stderr)
    sys.exit(3 if isinstance(e, mcz.Error) else 1)

groups, perms = [], {}
for g in s.meta["groups"]:
    value = s.tensors[g["name"]]
    rows, columns = linear_sum_assignment(value, maximize=True)
    groups.append({"name": g["name"], "size": g["size"]})
    perms[g["name"]] = columns.astype("<i4")

try:
    mcz.write(
        "-",
        "permutation",
        {"groups": groups},
        perms,
        history=mcz.history("example_assign.py", {}, [s]),
        inputs=[s.id],
    )
except OSError as e:
    sys.exit(f"example_assign.py: {e}")
