# SPDX-License-Identifier: Apache-2.0
# pam.mk writes one row per iteration to objective.tsv, whose numbers add up within their digits.
fixture pam_graph

expect_equal "$(sed 1d out/1-2/objective.tsv | cut -f 1-3 | paste -sd ' ' | tr '\t' /)" \
    '1-2/curve-pam-unaligned/1 1-2/curve-pam-unaligned/2 1-2/curve-pam-aligned/1 1-2/curve-pam-aligned/2'
same out/objective.tsv out/1-2/objective.tsv
paste <(column out/objective.tsv before) <(column out/objective.tsv after_permutation) \
    <(column out/objective.tsv proximal_permutation) <(column out/objective.tsv after_curve) \
    <(column out/objective.tsv proximal_curve) <(column out/objective.tsv decrease) >numbers
awk 'NF != 6 { exit 1 }
    { d = $1 - $4 - $3 - $5 - $6; if (d * d > 1e-9) exit 1; if ($3 < 0 || $5 <= 0) exit 1 }
    # the second iteration starts where the first ended
    NR % 2 == 0 { d = $1 - last; if (d * d > 1e-9) exit 1 } { last = $4 }' numbers || die "$(cat out/objective.tsv)"
[ "$(column out/objective.tsv moved | sed -n 1p)" != 0 ] || die "$(cat out/objective.tsv)"
paste <(column out/objective.tsv moved) <(column out/objective.tsv kept) |
    awk '($1 == 0) != ($2 == "previous") { exit 1 }' || die "$(cat out/objective.tsv)"
expect_equal "$(column out/objective.tsv proximal_permutation | sed -n 1p)" \
    "$(column out/objective.tsv moved | awk 'NR == 1 { print $1 / 1000 }')"

# the matrices and their projection have their own weight decays
py <<'END'
import csv
rows = list(csv.DictReader(open("out/1-2/objective.tsv"), delimiter="\t"))
steps = [json.loads(l) for n in ("unaligned", "aligned") for l in open("out/1-2/curve-pam-%s.log.json" % n)]
steps = [s for s in steps if s["event"] == "permutation"]
assert len(rows) == len(steps) == 4
for row, s in zip(rows, steps):
    for name in "relaxed", "projection":
        assert abs(float(row[name]) - s["loss_" + name] - s["decay_" + name]) < 1e-4, (row, s)
    assert s["decay_projection"] != s["decay_before"] or s["loss_projection"] == s["loss_before"], s
assert steps[0]["decay_relaxed"] != steps[0]["decay_before"], steps[0]
END
