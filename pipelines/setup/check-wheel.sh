#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Check that a wheel can be published: check-wheel.sh WHEEL...
#
# twine reads its metadata as the package index does; a warning is an error. twine must be on PATH or in build/lint
# (python3 -m venv build/lint; build/lint/bin/pip install twine).
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/../include/environment.sh" || exit 2
PATH=$here/../../build/lint/bin:$PATH
[ $# -gt 0 ] || { echo 'usage: check-wheel.sh WHEEL...' >&2; exit 2; }
command -v twine >/dev/null ||
    { echo 'check-wheel.sh: twine is missing (python3 -m venv build/lint; build/lint/bin/pip install twine)' >&2; exit 2; }
folder=$(mktemp -d) || exit 1
trap 'rm -r "$folder"' EXIT
twine check --strict "$@" || exit 1
for wheel in "$@"; do
    if ! python3 -m zipfile -e "$wheel" "$folder" || ! grep -q '^Project-URL: ' "$folder"/mcz-*.dist-info/METADATA; then
        echo "check-wheel.sh: $wheel: it has no Project-URL (add it to [project.urls] in formats/python/pyproject.toml)" >&2
        exit 1
    fi
done
