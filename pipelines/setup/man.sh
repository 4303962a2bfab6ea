#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes a man page from a program's --help: man.sh PROGRAM > PROGRAM.1. Each example becomes a paragraph. Left out are
# the lines of --version about the build's commit, the stream format and this machine's backends, and the build's date.
set -eu
case $#-${1-} in
1-[!-]*) ;;
*)
    echo 'usage: man.sh PROGRAM > PROGRAM.1' >&2
    exit 2
    ;;
esac
. "$(dirname "$(readlink -f "$0")")/../include/environment.sh" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shown=${1##*/}
case $1 in
/*) export MC_SHOWN="$1" ;;
*) export MC_SHOWN="$PWD/$1" ;;
esac
# help2man passes the program's path to a shell unquoted, and TMPDIR may contain spaces
cd "$work"
# shellcheck disable=SC2016 # expanded by that script
printf '#!/bin/sh\n"$MC_SHOWN" "$@" | sed "/^backends: /d;/^stream format /d;/^commit /d;/^Examples:/,/^$/{/^  /G}"\n' >"./$shown"
chmod +x "./$shown"
page=$(help2man --no-info --name "$("$MC_SHOWN" --help | sed -n '1s/\.$//p')" "./$shown")
printf '%s\n' "$page" | sed '/^\.TH /s/"[A-Z][a-z]* [0-9]*"/""/'
