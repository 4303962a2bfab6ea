# SPDX-License-Identifier: Apache-2.0
"""The request and the data of a picture. A table is checked completely before anything is drawn;
mcz.Error names the faulty line.

A table is tab-separated text with a header, or the JSON lines of a training's log. An operand is
[LABEL=]FILE[,FILE...]. LABEL has no slash, FILE no comma. Several files of one operand are one
line: their mean and standard deviation (n - 1)."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import Error, inside, need

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
LARGEST = 1e100  # differences of larger numbers may be infinite
MAX_BYTES = 64 << 20
# first letters of the names of parallel branches
BRANCH = re.compile("branch|expand|downsample|shortcut|aux")

# A kind of picture, two columns that only its tables have, and the program that writes them.
KINDS = {
    "path": ("t", "t", "measure a curve, or --line between two networks, with mc-eval"),
    "signature": ("identity", "permuted", "mc-corr --signature writes one"),
    "plane": ("x", "y", "mc-eval --plane writes one"),
}


@dataclass(eq=False)
class Picture:
    """The contents and form of a picture, from the options. Ranges are (low, high); None is
    automatic."""

    kind: str
    form: str = "svg"
    title: str = ""
    width: float = 960  # pixels or, in_cm, centimetres
    height: float = 480
    in_cm: bool = False
    log_loss: bool = False
    ranges: list[tuple[float, float] | None] = field(default_factory=lambda: [None, None])
    labels: str = ""  # dots: columns that name a row
    y_name: str = ""  # dots
    names: Sequence[str] = ()  # plane: of the networks
    styles: Sequence[str] = ()


class Usage(Error):
    """A command line that cannot be drawn."""


def near(name: str, names: Iterable[str]) -> str:
    """Returns ", did you mean 'NAME'?" for the most similar name, or nothing."""
    match = difflib.get_close_matches(name, list(names), 1, 0.7)
    return f", did you mean '{match[0]}'?" if match else ""


@dataclass(eq=False)
class Table:
    """Named columns of text. A cell without a value is empty."""

    name: str  # of the file, or "stdin"
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]  # of the rows in the file, from 1

    def texts(self, column: str) -> list[str]:
        """Returns the cells of a column. mcz.Error lists the columns."""
        if column in self.columns:
            return [row[self.columns.index(column)] for row in self.rows]
        for kind, (own, _, source) in KINDS.items():
            if column == own:
                for other, (first, second, _) in KINDS.items():
                    need(
                        not {first, second} <= set(self.columns),
                        f"a table for 'mc-plot {other}', not '{kind}'",
                    )
                raise Error(
                    f"not a table for 'mc-plot {kind}' (column '{column}' is missing): {source}"
                )
        raise Error(
            f"unknown column '{column}'{near(column, self.columns)} (one of: "
            f"{', '.join(self.columns)})"
        )

    def numbers(self, column: str, empty: bool = False) -> np.ndarray:
        """Returns the cells of a column as float64. empty: empty cells are NaN."""
        for line, cell in zip(self.lines, self.texts(column)):
            where = f"line {line}, column '{column}'"
            number = NUMBER.fullmatch(cell) or (empty and not cell)
            need(number, f"{where}: '{cell[:40]}' is not a number")
            need(
                not cell or abs(float(cell)) <= LARGEST,
                f"{where}: {cell[:40]} is too large to draw (at most {LARGEST:g})",
            )
        return np.array([float(cell or "nan") for cell in self.texts(column)])

    def increasing(self, column: str) -> np.ndarray:
        """Returns numbers that increase from row to row."""
        x = self.numbers(column)
        for i in np.flatnonzero(~(x[1:] > x[:-1])):
            raise Error(f"line {self.lines[i + 1]}: {column} must increase")
        return x


def _read_text(path: str, torn: bool) -> str:
    """Returns the text of a file, or of standard input for "-". torn: omit an incomplete last
    line."""
    with open(0 if path == "-" else path, "rb", closefd=path != "-") as f:
        content = f.read(MAX_BYTES + 1)
    need(len(content) <= MAX_BYTES, f"must be at most {MAX_BYTES >> 20} MiB")
    if torn and content.endswith(b"}"):
        content += b"\n"
    elif torn and b"\n" in content:
        content = content[: content.rindex(b"\n") + 1]
    need(content, "is empty")
    stream = (
        "an mcz stream: measure it with mc-eval first"
        if content.startswith(b"\x28\xb5\x2f\xfd")
        else "binary data"
    )
    need(
        b"\0" not in content and not content.startswith(b"\x28\xb5\x2f\xfd"),
        f"text expected, got {stream}",
    )
    need(content.endswith(b"\n"), "truncated: the last line has no newline")
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n").rstrip("\n")


def _parse_table(name: str, text: str) -> Table:
    header, *rows = text.split("\n")
    need(not header.startswith("{"), "JSON, not a table (draw a log with 'mc-plot log')")
    columns = header.split("\t")
    for i, column in enumerate(columns):
        need(column, f"column {i + 1} has no name")
        need(column not in columns[:i], f"duplicate column '{column}'")
    need(rows, "has no rows")
    table = Table(name, columns, [row.split("\t") for row in rows], list(range(2, len(rows) + 2)))
    for line, row in zip(table.lines, table.rows):
        need(
            len(row) == len(columns), f"line {line}: {len(columns)} cells expected, got {len(row)}"
        )
    return table


def _parse_log(name: str, text: str) -> Table:
    """Parses the lines with the event "epoch" of a log."""
    epochs: dict[int, dict[str, str]] = {}
    for line, record in enumerate(text.split("\n"), 1):
        try:
            fields = json.loads(record, parse_int=str, parse_float=str, parse_constant=str)
        except (ValueError, RecursionError):
            fields = None
        need(
            isinstance(fields, dict) and isinstance(fields.get("event"), str),
            f"line {line}: not a line of a training log (of --log-json)",
        )
        if fields["event"] == "epoch":
            epochs[line] = {k: v for k, v in fields.items() if isinstance(v, str)}
    need(epochs, "has no event 'epoch'")
    columns = list(dict.fromkeys(k for fields in epochs.values() for k in fields))
    return Table(
        name,
        columns,
        [[fields.get(k, "") for k in columns] for fields in epochs.values()],
        list(epochs),
    )


def read_table(path: str, log: bool = False) -> Table:
    """Reads a table, or the epochs of a log."""
    name = "stdin" if path == "-" else path
    with inside(name):
        return (_parse_log if log else _parse_table)(name, _read_text(path, log))


@dataclass(eq=False)
class Series:
    """A line of a picture: a table, or the mean of several with the same rows."""

    label: str
    table: Table  # the first
    n: int  # number of tables
    x: np.ndarray  # (rows)
    # (quantities, rows): loss and, unless the tables have none, accuracy; or after, before
    y: np.ndarray
    sd: np.ndarray  # (quantities, rows)
    joined: np.ndarray  # (rows) True if a line joins the row to the previous one
    spread: bool  # sd is drawn
    tables: Sequence[Table] = ()
    # of a path: the name of its data set; of a log: "val_" if it is the line of --val
    data: str = ""


def split_operand(operand: str) -> tuple[str, str]:
    """Returns the label of [LABEL=]FILE[,FILE...] and the files. The default is the first file's
    name without its suffix."""
    match = re.fullmatch(r"([^=/]+)=(.*)", operand, re.DOTALL)
    return (
        (match[1], match[2])
        if match
        else (os.path.splitext(os.path.basename(operand.split(",", maxsplit=1)[0]))[0], operand)
    )


def default_data(table: Table) -> str:
    """Returns test, or the table's first data set if it has no test.loss."""
    losses = [c[: -len(".loss")] for c in table.columns if c.endswith(".loss")]
    return losses[0] if losses and "test" not in losses else "test"


