# SPDX-License-Identifier: Apache-2.0
"""The one exception of the package, and how a sentence gets the place in front of it."""
from contextlib import contextmanager


class Error(Exception):
    """Data that are not what they should be, in a sentence that is safe to print."""

    def __init__(self, sentence):
        super().__init__("".join(c if c.isprintable() or c == "\n" else "?" for c in sentence))


def need(ok, what):
    if not ok:
        raise Error(what)


@contextmanager
def inside(place):
    """Errors begin with the place."""
    try:
        yield
    except Error as e:
        raise Error("%s: %s" % (place, e)) from None
