#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Build backend of pip (PEP 517), and `build_wheel.py STAGE OUT`: pack an installed tree and the
Python package into one wheel, OUT/mcz-VERSION-....whl. `make wheel` makes STAGE and calls it.

STAGE is a DESTDIR of `make install` with PREFIX=/usr. pip copies its bin, lib and share into the
environment, so that the programs are on PATH. The shared libraries that the programs load, except
the C library's, are bundled in lib/mc. Their Debian copyright files, and the licences that these
refer to, are in licenses. The programs need an rpath of $ORIGIN/../lib/mc. Scripts run the first
python3 on PATH, which is the environment's. pip writes the script of mc-plot. The same input gives
the same bytes.

A source distribution is the committed tree under a folder mcz-VERSION; pip builds its wheel by
`make wheel`."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

# the C library of this machine is the oldest that the programs accept
LIBC = (os.confstr("CS_GNU_LIBC_VERSION") or "glibc 0.0").split()[1].replace(".", "_")
TAG = f"py3-none-manylinux_{LIBC}_{platform.machine()}"
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt)\.so")
METADATA = """Metadata-Version: 2.1
Name: mcz
Version: {version}
Summary: {summary}
Author: The mc maintainers
License: Apache-2.0
Requires-Python: >=3.10
Description-Content-Type: text/markdown
{fields}
{description}"""
SCRIPTS = "[console_scripts]\nmc-plot = mcz.plot:main\n"


def libraries(programs: Iterable[str]) -> dict[str, str]:
    """{soname: path} of the shared libraries that the programs load, without the C library's."""
    found = {}
    for program in programs:
        with open(program, "rb") as f:
            if f.read(2) == b"#!":  # a script
                continue
        for line in subprocess.run(
            ["ldd", program], check=True, capture_output=True, text=True
        ).stdout.splitlines():
            name, arrow, path = line.strip().partition(" => ")
            if arrow and not SYSTEM.match(name):
                if path.startswith("not found"):
                    sys.exit(f"build_wheel: {program} needs {name}, which is missing")
                found[name] = os.path.realpath(path.split(" ")[0])
    return found


def licences(library: str) -> Iterator[tuple[str, str]]:
    """(name in licenses, path) of the copyright file of a library's Debian package, and of the
    licences in it."""
    for path in (library, library.removeprefix("/usr")):
        run = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if run.returncode == 0:
            package = run.stdout.split(":")[0]
            file = f"/usr/share/doc/{package}/copyright"
            yield package, file
            with open(file, encoding="utf-8") as f:
                for common in re.findall(r"/usr/share/(common-licenses/[\w.+-]*\w)", f.read()):
                    yield common, f"/usr/share/{common}"
            return
    sys.exit(f"build_wheel: no Debian package owns {library}, so its licence is unknown")


def tree(folder: str, at: str) -> Iterator[tuple[str, str]]:
    """(name in the wheel, path) of all files below a folder; links are followed."""
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(here, name)
            if "__pycache__" not in path:
                yield os.path.join(at, os.path.relpath(path, folder)), path


ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PACKAGE = os.path.join(ROOT, "formats/python")


def read(name: str) -> str:
    """The text of a file of the Python package."""
    with open(os.path.join(PACKAGE, name), encoding="utf-8") as f:
        return f.read()


def project() -> tuple[str, str]:
    """(version, metadata) of the Python package; the wheel and the source distribution have the
    same."""
    text = read("pyproject.toml")
    version = re.findall(r'^__version__ = "(.*)"', read("mcz/__init__.py"), re.M)[0]
    lists = {
        name: re.findall(r'"(.*?)"', items)
        for name, items in re.findall(r"^(\w+) = \[(.*?)\]$", text, re.M | re.S)
    }
    urls = re.findall(r'^(\w+) = "(https?://.*)"', text, re.M)
    fields = [
        f"Keywords: {','.join(lists['keywords'])}",
        *(f"Project-URL: {name}, {url}" for name, url in urls),
        *(f"Classifier: {c}" for c in lists["classifiers"]),
        *(f"Requires-Dist: {r}" for r in lists["dependencies"]),
        "Provides-Extra: plot",
        *(f'Requires-Dist: {r}; extra == "plot"' for r in lists["plot"]),
    ]
    return version, METADATA.format(
        version=version,
        summary=re.findall(r'^description = "(.*)"', text, re.M)[0],
        fields="".join(f + "\n" for f in fields),
        description=read("README.md"),
    )


