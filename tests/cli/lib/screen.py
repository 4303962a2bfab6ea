# SPDX-License-Identifier: Apache-2.0
"""Print what a terminal with this many columns shows: screen.py COLUMNS <BYTES. Lines that scrolled away are included. It
supports carriage return, newline and erase to end of line, and wraps lines."""
import re
import sys

columns = int(sys.argv[1])
lines, row, col = [""], 0, 0
for token in re.findall(r"\x1b\[K|[^\x1b]", sys.stdin.buffer.read().decode()):
    if token == "\r":
        col = 0
    elif token == "\n":
        row += 1
    elif token == "\x1b[K":
        lines[row] = lines[row][:col]
    else:
        if col == columns:
            row, col = row + 1, 0
        while row >= len(lines):
            lines.append("")
        lines[row] = lines[row][:col].ljust(col) + token + lines[row][col + 1:]
        col += 1
    while row >= len(lines):
        lines.append("")
print("\n".join(lines).rstrip("\n"))
