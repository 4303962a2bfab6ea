# SPDX-License-Identifier: Apache-2.0
"""The exception of the package, and its warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


def printable(text: str) -> str:
    """A text as the programs print it: control characters become spaces. Others that are not
    printable become `?`."""
    return "".join(c if c.isprintable() else " " if c < " " or c == "\x7f" else "?" for c in text)


class Error(Exception):
    """Invalid or unsupported input. The message is one line of printable characters, or a line and
    a list with one line each.

        try:
            mcz.read("damaged.mcz")
        except mcz.Error as e:
            print(e)                                # damaged.mcz: is truncated

    names  all tensors that a strict mcz.torch.load rejected, of which the message lists a few; else
           empty.
    lines  the list below the message, such as the problems of mcz.torch.export; else empty.
    """

    def __init__(self, message: str, names: Iterable[str] = (), lines: Iterable[str] = ()) -> None:
        self.message, self.names, self.lines = (
            printable(message),
            list(names),
            [printable(v) for v in lines],
        )
        super().__init__("\n  ".join([self.message, *self.lines]))


def need(ok: object, message: str) -> None:
    """Raises Error unless ok."""
    if not ok:
        raise Error(message)


def whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raises Error unless an argument is an integer in a range."""
    need(
        isinstance(value, int) and least <= value <= (value if most is None else most),
        "{} must be an integer {} (got {!r})".format(
            name, f"of at least {least}" if most is None else f"from {least} to {most}", value
        ),
    )


@contextmanager
def inside(place: str) -> Iterator[None]:
    """Prefixes the message of an Error with the place: "PLACE: message"."""
    try:
        yield
    except Error as e:
        raise Error(f"{place}: {e.message}", e.names, e.lines) from None


def warn(message: str) -> None:
    """Warns with the place where the user's code calls the package."""
    level, frame = 1, sys._getframe()
    own = os.path.dirname(__file__) + os.sep
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
