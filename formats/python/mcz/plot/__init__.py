# SPDX-License-Identifier: Apache-2.0
"""The program mc-plot: its options and messages. tables.py reads its input, pictures.py draws."""

from __future__ import annotations

import getopt
import logging
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterable
from types import ModuleType
from typing import NoReturn

from .. import __version__
from ..errors import Error, need, printable
from ..files import replacing
from .help import FORMATS, HELP, LETTERS, ONLY, OPERANDS, OPTIONS
from .tables import (
    NUMBER,
    Picture,
    Series,
    Usage,
    near,
    read_columns,
    read_grid,
    read_marks,
    read_series,
    split_operand,
)


class Reports(logging.Handler):
    """Prints the first line of what matplotlib reports, such as a wrong setting in a style."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a report."""
        print(
            "mc-plot: warning:",
            printable(record.getMessage().strip().split("\n")[0]),
            file=sys.stderr,
        )


def parse_options(arguments: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Returns {option: its values} and the operands. Long options may be abbreviated."""
    os.environ.pop("POSIXLY_CORRECT", None)  # options may follow operands
    letters = "".join(letter + ":" * OPTIONS[name] for letter, name in LETTERS.items())
    try:
        found, operands = getopt.gnu_getopt(
            arguments, letters, [name + "=" * value for name, value in OPTIONS.items()]
        )
    except getopt.GetoptError as e:
        option = "--" + e.opt if f"--{e.opt}" in e.msg else "-" + e.opt
        names = ["--" + name for name in OPTIONS]
        for phrase, message in (
            ("not recognized", f"unknown option '{option}'{near(option, names)}"),
            (
                "unique prefix",
                f"ambiguous option '{option}' (one of: "
                f"{', '.join(n for n in names if n.startswith(option))})",
            ),
            ("requires", f"option '{option}' requires a value"),
            ("must not", f"option '{option}' does not accept a value"),
        ):
            if phrase in e.msg:
                raise Usage(f"{message} (see --help)") from None
        raise
    options: dict[str, list[str]] = {}
    for option, value in found:
        options.setdefault(LETTERS.get(option[1:], option[2:]), []).append(value)
    return options, operands


def choose(name: str, value: str, words: Iterable[str]) -> str:
    """Returns the value if it is one of the words."""
    if value not in words:
        raise Usage(
            f"{name}: unknown value '{value}'{near(value, words)} (one of: {', '.join(words)})"
        )
    return value


def parse_number(
    option: str, text: str, least: float, most: float, pattern: re.Pattern[str] = NUMBER
) -> float:
    """Returns a number of an option's value."""
    if not pattern.fullmatch(text) or not least <= float(text) <= most:
        raise Usage(f"{option}: '{text}' is not a number from {least:g} to {most:g}")
    return float(text)


def parse_range(option: str, text: str, most: float = 1e30) -> tuple[float, float]:
    """Returns a range FROM:TO of numbers from -1e30 to `most`."""
    parts = text.split(":")
    if len(parts) != 2:
        raise Usage(f"{option}: FROM:TO expected, got '{text}'")
    low, high = (parse_number(option, part, -1e30, most) for part in parts)
    if not low < high:
        raise Usage(f"{option}: FROM must be less than TO (got '{text}')")
    if high - low < 1e-6 * max(abs(low), abs(high)):
        raise Usage(f"{option}: the range must be at least 1e-06 of its values (got {text})")
    return low, high


def set_size(picture: Picture, text: str) -> None:
    """Sets width, height and unit of WxH or WxHcm."""
    picture.in_cm = text.endswith("cm")
    sides = text.removesuffix("cm").split("x")
    if len(sides) != 2:
        raise Usage(f"--size: WIDTHxHEIGHT or WIDTHxHEIGHTcm expected, got '{text}'")
    least, most, pattern = (
        ((5, 4), 60, NUMBER) if picture.in_cm else ((200, 150), 8192, re.compile("[0-9]+"))
    )
    picture.width, picture.height = (
        parse_number("--size", side, low, most, pattern) for side, low in zip(sides, least)
    )


def set_y_range(picture: Picture, text: str) -> None:
    """Sets the ranges of FROM:TO[,FROM:TO], of which the first may be empty."""
    first, comma, second = text.partition(",")
    if "," in second:
        raise Usage(f"--y-range: FROM:TO or FROM:TO,FROM:TO expected, got '{text}'")
    if comma and picture.kind in ("signature", "dots"):
        raise Usage(f"--y-range: one range expected for {picture.kind}, got two")
    picture.ranges = [
        parse_range("--y-range", first) if first or not comma else None,
        parse_range("--y-range", second) if comma else None,
    ]
    if picture.log_loss and picture.ranges[0] and picture.ranges[0][0] <= 0:
        raise Usage(
            f"--y-range: with --log-loss it must start above 0 (got {picture.ranges[0][0]:g})"
        )


def parse_picture(kind: str, options: dict[str, str], styles: list[str]) -> Picture:
    """Returns the picture that the options describe."""
    picture = Picture(
        kind,
        title=options.get("title", ""),
        log_loss="log-loss" in options,
        labels=options.get("label", ""),
        y_name=options.get("y-name", ""),
        styles=styles,
    )
    if kind == "plane":
        picture.height = 430
        picture.names = options.get("names", ",,").split(",")
        if len(picture.names) != 3:
            raise Usage(
                f"--names: three names separated by commas expected, got '{options['names']}'"
            )
        for q, (option, most) in enumerate((("loss-range", 1e30), ("accuracy-range", 100))):
            picture.ranges[q] = (
                parse_range(f"--{option}", options[option], most) if option in options else None
            )
    if "y-range" in options:
        set_y_range(picture, options["y-range"])
    if "size" in options:
        set_size(picture, options["size"])
    if kind == "dots" and "columns" not in options:
        raise Usage("dots: --columns NAME[,NAME...] is required")
    output = options.get("output", "-")
    if "format" in options:
        picture.form = choose("--format", options["format"], FORMATS)
    elif output != "-":
        picture.form = os.path.splitext(output)[1][1:].lower()
        if picture.form not in FORMATS:
            raise Usage(
                f"--output: name ending in .svg, .png or .pdf expected, got '{output}' (or use "
                "--format)"
            )
    return picture


def check_files(inputs: list[str], output: str, form: str) -> None:
    """Refuses to read standard input twice, to write over an input, and binary data on a
    terminal."""
    if inputs.count("-") > 1:
        raise Usage("only one input can be standard input")
    if "-" in inputs and sys.stdin and sys.stdin.isatty():
        raise Usage("a table is required: a file or a pipe, not a terminal (see --help)")
    for path in inputs:
        if os.path.isfile(path) and os.path.isfile(output) and os.path.samefile(path, output):
            raise Usage(f"--output and an input are the same file '{path}'")
    if output == "-" and form != "svg" and os.isatty(1):
        raise Usage("cannot write a binary stream to a terminal (use -o FILE)")


def check_log_losses(series: list[Series], fitted: list[Series], place: str) -> None:
    """Refuses losses that a logarithmic axis cannot show; reports losses of 0 and their place."""
    losses = [s.y[0] for s in [*series, *fitted]]
    for s, y in zip([*series, *fitted], losses):
        need(y.min() >= 0, f"{s.table.name}: --log-loss requires losses above 0 (got {y.min():g})")
        zeros = int((y == 0).sum())
        if 0 < zeros < len(y) and s in series:
            print(
                f"mc-plot: warning: {printable(s.label)}: {zeros} of {len(y)} losses are 0: drawn "
                f"{place}",
                file=sys.stderr,
            )
    need(
        max(y.max() for y in losses) > 0,
        f"{series[0].table.name}: --log-loss requires losses above 0 (all are 0)",
    )


def load_pictures(verbose: bool) -> ModuleType:
    """Returns the module that draws. It loads matplotlib, which takes longest, so tables are read
    before."""
    os.environ.pop("MPLBACKEND", None)
    logging.getLogger("matplotlib").addHandler(Reports())
    # it warns, for example, of a home folder that is not writable
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib

        from . import pictures
    except ImportError:
        raise OSError(
            "cannot load matplotlib: install python3-matplotlib, or pip install 'mcz[plot]'"
        ) from None
    if verbose:
        print(
            f"mc-plot: matplotlib {matplotlib.__version__}, {matplotlib.matplotlib_fname()}",
            file=sys.stderr,
        )
    return pictures


def read_and_draw(
    picture: Picture, operands: list[str], options: dict[str, str], fit: list[str]
) -> bytes:
    """Reads all tables, then draws. Returns the picture's file."""
    data, fit_data, verbose = options.get("data", ""), options.get("fit-data"), "verbose" in options
    if picture.kind == "plane":
        grid = read_grid(operands[0], data)
        marks = read_marks(operands[1]) if len(operands) > 1 else None
        grids = [read_grid(path, grid.data) for path in fit]
        grids += [read_grid(path, fit_data) for path in operands[:1] + fit if fit_data]
        return bytes(load_pictures(verbose).draw_plane(picture, grid, grids, marks))
    if picture.kind == "dots":
        columns = read_columns(operands[0], options["columns"])
        return bytes(load_pictures(verbose).draw_lines(picture, columns, []))
    first = read_series(picture.kind, operands[0], data)
    drawn = [first] + [
        read_series(picture.kind, operand, first.data, first) for operand in operands[1:]
    ]
    if picture.kind == "log":
        drawn += [
            read_series("log", operand, "val_", read=s.tables)
            for operand, s in zip(operands, drawn)
            if all("val_loss" in t.columns for t in s.tables)
        ]
    fitted = [read_series(picture.kind, operand, first.data, first) for operand in fit]
    fitted += [
        read_series(picture.kind, operand, fit_data, first)
        for operand in operands + fit
        if fit_data
    ]
    if len(first.y) == 1 and picture.ranges[1]:
        raise Usage("--y-range: one range expected for losses alone, got two")
    if picture.log_loss:
        check_log_losses(
            drawn,
            fitted,
            "at the lower edge" if picture.ranges[0] else "below the logarithmic axis, at '0'",
        )
    return bytes(load_pictures(verbose).draw_lines(picture, drawn, fitted))


def write(content: bytes, output: str) -> None:
    """Writes a picture to a file, which appears whole, or to standard output."""
    try:
        # with PYTHONUNBUFFERED, sys.stdout.buffer may write a part
        if output == "-":
            with open(1, "wb", closefd=False) as f:
                f.write(content)
        else:
            with replacing(output) as f:
                f.write(content)
    except BrokenPipeError:
        raise
    except OSError as e:
        place = "stdout" if output == "-" else f"'{output}'"
        raise OSError(f"cannot write {place}: {e.strerror}") from None
    except Error as e:  # it is already being written
        raise Usage(e.message) from None


def run(arguments: list[str]) -> None:
    """Runs the program with these arguments."""
    repeated, operands = parse_options(arguments)
    options = {name: values[-1] for name, values in repeated.items()}
    if "help" in options or "version" in options:
        write((HELP if "help" in options else f"mc-plot (mc) {__version__}\n").encode(), "-")
        return
    if not operands:
        raise Usage("missing: operand path, signature, log, dots or plane, and tables (see --help)")
    kind, *operands = operands
    choose("figure", kind, OPERANDS)
    for name in options:
        if kind not in ONLY.get(name, kind):
            raise Usage(f"--{name} has no effect on {kind}")
    operands = operands or ["-"]
    if len(operands) > OPERANDS[kind]:
        raise Usage(
            f"{kind}: at most {OPERANDS[kind]} table{'s' * (OPERANDS[kind] > 1)} expected, got "
            f"{len(operands)}"
        )
    for name in ("data", "fit-data", "output"):
        if options.get(name) == "":
            raise Usage(f"--{name}: name expected, got ''")
    picture = parse_picture(kind, options, repeated.get("style", []))
    fit, output = repeated.get("fit", []), options.get("output", "-")
    files = [
        f
        for o in operands + fit
        for f in ([o] if kind in ("dots", "plane") else split_operand(o)[1].split(","))
    ]
    check_files(files, output, picture.form)
    write(read_and_draw(picture, operands, options, fit), output)


def main() -> NoReturn:
    """Runs the program; it exits with a status of --help."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    warnings.simplefilter("ignore")  # matplotlib's
    status, message = 0, ""
    try:
        run(sys.argv[1:])
    except Error as e:
        status, message = 2 if isinstance(e, Usage) else 3, e.message
    except BrokenPipeError:
        sys.exit(128 + signal.SIGPIPE)
    except OSError as e:
        status, message = 1, f"cannot open '{e.filename}': {e.strerror}" if e.filename else str(e)
    except Exception as e:  # of matplotlib
        status, message = 1, f"cannot draw: {type(e).__name__}: {e}"
    if status:
        print("mc-plot:", printable(message), file=sys.stderr)
    sys.exit(status)
