# SPDX-License-Identifier: Apache-2.0
"""Sets of kinds of operations that several files read. The kind of an operation is that of its rule
(Rule.kind), or else its name. No kind may be the name of an operation of another kind."""

# the output has entries of the inputs: moved, repeated or left out
MOVES = frozenset(["same", "view", "turn", "cut", "join", "repeat", "shift", "pick", "getitem"])
MOVES_ONE = MOVES - {"join"}  # the entries of one input
SUMS = frozenset(["linear", "matmul", "addmm", "convolution"])  # of products
NORMS = frozenset(["layer_norm", "rms_norm"])
