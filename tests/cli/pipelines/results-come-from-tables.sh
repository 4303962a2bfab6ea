# SPDX-License-Identifier: Apache-2.0
# docs/results.md is what results.sh makes of pipelines/paper; tables and numbers come from files, and what is not there is told.
PATH=$MC_ROOT/pipelines:$PATH
results.sh | diff "$MC_ROOT/docs/results.md" - || die 'docs/results.md is not what pipelines/paper gives: make results'

# the means of the middles are those of the published part
py <<'PY'
import collections
rows = lambda f: [l.split("\t") for l in open(os.environ["MC_ROOT"] + "/pipelines/paper/" + f).read().splitlines()]
head, *middles = rows("published/tinyten-cifar10/middle.tsv")
cells = collections.defaultdict(list)
for pair, curve, end, layer, *numbers in middles:
    for when, column in ("before", "identity"), ("after", "permuted"):
        cells[curve, when, int(layer.split(".")[1])].append((pair, float(numbers[head.index(column) - 4])))
name = None
for what, when, *shown in rows("results/tinyten-cifar10-250-middle.tsv")[1:]:
    name = {"unaligned curve": "unaligned", "aligned curve": "aligned", "straight line, unaligned": "line-unaligned",
            "straight line, aligned": "line-aligned", "": name}[what]
    layers = [cells[name, when, k] for k in range(8)]
    assert all(len(c) == 6 for c in layers)
    pairs = [np.mean([v for c in layers for q, v in c if q == p]) for p in sorted({q for q, _ in layers[0]})]
    want = ["%.2f" % np.mean([v for _, v in c]) for c in layers] + ["%.3f ± %.3f" % (np.mean(pairs), np.std(pairs, ddof=1))]
    assert shown == want, (name, when, shown, want)
PY

mkdir -p my/tables paper
printf 'claim\twhere\tshown\trule\tverdict\there\na\t1\tx\t\tagrees\t\nb\t1\tx\t\tnot run\t\n' >my/claims.tsv
printf 'path\tmean\tmean_sd\t\nline|1\t1.25\t\tx\ncurve\t3\t.5\t\n' >my/tables/t.tsv
cat >my/tables/text.md <<'END'
a {{t.tsv}} b {{t.tsv; path=curve}}, {{t.tsv; path!=curve; value=mean; form=%.1f}} {{claims.tsv; verdict=not run}} of {{claims.tsv}}

<!-- table: t.tsv -->
<!-- table: t.tsv; mean_sd!=; show=mean,path -->
<!-- table: t.tsv; mean_sd!=; show=mean,path; form=%.2f -->
<!-- table: t.tsv; path!=curve; show=mean; form=%.1f -->
<!-- table: t.tsv; path=none -->
<!-- a comment -->
END
results.sh my/tables paper | diff - <(
    cat <<'END'
a 2 b 1, 1.2 1 of 2

| path | mean | |
| --- | --- | --- |
| line\|1 | 1.25 | x |
| curve | 3 ± .5 | |
| mean | path |
| --- | --- |
| 3 ± .5 | curve |
| mean | path |
| --- | --- |
| 3 ± .5 | curve |
| mean |
| --- |
| 1.2 |
None.
<!-- a comment -->
END
)
# wrong TEXT LINE: with that line behind the others
wrong() {
    cp my/tables/text.md kept
    echo "$2" >>my/tables/text.md
    fails 3 "my/tables/text.md:9: $1" results.sh my/tables paper
    cp kept my/tables/text.md
}
wrong "there is no table 'u.tsv'" '<!-- table: u.tsv -->'
wrong "'t.tsv' has no column 'median'" '<!-- table: t.tsv; median=3 -->'
wrong "'t.tsv' has no column 'median'" '{{t.tsv; path=curve; value=median}}'
wrong "'t.tsv; value=mean': 2 rows, one is wanted" '{{t.tsv; value=mean}}'
wrong "'curve': COLUMN=TEXT is wanted" '{{t.tsv; curve}}'
printf 'a\tb\ta\n1\t2\t3\n' >my/tables/twice.tsv
wrong "'twice.tsv' has two columns 'a'" '<!-- table: twice.tsv -->'
printf 'a\n' >>my/tables/t.tsv
fails 3 "my/tables/text.md:1: 't.tsv', line 4: 1 columns, the first line has 4" results.sh my/tables paper
fails 1 "cannot read './nothing/'" results.sh my/tables nothing
rm my/claims.tsv
fails 1 "cannot read 'my/tables/../claims.tsv'" results.sh my/tables paper
