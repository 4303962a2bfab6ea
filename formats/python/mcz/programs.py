# SPDX-License-Identifier: Apache-2.0
"""Run mc's programs, found on PATH or installed in the same environment."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

from .errors import Error, warn
from .files import Path


def find(name: str) -> str:
    """The path of a program: on PATH, or next to this Python if that is not active (a notebook's
    kernel). Raises FileNotFoundError if it is in neither place."""
    path = shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
    if not path:
        raise FileNotFoundError(
            f"{name} is not on PATH (install mc: docs/guides/wheel.md; or add the folder of its "
            "programs)"
        )
    return path


def check(path: Path, stdin: int | IO[Any] = subprocess.DEVNULL) -> None:
    """Checks a stream with `mc-info --check`: its bytes and the rules of its kind (formats/codecs).

        mcz.check("p.mcz")

    path  a file, or "-" for the open file `stdin`.

    Returns None. Raises mcz.Error, with mc-info's message, if the stream is invalid, and OSError if
    mc-info is missing or fails otherwise.
    """
    _finish(
        "mc-info",
        subprocess.run(
            [find("mc-info"), "--check", "--quiet", "--", os.fspath(path)],
            stdin=stdin,
            stderr=subprocess.PIPE,
        ),
    )


def _finish(name: str, result: subprocess.CompletedProcess[bytes], verbose: bool = False) -> None:
    """Raises the error of a program that failed. Its other messages become warnings, or are printed
    if they are those of -v."""
    lines, marked = result.stderr.decode(errors="replace").splitlines(), f"{name}: warning: "
    if result.returncode:
        errors = [line for line in lines if not line.startswith(marked)]
        raise (Error if result.returncode == 3 else OSError)(
            "\n".join(errors) or f"{name}: status {result.returncode}"
        )
    for line in lines:
        if verbose and not line.startswith(marked):
            print(line, file=sys.stderr)
        else:
            warn(line.replace(marked, name + ": ", 1))


def pipe(data: bytes, *commands: Sequence[str]) -> bytes:
    """The standard output of the last of some commands, each of which reads that of the one before;
    the first reads `data`. Their warnings become Python's. Raises Error or OSError, with the
    program's message, if one fails."""
    for name, *arguments in commands:
        result = subprocess.run([find(name), *arguments], input=data, capture_output=True)
        data = result.stdout
        _finish(name, result, not {"-v", "--verbose"}.isdisjoint(arguments))
    return data
