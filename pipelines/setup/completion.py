#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: completion.py zsh|fish PROGRAM > FILE

Print the completion of a program for zsh or fish, derived from its --help: options with their texts, the words and files that
an option accepts, first words (mc-plot path), and operands. completion.bash has the same rules."""
import os
import re
import subprocess
import sys

FILE = re.compile(r"\b[A-Z][A-Z_]*\.([a-z]+)|\b(?:FILE|LOG|IMAGES|LABELS)\b")
FOLDER = re.compile(r"\bDIR\b")


def options(text):
    """(short, long, value, meaning) of each option."""
    found = re.findall(r"^ {2,6}(?:-(\w), )?--([a-z][a-z0-9-]*)(?:=(\S+))?(?:\n? {2,}(.*(?:\n {20,}\S.*)*))", text, re.M)
    return [(short, name, value, " ".join(meaning.split())) for short, name, value, meaning in found]


def words(value, meaning):
    """The words that --help offers for a value: A|b offers b, and "one of: a, b;" in the meaning a and b."""
    listed = re.search("one of: ([^;]*);", meaning)
    text = f"{value}|{listed[1] if listed else ''}"
    while text != (text := re.sub(r"\[[^][]*\]", "", text)):
        pass
    return [w for w in re.split("[| ,]", text) if w and not re.search("[A-Z/:]", w)]


def uses(text):
    """First words, and the placeholders of all operands."""
    found = re.findall(r"^(?:Usage:|  or:).*?\[OPTION\.\.\.\] (.*)", text, re.M)
    return list(dict.fromkeys(w[0] for w in map(str.split, found) if w and re.fullmatch("[a-z][a-z0-9-]*", w[0]))), " ".join(found)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_files(text):
    endings = "|".join(dict.fromkeys(e for e in FILE.findall(text) if e))
    if FILE.search(text):
        return f'_files -g "*.({endings})"' if endings and not re.search(r"\b(FILE|LOG|IMAGES|LABELS)\b(?!\.)", text) else "_files"
    return "_files -/" if FOLDER.search(text) else ""


def zsh(program, text):
    print(f"#compdef {program}\n_arguments -s -S", end="")
    for short, name, value, meaning in options(text):
        label = re.sub(r"([][:\\])", r"\\\1", meaning)
        names = f"'(-{short} --{name})'{{-{short}{'+' if value else ''},--{name}{'=' if value else ''}}}" if short else f"--{name}{'=' if value else ''}"
        action = f"({' '.join(words(value, meaning))})" if words(value, meaning) else zsh_files(value) or " "
        print(f" \\\n    {names}{quoted(f'[{label}]' + (f':{name}:{action}' if value else ''))}", end="")
    first, operands = uses(text)
    print(f" \\\n    {quoted('1: :(' + ' '.join(first) + ')')}" if first else "", end="")
    print(f" \\\n    {quoted('*: :' + zsh_files(operands))}" if zsh_files(operands) else "")


def fish(program, text):
    first, operands = uses(text)
    if not zsh_files(operands):
        print(f"complete -c {program} -f")
    if first:
        print(f"complete -c {program} -n __fish_use_subcommand -f -a {quoted(' '.join(first))}")
    for short, name, value, meaning in options(text):
        kind = "" if not value else " -r -F" if zsh_files(value) else " -x"
        listed = f" -a {quoted(' '.join(words(value, meaning)))}" if words(value, meaning) else ""
        print(f"complete -c {program}{f' -s {short}' if short else ''} -l {name}{kind}{listed} -d {quoted(meaning)}")


if len(sys.argv) != 3 or sys.argv[1] not in ("zsh", "fish"):
    sys.exit(__doc__.partition("\n")[0])
{"zsh": zsh, "fish": fish}[sys.argv[1]](
    os.path.basename(sys.argv[2]), subprocess.run([sys.argv[2], "--help"], check=True, capture_output=True, text=True).stdout)
