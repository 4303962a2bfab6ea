# SPDX-License-Identifier: Apache-2.0
"""Pictures of lines: paths, signatures, logs and dots."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ..errors import inside
from .figures import add_panels, clean, em, lay_out, measures, new_figure, shorten, width
from .tables import Picture, Series

MARKS = "os^vDPX"
MANY_BANDS = 5
MANY_LAYERS, MAX_STAGES = 24, 20
APART, SHRUNK = 0.12, 0.6  # see separate()


def _same_line(line: Line2D, x: np.ndarray, y: np.ndarray) -> bool:
    """True if a line has these points."""
    own: Any = line.get_data()
    return np.array_equal([x, y], own, equal_nan=True)


@dataclass(eq=False)
class Line:
    """A series' line in one panel."""

    series: Series
    y: np.ndarray
    sd: np.ndarray
    drawn: bool  # False: it only widens the ranges
    before: bool = False  # of a signature, before the alignment: dashed

    def span(
        self, positive: bool, bounds: tuple[float, float] = (-np.inf, np.inf)
    ) -> tuple[float, float]:
        """Returns the range of the line and its band within the bounds of its values."""
        low, high = np.clip([self.y - self.sd, self.y + self.sd], *bounds)
        low = np.where(positive & (low <= 0), self.y, low)
        shown = np.isfinite(self.y) & (not positive or self.y > 0)
        return (low[shown].min(), high[shown].max()) if shown.any() else (np.inf, -np.inf)


def distance(a: Line, b: Line) -> float:
    """Returns the maximum distance of two lines, infinite if they are equal."""
    return np.abs(a.y - np.interp(a.series.x, b.series.x, b.y)).max() or np.inf


