# SPDX-License-Identifier: Apache-2.0
"""Read and write mcz streams, the files of mc's programs.

    import mcz
    s = mcz.read("p.mcz")                            # or an open binary file: sys.stdin.buffer
    print(s.kind, s.meta, s.id)
    made = mcz.history("my-tool", {"seed": 1}, [s])
    mcz.write("q.mcz", s.kind, s.meta, s.tensors, history=made, inputs=[s.id])

Modules:

mcz.torch        PyTorch networks: derive groups, align, merge, connect, export, load
mcz.symmetry     the derived groups of a module
mcz.table        the rows of mc-eval's table
mcz.groups       which axes of which tensors a permutation reorders
mcz.data         data sets from arrays or from CIFAR for Python
mcz.safetensors  safetensors files, also sharded

read() verifies the framing, the content id, and the dtype and shape of each array. It raises
mcz.Error for damaged or truncated streams and for trailing bytes. formats/README.md describes the
framing, formats/codecs what each kind must hold. member() selects one permutation of a joint set.
mcz.check(path) and `python -m mcz FILE...` also verify the latter: they run `mc-info --check`,
which must be on PATH or next to Python.

NumPy has no bfloat16. Such tensors are uint16 arrays that `dtypes` marks: {"tensor": "bfloat16"}.
widened(s) has them, and float16, as float32.
"""

__version__ = "0.3.0"

from .errors import Error
from .header import DTYPES, Stream
from .members import member
from .programs import check
from .stream import read, widened
from .writing import history, write

__all__ = ["DTYPES", "Error", "Stream", "check", "history", "member", "read", "widened", "write"]
