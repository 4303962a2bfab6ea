# SPDX-License-Identifier: Apache-2.0
# docs/results/index.md is what pages.py makes of pipelines/paper; tables and numbers come from files, and missing ones are named.
PATH=$MC_ROOT/pipelines/paper:$PATH
pages.py results | diff "$MC_ROOT/docs/results/index.md" - || die 'docs/results/index.md is not what pipelines/paper gives: make results'

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

mkdir my paper
printf 'path\tmean\tmean_sd\t\nline|1\t1.25\t\tx\ncurve\t3\t.5\t\n' >my/t.tsv
cat >my/text.md <<'END'
a {{t.tsv}} b {{t.tsv; path=curve}}, {{t.tsv; path!=curve; value=mean; form=%.1f}} {{cells.tsv; paper!=; verdict=not run}} of {{cells.tsv; paper!=}}

<!-- table: t.tsv -->
<!-- table: t.tsv; mean_sd!=; show=mean,path -->
<!-- table: t.tsv; mean_sd!=; show=mean,path; form=%.2f -->
<!-- table: t.tsv; path!=curve; show=mean; form=%.1f -->
<!-- table: t.tsv; path=none -->
<!-- a comment -->
END
pages.py results my paper | diff - <(
    cat <<'END'
a 2 b 1, 1.2 120 of 120

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
    cp my/text.md kept
    echo "$2" >>my/text.md
    fails 3 "my/text.md:9: $1" pages.py results my paper
    cp kept my/text.md
}
wrong "table 'u.tsv' is missing" '<!-- table: u.tsv -->'
wrong "my/t.tsv: line 1: column 'median' is missing" '<!-- table: t.tsv; median=3 -->'
wrong "my/t.tsv: line 1: column 'median' is missing" '{{t.tsv; path=curve; value=median}}'
wrong "'t.tsv; value=mean': 2 rows instead of 1" '{{t.tsv; value=mean}}'
wrong "'curve' must be COLUMN=TEXT" '{{t.tsv; curve}}'
printf 'a\tb\ta\n1\t2\t3\n' >my/twice.tsv
wrong "my/twice.tsv: two columns 'a'" '<!-- table: twice.tsv -->'
printf 'a\n' >>my/t.tsv
fails 3 "my/text.md:1: my/t.tsv: line 4: 1 columns, line 1 has 4" pages.py results my paper
fails 1 "cannot use 'nothing/text.md'" pages.py results nothing paper
echo '{{cells.tsv}}' >my/text.md
fails 1 "'nothing' is not a folder" pages.py results my nothing
# a claim whose verdict the cells contradict
echo '{{claims.tsv}}' >my/text.md
is "$(pages.py results my "$MC_ROOT/pipelines/paper/published")" 57
fails 3 "my/text.md:1: $(readlink -f "$MC_ROOT")/pipelines/paper/claims.tsv: line 2: the verdict is 'in part', but its cells say 'not run'" pages.py results my paper
