# SPDX-License-Identifier: Apache-2.0
# mc-plot plane refuses incomplete grids, and marks other than networks followed by a path.
fixture tables

fails 3 "has no rows" mc-plot plane <(head -n 1 line.tsv)
fails 3 "line.tsv: a table for 'mc-plot path', not 'plane'" mc-plot plane line.tsv
sed '$d' plane.tsv >part.tsv
fails 3 "part.tsv: not a complete grid: 19 rows, but y increases after 4" mc-plot plane part.tsv
head -n 5 plane.tsv >row.tsv
fails 3 "row.tsv: not a complete grid" mc-plot plane row.tsv
{ sed -n '1,5p' plane.tsv; sed -n 7p plane.tsv; sed -n 6p plane.tsv; sed 1,7d plane.tsv; } >swapped.tsv
fails 3 "swapped.tsv: line 6: not in grid order" mc-plot plane swapped.tsv
sed '5d' plane.tsv >hole.tsv
fails 3 "hole.tsv: " mc-plot plane hole.tsv
sed '7s/[0-9.]*$/inf/' plane.tsv >inf.tsv
fails 3 "inf.tsv: line 7, column 'test.accuracy': 'inf' is not a number" mc-plot plane inf.tsv
sed '4d' marks.tsv >two.tsv
fails 3 "two.tsv: at least 3 marks are required, the networks (got 2)" mc-plot plane plane.tsv two.tsv
sed '4d' path.tsv >early.tsv
fails 3 "early.tsv: line 4: mark 'network' expected, got 'path'" mc-plot plane plane.tsv early.tsv
fails 3 "unknown column 'mark'" mc-plot plane plane.tsv plane.tsv
fails 2 "plane: at most 2 tables expected, got 3" mc-plot plane plane.tsv marks.tsv marks.tsv
fails 2 "three names" mc-plot plane plane.tsv --names a,b
fails 2 "three names" mc-plot plane plane.tsv --names a,b,c,d
fails 2 "FROM:TO expected, got '3'" mc-plot plane plane.tsv --loss-range 3
fails 2 "FROM must be less than TO" mc-plot plane plane.tsv --accuracy-range 90:10
fails 2 "--names has no effect on path" mc-plot path line.tsv --names a,b,c
