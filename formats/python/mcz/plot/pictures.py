# SPDX-License-Identifier: Apache-2.0
"""The pictures of mc-plot, drawn by matplotlib."""

from __future__ import annotations

from . import lines, planes
from .figures import save
from .tables import Grid, Marks, Picture, Series


def draw_lines(picture: Picture, series: list[Series], fitted: list[Series]) -> bytes:
    """Draws lines; `fitted` only widen the ranges. Returns the picture's file."""
    return save(picture, lines.draw_lines(picture, series, fitted))


def draw_plane(picture: Picture, grid: Grid, fitted: list[Grid], marks: Marks | None) -> bytes:
    """Draws a grid; `fitted` only widen the ranges of the colours. Returns the picture's file."""
    return save(picture, planes.draw_plane(picture, grid, fitted, marks))
