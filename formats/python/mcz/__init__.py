# SPDX-License-Identifier: Apache-2.0
"""Read and write mcz streams (formats/README.md) with msgpack, zstandard, xxhash and NumPy.

    import mcz
    s = mcz.read("a.mcz")                    # or a binary file object: sys.stdin.buffer
    s.kind, s.meta, s.tensors["layers.0.conv.weight"], s.id, s.history, s.inputs
    mcz.write("p.mcz", "permutation", {"groups": [...]}, {"layer0": perm},
              history=mcz.history("my-assign", {"seed": 1}, [s]), inputs=[s.id])

Everything is verified: damage, truncation, trailing bytes and what the page of a kind does not allow raise mcz.Error.
`python -m mcz FILE...` runs mc-info --check (from PATH) and prints kind, content id and tensors. bfloat16, which NumPy
lacks, is held as uint16 and named by `dtypes`: {"tensor": "bfloat16"}.

mcz.torch brings PyTorch's networks here and back, mcz.data makes data sets, mcz.groups says what permutes what.
"""
from . import kinds
from .errors import Error
from .stream import DTYPES, history, read, write

__all__ = ["DTYPES", "Error", "history", "read", "write"]
