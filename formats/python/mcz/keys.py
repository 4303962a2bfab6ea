# SPDX-License-Identifier: Apache-2.0
"""Typed access to the values of a map. Error names a key that is missing or of another type."""

from .errors import need


def get(m, key, expected=None, ok=lambda v: True):
    """The value of a key. expected: what the value must be, for the message."""
    need(isinstance(m, dict) and key in m, f'"{key}" is missing')
    need(ok(m[key]), f'"{key}" is not {expected}')
    return m[key]


def mapping(m, key):
    return get(m, key, "a map", lambda v: isinstance(v, dict))


def array(m, key):
    return get(m, key, "an array", lambda v: isinstance(v, list))


def text(m, key, limit):
    """A string of at most `limit` bytes."""
    s = get(m, key, "a string", lambda v: isinstance(v, str))
    need(len(s.encode()) <= limit, f'"{key}" is longer than {limit} bytes')
    return s


def is_whole(v):
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


def count(m, key, limit=(1 << 64) - 1):
    """An integer from 0 to `limit`."""
    n = get(m, key, "an integer of 0 or more", is_whole)
    need(n <= limit, f'"{key}" must be at most {limit}')
    return n


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)
