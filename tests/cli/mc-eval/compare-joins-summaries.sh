# SPDX-License-Identifier: Apache-2.0
# mc-eval --compare prints one quantity's rows of several summaries as an aligned table, with the files' names.
fixture three

e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3"
$e --summary line.tsv line.mcz -o x.tsv
$e --points 2 --summary 'ä long name.tsv' line.mcz -o x.tsv
for quantity in loss accuracy; do
    mc-eval --compare $quantity line.tsv 'ä long name.tsv' >table
    py table $quantity <<'END'
def rows(path):
    return [line.rstrip("\n").split("\t") for line in open(path)]
table, quantity = open(sys.argv[1]).read().splitlines(), sys.argv[2]
names = ["line.tsv", "ä long name.tsv"]
expected = [["path"] + rows(names[0])[0]] + [[n] + r for n in names for r in rows(n) if r[1] == quantity]
assert len(expected) == 5 and [[c.strip() for c in line.split("  ") if c.strip()] for line in table] == expected, table
starts = {tuple(i for i in range(2, len(line)) if line[i - 2:i] == "  " and line[i] != " ") for line in table}
assert len(starts) == 1 and len(starts.pop()) == 12, table
END
done
expect_equal "$(cat line.tsv | mc-eval --compare accuracy - | tr -s ' ')" "$(mc-eval --compare accuracy line.tsv | sed 's/^line.tsv/stdin/' | tr -s ' ')"
mc-eval --compare loss line.tsv line.tsv -o both
expect_equal "$(grep -c '^line.tsv ' both)" 4
mc-eval -q --compare loss line.tsv line.tsv | same - both

usage_error 'SUMMARY.tsv' mc-eval --compare loss
usage_error '--data*no effect*--compare' mc-eval --compare loss --data d.mcz line.tsv
usage_error "unknown value 'acc'*loss, accuracy" mc-eval --compare acc line.tsv
fails_unchanged 1 'none.tsv' mc-eval --compare loss line.tsv none.tsv -o old
head -c -3 line.tsv >cut.tsv
head -c 1100000 /dev/zero | tr '\0' a >long.tsv
for wrong in x.tsv line.mcz cut.tsv long.tsv /dev/null; do
    fails_unchanged 3 "$wrong: not a *" mc-eval --compare loss line.tsv $wrong -o old
done
