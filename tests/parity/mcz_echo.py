# SPDX-License-Identifier: Apache-2.0
"""mcz_echo.py IN OUT: read a stream with formats/python/mcz and write it."""
import os
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "formats", "python"))
import mcz  # noqa: E402

s = mcz.read(sys.argv[1])
print(s.id, mcz.write(sys.argv[2], s.kind, s.meta, s.tensors, s.history, s.inputs, s.dtypes))
