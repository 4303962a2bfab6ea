# SPDX-License-Identifier: Apache-2.0
"""What a terminal of so many columns shows of the bytes that came to it: screen.py COLUMNS <BYTES. A line each, those
that scrolled away included. It knows carriage return, newline and erasing to the line's end, and wraps lines."""
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
