#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# docs/results.md, on standard output: results.sh [FOLDER [PAPER]]
#
# FOLDER (paper/results) has text.md, which is written by hand, and the tables that it names (results.awk says how). From
# PAPER (paper/published), the published parts of the paper, verdicts.sh makes the tables cells.tsv and, with FOLDER/../
# claims.tsv, the verdicts on the claims; a part's own tables are PART/NAME.tsv.
set -eu
case ${1-} in
-h | --help)
    sed -n '/^# docs/,/^set/s/^# \{0,1\}//p' "$0"
    exit
    ;;
esac
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1
folder=${1:-$here/paper/results}
paper=${2:-$here/paper/published}
# others would be options, or settings of awk's
case $folder in -* | *=*) folder=./$folder ;; esac
case $paper in -* | *=*) paper=./$paper ;; esac
for need in text.md ../claims.tsv; do
    [ -r "$folder/$need" ] || {
        echo "results.sh: cannot read '$folder/$need'" >&2
        exit 1
    }
done
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$here/verdicts.sh" -f tsv "$paper" >"$made/cells.tsv"
"$here/verdicts.sh" -f tsv -c "$folder/../claims.tsv" "$paper" >"$made/claims.tsv"
MADE=$made FOLDER=$folder PAPER=$paper awk -f "$here/results.awk" "$folder/text.md" >"$made/results.md"
cat "$made/results.md"
