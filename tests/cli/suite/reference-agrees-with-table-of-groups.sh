# SPDX-License-Identifier: Apache-2.0
# docs/reference/derived-groups.md is printed from the table next to it, which has 100 networks or more, none of them wrong.
table=$MC_ROOT/docs/reference/derived-groups.tsv
python3 "$MC_ROOT/tests/parity/derived_page.py" "$table" >page.md || die 'derived_page.py fails'
diff "$MC_ROOT/docs/reference/derived-groups.md" page.md || die 'docs/reference/derived-groups.md is not the page of its table'
awk -F '\t' 'NR > 2 && ($4 == "raises" || $4 != "none" && $7 > 1e-9 || $8 > 1e-9) { print $2 ": " $4 }' "$table" | same - /dev/null
[ "$(tail -n +3 "$table" | wc -l)" -ge 100 ] || die 'fewer than 100 networks'
