# SPDX-License-Identifier: Apache-2.0
"""Read and write mcz streams, the files of mc's programs.

    import mcz
    s = mcz.read("a.mcz")                            # or an open binary file: sys.stdin.buffer
    s.kind, s.meta, s.tensors["layers.0.conv.weight"], s.id, s.history, s.inputs
    mcz.write("p.mcz", "permutation", {"groups": [{"name": "layer0", "size": 3}]}, {"layer0": np.array([2, 0, 1], "i4")},
              history=mcz.history("my-assign", {"seed": 1}, [s]), inputs=[s.id])

Modules:

    mcz.torch    PyTorch networks to mc and back
    mcz.data     data sets from arrays or from CIFAR for Python
    mcz.groups   which axes of which tensors a permutation reorders

read() verifies the framing, the content id, and the dtype and shape of each array. It raises mcz.Error for damaged or
truncated streams and for trailing bytes. formats/README.md describes the framing, formats/codecs what each kind must hold.
mcz.check(path) and `python -m mcz FILE...` also verify the latter: they run `mc-info --check`, which must be on PATH.

NumPy has no bfloat16. Such tensors are uint16 arrays that `dtypes` marks: {"tensor": "bfloat16"}. widened(s) has them, and
float16, as float32.
"""
from .errors import Error
from .programs import check
from .stream import DTYPES, history, read, widened, write

__all__ = ["DTYPES", "Error", "check", "history", "read", "widened", "write"]
