# SPDX-License-Identifier: Apache-2.0
"""mc's programs. The package runs those that PATH names, as a shell does."""
import os
import shutil
import subprocess

from .errors import Error


def find(name):
    """The path of a program. FileNotFoundError if no folder of PATH has it."""
    path = shutil.which(name)
    if not path:
        raise FileNotFoundError("%s is not on PATH (add the folder of mc's programs to PATH)" % name)
    return path


def check(path, stdin=subprocess.DEVNULL):
    """Runs mc-info --check on a stream. Error, in its words, if the stream is not what the page of its kind allows; OSError
    if mc-info is missing or fails otherwise. path "-": the stream is the file stdin."""
    done = subprocess.run([find("mc-info"), "--check", "--quiet", "--", os.fspath(path)], stdin=stdin, stderr=subprocess.PIPE)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise (Error if done.returncode == 3 else OSError)(said or "mc-info: status %d" % done.returncode)
