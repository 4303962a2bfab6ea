# SPDX-License-Identifier: Apache-2.0
"""Split and join streams, and run programs on damaged ones: objects(path), frame(objects), run(command),
ended(failures, runs, largest, required)."""
import os
import subprocess
import sys

import zstandard
from mcz import stream

LIMIT = 64 << 10  # KiB
os.environ["MC_FAILS"] = "1"  # under valgrind, tests/run checks each of these runs
under = os.environ.get("MC_UNDER", "")
root = os.environ["MC_ROOT"]


def sample(kind):
    return os.path.join(root, "formats/samples/good-%s.mcz" % kind)


def objects(path):
    with open(path, "rb") as f:
        return list(stream.objects(f))


def compressor(checksum=True):
    p = zstandard.ZstdCompressionParameters.from_level(1, write_checksum=checksum, write_content_size=False)
    return zstandard.ZstdCompressor(compression_params=p).compressobj()


def frame(objects, checksum=True):
    z = compressor(checksum)
    return z.compress(b"".join(objects)) + z.flush()


def run(command, stdin=None):
    """(status, stdout, stderr, KiB)"""
    with open("run.out", "w+b") as out, open("run.err", "w+b") as err:
        p = subprocess.Popen(command, stdin=stdin or subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return p.returncode, out.read(), err.read().decode(), usage.ru_maxrss


def ended(failures, runs, most, least):
    """Exit with 0 if nothing failed in at least the required number of runs."""
    print("%d runs, %d KiB at most" % (runs, most))
    for f in failures:
        print(f, file=sys.stderr)
    sys.exit(1 if failures or runs < least else 0)