def layers_joined(before: str, layer: str) -> bool:
    """Returns False for layers of parallel branches, like inception3a.branch1.conv and
    inception3a.branch2.conv."""
    differ = (i for i, (x, y) in enumerate(zip(before, layer)) if x != y)
    same = next(differ, min(len(before), len(layer)))
    start = before.rfind(".", 0, same) + 1
    parallel = BRANCH.match(before, start) or BRANCH.match(layer, start)
    # branch5x5_1 and branch5x5_2 are consecutive
    return not parallel or (same > start and before[same - 1] == "_")


def _quantities(kind: str, table: Table, data: str) -> list[str]:
    """Returns the columns that a kind of picture draws."""
    if kind == "signature":
        if "identity" in table.columns:
            need(
                "permuted" in table.columns,
                "column 'permuted' is missing: run mc-corr --signature with --perm",
            )
        return ["permuted", "identity"]
    prefix = f"{data}." if kind == "path" else data
    names = [c for c in table.columns if c.startswith(prefix)]
    # a name like accuracy is a misspelled one, which reading reports; networks without labels have
    # none
    return [f"{prefix}loss"] + [f"{prefix}accuracy"] * bool(
        difflib.get_close_matches(f"{prefix}accuracy", names, 1, 0.8)
    )


def _check_rows(kind: str, table: Table) -> np.ndarray:
    """Checks the rows' order and returns their x."""
    if kind == "log":
        return table.increasing("epoch")
    if kind == "path":
        t = table.increasing("t")
        need(t[0] <= 0 and t[-1] >= 1, f"t must run from 0 to 1 (got {t[0]:g} to {t[-1]:g})")
        return t
    table.texts("identity")
    layers = table.texts("layer")
    for i, layer in enumerate(layers):
        need(
            layer not in layers[:i],
            f"line {table.lines[i]}: duplicate layer '{layer}' (one pair per table expected)",
        )
    return np.arange(1, len(layers) + 1.0)


