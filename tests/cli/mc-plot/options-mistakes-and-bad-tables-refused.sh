# SPDX-License-Identifier: Apache-2.0
# mc-plot refuses wrong options, truncated and other tables, incomplete grids, and marks other than networks followed by a path.
# Without matplotlib it says what to install. An old picture stays. It pins the wording of a message of each kind.
fixture tables

usage_error "missing: operand path, signature, log, dots or plane, and tables" mc-plot
fails_with 2 "figure: unknown value 'map' (one of: path, signature, log, dots, plane)" mc-plot map line.tsv
usage_error "--output: name ending in .svg, .png or .pdf expected, got 'line.jpg'" mc-plot path line.tsv -o line.jpg
usage_error "unknown value 'gif'" mc-plot path line.tsv --format gif
fails_with 2 "--data has no effect on log" mc-plot log log.json --data test
: >empty.tsv
fails_with 3 "empty.tsv: is empty" mc-plot path empty.tsv
fails 3 "stdin: is empty" mc-plot path
sed '$d' line.tsv >cut.tsv
fails_with 3 "cut.tsv: t must run from 0 to 1 (got 0 to 0.95)" mc-plot path cut.tsv
head -c 300 line.tsv >cut.tsv
fails 3 "cut.tsv: truncated" mc-plot path line.tsv cut.tsv
sed '2,$d' line.tsv >none.tsv
fails_with 3 "none.tsv: has no rows" mc-plot path none.tsv
sed 's/^0\.5\t.*/0.5\tnan\t1\t1\t1/' line.tsv >nan.tsv
mc-plot path nan.tsv --data test >ok.out # the damage is in another column
fails_with 3 "nan.tsv: line 12, column 'train.loss': 'nan' is not a number" mc-plot path nan.tsv --data train
sed 's/^0.5\t/0.3\t/' line.tsv >back.tsv
fails_with 3 "back.tsv: line 12: t must increase" mc-plot path back.tsv
fails 3 "unknown column 'robust.loss'" mc-plot path line.tsv --data robust
fails 3 "sig.tsv: a table for 'mc-plot signature', not 'path'" mc-plot path sig.tsv
printf 'network\ttest.loss\ttest.accuracy\na.mcz\t1\t50\n' >networks.tsv
fails 3 "networks.tsv: not a table for 'mc-plot path' (column 't' is missing): measure a curve, or --line" mc-plot path networks.tsv
fails 3 "networks.tsv: not a table for 'mc-plot plane' (column 'x' is missing): mc-eval --plane writes one" mc-plot plane networks.tsv
fails 3 "good-curve.mcz: text expected, got an mcz stream: measure it with mc-eval first" mc-plot path "$MC_ROOT/formats/samples/good-curve.mcz"
fails 3 "line.tsv: a table for 'mc-plot path', not 'signature'" mc-plot signature line.tsv
grep -v layers.3 sig.tsv >fewer.tsv
fails 3 "fewer.tsv: layers differ from those in sig.tsv" mc-plot signature sig.tsv fewer.tsv
fails 3 "line.tsv: line 1: not a line of a training log (of --log-json)" mc-plot log line.tsv
{ cat sig.tsv && tail -n 1 sig.tsv; } >twice.tsv
fails 3 "twice.tsv: line 4: duplicate layer 'layers.3.conv' (one pair per table expected)" mc-plot signature twice.tsv
{ cat log.json && tail -n 1 log.json; } >twice.json
fails 3 "twice.json: line 5: epoch must increase" mc-plot log twice.json
echo '{"event":"start"}' >start.json
fails 3 "start.json: has no event 'epoch'" mc-plot log start.json
# several tables of one line need the same rows
sed 's/^0.5\t/0.51\t/' curve2.tsv >moved.tsv
fails 3 "moved.tsv: values of t differ from those in curve.tsv" mc-plot path curve.tsv,moved.tsv
fails 3 "cut.tsv: truncated" mc-plot path curve.tsv,cut.tsv
usage_error "empty name in a list" mc-plot path curve.tsv,,line.tsv
usage_error "empty name in a list" mc-plot path a=curve.tsv,
usage_error "table is missing" mc-plot path a=
sed 's/layers.3/layers.4/' sig.tsv >sig2.tsv
fails 3 "sig2.tsv: layers differ from those in sig.tsv" mc-plot signature sig.tsv,sig2.tsv
fails 3 "sig2.tsv: layers differ from those in sig.tsv" mc-plot signature sig.tsv sig2.tsv
# planes
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
usage_error "plane: at most 2 tables expected, got 3" mc-plot plane plane.tsv marks.tsv marks.tsv
usage_error "three names" mc-plot plane plane.tsv --names a,b
usage_error "three names" mc-plot plane plane.tsv --names a,b,c,d
usage_error "FROM:TO expected, got '3'" mc-plot plane plane.tsv --loss-range 3
usage_error "FROM must be less than TO" mc-plot plane plane.tsv --accuracy-range 90:10
usage_error "--names has no effect on path" mc-plot path line.tsv --names a,b,c

# without matplotlib, tables are checked and --help works
mkdir lacking
echo 'raise ModuleNotFoundError("No module named '"'matplotlib'"'", name="matplotlib")' >lacking/matplotlib.py
fails 1 "cannot load matplotlib: install python3-matplotlib" env PYTHONPATH="$PWD/lacking" mc-plot path line.tsv
fails 3 "cut.tsv: truncated" env PYTHONPATH="$PWD/lacking" mc-plot path cut.tsv
PYTHONPATH=$PWD/lacking mc-plot --help | grep -q 'Usage: mc-plot'
echo 'raise ImportError' >lacking/matplotlib.py
fails 1 "cannot load matplotlib" env PYTHONPATH="$PWD/lacking" mc-plot path line.tsv

echo old >old.svg
fails_unchanged 3 "cut.tsv: truncated" mc-plot path cut.tsv -o old.svg
expect_equal "$(<old.svg)" old
[ -z "$(find . -name '*.svg' ! -name old.svg -o -name '*.png')" ]
no_temporaries
