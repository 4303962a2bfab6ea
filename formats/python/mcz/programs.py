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
    result = subprocess.run(
        [find("mc-info"), "--check", "--quiet", "--", os.fspath(path)],
        stdin=stdin,
        stderr=subprocess.PIPE,
    )
    report("mc-info", _messages("mc-info", result))


def _messages(name: str, result: subprocess.CompletedProcess[bytes]) -> list[str]:
    """The messages of a program, line by line. Raises its error if it failed."""
    lines = result.stderr.decode(errors="replace").splitlines()
    if result.returncode:
        errors = [line for line in lines if not line.startswith(f"{name}: warning: ")]
        raise (Error if result.returncode == 3 else OSError)(
            "\n".join(errors) or f"{name}: status {result.returncode}"
        )
    return lines


def report(name: str, lines: Sequence[str], options: Sequence[str] = ()) -> None:
    """Turns messages of a program into Python's warnings. Prints those of -v, if it is among the
    options."""
    verbose, marked = not {"-v", "--verbose"}.isdisjoint(options), f"{name}: warning: "
    for line in lines:
        if verbose and not line.startswith(marked):
            print(line, file=sys.stderr)
        else:
            warn(line.replace(marked, name + ": ", 1))


def run(data: bytes, name: str, *arguments: str) -> tuple[bytes, list[str]]:
    """(standard output, messages) of a program that reads `data`. Raises Error or OSError, with its
    message, if it fails."""
    result = subprocess.run([find(name), *arguments], input=data, capture_output=True)
    return result.stdout, _messages(name, result)


def pipe(data: bytes, command: Sequence[str]) -> bytes:
    """The standard output of a command that reads `data`. Reports its messages. Raises as run()
    does."""
    name, *arguments = command
    out, lines = run(data, name, *arguments)
    report(name, lines, arguments)
    return out
