# SPDX-License-Identifier: Apache-2.0
"""Exchange networks between PyTorch and mc.

Networks whose operations graphs support (docs/reference/networks.md):

    python -m mcz.torch export MODULE:NET --input 3,32,32 --classes 10 -o net.json \\
        --weights a.safetensors
    mc-convert a.safetensors --net ./net.json --data train.mcz -o a.mcz
    mcz.torch.load(net, "pb.mcz")

Any other nn.Module, such as a transformer, with groups that are derived from it
(docs/guides/any-module.md):

    g = mcz.torch.groups(a, x)                            # x: a batch of inputs
    p = mcz.torch.align(a, b, loader, g)                  # a permutation of b's units
    merged = mcz.torch.merge(a, b, p, loader=loader)      # a module
    soup = mcz.torch.merge_many([a, b, c], mcz.torch.align_many([a, b, c], loader))
    curve = mcz.torch.Curve(a, b, p).train(loader, epochs=5)
    print(curve.evaluate({"test": test}, points=11))      # mc-eval's table
    mcz.torch.permute(b, p, g)                            # in place

Transformers have more symmetries than permutations:

    a, b = (mcz.torch.canonical(net, x) for net in (a, b))    # the same functions
    p = mcz.torch.align(a, b, loader, maps="all")         # rotations of streams and heads too

Networks in folders of Hugging Face (docs/guides/huggingface.md):

    python -m mcz.torch align A B -o ALIGNED
    python -m mcz.torch merge A ALIGNED -o MEAN
"""

from __future__ import annotations

import re
import sys

try:
    import torch

    if [int(v) for v in re.findall("[0-9]+", torch.__version__)[:2]] < [2, 4]:
        raise ImportError(f"got {torch.__version__}")
except ImportError as e:
    problem = (
        f"mcz.torch: PyTorch 2.4 or later is required ({e}): "
        f"{sys.executable} -m pip install -U torch"
    )
    if __name__ == "__main__":
        sys.exit(problem)
    raise ImportError(problem) from e

from mcz.export.trace import export
from mcz.modules.align import align, align_many, save
from mcz.modules.canonical import canonical
from mcz.modules.curve import Curve
from mcz.modules.derive import groups
from mcz.modules.merge import merge, merge_many
from mcz.modules.moments import moments
from mcz.modules.permute import permute
from mcz.nn.load import load

__all__ = [
    "Curve",
    "align",
    "align_many",
    "canonical",
    "export",
    "groups",
    "load",
    "merge",
    "merge_many",
    "moments",
    "permute",
    "save",
]

if __name__ == "__main__":
    from mcz.modules.program import main

    sys.exit(main())
