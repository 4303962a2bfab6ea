# SPDX-License-Identifier: Apache-2.0
# mc-plot dots draws one dot per row and column of any table, with a bar where NAME_sd has a deviation, and none for an empty
# cell. Rows are named by columns. Wrong tables and options are refused.
printf 'a\tb\tmany\tfew\tfew_sd\n%s\n%s\n%s\n' "one	x	10	20	5" "two	y	30		" "three	-it's-	50	70	" >t.tsv
mc-plot dots --columns many,few t.tsv -o all.svg
mc-plot dots --label a,b --columns many --title 'a title' - <t.tsv -o one.svg
mc-plot dots --label b --columns few,many --y-name 'accuracy (%)' --y-range 0:100 t.tsv -o range.svg
mc-plot dots --columns many t.tsv -o x.png
mc-plot dots --columns many t.tsv --size 8x6cm -o x.pdf
py <<'END'
from picture import *
p, one, ranged = (Picture(n + ".svg") for n in ("all", "one", "range"))
for q in p, one, ranged:
    q.check_texts()
many, few = sorted(p.markers(FIRST, 0)), sorted(p.markers(SECOND, 0))
assert len(many) == 3 and len(few) == 2, (many, few)
numbers = dict((v, y) for v, x, y in p.numbers("end"))
scale = (numbers[60] - numbers[20]) / 40
for (x, y), value in zip(many + few, (10, 30, 50, 20, 70)):
    assert abs(y - many[0][1] - (value - 10) * scale) < 1, (value, x, y)
assert many[0][0] < few[0][0] < many[1][0] < many[2][0] < few[1][0], "a row's dots are side by side"
bars = [l for l in p.lines(SECOND, 0) if len(l) == 2 and l[0][0] == l[1][0] and l[0] != l[1]]
assert len(bars) == 1, bars
assert abs(abs(bars[0][0][1] - bars[0][1][1]) - 10 * abs(scale)) < 1.5, bars
assert {"one", "two", "three", "many", "few", "± sd"} <= {t.replace(" ", " ").strip() for t in p.all_texts()}, p.all_texts()
assert {"one x", "two y", "three -it's-", "a title"} <= set(one.all_texts()), one.all_texts()
assert {"x", "y", "accuracy (%) ± sd"} <= set(ranged.all_texts()), ranged.all_texts()
values = [v for v, _, _ in ranged.numbers("end")]
assert min(values) == 0 and max(values) == 100, values
END
fails 2 "dots: --columns NAME[,NAME...] is required" mc-plot dots t.tsv
fails 2 "dots: at most 1 table expected, got 2" mc-plot dots --columns many t.tsv t.tsv
fails 2 "--columns: 'many' occurs twice" mc-plot dots --columns many,few,many t.tsv
fails 2 "--columns: at most 16 columns" mc-plot dots --columns "$(seq -s , 17)" <(printf '%s\n' "$(seq -s '	' 17)" "$(seq -s '	' 17)")
fails 3 "t.tsv: unknown column 'man', did you mean 'many'?" mc-plot dots --columns man t.tsv
fails 3 "t.tsv: unknown column ''" mc-plot dots --columns many, t.tsv
fails 3 "t.tsv: unknown column 'c'" mc-plot dots --label a,c --columns many t.tsv
fails 3 "t.tsv: line 2, column 'a': 'one' is not a number" mc-plot dots --columns a t.tsv
printf 'a\tb\nx\t\n' >none.tsv
fails 3 "none.tsv: no numbers in the columns b" mc-plot dots --columns b none.tsv
fails 2 "--columns has no effect on path" mc-plot path --columns many t.tsv
for option in "--fit t.tsv" "--log-loss" "--data test"; do
    fails 2 "${option%% *} has no effect on dots" mc-plot dots --columns many $option t.tsv
done
fails 2 "--y-range: one range expected for dots, got two" mc-plot dots --columns many --y-range 1:2,3:4 t.tsv
expect_equal "$(find . -name '.*tmp*')" ""
