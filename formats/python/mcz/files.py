# SPDX-License-Identifier: Apache-2.0
"""Atomic replacement of files."""
import os
from contextlib import contextmanager
from typing import Union

Path = Union[str, "os.PathLike[str]"]


@contextmanager
def replacing(path, mode="b"):
    """A file open for writing ("b" or "t") that replaces path on success. After an exception path is unchanged."""
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
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
