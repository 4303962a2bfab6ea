# SPDX-License-Identifier: Apache-2.0
"""Read and write mcz streams (formats/README.md) with msgpack, zstandard, xxhash and NumPy.

    import mcz
    s = mcz.read("a.mcz")                    # or a binary file object: sys.stdin.buffer
    s.kind, s.meta, s.tensors["layers.0.conv.weight"], s.id, s.history, s.inputs
    mcz.write("p.mcz", "permutation", {"groups": [...]}, {"layer0": perm},
              history=mcz.history("my-assign", {"seed": 1}, [s]), inputs=[s.id])

read() verifies the framing, the content id, and the dtype and shape of each array: damage, truncation and trailing bytes
raise mcz.Error. What the page of a kind (formats/codecs) requires beyond these, `mc-info --check` verifies. mcz.check(path)
and `python -m mcz FILE...` run it. They find the program on PATH, as a shell does. bfloat16, which NumPy lacks, is held as
uint16 and named by `dtypes`: {"tensor": "bfloat16"}.

mcz.torch brings PyTorch's networks here and back, mcz.data makes data sets, mcz.groups says what permutes what.
"""
from .errors import Error
from .programs import check
from .stream import DTYPES, history, read, write

__all__ = ["DTYPES", "Error", "check", "history", "read", "write"]
