# SPDX-License-Identifier: Apache-2.0
# tests/words finds nothing in the tree, and finds a planted word, identifier and long sentence.
cd "$MC_ROOT"
tests/words || die 'tests/words found something'
mkdir "$TMP/planted"
printf '/* Of a file. */\nint told; /* x is no file */\n' >"$TMP/planted/a.c"
seq 40 | sed 's/.*/word/' | paste -sd ' ' | sed 's/$/./' >"$TMP/planted/a.md"
tests/words "$TMP/planted/a.c" "$TMP/planted/a.md" >"$TMP/found" && die 'nothing found'
[ "$(wc -l <"$TMP/found")" = 5 ] || die "$(cat "$TMP/found")"
