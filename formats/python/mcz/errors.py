# SPDX-License-Identifier: Apache-2.0
"""The exception of the package."""
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
