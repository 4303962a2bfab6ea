#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A program's --help as help2man likes it, each example a paragraph, and its --version without the
# format and this machine's backends: man.sh PROGRAM > PROGRAM.1
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
# help2man gives the program's path to a shell without quotes: TMPDIR may hold spaces
cd "$work"
# shellcheck disable=SC2016 # expanded in that script
printf '#!/bin/sh\n"$MC_SHOWN" "$@" | sed "/^backends: /d;/^stream format /d;/^Examples:/,/^$/{/^  /G}"\n' >"./$shown"
chmod +x "./$shown"
help2man --no-info --name "$("$MC_SHOWN" --help | sed -n '1s/\.$//p')" "./$shown"
