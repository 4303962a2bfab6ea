#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that building, testing and the demo need, and are not there yet; more
# may be named as operands. Says what it installs; does nothing, and needs no root, when all is there.
# libblas-dev and what liblapacke-dev needs are the reference BLAS and LAPACK, whose bits no processor
# changes; where OpenBLAS is installed too, Debian's alternatives prefer it (docs/decisions.md).
# shellcheck disable=SC2086 # lists of words
set -eu

needed="gcc libc6-dev make libdnnl-dev libmsgpack-dev libzstd-dev libxxhash-dev libjansson-dev libzip-dev
libturbojpeg0-dev libpng-dev zlib1g-dev liblapacke-dev libblas-dev libcmocka-dev gnuplot-nox fonts-dejavu-core help2man
procps bsdextrautils locales curl ca-certificates
python3-numpy python3-scipy python3-msgpack python3-zstandard python3-xxhash"

if ! command -v dpkg-query >/dev/null; then
    echo "install-packages: no dpkg here; this needs what Debian calls" $needed "$@" >&2
    exit 0
fi

missing=
for p in $needed "$@"; do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null) in
    ?i*) ;;
    *) missing="$missing $p" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-packages: not root and no sudo; as root: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends "$@" </dev/null
}

echo "install-packages: installing$missing"
# the lists may be missing or older than what the mirror still has
if ! get --simulate install $missing >/dev/null 2>&1 || ! get -qq install $missing >/dev/null; then
    get -qq update
    get -qq install $missing >/dev/null
fi
