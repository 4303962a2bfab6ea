# SPDX-License-Identifier: Apache-2.0
"""python -m mcz FILE...: checks streams and lists their tensors ("-", or no FILE: standard input).

The bytes are checked here. `mc-info --check`, which must be on PATH, checks what the kind means.
Exit status: 0 all are sound, 1 a file cannot be read or mc-info is missing, 3 a stream is damaged or not what it should
be."""
import os
import shutil
import signal
import sys
import tempfile
from contextlib import nullcontext

from mcz import programs
from mcz.errors import Error, inside
from mcz.stream import read_file


def show(path, checked):
    """Prints what a stream holds. checked: mc-info --check verifies it first."""
    piped = path == "-" or not os.path.isfile(path)
    with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as f, tempfile.TemporaryFile() as copy:
        if piped:  # it is read twice
            shutil.copyfileobj(f, copy)
            copy.seek(0)
        with inside("stdin" if path == "-" else path):
            s = read_file(copy if piped else f)
        if checked:
            os.lseek(copy.fileno(), 0, os.SEEK_SET)
            programs.check("-" if piped else path, copy)
    print("%s: %s, kind %s, id %s, %d records" % (path, "ok" if checked else "read", s.kind, s.id, s.records))
    for name, a in s.tensors.items():
        print("  %-8s  %-16s  %s" % (s.dtypes[name], "x".join(map(str, a.shape)) or "scalar", name))


def main(paths):
    if {"-h", "--help"} & set(paths):
        print(__doc__)
        return 0
    status, missing = 0, None
    try:
        programs.find("mc-info")
    except FileNotFoundError as e:
        status, missing = 1, e
    for path in paths or ["-"]:
        try:
            show(path, not missing)
        except (Error, OSError) as e:
            print("mcz: %s" % e, file=sys.stderr)
            status = max(status, 3 if isinstance(e, Error) else 1)
    if missing:
        print("mcz: what the kinds mean is unchecked: %s" % missing, file=sys.stderr)
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
