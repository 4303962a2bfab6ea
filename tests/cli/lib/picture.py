# SPDX-License-Identifier: Apache-2.0
"""The contents of an SVG picture by mc-plot: texts with their boxes, lines and markers."""
import math
import re
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
FIRST, SECOND, THIRD, FOURTH = (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167)  # lines' colours
# widths in a wide sans-serif font, in hundredths of an em, from the space on
WIDTHS = [32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34] + 10 * [64] + [34, 34, 84, 84, 84, 53, 100]
WIDTHS += [68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69]
WIDTHS += [39, 34, 39, 84, 50, 50]
WIDTHS += [61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52]
WIDTHS += [64, 34, 64, 84]
OTHERS = {"₁": 40, "₂": 40, "θ": 61, "½": 97, "±": 84, "–": 50, "…": 100, "▲": 77, "▼": 77}


class Text:
    """A text, its anchor in the picture, and the corners of its box."""

    def __init__(self, group):
        self.text = "".join(group.itertext()).strip()
        self.x, self.y = map(float, re.search(r"translate\(([-0-9.]+),([-0-9.]+)\)", group.get("transform")).groups())
        turn = re.search(r"rotate\(([-0-9.]+)\)", group.get("transform"))
        angle = math.radians(float(turn.group(1))) if turn else 0
        size = float(group.get("font-size"))
        self.anchor = group.get("text-anchor")
        width = sum(OTHERS.get(c) or WIDTHS[ord(c) - 32] for c in self.text) / 100 * size
        left = -width * {"start": 0, "middle": 0.5, "end": 1}[self.anchor]
        # from the descenders to the capitals' height
        box = [(left, 0.2 * size), (left + width, 0.2 * size), (left + width, -0.73 * size), (left, -0.73 * size)]
        self.corners = [(self.x + x * math.cos(angle) - y * math.sin(angle), self.y + x * math.sin(angle) + y * math.cos(angle))
                        for x, y in box]

    def __repr__(self):
        return "%r at %.0f,%.0f" % (self.text, self.x, self.y)

    def overlaps(self, other):
        """True if no straight line separates the two boxes."""
        for a, b in zip(2 * self.corners[:2] + 2 * other.corners[:2], self.corners[1:3] + self.corners[1:3] + 2 * other.corners[1:3]):
            for nx, ny in ((b[0] - a[0], b[1] - a[1]), (a[1] - b[1], b[0] - a[0])):
                one = [x * nx + y * ny for x, y in self.corners]
                two = [x * nx + y * ny for x, y in other.corners]
                if max(one) <= min(two) or max(two) <= min(one):
                    return False
        return True


class Picture:
    def __init__(self, name):
        self.name, self.root = name, xml.parse(name).getroot()
        self.width, self.height = map(float, self.root.get("viewBox").split()[2:])
        self.texts = [Text(g) for g in self.root.iter(SVG + "g") if g.get("text-anchor")]
        # gnuplot writes the text in a box twice
        self.texts = list({(t.text, t.x, t.y): t for t in self.texts if t.text}.values())

    def all_texts(self):
        return [t.text for t in self.texts]

    def check_texts(self):
        """Check that every text is completely within the picture and overlaps no other."""
        for i, t in enumerate(self.texts):
            for x, y in t.corners:
                assert 0 <= x <= self.width and 0 <= y <= self.height, (self.name, "cut", t, self.width, self.height)
            for other in self.texts[:i]:
                assert not t.overlaps(other), (self.name, "overlap", t, other)

    def numbers(self, anchor, left=0, right=math.inf):
        """The numbers along one axis as (value, x, y): those with this anchor between left and right."""
        return [(float(t.text), t.x, t.y) for t in self.texts
                if t.anchor == anchor and re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", t.text) and left <= t.x <= right]

    def columns(self, anchor="end"):
        """The numbers of each vertical axis, from the bottom."""
        found = {}
        for value, x, y in self.numbers(anchor):
            found.setdefault(round(x), []).append((value, y))
        return [sorted(found[x]) for x in sorted(found)]

    def panels(self):
        """The frames: (left, top, right, bottom)."""
        found = []
        for path in self.root.iter(SVG + "path"):
            at = re.match(r"M([0-9.]+),([0-9.]+) L([0-9.]+),([0-9.]+) L([0-9.]+),([0-9.]+) ", path.get("d", ""))
            x = list(map(float, at.groups())) if at else 6 * [0]
            if path.get("stroke") == "rgb( 64,  64,  64)" and x[0] == x[2] and x[3] == x[5] and x[1] < x[3] and x[0] < x[4]:
                if (x[0], x[1], x[4], x[3]) not in found:
                    found.append((x[0], x[1], x[4], x[3]))
        return found

    def within(self, x, y, panel):
        left, top, right, bottom = self.panels()[panel]
        return left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1

    def lines(self, colour, panel):
        """The polylines of this colour in a panel, each a list of (x, y)."""
        found = []
        for path in self.root.iter(SVG + "path"):
            if path.get("stroke", "").replace(" ", "") != "rgb(%d,%d,%d)" % colour:
                continue
            for part in re.findall(r"M([^MZ]*)", path.get("d")):
                points = [tuple(map(float, p)) for p in re.findall(r"([-0-9.]+),([-0-9.]+)", part)]
                if all(self.within(x, y, panel) for x, y in points):
                    found.append(points)
        return found

    def markers(self, colour, panel):
        """The positions of markers of this colour in a panel."""
        found = []
        for use in self.root.iter(SVG + "use"):
            if use.get("color", "").replace(" ", "") == "rgb(%d,%d,%d)" % colour:
                x, y = map(float, re.search(r"translate[(]([-0-9.]+),([-0-9.]+)[)]", use.get("transform")).groups())
                if self.within(x, y, panel):
                    found.append((x, y))
        return found

    def colour(self, label):
        """The colour of this label in the legend: that of the marker to its left."""
        text, = (t for t in self.texts if t.text == label)
        near = []
        for use in self.root.iter(SVG + "use"):
            place = re.search(r"translate[(]([-0-9.]+),([-0-9.]+)[)]", use.get("transform", ""))
            if place and abs(float(place.group(2)) - text.y) < 8 and float(place.group(1)) < text.x:
                near.append((float(place.group(1)), use.get("color")))
        return max(near)[1]
