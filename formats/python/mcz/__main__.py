# SPDX-License-Identifier: Apache-2.0
"""python -m mcz [FILE...]: check streams and list their tensors ("-" or no FILE: standard input)

This program checks the bytes, and `mc-info --check` the contents. mc-info must be on PATH
or next to Python.
Exit status: 0 all streams are valid; 1 a file cannot be read, or mc-info is missing; 3 a stream is
invalid."""

import os
import shutil
import signal
import sys
import tempfile
from contextlib import nullcontext

from mcz import programs
from mcz.errors import Error, inside
from mcz.stream import read_file


def show(path: str, check: bool) -> None:
    """Prints a stream's header and tensors. check: runs mc-info --check first."""
    piped = path == "-" or not os.path.isfile(path)
    with (
        nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as f,
        tempfile.TemporaryFile() as copy,
    ):
        if piped:  # a pipe can be read once, and mc-info reads it again
            shutil.copyfileobj(f, copy)
            copy.seek(0)
        with inside("stdin" if path == "-" else path):
            s = read_file(copy if piped else f)
        if check:
            os.lseek(copy.fileno(), 0, os.SEEK_SET)
            programs.check("-" if piped else path, copy)
    print(
        "{}: {}, kind {}, id {}, {} records".format(
            path, "ok" if check else "read", s.kind, s.id, s.records
        )
    )
    for name, a in s.tensors.items():
        shape = "x".join(map(str, a.shape)) or "scalar"
        print(f"  {s.dtypes[name]:<8}  {shape:<16}  {name}")


def main(paths: list[str]) -> int:
    """Runs the program. Returns its exit status."""
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
            print(f"mcz: {e}", file=sys.stderr)
            status = max(status, 3 if isinstance(e, Error) else 1)
    if missing:
        print(f"mcz: contents are not checked: {missing}", file=sys.stderr)
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