def separate(lines: list[Line], zero: bool, bounds: tuple[float, float]) -> tuple[float, float]:
    """Returns a range that separates the lines. One line of great extent, such as the straight path
    between two networks, would flatten all others. So the lines of largest extent leave the frame
    one by one, but fewer than half of all, until the others are a share APART of its height apart.
    Each step must shrink it to a share SHRUNK. If nothing helps, all stay."""
    lines = sorted(lines, key=lambda line: np.ptp(line.span(False, bounds)))
    spans = [line.span(False, bounds) for line in lines]
    low, high = min(s[0] for s in spans), max(s[1] for s in spans)
    for kept in range(len(lines), max(1, len(lines) // 2), -1):
        nearest = min(distance(a, b) for i, a in enumerate(lines[:kept]) for b in lines[:i] or [a])
        for bottom in [0.0] * zero + [np.inf]:
            bottom, top = (
                min(bottom, *(s[0] for s in spans[:kept])),
                max(s[1] for s in spans[:kept]),
            )
            if nearest >= APART * (top - bottom) and (
                kept == len(lines) or top - bottom <= SHRUNK * (high - low)
            ):
                return bottom, top
    return low, high


def choose_range(picture: Picture, panel: int, lines: list[Line]) -> tuple[float, float]:
    """Returns the range of a panel's axis."""
    given, loss = picture.ranges[panel], picture.kind in ("path", "log") and panel == 0
    if given:
        return given
    logarithmic = picture.log_loss and loss
    positive = min(np.nanmin(line.y, initial=np.inf) for line in lines) >= 0
    bounds = (
        (-1.0, 1.0)
        if picture.kind == "signature"
        else (0.0, 100.0)
        if panel
        else (0.0 if positive else -np.inf, np.inf)
    )
    spans = np.array([line.span(logarithmic, bounds) for line in lines])
    low, high = spans[:, 0].min(), spans[:, 1].max()
    if logarithmic:
        return low / 1.2, high * 1.2
    if picture.kind == "path" and len(lines) > 1:
        low, high = separate(lines, loss and positive, bounds)
    elif loss or picture.kind == "signature":
        low, high = min(low, 0), high if loss else 1
    margin = 0.04 * (high - low) or 0.05 * abs(high) or 0.05
    return max(low - margin, 0) if loss and positive else low - margin, high + margin


def number_log_axis(axes: Axes, low: float, high: float, zero: float | None) -> None:
    """Numbers a logarithmic axis in plain decimals. zero: the place of zeros."""
    space = axes.yaxis.get_tick_space()
    if high / low < 10:
        ticks = MaxNLocator(max(space // 2, 2), steps=[1, 2, 5, 10]).tick_values(low, high)
    else:
        decades = np.log10(high / low)
        ticks = LogLocator(
            subs=[1, 2, 5] if 3 * decades <= space else [1], numticks=max(space, 2)
        ).tick_values(low, high)
    ticks = [t for t in ticks if low <= t <= high] or [low, high]
    axes.yaxis.set_major_locator(FixedLocator(([] if zero is None else [zero]) + ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v == zero else f"{v:g}"))


def marked(kind: str, s: Series) -> np.ndarray:
    """Returns the rows with a mark: all of a few; of a path 0, 1/2, 1 and eight or ten stretches;
    of a log the ends of stretches and about ten between them."""
    n = len(s.x)
    if kind in ("signature", "dots") or n <= 13:
        return np.full(n, True)
    if kind == "path":
        steps = np.floor(s.x * (8 if (n - 1) % 10 else 10) + 1e-9)
        return np.logical_or(np.isin(s.x, [0, 0.5, 1]), np.diff(steps, prepend=-1) > 0)
    ends = ~s.joined | np.append(~s.joined[1:], True)
    shown: np.ndarray = np.logical_or(ends, np.arange(n) % (n // 10) == 0)
    return shown


def mark_exits(axes: Axes, x: np.ndarray, y: np.ndarray, joined: np.ndarray, color: Any) -> None:
    """Draws arrows where a line leaves the frame, and next to the first one its highest or lowest
    value."""
    logarithmic = axes.get_yscale() == "log"
    points = matplotlib.rcParams["font.size"]
    bottom, top = axes.get_ylim()
    for edge, outside, extreme, marker in (
        (bottom, y < bottom, np.nanmin(y), "v"),
        (top, y > top, np.nanmax(y), "^"),
    ):
        if not outside.any():
            continue
        i = np.flatnonzero((outside[1:] != outside[:-1]) & joined[1:])
        from_, to, here = (np.log(v) if logarithmic else v for v in (y[i], y[i + 1], edge))
        at = x[i] + (here - from_) / (to - from_) * (x[i + 1] - x[i])
        alone = ~joined & ~np.append(joined[1:], False)
        at = np.concatenate([at, x[outside & alone]])
        at = at if len(at) else x[outside][:1]
        axes.plot(
            at,
            np.full(len(at), edge),
            marker,
            color=color,
            markersize=0.5 * points,
            clip_on=False,
            zorder=4,
        )
        side, shift = (
            ("left", 0.5 * points) if at[0] < np.mean(axes.get_xlim()) else ("right", -0.5 * points)
        )
        text = axes.annotate(
            f"{extreme:.3g}",
            (at[0], edge),
            (shift, 0),
            textcoords="offset points",
            ha=side,
            color=color,
            va="top" if edge == top else "bottom",
            size="small",
            zorder=5,
        )
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def has_bands(picture: Picture, series: list[Series]) -> bool:
    """Returns whether bands are drawn: not if they would hide each other. A signature has two lines
    per series."""
    return sum(s.spread for s in series) * (2 if picture.kind == "signature" else 1) < MANY_BANDS


def draw_series(
    axes: Axes, picture: Picture, line: Line, floor: float, bands: bool, previous: Sequence[Line2D]
) -> Line2D:
    """Draws a line with its marks and band. floor: the place of values that a logarithmic axis
    cannot show, else -inf. previous: the lines before it, of which the last is of the same series
    if `line.before`."""
    s = line.series
    mean, low, high = (
        np.where((v <= 0) & (floor > 0), floor, v)
        for v in (line.y, line.y - line.sd, line.y + line.sd)
    )
    gaps = np.flatnonzero(~s.joined[1:]) + 1
    x, y, bottom, top = (np.insert(v, gaps, np.nan) for v in (s.x, mean, low, high))
    dots = picture.kind == "dots"
    equal = 0 if dots else sum(_same_line(p, x, y) for p in previous)
    size = matplotlib.rcParams["lines.markersize"] * 0.6**equal
    style: dict[str, Any] = {
        "markevery": np.insert(marked(picture.kind, s), gaps, False),
        "zorder": 3,
        "markersize": size,
    }
    if picture.kind == "signature" and len(s.x) > MANY_LAYERS:
        style["markersize"] = size / 2
    if equal:  # it would hide the equal line
        style["dashes"] = 6 / equal, 6 / equal
    style["marker"] = MARKS[sum(p.get_linestyle() != "--" for p in previous) % len(MARKS)]
    if dots:
        style["linestyle"] = "none"
    if line.before:
        style.update(
            color=previous[-1].get_color(),
            marker=previous[-1].get_marker(),
            linestyle="--",
            markerfacecolor="white",
        )
    (handle,) = axes.plot(x, y, **style)
    if s.spread and bands:
        axes.fill_between(x, bottom, top, color=handle.get_color(), alpha=0.18, linewidth=0)
    mark_exits(axes, s.x, mean, s.joined, handle.get_color())
    alone = s.spread & ~s.joined & ~np.append(s.joined[1:], False)
    axes.vlines(s.x[alone], low[alone], high[alone], color=handle.get_color(), linewidth=1.2)
    return handle


def draw_panel(axes: Axes, picture: Picture, panel: int, lines: list[Line]) -> list[Line2D]:
    """Draws the lines of a panel; returns the drawn ones."""
    low, high = choose_range(picture, panel, lines)
    axes.set_ylim(low, high)
    floor, zero = -np.inf, None
    if picture.log_loss and panel == 0:
        axes.set_yscale("log")
        floor = low
        if not picture.ranges[0] and any((line.y == 0).any() for line in lines):
            floor = zero = low / (high / low) ** 0.1
            axes.axhline(zero, color="#404040", linestyle=":", linewidth=0.8)
            axes.set_ylim(zero / (high / low) ** 0.05, high)
    drawn: list[Line2D] = []
    bands = has_bands(picture, list(dict.fromkeys(line.series for line in lines if line.drawn)))
    for line in lines:
        if line.drawn:
            drawn.append(draw_series(axes, picture, line, floor, bands, drawn))
    if picture.log_loss and panel == 0:
        number_log_axis(axes, low, high, zero)
    return drawn


def stages(layers: list[str]) -> list[tuple[str, int, int]]:
    """Returns (name, first, end) of the layers or, if there are many, of the stages: runs of layers
    with one prefix."""
    parts = [layer.split(".") for layer in layers]
    depth, shared = 0, 0
    for d in range(1, 7) if len(layers) > MANY_LAYERS else ():
        runs = len(list(itertools.groupby(p[:d] for p in parts)))
        shared = d if runs == 1 else shared
        depth = d if 2 < runs <= MAX_STAGES else depth
    found, first = [], 0
    for key, run in itertools.groupby(p[: depth or None] for p in parts):
        end = first + len(list(run))
        found.append((".".join(key[shared if depth else 0 :] or key), first, end))
        first = end
    return found


def name_rows(axes: Axes, names: list[tuple[str, int, int]], rows: int) -> None:
    """Names rows or runs of rows along x: horizontally if all names fit, otherwise slanted and as
    many as fit."""
    cell = 0.85 * axes.figure.bbox.width / rows
    centres = [(first + 1 + end) / 2 for _, first, end in names]
    axes.set_xticks(centres, [clean(name) for name, _, _ in names], parse_math=False)
    texts = axes.get_xticklabels()
    if len(names) < rows or max(map(width, texts)) > cell - 0.8 * em(axes.figure):
        for text in texts:
            shorten(text, min(16 * em(axes.figure), 0.35 * axes.figure.bbox.height / 0.64))
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.set_xlim(0.5, rows + 0.5)
    axes.grid(False, axis="x")
    for _, first, _ in names[1:] if len(names) < rows else ():
        axes.axvline(first + 0.5, color="#d0d0d0", linewidth=0.8, zorder=1)


def headers(picture: Picture, series: list[Series]) -> list[str]:
    """Returns the titles of the panels."""
    if picture.kind == "dots":
        return [clean(picture.y_name or (series[0].label if len(series) == 1 else ""))]
    if picture.kind == "signature":
        return ["mean correlation"]
    only_training = picture.kind == "log" and not any(s.data for s in series)
    return measures("training" if only_training else series[0].data)[: len(series[0].y)]


def note(picture: Picture, series: list[Series]) -> str:
    """Returns the legend's title: what bands and dashes mean."""
    spread, numbers = any(s.spread for s in series), {s.n for s in series}
    n = f", n = {series[0].n}" if len(numbers) == 1 else ""
    if picture.kind == "dots":
        return "± sd" if any(s.spread and s.sd.any() for s in series) else ""
    parts = [f"mean{' ± sd' if has_bands(picture, series) else ''}{n}"] if spread else []
    if picture.kind == "signature" and len(series) > 1:
        parts.append("dashed: before the alignment")
    return "; ".join(parts)


def draw_lines(picture: Picture, series: list[Series], fitted: list[Series]) -> Figure:
    """Draws a path, signature, log or dots. fitted: series that only widen the ranges."""
    figure = new_figure(picture)
    signature = picture.kind == "signature"
    titles = headers(picture, series)
    panels = add_panels(figure, len(titles))
    handles: list[Line2D] = []
    for i, s in enumerate(series if picture.kind == "dots" else ()):
        s.x = s.x + 0.5 * ((i + 0.5) / len(series) - 0.5)  # side by side
    for panel, axes in enumerate(panels):
        lines = [
            Line(s, s.y[q], s.sd[q], s in series, q == 1 and signature)
            for s in [*series, *fitted]
            for q in ([0, 1] if signature else [panel])
        ]
        axes.set_title(titles[panel], parse_math=False)
        if picture.kind in ("path", "log"):
            axes.set_xlabel("t" if picture.kind == "path" else "epoch")
            first, last = (f(s.x[i] for s in [*series, *fitted]) for f, i in ((min, 0), (max, -1)))
            margin = 0.02 * (last - first) or 0.5  # for the marks of the ends
            axes.set_xlim(first - margin, last + margin)
            axes.xaxis.set_major_locator(
                MaxNLocator(
                    "auto", steps=[1, 2, 5, 10], integer=picture.kind == "log", min_n_ticks=1
                )
            )
        elif signature:
            name_rows(axes, stages(series[0].table.texts("layer")), len(series[0].x))
        else:
            table = series[0].table
            with inside(table.name):
                columns = [table.texts(c) for c in (picture.labels or table.columns[0]).split(",")]
            name_rows(
                axes,
                [(" ".join(filter(None, r)), i, i + 1) for i, r in enumerate(zip(*columns))],
                len(series[0].x),
            )
        handles = draw_panel(axes, picture, panel, lines)
    if signature and len(series) == 1:
        labels = ["after alignment", "before alignment"]
    else:
        several = len({s.n for s in series}) > 1
        labels = [s.label + (f" (n = {s.n})" if several else "") for s in series]
        handles = handles[::2] if signature else handles
    finish(picture, figure, panels, handles, labels, note(picture, series))
    return figure


def finish(
    picture: Picture,
    figure: Figure,
    panels: list[Axes],
    handles: list[Line2D],
    labels: list[str],
    title: str,
) -> None:
    """Adds a legend of as many columns as fit below the panels."""
    for columns in range(len(handles), 0, -1):
        # a legend leaves out labels that start with "_", so they are set afterwards
        legend = figure.legend(
            handles,
            [f"{i}" for i in range(len(handles))],
            title=title or None,
            ncols=columns,
            loc="lower center",
        )
        for text, label in zip(legend.get_texts(), labels):
            text.set(text=clean(label), parse_math=False)
            shorten(text, 0.98 * figure.bbox.width - 5 * em(figure))
        box = legend.get_window_extent()
        if box.width <= figure.bbox.width or columns == 1:
            break
        legend.remove()
    lay_out(picture, figure, panels, box.height)
