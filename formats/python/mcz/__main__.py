# SPDX-License-Identifier: Apache-2.0
"""python -m mcz FILE...: checks streams and lists their tensors ("-", or no FILE: standard input).

The bytes are checked here. `mc-info --check`, which must be on PATH, checks what the kind means.
Exit status: 0 all are sound, 1 a file cannot be read or mc-info is missing, 3 a stream is damaged or not what it should
be."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import nullcontext

import mcz
from mcz.errors import inside
from mcz.stream import read_file


def check(path, program):
    """Prints what a stream holds; the exit status. program: mc-info, or None."""
    piped = path == "-" or not os.path.isfile(path)
    with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as f, tempfile.TemporaryFile() as copy:
        if piped:  # it is read twice
            shutil.copyfileobj(f, copy)
            copy.seek(0)
        with inside("stdin" if path == "-" else path):
            s = read_file(copy if piped else f)
        os.lseek(copy.fileno(), 0, os.SEEK_SET)
        command = [program, "--check", "--quiet", "--", "-" if piped else path]
        status = subprocess.call(command, stdin=copy) if program else 0
    if not status:
        print("%s: %s, kind %s, id %s, %d records" % (path, "ok" if program else "read", s.kind, s.id, s.records))
        for name, a in s.tensors.items():
            print("  %-8s  %-16s  %s" % (s.dtypes[name], "x".join(map(str, a.shape)) or "scalar", name))
    return max(status, 0) or int(status < 0)  # below 0: a signal


def main(paths):
    if {"-h", "--help"} & set(paths):
        print(__doc__)
        return 0
    program, status = shutil.which("mc-info"), 0
    for path in paths or ["-"]:
        try:
            status = max(status, check(path, program))
        except (mcz.Error, OSError) as e:
            print("mcz: %s" % e, file=sys.stderr)
            status = max(status, 3 if isinstance(e, mcz.Error) else 1)
    if not program:
        print("mcz: mc-info is not on PATH: what the kinds mean is unchecked (add the folder of mc's programs to PATH)",
              file=sys.stderr)
    return status if program else max(status, 1)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
