# SPDX-License-Identifier: Apache-2.0
# mc-plot refuses wrong options, truncated and other tables, and a gnuplot that fails; an old picture stays.
fixture tables

fails 2 "missing: operand path, signature, log, dots or plane, and tables" mc-plot
fails 2 "unknown value 'map' (one of: path, signature, log, dots, plane)" mc-plot map line.tsv
fails 2 "--output: name ending in .svg, .png or .pdf expected, got 'line.jpg'" mc-plot path line.tsv -o line.jpg
fails 2 "unknown value 'gif'" mc-plot path line.tsv --format gif
for size in 960 x 960x 0x0 9x9 960x480x1 -960x480 99999x99999; do
    fails 2 "--size: " mc-plot path line.tsv --size=$size
done
fails 2 "--data has no effect on log" mc-plot log log.json --data test
: >empty.tsv
fails 3 "empty.tsv: is empty" mc-plot path empty.tsv
fails 3 "stdin: is empty" mc-plot path
sed '$d' line.tsv >cut.tsv
fails 3 "cut.tsv: t must run from 0 to 1 (got 0 to 0.95)" mc-plot path cut.tsv
head -c 300 line.tsv >cut.tsv
fails 3 "cut.tsv: truncated" mc-plot path line.tsv cut.tsv
sed '2,$d' line.tsv >none.tsv
fails 3 "none.tsv: has no rows" mc-plot path none.tsv
sed 's/^0\.5\t.*/0.5\tnan\t1\t1\t1/' line.tsv >nan.tsv
mc-plot path nan.tsv --data test >ok.out # the damage is in another column
fails 3 "nan.tsv: line 12, column 'train.loss': 'nan' is not a number" mc-plot path nan.tsv --data train
sed 's/^0.5\t/0.3\t/' line.tsv >back.tsv
fails 3 "back.tsv: line 12: t must increase" mc-plot path back.tsv
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
fails 1 "cannot find gnuplot on PATH" env PATH=/nowhere "$(command -v mc-plot)" path line.tsv
mkdir broken
printf '#!/bin/sh\nhead -c 100\necho half a picture\necho "gnuplot> x" >&2; echo "line 3: no such thing" >&2; exit 1\n' >broken/gnuplot
chmod +x broken/gnuplot
fails 1 "gnuplot failed: line 3: no such thing" env PATH="$PWD/broken:$PATH" mc-plot path line.tsv
expect_equal "$(find . -name '*.svg' -o -name '*.png' -o -name '.*tmp*')" ""
# several tables of one line need the same rows
sed 's/^0.5\t/0.51\t/' curve2.tsv >moved.tsv
fails 3 "moved.tsv: values of t differ from those in curve.tsv" mc-plot path curve.tsv,moved.tsv
fails 3 "cut.tsv: truncated" mc-plot path curve.tsv,cut.tsv
fails 2 "empty name in a list" mc-plot path curve.tsv,,line.tsv
fails 2 "empty name in a list" mc-plot path a=curve.tsv,
fails 2 "table is missing" mc-plot path a=
sed 's/layers.3/layers.4/' sig.tsv >sig2.tsv
fails 3 "sig2.tsv: layers differ from those in sig.tsv" mc-plot signature sig.tsv,sig2.tsv
fails 3 "sig2.tsv: layers differ from those in sig.tsv" mc-plot signature sig.tsv sig2.tsv
echo old >old.svg
rc=0
mc-plot path cut.tsv -o old.svg 2>err || rc=$?
expect_equal "$rc $(cat old.svg)" "3 old"