def _check_same(kind: str, data: str, table: Table, other: Table, rows: bool) -> None:
    """Checks that two tables have the same columns to draw and, if `rows`, the same rows."""
    pair = [(_quantities(kind, t, data), t.name) for t in (table, other)]
    (fewer, without), (names, having) = sorted(pair, key=lambda p: len(p[0]))
    need(
        len(fewer) == len(names), f"{without}: column '{names[-1]}' is missing, but {having} has it"
    )
    key, plural = {
        "path": ("t", "values of t"),
        "log": ("epoch", "epochs"),
        "signature": ("layer", "layers"),
    }[kind]
    need(
        not rows or table.texts(key) == other.texts(key),
        f"{table.name}: {plural} differ from those in {other.name}",
    )


def _joined(kind: str, x: np.ndarray, table: Table) -> np.ndarray:
    """Returns True for each row that follows the previous one without a gap."""
    if kind == "signature":
        layers = table.texts("layer")
        return np.array([False, *map(layers_joined, layers, layers[1:])])
    return np.append(False, np.diff(x) <= 1) if kind == "log" else x > x[0]


def read_series(
    kind: str, operand: str, data: str = "", first: Series | None = None, read: Sequence[Table] = ()
) -> Series:
    """Reads the tables of an operand. data: of a path, the name of a data set or "". first: the
    picture's first line, whose columns, and of a signature whose layers, the tables must have.
    read: the operand's tables, if they are read already."""
    label, files = split_operand(operand)
    tables: list[Table] = []
    values = []
    for i, path in enumerate(files.split(",")):
        if not path:
            raise Usage(
                f"'{files}': empty name in a list of tables"
                if tables
                else f"'{operand}': table is missing"
            )
        table = read[i] if read else read_table(path, kind == "log")
        data = data or (default_data(table) if kind == "path" else "")
        with inside(table.name):
            x = _check_rows(kind, table)
            names = _quantities(kind, table, data)
            values.append([table.numbers(name, empty=data == "val_") for name in names])
        tables.append(table)
        _check_same(kind, data, table, tables[0], True)
        if first:
            _check_same(kind, data, table, first.table, kind == "signature")
    y = np.array(values)
    sd = y.std(0, ddof=1) if len(tables) > 1 else 0 * y[0]
    return Series(
        label + ", val" * (data == "val_"),
        tables[0],
        len(tables),
        x,
        y.mean(0),
        sd,
        _joined(kind, x, tables[0]),
        len(tables) > 1,
        tables,
        data,
    )


