# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all."""
import os
from contextlib import contextmanager


@contextmanager
def replacing(path, mode="b"):
    """A file open for writing ("b" or "t"), which is at path when all went well; else what was there stays as it was."""
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe, say
        with open(path, "w" + mode) as f:
            yield f
        return
    temporary = os.path.join(os.path.dirname(path), ".%s.%d.mcz-tmp" % (os.path.basename(path)[:200], os.getpid()))
    try:
        with open(temporary, "x" + mode) as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