def pack(stage: str, out: str) -> str:
    """Write the wheel of STAGE into the folder OUT; return its name."""
    version, metadata = project()
    info, data = f"mcz-{version}.dist-info", f"mcz-{version}.data/data"
    programs = [path for _, path in tree(os.path.join(stage, "usr/bin"), "")]
    files = [*tree(os.path.join(PACKAGE, "mcz"), "mcz"), *tree(os.path.join(stage, "usr"), data)]
    files.append((f"{info}/licenses/LICENSE", os.path.join(ROOT, "LICENSE")))
    texts_of_licences: dict[str, str] = {}
    for name, path in sorted(libraries(programs).items()):
        files.append((f"{data}/lib/mc/{name}", path))
        texts_of_licences.update(licences(path))
    files += [(f"{info}/licenses/{name}", path) for name, path in sorted(texts_of_licences.items())]
    texts = {
        f"{info}/METADATA": metadata,
        f"{info}/entry_points.txt": SCRIPTS,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: mc\nRoot-Is-Purelib: false\nTag: {TAG}\n",
    }

    record, name_of_wheel = [], f"mcz-{version}-{TAG}.whl"
    wheel = os.path.join(out, name_of_wheel)
    with zipfile.ZipFile(wheel + ".part", "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, content: bytes, mode: int) -> None:
            content = re.sub(rb"\A#!/usr/bin/python3\n", b"#!/usr/bin/env python3\n", content)
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
            digest = (
                base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            )
            record.append(f"{name},sha256={digest},{len(content)}")

        for name, path in files:
            with open(path, "rb") as f:
                add(name, f.read(), 0o755 if os.access(path, os.X_OK) else 0o644)
        for name, text in texts.items():
            add(name, text.encode(), 0o644)
        record.append(f"{info}/RECORD,,")
        archive.writestr(
            zipfile.ZipInfo(f"{info}/RECORD", (1980, 1, 1, 0, 0, 0)), "\n".join(record) + "\n"
        )
    os.rename(wheel + ".part", wheel)
    return name_of_wheel


# ---- hooks of PEP 517 ----------------------------------------------------------------------------


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """The wheel that pip asks for."""
    packages = os.path.join(ROOT, "pipelines/setup/install-packages.sh")
    check = subprocess.run([packages, "--check"], stderr=subprocess.PIPE, text=True)
    if check.returncode:  # pip must not install system packages
        sys.exit(check.stderr.strip())
    run = subprocess.run(
        ["make", "-C", ROOT, "wheel", "PACKAGES=true", f"WHEELS={wheel_directory}"],
        stdout=sys.stderr,
    )
    if run.returncode:
        sys.exit("build_wheel: make failed (see the lines above)")
    return f"mcz-{project()[0]}-{TAG}.whl"


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """The source distribution that pip asks for."""
    version, metadata = project()
    name = f"mcz-{version}"
    run = subprocess.run(
        [
            "git",
            "-C",
            ROOT,
            "archive",
            "--format=tar.gz",
            f"--prefix={name}/",
            f"--add-virtual-file={name}/PKG-INFO:{metadata}",
            f"--output={os.path.join(os.path.abspath(sdist_directory), name)}.tar.gz",
            "HEAD",
        ]
    )
    if run.returncode:
        sys.exit("build_wheel: git archive failed (see the line above)")
    return name + ".tar.gz"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: build_wheel.py STAGE OUT")
    print(pack(*sys.argv[1:]))
