# SPDX-License-Identifier: Apache-2.0
"""python -m mcz.torch: export, align or merge networks."""

from __future__ import annotations

import argparse
import sys
import warnings

from ..errors import Error
from ..export import program as export
from . import folders

ALIGN = """\
Reorder the units of the network in folder B to match those of A, and write it to folder OUT. The
function of B stays the same. Both are folders of save_pretrained: config.json and safetensors."""
MERGE = """\
Write the mean of the networks in folders A and B to folder OUT. Align B to A first, unless both
were fine-tuned from one checkpoint."""


def main() -> int:
    """Runs the program. Returns its exit status."""
    p = argparse.ArgumentParser(
        prog="python -m mcz.torch",
        description="Export PyTorch networks; align and merge those of transformers.",
    )
    commands = p.add_subparsers(dest="command", required=True)
    e = commands.add_parser(
        "export",
        help="write a network's graph and weights",
        description="Write the graph of an nn.Module, for --net, and its weights, for mc-convert.",
    )
    export.arguments(e)
    a = commands.add_parser(
        "align", help="align the network in a folder of transformers", description=ALIGN
    )
    m = commands.add_parser(
        "merge", help="average the networks in two folders of transformers", description=MERGE
    )
    for c in a, m:
        c.add_argument("a", metavar="A", help="folder of the first network")
        c.add_argument("b", metavar="B", help="folder of the second network")
        c.add_argument("-o", dest="out", metavar="OUT", required=True, help="new folder")
    a.add_argument(
        "--data",
        metavar="FILE.npy",
        help="align by activations on these inputs, token ids (N, T) or images (N, C, H, W); "
        "without it by weights",
    )
    m.add_argument(
        "-t", type=float, default=0.5, help="weight of B, from 0 to 1 (default: %(default)s)"
    )
    o = p.parse_args()
    warnings.showwarning = lambda text, *_: print(f"mcz.torch: warning: {text}", file=sys.stderr)
    try:
        if o.command == "export":
            export.run(o, e.error)
        elif o.command == "align":
            folders.align(o.a, o.b, o.out, o.data)
        else:
            folders.merge(o.a, o.b, o.out, o.t)
    except (Error, OSError, RuntimeError) as why:
        print(f"mcz.torch: {why}", file=sys.stderr)
        return 3 if isinstance(why, Error) else 1
    return 0
