# SPDX-License-Identifier: Apache-2.0
"""The exception of the package, and its warnings."""
import os
import sys
import warnings
from contextlib import contextmanager


class Error(Exception):
    """Invalid or unsupported input. The message contains printable characters only.

        try:
            mcz.read("damaged.mcz")
        except mcz.Error as e:
            print(e)                                # damaged.mcz: is truncated

    names  all tensors that a strict mcz.torch.load rejected, of which the message lists a few; else empty.
    """

    def __init__(self, message, names=()):
        super().__init__("".join(c if c.isprintable() or c == "\n" else "?" for c in message))
        self.names = list(names)


def need(ok, message):
    """Raises Error unless ok."""
    if not ok:
        raise Error(message)


@contextmanager
def inside(place):
    """Prefixes the message of an Error with the place: "PLACE: message"."""
    try:
        yield
    except Error as e:
        raise Error("%s: %s" % (place, e), e.names) from None


def warn(message):
    """Warns with the place where the user's code calls the package."""
    level, frame = 1, sys._getframe()
    own = os.path.dirname(__file__) + os.sep
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
