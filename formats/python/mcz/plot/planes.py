# SPDX-License-Identifier: Apache-2.0
"""Pictures of planes."""

from __future__ import annotations

from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox

from .figures import add_panels, clean, em, lay_out, measures, new_figure, shorten, width
from .tables import Grid, Marks, Picture


def colour_levels(
    given: tuple[float, float] | None, values: list[np.ndarray], most: float
) -> tuple[float, float, np.ndarray]:
    """Returns the range of the colours, and the values of the contour lines and numbers."""
    low, high = given or (min(v.min() for v in values), max(v.max() for v in values))
    least = max(1e-3 * abs(high), 1e-6)  # numbers of finer steps would be unreadable
    if high - low < least and not given:
        low = min(max((low + high - least) / 2, 0 if low >= 0 else -np.inf), most - least)
        high = low + least
    levels = np.asarray(MaxNLocator(8, steps=[1, 2, 5, 10]).tick_values(low, high))
    low, high = given or (levels[0], levels[-1])
    slack = 1e-9 * (high - low)
    return low, high, levels[(levels >= low - slack) & (levels <= high + slack)]


def name_networks(axes: Axes, marks: Marks) -> None:
    """Names the networks above their points, or below if a name would leave the panel or hide
    another name."""
    taken: list[Bbox] = []
    left, right = axes.get_xlim()
    for name, (x, y) in sorted(zip(marks.names, marks.networks), key=lambda m: -m[1][1]):
        across = (x - left) / (right - left)
        side = "left" if across < 0.25 else "right" if across > 0.75 else "center"
        text = axes.annotate(
            clean(name),
            (x, y),
            (0, 6),
            textcoords="offset points",
            ha=side,
            va="bottom",
            parse_math=False,
            zorder=6,
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "boxstyle": "square,pad=.15"},
        )
        shorten(text, 0.6 * axes.bbox.width)
        box = text.get_window_extent()
        if box.y1 > axes.bbox.y1 or any(box.overlaps(other) for other in taken):
            text.set(position=(0, -6), va="top")
        taken.append(text.get_window_extent())


def draw_values(
    axes: Axes, values: np.ndarray, grid: Grid, colours: tuple[float, float, np.ndarray], low: bool
) -> None:
    """Draws values at 256 x 256 places with contours and a colour bar. colours: as colour_levels()
    returns them. low: low values are good, and have the colours of high ones."""
    x, y = (np.linspace(v[0], v[-1], 256) for v in (grid.x, grid.y))
    rows = np.array([np.interp(x, grid.x, row) for row in values])
    fine = np.array([np.interp(y, grid.y, column) for column in rows.T]).T
    least, most, levels = colours
    cmap = matplotlib.colormaps[matplotlib.rcParams["image.cmap"]]
    image = axes.imshow(
        fine,
        origin="lower",
        extent=(x[0], x[-1], y[0], y[-1]),
        aspect="equal" if is_to_scale(grid) else "auto",
        cmap=cmap.reversed() if low else cmap,
        vmin=least,
        vmax=most,
    )
    if np.ptp(fine) > 1e-3 * (most - least):
        inner = levels[(levels > least) & (levels < most)]
        axes.contour(x, y, fine, inner, colors="#000000", alpha=0.45, linewidths=0.6)
    outside = bool(fine.min() < least), bool(fine.max() > most)
    extend = {(True, False): "min", (False, True): "max", (True, True): "both"}.get(outside)
    axes.figure.colorbar(
        image,
        cax=axes.inset_axes((1.04, 0, 0.05, 1)),
        extend=extend or "neither",
        ticks=levels,
        format=FuncFormatter(lambda v, _: f"{v:.7g}"),
    )


def is_to_scale(grid: Grid) -> bool:
    """False if a panel to scale would be a sliver."""
    return bool(0.4 < (grid.y[-1] - grid.y[0]) / (grid.x[-1] - grid.x[0]) < 2)


def draw_marks(axes: Axes, grid: Grid, marks: Marks) -> None:
    """Draws the networks and the path between them, or two straight lines."""
    lines = [marks.path] if len(marks.path) else [marks.networks[[0, i]] for i in (1, 2)]
    style = "-" if len(marks.path) else "--"
    for line in lines:
        axes.plot(*line.T, color="white", linewidth=3.5, marker="", zorder=3)
        axes.plot(*line.T, color="black", linewidth=1.5, marker="", linestyle=style, zorder=4)
    axes.plot(
        *marks.networks.T, "o", color="black", markeredgecolor="white", clip_on=False, zorder=5
    )
    axes.set(xlim=(grid.x[0], grid.x[-1]), ylim=(grid.y[0], grid.y[-1]))


def name_axes(axes: Axes, name: str, to_scale: bool) -> None:
    """Names the axes of a panel by texts that fit, and thins the numbers of its colours."""
    for text in (
        "distance from their line" + " (another scale)" * (not to_scale),
        "distance from their line",
        "distance",
    ):
        axes.set_ylabel(text)
        if axes.yaxis.label.get_window_extent().height <= axes.bbox.height:
            break
    axes.set_xlabel(clean(name), parse_math=False)
    size = em(axes.figure)
    if width(axes.xaxis.label) > axes.bbox.width + 4 * size:
        axes.set_xlabel("distance")
    bar: Any = axes.child_axes[0]
    places = bar.yaxis.get_ticklocs()
    bar.yaxis.set_ticks(places[:: int(np.ceil(1.5 * size * len(places) / axes.bbox.height))])


def draw_plane(picture: Picture, grid: Grid, fitted: list[Grid], marks: Marks | None) -> Figure:
    """Draws a grid; `fitted` only widen the ranges of the colours."""
    figure = new_figure(picture)
    panels = add_panels(figure, 2)
    name = "distance from the first network towards the second"
    if marks:
        marks.names = [given or name for given, name in zip(picture.names, marks.names)]
        name = "distance from {} towards {}".format(*marks.names)
    for q, axes in enumerate(panels):
        values = [g.values[q] for g in [grid, *fitted]]
        colours = colour_levels(picture.ranges[q], values, [np.inf, 100][q])
        draw_values(axes, grid.values[q], grid, colours, q == 0)
        axes.grid(False)
        axes.set_title(measures(grid.data)[q], parse_math=False)
        if marks:
            draw_marks(axes, grid, marks)
    for axes in panels:
        axes.set(xlabel="distance", ylabel="distance")
    lay_out(picture, figure, panels, 0)
    for axes in panels:
        name_axes(axes, name, is_to_scale(grid))
        if marks:
            name_networks(axes, marks)
    return figure
