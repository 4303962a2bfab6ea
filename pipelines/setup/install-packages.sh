#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that building, testing and the demo need; see the usage below.
# libblas-dev and liblapacke-dev are the reference BLAS and LAPACK, whose results are the same bits on
# every processor. If OpenBLAS is installed too, Debian's alternatives prefer it (docs/dev/decisions.md).
# shellcheck disable=SC2086 # lists of words
set -eu
. "$(dirname "$(readlink -f "$0")")/../include/environment.sh" || exit 1

compiler="gcc libc6-dev make"
build="$compiler libdnnl-dev libmsgpack-dev libzstd-dev libxxhash-dev libjansson-dev libzip-dev
libturbojpeg0-dev libpng-dev zlib1g-dev liblapacke-dev libblas-dev help2man python3
python3-matplotlib python3-numpy python3-msgpack python3-zstandard python3-xxhash"
needed="$build libcmocka-dev procps bsdextrautils locales curl ca-certificates python3-scipy"

usage() {
    cat <<'END'
Usage: install-packages.sh [PACKAGE]...
       install-packages.sh --prefix DIR [PACKAGE]...
       install-packages.sh --check
Install missing Debian packages: those that mc needs, and these. If none is missing, do nothing.

  --prefix DIR  unpack them into DIR instead, without root. Run `. DIR/env.sh` in each shell
                that builds or runs mc. Requires gcc, libc6-dev, make and apt-get.
  --check       install nothing; name missing packages that `make install` needs, and fail
  -h            print this and exit

Exit status: 0 done, 1 failed, 2 usage.
END
}

prefix='' check=''
case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
--prefix)
    if [ $# -lt 2 ] || [ -z "$2" ]; then
        echo 'install-packages: --prefix requires a folder (see install-packages.sh -h)' >&2
        exit 2
    fi
    prefix=$2
    shift 2
    ;;
--prefix=*)
    prefix=${1#--prefix=}
    shift
    ;;
--check)
    check=1 needed=$build
    shift
    ;;
-*)
    echo "install-packages: unknown option '$1' (see install-packages.sh -h)" >&2
    exit 2
    ;;
esac

# a shell that has read DIR/env.sh has the packages
[ -n "$prefix" ] || [ -z "${MC_PACKAGES:-}" ] || exit 0
case $prefix in
*[[:cntrl:]:,\&\\\'\<\>]*)
    echo "install-packages: --prefix: the folder must not contain any of : , & ' < > \\ (got '$prefix')" >&2
    exit 2
    ;;
-*) prefix=./$prefix ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "install-packages: dpkg is missing; install the equivalents of these Debian packages:" $needed "$@" >&2
    [ -z "$prefix$check" ] || exit 1
    exit 0
fi

missing=
for p in $needed "$@"; do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null) in
    ?i*) ;;
    *) missing="$missing $p" ;;
    esac
done
[ -n "$missing$prefix" ] || exit 0
if [ -n "$check" ]; then
    echo "install-packages: packages are missing (as root: apt-get install$missing)" >&2
    exit 1
fi

if [ -n "$prefix" ]; then
    for p in $compiler; do
        case " $missing " in
        *" $p "*)
            echo "install-packages: --prefix: $p must be installed by root" >&2
            exit 1
            ;;
        esac
    done
    mkdir -p "$prefix/.apt/lists/partial" "$prefix/.apt/archives/partial"
    prefix=$(cd "$prefix" && pwd)
    at=$prefix/.apt
    # apt-get with its own folders, but the system's list of installed packages and of sources
    own_apt_get() {
        apt-get -qq -o Dir::State="$at" -o Dir::State::lists="$at/lists" -o Dir::State::status=/var/lib/dpkg/status \
            -o Dir::Cache="$at" -o Dir::Cache::archives="$at/archives" -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
            -y --no-install-recommends "$@" </dev/null
    }
    if [ -n "$missing" ]; then
        echo "install-packages: into $prefix:$missing"
        own_apt_get update
        own_apt_get --download-only install $missing >/dev/null
    fi
    for deb in "$at"/archives/*.deb; do
        [ ! -e "$deb" ] || dpkg-deb -x "$deb" "$prefix"
    done
    rm -rf "$at"
    lib=usr/lib/$(gcc -print-multiarch) headers=usr/include/$(gcc -print-multiarch)
    # the reference BLAS and LAPACK, which Debian's alternatives point to
    for l in blas lapack; do
        for f in "$prefix/$lib/$l/lib$l".*; do [ ! -e "$f" ] || ln -sf "$l/${f##*/}" "$prefix/$lib/"; done
    done
    [ ! -e "$prefix/$headers/cblas-netlib.h" ] || ln -sf cblas-netlib.h "$prefix/$headers/cblas.h"
    # absolute paths inside packages
    perl=
    for f in "$prefix/usr/share/perl5" "$prefix/$lib"/perl5/* "$prefix"/usr/share/perl/* "$prefix/$lib"/perl/*; do
        [ ! -d "$f" ] || perl=$perl$f:
    done
    matplotlib=$prefix/usr/lib/python3/dist-packages/matplotlib
    [ ! -d "$matplotlib" ] || ln -sfn ../../../../share/matplotlib/mpl-data "$matplotlib/mpl-data"
    cat >"$prefix/env.sh" <<END
# for a shell that builds and runs mc: . $prefix/env.sh
export MC_PACKAGES='$prefix'
export PATH='$prefix/usr/bin':"\$PATH"
export C_INCLUDE_PATH='$prefix/usr/include:$prefix/$headers'\${C_INCLUDE_PATH:+:\$C_INCLUDE_PATH}
export LIBRARY_PATH='$prefix/$lib:$prefix/${lib#usr/}'\${LIBRARY_PATH:+:\$LIBRARY_PATH}
export LD_LIBRARY_PATH='$prefix/$lib:$prefix/${lib#usr/}'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export PERL5LIB='$perl'"\${PERL5LIB:-}"
export PYTHONPATH='$prefix/usr/lib/python3/dist-packages'\${PYTHONPATH:+:\$PYTHONPATH}
END
    echo "install-packages: done; in each shell that builds or runs mc: . $prefix/env.sh"
    exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-packages: root or sudo is required for apt-get install$missing (without root: --prefix DIR)" >&2
        exit 1
    fi
    as_root=sudo
fi

# apt-get, as soon as no other package manager has a lock. DPkg::Lock::Timeout does not wait for the locks of package lists.
get() {
    tries=0
    until message=$($as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -y --no-install-recommends "$@" 2>&1 >/dev/null </dev/null); do
        if [ "${message#*[Ll]ock}" = "$message" ] || [ $tries -ge $((minutes * 12)) ]; then
            echo "$message" >&2
            return 1
        fi
        [ $tries -gt 0 ] || echo "install-packages: another package manager is running: waiting at most $minutes minutes for it" >&2
        tries=$((tries + 1))
        sleep 5
    done
}
minutes=10

echo "install-packages: installing$missing"
# update if the package lists are missing or outdated
if ! get --simulate install $missing 2>/dev/null || ! get -qq install $missing; then
    get -qq update
    get -qq install $missing
fi