def read_columns(path: str, columns: str) -> list[Series]:
    """Reads columns A,B,... of a table, one series each. Empty cells are NaN. sd is the column
    NAME_sd."""
    table = read_table(path)
    names = columns.split(",")
    rows = np.arange(1, len(table.rows) + 1.0)
    found = []
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Usage(f"--columns: '{name}' occurs twice")
        with inside(table.name):
            y = table.numbers(name, empty=True)
            spread = f"{name}_sd" in table.columns
            sd = np.nan_to_num(table.numbers(f"{name}_sd", empty=True)) if spread else 0 * y
        found.append(Series(name, table, 1, rows, y[None], sd[None], rows < 0, spread))
    need(
        any(np.isfinite(s.y).any() for s in found),
        f"{table.name}: no numbers in the columns {columns}",
    )
    return found


@dataclass(eq=False)
class Grid:
    """A plane: loss and accuracy at the points of a grid."""

    x: np.ndarray  # (nx) increasing
    y: np.ndarray  # (ny) increasing
    values: np.ndarray  # (2, ny, nx): loss, accuracy in percent
    data: str  # name of its data set


def read_grid(path: str, data: str = "") -> Grid:
    """Reads the table of mc-eval --plane."""
    table = read_table(path)
    with inside(table.name):
        x, y = table.numbers("x"), table.numbers("y")
        data = data or default_data(table)
        values = np.array([table.numbers(f"{data}.loss"), table.numbers(f"{data}.accuracy")])
        nx = int(np.argmax(np.append(y != y[0], True)))
        need(
            1 < nx < len(x) and len(x) % nx == 0,
            f"not a complete grid: {len(x)} rows, but y increases after {nx}",
        )
        grid_x, grid_y = x.reshape(-1, nx), y.reshape(-1, nx)
        right = (grid_x == grid_x[0]) & (grid_y == grid_y[:, :1])
        right[:, 1:] &= np.diff(grid_x) > 0
        right[1:] &= np.diff(grid_y, axis=0) > 0
        for i in np.flatnonzero(~right.ravel()):
            raise Error(
                f"line {table.lines[i]}: not in grid order (x varies fastest, x and y increase)"
            )
    return Grid(grid_x[0], grid_y[:, 0], values.reshape(2, -1, nx), data)


@dataclass(eq=False)
class Marks:
    """The networks in a plane and the points of a path, which may be missing."""

    names: list[str]  # (3)
    networks: np.ndarray  # (3, 2)
    path: np.ndarray  # (points, 2)


def read_marks(path: str) -> Marks:
    """Reads the marks of mc-eval --plane."""
    table = read_table(path)
    with inside(table.name):
        for i, (line, mark) in enumerate(zip(table.lines, table.texts("mark"))):
            expected = "path" if i > 2 else "network"
            need(
                mark == expected,
                f"line {line}: mark '{expected}' expected, got '{mark}' (three networks, then the "
                "path)",
            )
        need(
            len(table.rows) > 2,
            f"at least 3 marks are required, the networks (got {len(table.rows)})",
        )
        points = np.stack([table.numbers("x"), table.numbers("y")], 1)
        names = [os.path.basename(name).removesuffix(".mcz") for name in table.texts("name")]
    return Marks(names[:3], points[:3], points[3:])
