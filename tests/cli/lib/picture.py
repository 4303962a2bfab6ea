# SPDX-License-Identifier: Apache-2.0
"""The contents of pictures by mc-plot, read from matplotlib's figure.

    p = Picture("path", "a.tsv", "b=b.tsv", "--size", "400x300")
    p.check_texts()
    loss, accuracy = p.panels
    assert p.labels == ["a", "b"] and loss.title == "test loss" and loss.lines[0].colour == FIRST
    assert [number for number, _ in numbers(loss.y)] == [0, 1, 2]
"""
import warnings
from unittest import mock

import mcz.plot
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text as Artist
from matplotlib.transforms import Affine2D
from mcz.plot import pictures

FIRST, SECOND, THIRD = "#0072b2", "#d55e00", "#009e73"  # colours of the lines
save = pictures.save
warnings.simplefilter("ignore")  # as mc-plot does


class Text:
    """A text, its colour, and the corners of its box in pixels from the lower left corner of the picture."""

    def __init__(self, artist, renderer):
        self.text, self.colour, angle = artist.get_text(), to_hex(artist.get_color()), artist.get_rotation()
        assert not angle or artist.get_rotation_mode() == "anchor", self.text
        artist.set_rotation(0)  # matplotlib returns the upright box around a rotated text
        box = artist.get_window_extent(renderer).expanded(1, .92)  # it has a margin above and below the letters
        artist.set_rotation(angle)
        anchor = artist.get_transform().transform(artist.get_unitless_position())
        self.corners = Affine2D().rotate_deg_around(*anchor, angle).transform(box.corners())

    def __repr__(self):
        return "%r at %.0f,%.0f" % (self.text, *self.corners[0])

    def overlaps(self, other):
        """True if no straight line separates the two boxes."""
        for lower_left, upper_left, lower_right, _ in self.corners, other.corners:
            for side in upper_left - lower_left, lower_right - lower_left:
                one, two = self.corners @ side, other.corners @ side
                if one.max() <= two.min() or two.max() <= one.min():
                    return False
        return True


class Line:
    """A line: its points, where NaN separates stretches, the marked ones, colour, marker and style ("-", "--" or "None")."""

    def __init__(self, artist):
        self.points = np.column_stack(artist.get_data())
        self.pixels = artist.get_transform().transform(self.points)
        self.colour, self.style, self.marker = to_hex(artist.get_color()), artist.get_linestyle(), artist.get_marker()
        every = artist.get_markevery()
        self.marked = self.points if every is None else self.points[every]

    def stretches(self):
        """The number of points of each stretch."""
        return [len(s) for s in "".join("ox"[np.isnan(x)] for x in self.points[:, 0]).split("x")]


def ticks(axis):
    """All labels of an axis as (place, label). matplotlib keeps some outside the axis."""
    return [(tick.get_loc(), label) for tick in axis.get_major_ticks() + axis.get_minor_ticks() for label in (tick.label1, tick.label2)]


def shown(axis):
    """The visible labels of an axis as (place, label), from low to high."""
    low, high = sorted(axis.get_view_interval())
    return sorted(((place, label) for place, label in ticks(axis) if low <= place <= high and label.get_visible() and label.get_text()),
                  key=lambda t: t[0])


def numbers(axis):
    """The numbers that an axis shows, as (number, place)."""
    return [(float(label.get_text().replace("\N{MINUS SIGN}", "-")), place) for place, label in shown(axis)]


class Panel:
    """A panel: its title, lines, bands {colour: corners}, bars [(colour, x, low, high)], number of contour lines, and arrows
    [(colour, marker, x, y)] where lines leave it. x, y and, of a plane, colours are its axes."""

    def __init__(self, axes):
        self.axes, self.title = axes, "".join(axes.get_title(loc) for loc in ("left", "center", "right"))
        lines = [a for a in axes.lines if a.get_transform().contains_branch(axes.transData)]
        exits = [a for a in lines if not a.get_clip_on() and not axes.images]
        self.lines = [Line(a) for a in lines if a not in exits]
        self.arrows = [(to_hex(a.get_color()), a.get_marker(), x, y) for a in exits for x, y in zip(*a.get_data())]
        drawn = [] if axes.images else axes.collections
        self.bands = {to_hex(c.get_facecolor()[0]): p.vertices for c in drawn if isinstance(c, PolyCollection)
                      for p in c.get_paths() if np.ptp(p.vertices[:, 0])}
        self.bars = [(to_hex(c.get_color()[0]), *s[0], s[1][1]) for c in drawn if isinstance(c, LineCollection)
                     for s in c.get_segments() if len(s) and s[0][1] < s[1][1]]
        self.contours = sum(len(p.vertices) > 0 for c in axes.collections if axes.images for p in c.get_paths())
        self.x, self.y = axes.xaxis, axes.yaxis
        self.colours = axes.child_axes[0].yaxis if axes.child_axes else None


class Picture:
    """The picture that mc-plot draws with these arguments: its title, panels, texts, and the legend's labels, samples and title
    (note). Nothing is written; a fault raises the program's exception."""

    def __init__(self, *arguments):
        with mock.patch.object(pictures, "save", return_value=b"") as saved:
            mcz.plot.run(list(arguments))
        self.settings, self.figure = saved.call_args[0]
        self.figure.draw_without_rendering()  # places the texts
        self.width, self.height = self.figure.bbox.size
        self.title = self.figure._suptitle.get_text() if self.figure._suptitle else ""
        self.panels = [Panel(axes) for axes in self.figure.axes]
        self.labels, self.samples, self.note = [], [], ""
        for legend in self.figure.legends:
            self.labels = [text.get_text() for text in legend.get_texts()]
            self.samples = [Line(a) for a in getattr(legend, "legend_handles", None) or legend.legendHandles]
            self.note = legend.get_title().get_text() if legend.get_title().get_visible() else ""
        axes = [axis for a in self.figure.findobj(Axes) for axis in (a.xaxis, a.yaxis)]
        hidden = {label for axis in axes for _, label in ticks(axis)} - {label for axis in axes for _, label in shown(axis)}
        self.texts = [Text(a, self.figure.canvas.get_renderer()) for a in self.figure.findobj(Artist)
                      if a.get_visible() and a.get_text().strip() and a not in hidden]

    def all_texts(self):
        return [t.text for t in self.texts]

    def check_texts(self):
        """Checks that every text is completely within the picture and overlaps no other."""
        for i, t in enumerate(self.texts):
            assert (t.corners >= 0).all() and (t.corners <= (self.width, self.height)).all(), ("cut", t, self.width, self.height)
            for other in self.texts[:i]:
                assert not t.overlaps(other), ("overlap", t, other)

    def file(self):
        """The bytes of the picture's file."""
        return save(self.settings, self.figure)
