# SPDX-License-Identifier: Apache-2.0
"""The --help of mc-plot, and the tables of its options."""

import re

HELP = """\
Draw curves, planes, correlation signatures, logs and columns of tables.

Examples:
  mc-plot path before=straight.tsv after=curve.tsv -o paths.svg
  mc-corr --signature --perm p.mcz m.mcz | mc-plot signature -o sig.svg
  mc-plot dots --label order --columns repaired methods.tsv -o m.svg
  mc-plot plane --names 'a,b,aligned b' plane.tsv marks.tsv -o plane.png

Usage: mc-plot [OPTION...] path [LABEL=]TABLE.tsv[,TABLE.tsv...]...
  or:  mc-plot [OPTION...] signature [LABEL=]TABLE.tsv[,TABLE.tsv...]...
  or:  mc-plot [OPTION...] log [LABEL=]LOG[,LOG...]...
  or:  mc-plot [OPTION...] dots --columns NAME[,NAME...] TABLE.tsv
  or:  mc-plot [OPTION...] plane TABLE.tsv [MARKS.tsv]

Options:

  -d, --data=NAME            path, plane: draw this data set's columns
                             (default: test, or the first); NAME.robust: the
                             columns of mc-eval --attack
      --log-loss             path, log: draw losses on a logarithmic axis;
                             losses of 0 are on a dotted line below it
      --y-range=FROM:TO[,FROM:TO]
                             path, log: ranges of the loss and the accuracy
                             axis (,80:100 sets only the latter); signature,
                             dots: range of the axis (default: chosen, see
                             below)
      --columns=NAME[,NAME...]
                             dots: draw these columns; a column NAME_sd has the
                             deviations
      --label=NAME[,NAME...]
                             dots: columns that name a row (default: the first)
      --y-name=TEXT          dots: name of the axis (default: the column, if
                             there is one)
      --names=A,B,C          plane: names of the three networks
      --loss-range=FROM:TO   plane: range of the loss colours (default: all
                             values)
      --accuracy-range=FROM:TO
                             plane: range of the accuracy colours, in percent
      --fit=TABLE.tsv[,TABLE.tsv...]
                             include this line or plane in the ranges without
                             drawing it, to give several pictures the same
                             scale; repeatable
      --fit-data=NAME        path, plane: include this data set's columns in
                             the ranges
      --title=TEXT           title above the picture
      --size=WxH             width and height in pixels (default 960x480;
                             plane: 960x430), or with the unit cm, as 14x7cm:
                             fonts for print, PNG with 300 dpi
      --style=STYLE          style sheet of matplotlib: its name or a file;
                             repeatable
      --format=svg|png|pdf   picture format (default: from the output's name)
  -o, --output=FILE          write to FILE instead of standard output
  -q, --quiet                print only errors and warnings
  -v, --verbose              print the settings file and version of matplotlib
  -h, --help                 print this help and exit
      --version              print the version and exit

path draws the loss and accuracy that mc-eval measured along curves. signature
draws the correlation by layer from mc-corr --signature. log draws the loss and
accuracy by epoch from --log-json; those of mc-train --val are further lines.
path and log draw the loss alone if no table has an accuracy. dots draws columns
of any table, such as OUT/methods.tsv of methods.mk: one place per row, one
colour per column. Empty cells have no dot. plane draws the table of mc-eval
--plane with the networks and the path from its --marks. Pictures are SVG, PNG
or PDF.

Several tables of the same kind, separated by commas, are drawn as one line:
their mean, in a band of their standard deviation (n - 1). If five or more
lines would have a band, none has. An isolated point has a bar instead. An
empty or incomplete table is an error. A log's torn last line, from a killed
run, is skipped. Missing epochs break the line of a log, and branches of a
block break that of a signature.

path chooses ranges that keep the lines distinct. If a line with a much larger
range would flatten the others, it leaves the frame: arrows mark where, next to
its highest or lowest value.

matplotlib draws the pictures. Your matplotlibrc and then each --style override
the colours, fonts and lines.

Exit status: 0 success, 1 failure, 2 usage error, 3 input damaged or of the
wrong kind.
"""
# a kind of picture and its maximum number of operands; and the options that have an effect on them
# alone
OPERANDS = {"path": 16, "signature": 16, "log": 16, "dots": 1, "plane": 2}
ONLY = {
    "data": "path plane",
    "log-loss": "path log",
    "y-range": "path log signature dots",
    "columns": "dots",
    "label": "dots",
    "y-name": "dots",
    "names": "plane",
    "loss-range": "plane",
    "accuracy-range": "plane",
    "fit": "path log signature plane",
    "fit-data": "path plane",
}
OPTIONS = {
    name: bool(value)
    for name, value in re.findall(r"^ +(?:-\w, )?--([a-z-]+)(=?)", HELP, re.MULTILINE)
}
FORMATS = "svg", "png", "pdf"
LETTERS = dict(re.findall(r"^  -(\w), --([a-z-]+)", HELP, re.MULTILINE))
