#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# docs/results.md, on standard output: results.sh [FOLDER]
#
# FOLDER (docs/results) has text.md, which is written by hand, the tables that it names (results.awk says how), and in
# paper/ those of the paper's parts that have run, from which verdicts.sh makes cells.tsv and, with claims.tsv, the
# verdicts on the claims.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/locale.sh" || exit 1
folder=${1:-$here/../docs/results}
for need in text.md claims.tsv; do
    [ -r "$folder/$need" ] || {
        echo "results.sh: cannot read '$folder/$need'" >&2
        exit 1
    }
done
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$here/verdicts.sh" -f tsv "$folder/paper" >"$made/cells.tsv"
"$here/verdicts.sh" -f tsv -c "$folder/claims.tsv" "$folder/paper" >"$made/claims.tsv"
awk -v made="$made" -v folder="$folder" -f "$here/results.awk" "$folder/text.md" >"$made/results.md"
cat "$made/results.md"
