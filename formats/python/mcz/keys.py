# SPDX-License-Identifier: Apache-2.0
"""The values of a map's keys, of the type that is required."""
from .errors import need


def get(m, key, what=None, ok=lambda v: True):
    need(isinstance(m, dict) and key in m, "\"%s\" is missing" % key)
    need(ok(m[key]), "\"%s\" is not %s" % (key, what))
    return m[key]


def mapping(m, key):
    return get(m, key, "a map", lambda v: isinstance(v, dict))


def array(m, key):
    return get(m, key, "an array", lambda v: isinstance(v, list))


def text(m, key, most):
    s = get(m, key, "a string", lambda v: isinstance(v, str))
    need(len(s.encode()) <= most, "\"%s\" is longer than %d bytes" % (key, most))
    return s


def is_whole(v):
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


def count(m, key, most=(1 << 64) - 1):
    n = get(m, key, "an integer of 0 or more", is_whole)
    need(n <= most, "\"%s\" must be at most %d" % (key, most))
    return n


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)
