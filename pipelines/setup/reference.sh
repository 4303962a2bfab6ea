#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every program's --help as one Markdown page: reference.sh PROGRAM... > docs/reference/programs.md
set -eu
[ $# -gt 0 ] || { echo 'usage: reference.sh PROGRAM... > docs/reference/programs.md' >&2; exit 2; }
. "$(dirname "$(readlink -f "$0")")/../include/environment.sh" || exit 1
unset ARGP_HELP_FMT # it changes the width of --help

cat <<'END'
# Programs

The `--help` of every program. `make reference` writes this page; do not edit it. [options.md](options.md) explains the options,
the exit statuses and the conventions that the programs share. After `make install`, each section is also a manual page.

END
for program; do echo "- [${program##*/}](#${program##*/}): $("$program" --help | head -n 1)"; done
for program; do
    printf '\n## %s\n\n' "${program##*/}"
    "$program" --help | sed -e '2s/.*/\n```/' -e '$s/$/\n```/'
done
