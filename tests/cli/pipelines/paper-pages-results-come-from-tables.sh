# SPDX-License-Identifier: Apache-2.0
# pages.py writes the pages and tables of docs/results from pipelines/paper; their pictures exist and are shown; missing tables are named.
PATH=$MC_ROOT/pipelines/paper:$PATH
pages.py results made
for f in made/*; do
    diff "$f" "$MC_ROOT/docs/results/${f#made/}" || die "docs/results/${f#made/} is not derived from pipelines/paper: run make results"
done
(cd made && ls) >names
(cd "$MC_ROOT/docs/results" && ls -- *.md *.tsv) | diff names -
# each picture is shown, and each picture shown exists
(cd "$MC_ROOT/docs/results" && ls -- *.svg) | diff - <(grep -oh '\]([^)]*\.svg)' made/*.md | tr -d '[]()' | sort -u)

# the means of the middles are those of the published case
py <<'PY'
import collections
rows = lambda f: [l.split("\t") for l in open(os.environ["MC_ROOT"] + "/pipelines/paper/" + f).read().splitlines()]
head, *middles = rows("published/tinyten-cifar10/middle.tsv")
cells = collections.defaultdict(list)
for pair, curve, end, layer, *numbers in middles:
    for when, column in ("before", "identity"), ("after", "permuted"):
        cells[curve, when, int(layer.split(".")[1])].append((pair, float(numbers[head.index(column) - 4])))
name = None
for path, when, *row in rows("results/tinyten-cifar10-250-middle.tsv")[1:]:
    name = {"unaligned curve": "unaligned", "aligned curve": "aligned", "straight line, unaligned": "line-unaligned",
            "straight line, aligned": "line-aligned", "": name}[path]
    layers = [cells[name, when, k] for k in range(8)]
    assert all(len(c) == 6 for c in layers)
    pairs = [np.mean([v for c in layers for q, v in c if q == p]) for p in sorted({q for q, _ in layers[0]})]
    expected = ["%.2f" % np.mean([v for _, v in c]) for c in layers] + ["%.3f ± %.3f" % (np.mean(pairs), np.std(pairs, ddof=1))]
    assert row == expected, (name, when, row, expected)
PY

mkdir my paper
printf 'path\tmean\tmean_sd\t\nline|1\t1.25\t\tx\ncurve\t3\t.5\t\n' >my/t.tsv
cat >my/text.md <<'END'
<!-- let: C = t.tsv; path=curve -->
a {{t.tsv}} b {{t.tsv; path=c*}}, {{t.tsv; path!=curve; show=mean; form=%.1f}} {{t.tsv; path!=curve; show=mean; form=%.0f}} {{C; show=path,mean}} {{cells.tsv; paper!=; verdict=not run}} of {{numbers.tsv; verdict!=}}

<!-- table: t.tsv -->
<!-- table: t.tsv; mean_sd!=; show=mean,path -->
<!-- table: t.tsv; show=mean:a mean, of all,path; form=%.2f -->
<!-- table: t.tsv; path!=curve; show=mean; form=%.1f -->
<!-- table: C; path=none -->
<!-- a comment -->
END
pages.py results out my paper
diff out/text.md - <<'END'
<!-- make results writes this page: edit pipelines/paper/results/text.md -->
a 2 b 1, 1.2 1 curve | 3 ± .5 120 of 120

| path | mean | |
| --- | --- | --- |
| line\|1 | 1.25 | x |
| curve | 3 ± .5 | |
| mean | path |
| --- | --- |
| 3 ± .5 | curve |
| a mean, of all | path |
| --- | --- |
| 1.25 | line\|1 |
| 3 ± .5 | curve |
| mean |
| --- |
| 1.2 |
None.
<!-- a comment -->
END
expect_equal "$(ls out)" $'numbers.tsv\ntext.md'
expect_equal "$(sed 1d out/numbers.tsv | wc -l)" 120

# aligned minus unaligned, Welch's interval, and the same of the paper's numbers
mkdir paper/tinyten-cifar10
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' path pairs arc_mean arc_mean_sd minimum minimum_sd ends ends_sd \
    curve-unaligned 3 87.00 0.10 80 1 89 0.1 curve-aligned 3 88.50 0.10 87 1 89 0.1 >paper/tinyten-cifar10/table.tsv
echo '{{effects.tsv; column=arc_mean; show=ours,interval,paper,folder}}' >my/effect.md
pages.py results out my paper
expect_equal "$(tail -n 1 out/effect.md)" '+1.50 | 1.27 to 1.73 | +1.1 | tinyten-cifar10'
rm -r my/effect.md paper/tinyten-cifar10

# wrong TEXT LINE: with that line after the others
wrong() {
    cp my/text.md kept
    echo "$2" >>my/text.md
    fails 3 "my/text.md:10: $1" pages.py results out my paper
    cp kept my/text.md
}
wrong "table 'u.tsv' is missing" '<!-- table: u.tsv -->'
wrong "my/t.tsv: line 1: column 'median' is missing" '<!-- table: t.tsv; median=3 -->'
wrong "my/t.tsv: line 1: column 'median' is missing" '{{C; show=median}}'
wrong "'t.tsv; show=mean': 2 rows instead of 1" '{{t.tsv; show=mean}}'
wrong "'curve' must be COLUMN=TEXT" '{{t.tsv; curve}}'
printf 'a\tb\ta\n1\t2\t3\n' >my/twice.tsv
wrong "my/twice.tsv: two columns 'a'" '<!-- table: twice.tsv -->'
printf 'a\n' >>my/t.tsv
fails 3 "my/text.md:2: my/t.tsv: line 4: 1 columns, line 1*4" pages.py results out my paper
fails 1 "cannot use 'nothing'" pages.py results out nothing paper
echo '{{cells.tsv}}' >my/text.md
fails 1 "'nothing'*not a folder" pages.py results out my nothing
# a claim whose verdict the cells contradict
echo '{{claims.tsv}}' >my/text.md
pages.py results out my "$MC_ROOT/pipelines/paper/published"
expect_equal "$(tail -n 1 out/text.md)" 57
fails 1 "cannot use 'kept'" pages.py results kept my "$MC_ROOT/pipelines/paper/published"
rm -r out
fails 3 "my/text.md:1: $(readlink -f "$MC_ROOT")/pipelines/paper/claims.tsv: line 2: the verdict is 'in part', but its cells say 'not run'" pages.py results out my paper
[ ! -e out ]
