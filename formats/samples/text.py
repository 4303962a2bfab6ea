#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Print a stream as text: kind, content id, inputs, meta and history as JSON, then one line per tensor with its bytes in
hexadecimal. good-NAME.txt is the text of good-NAME.mcz. A later version that reads the streams differently fails its
tests, in C (tests/unit/formats/stream/test_golden.c) and in Python.

    /usr/bin/python3 formats/samples/text.py         # writes missing good-*.txt; after a deliberate change, remove
                                                     # the old ones first
"""
import glob
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "python"))
import mcz  # noqa: E402


def value(o):
    if isinstance(o, dict):
        return "{%s}" % ", ".join("%s: %s" % (value(k), value(v)) for k, v in o.items())
    if isinstance(o, list):
        return "[%s]" % ", ".join(map(value, o))
    if isinstance(o, float):
        text = "%.17g" % o
        return text if set(text) & set(".en") else text + ".0"
    return json.dumps(o, ensure_ascii=False)


def text(path):
    s = mcz.read(path)
    lines = ["kind " + s.kind, "id " + s.id, "inputs " + value(list(s.inputs)), "meta " + value(s.meta),
             "history " + value(s.history)]
    for name, a in s.tensors.items():
        lines.append("tensor %s %s (%s) %s" % (name, s.dtypes[name], ",".join(map(str, a.shape)), a.tobytes().hex()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path in sorted(glob.glob(os.path.join(here, "good-*.mcz"))):
        output = path[:-4] + ".txt"
        if not os.path.exists(output):
            with open(output, "w", encoding="utf-8") as f:
                f.write(text(path))
