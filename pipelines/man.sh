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
. "$(dirname "$0")/prologue.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shown=$work/$(basename "$1")
export MC_SHOWN="$1"
# shellcheck disable=SC2016 # expanded in that script
printf '#!/bin/sh\n"$MC_SHOWN" "$@" | sed "/^backends: /d;/^stream format /d;/^Examples:/,/^$/{/^  /G}"\n' >"$shown"
chmod +x "$shown"
help2man --no-info --name "$("$1" --help | sed -n '1s/\.$//p')" "$shown"
