# SPDX-License-Identifier: Apache-2.0
"""Figures of matplotlib: style, panels, layout and files."""

from __future__ import annotations

import io
import logging
import re
import sys
import warnings
from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Text

from .tables import Picture, Usage, near

# Okabe and Ito's colours, distinguishable with every type of colour vision; marks distinguish the
# lines without colour.
STYLE = {
    "axes.prop_cycle": cycler(
        color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
    ),
    "axes.axisbelow": True,
    "axes.edgecolor": "#404040",
    "axes.grid": True,
    "axes.titlelocation": "left",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.titlesize": "large",
    "font.family": "DejaVu Sans",
    "grid.color": "#e0e0e0",
    "image.cmap": "viridis",
    "legend.fontsize": "medium",
    "legend.title_fontsize": "medium",
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "mc",
}


def clean(text: str) -> str:
    """Replaces control characters by spaces, and what is not a character by U+FFFD."""
    return re.sub("[\ud800-\udfff\ufffe\uffff]", "\ufffd", re.sub("[\0-\x1f\x7f-\x9f]", " ", text))


def em(figure: Figure | SubFigure) -> float:
    """Returns the size of the font in pixels."""
    return float(figure.dpi / 72 * matplotlib.rcParams["font.size"])


def width(text: Text) -> float:
    """Returns the width of a text in pixels."""
    return text.get_window_extent().width


def shorten(text: Text, space: float) -> None:
    """Shortens a text to a length in pixels along its direction."""
    whole, angle = text.get_text(), text.get_rotation()
    text.set_rotation(0)
    if width(text) > space:
        kept, most = 1, len(whole) - 1  # characters that fit, and that may fit
        while kept < most:
            middle = (kept + most + 1) // 2
            text.set_text(whole[:middle].rstrip() + "…")
            kept, most = (middle, most) if width(text) <= space else (kept, middle - 1)
        text.set_text(whole[:kept].rstrip() + "…")
    text.set_rotation(angle)


def thin_names(axes: Axes) -> None:
    """Hides slanted names that would cover the previous one."""
    last = -np.inf
    for text, centre in zip(axes.get_xticklabels(), axes.get_xticks()):
        place = axes.transData.transform((centre, 0))[0]
        text.set_visible(not text.get_rotation() or place - last >= 1.8 * em(axes.figure))
        last = place if text.get_visible() else last


def measures(data: str) -> list[str]:
    """Returns the titles of a loss and an accuracy panel."""
    prefix = clean(data.replace(".", " "))
    return [f"{prefix} {name}".strip() for name in ("loss", "accuracy (%)")]


def font_size(picture: Picture) -> float:
    """Returns a font size in points: fonts of pixels scale with the picture, fonts on paper have at
    least 7 points."""
    unit, least = (72 / 2.54, 7) if picture.in_cm else (1, 9)
    size = max(14 * unit * min(picture.width / 960, picture.height / 480), least)
    return size if picture.in_cm else 0.75 * size


def new_figure(picture: Picture) -> Figure:
    """Sets matplotlib's parameters, in this order: its defaults, STYLE, the user's matplotlibrc,
    --style. Returns a figure."""
    matplotlib.rcdefaults()
    size = font_size(picture)
    sizes = {
        "font.size": size,
        "lines.linewidth": 0.15 * size,
        "lines.markersize": 0.45 * size,
        "axes.linewidth": 0.08 * size,
    }
    matplotlib.style.use(STYLE | sizes)
    log = logging.getLogger("matplotlib")
    log.setLevel(logging.WARNING)  # it reports wrong settings
    for style in matplotlib.matplotlib_fname(), *picture.styles:
        try:
            matplotlib.style.use(style)
        except OSError as e:
            hint = near(str(style), matplotlib.style.available)
            raise Usage(
                f"--style: '{style}' is neither a file nor a style of matplotlib{hint}"
            ) from e
        except ValueError as e:
            raise Usage(f"--style: '{style}': {e}") from e
    log.setLevel(logging.ERROR)
    unit, dpi = (2.54, 300) if picture.in_cm else (96, 96)
    figure = Figure((picture.width / unit, picture.height / unit), dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    if picture.title:
        title = figure.suptitle(clean(picture.title), parse_math=False)
        shorten(title, 0.98 * figure.bbox.width)
    return figure


def add_panels(figure: Figure, n: int) -> list[Axes]:
    """Adds panels in a row, or in a column of a high figure."""
    row = figure.bbox.width > 1.1 * figure.bbox.height
    return list(figure.subplots(1 if row else n, n if row else 1, squeeze=False).flat)


def lay_out(picture: Picture, figure: Figure, panels: list[Axes], bottom: float) -> None:
    """Lays out the panels above `bottom` pixels. Usage: they do not fit."""
    unfit = Usage(
        f"--size: {picture.width:g}x{picture.height:g}{'cm' * picture.in_cm} is too small for this "
        "picture"
    )
    share = bottom / figure.bbox.height
    if share >= 1:
        raise unfit
    engine: Any = figure.get_layout_engine()  # the constrained one
    engine.set(rect=(0, share, 1, 1 - share))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes, following in zip(panels, [*panels[1:], None]):
        end = (
            following.bbox.x0 if following and following.bbox.x0 > axes.bbox.x1 else figure.bbox.x1
        )
        left: Any = axes
        shorten(left._left_title, end - axes.bbox.x0 - 0.5 * em(figure))
        thin_names(axes)
        box = axes.get_tightbbox()
        fits = box is not None and (
            box.x0 >= -1
            and box.y0 >= bottom - 1
            and box.x1 <= figure.bbox.x1 + 1
            and box.y1 <= figure.bbox.y1 + 1
        )
        if not fits or axes.bbox.width < 4 * em(figure) or axes.bbox.height < 3 * em(figure):
            raise unfit


def save(picture: Picture, figure: Figure) -> bytes:
    """Returns the picture's file. It does not contain the time."""
    file = io.BytesIO()
    without = {"svg": "Date", "pdf": "CreationDate", "png": "Software"}[picture.form]
    matplotlib.rcParams["savefig.bbox"] = None  # a style's "tight" would change the size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(file, format=picture.form, dpi=figure.dpi, metadata={without: None})
    if any("Glyph" in str(w.message) for w in caught):
        print(
            "mc-plot: warning: the font lacks characters of a text (choose another font.family "
            "with --style)",
            file=sys.stderr,
        )
    return file.getvalue()
