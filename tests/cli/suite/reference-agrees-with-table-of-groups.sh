# SPDX-License-Identifier: Apache-2.0
# docs/reference/derived-groups.md is printed from the table next to it, which has 100 networks or more, none of them wrong.
reference=$MC_ROOT/docs/reference/derived-groups
python3 "$MC_ROOT/tests/parity/derived_page.py" "$reference.tsv" >page.md || die 'derived_page.py fails'
diff "$reference.md" page.md || die 'docs/reference/derived-groups.md is not the page of its table'
awk -F '\t' 'NR > 2 && ($4 == "raises" || $4 != "none" && $7 > 1e-9 || $8 > 1e-9) { print $2 ": " $4 }' "$reference.tsv" | same - /dev/null
[ "$(tail -n +3 "$reference.tsv" | wc -l)" -ge 100 ] || die 'fewer than 100 networks'
