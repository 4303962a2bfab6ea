# SPDX-License-Identifier: Apache-2.0
"""A report's HTML page: its texts, table cells and addresses. Page(path) fails unless it is well-formed and self-contained."""
import html.parser

VOID = ("meta", "img")


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.open, self.cells, self.pre, self.title, self.images = [], [], "", "", []
        source = open(path, encoding="utf-8").read()
        assert source.startswith("<!DOCTYPE html>\n<html lang="), source[:60]
        self.feed(source)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "iframe", "object", "base"), tag
        for name, value in attributes:
            assert not name.startswith("on"), name
            if name in ("src", "href"):
                assert value.startswith(("data:image/", "#")), value
        if tag == "img":
            self.images.append(dict(attributes)["alt"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open, self.getpos())

    def handle_data(self, data):
        tag = self.open[-1] if self.open else None
        assert tag != "style" or "url(" not in data and "@import" not in data
        if tag == "td":
            self.cells[-1] += data
        elif tag in ("pre", "title"):
            setattr(self, tag, getattr(self, tag) + data)
