# SPDX-License-Identifier: Apache-2.0
"""Typed access to the values of a map. Error names a key that is missing or of another type."""

from collections.abc import Callable
from typing import Any

from .errors import need


def get(
    m: Any, key: str, expected: str | None = None, ok: Callable[[Any], bool] = lambda v: True
) -> Any:
    """The value of a key. expected: what the value must be, for the message."""
    need(isinstance(m, dict) and key in m, f'"{key}" is missing')
    need(ok(m[key]), f'"{key}" is not {expected}')
    return m[key]


def mapping(m: Any, key: str) -> dict[Any, Any]:
    """The value of a key, which must be a map."""
    found: dict[Any, Any] = get(m, key, "a map", lambda v: isinstance(v, dict))
    return found


def array(m: Any, key: str) -> list[Any]:
    """The value of a key, which must be an array."""
    found: list[Any] = get(m, key, "an array", lambda v: isinstance(v, list))
    return found


def text(m: Any, key: str, limit: int) -> str:
    """A string of at most `limit` bytes."""
    s: str = get(m, key, "a string", lambda v: isinstance(v, str))
    need(len(s.encode()) <= limit, f'"{key}" is longer than {limit} bytes')
    return s


def is_whole(v: object) -> bool:
    """True for an integer of 0 or more."""
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


def count(m: Any, key: str, limit: int = (1 << 64) - 1) -> int:
    """An integer from 0 to `limit`."""
    n: int = get(m, key, "an integer of 0 or more", is_whole)
    need(n <= limit, f'"{key}" must be at most {limit}')
    return n


def is_number(v: object) -> bool:
    """True for an integer or a float."""
    return isinstance(v, (int, float)) and not isinstance(v, bool)
