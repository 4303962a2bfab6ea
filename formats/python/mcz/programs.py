# SPDX-License-Identifier: Apache-2.0
"""Run mc's programs, found on PATH."""
import os
import shutil
import subprocess

from .errors import Error


def find(name):
    """The path of a program. Raises FileNotFoundError if it is not on PATH."""
    path = shutil.which(name)
    if not path:
        raise FileNotFoundError("%s is not on PATH (add the folder of mc's programs to PATH)" % name)
    return path


def check(path, stdin=subprocess.DEVNULL):
    """Checks a stream with `mc-info --check`: its bytes and the rules of its kind (formats/codecs).

        mcz.check("p.mcz")

    path: a file, or "-" for the open file `stdin`.
    Raises Error, with mc-info's message, if the stream is invalid, and OSError if mc-info is missing or fails otherwise.
    """
    result = subprocess.run([find("mc-info"), "--check", "--quiet", "--", os.fspath(path)], stdin=stdin,
                            stderr=subprocess.PIPE)
    if result.returncode:
        message = result.stderr.decode(errors="replace").strip()
        raise (Error if result.returncode == 3 else OSError)(message or "mc-info: status %d" % result.returncode)
