# SPDX-License-Identifier: Apache-2.0
# subsets.mk aligns by fewer images, and writes the number of units matched differently from the reference, and the
# barrier to each aligned end.
set -- subsets PAIRS='1:2 1:3' SUBSETS='40 103 all' REFERENCE=103
graph "$@"
graph connect PAIRS='1:2 1:3' out/1-2/permutation.mcz
# connect.mk aligns by a fifth of 512 images
same_content out/1-2/permutation.mcz out/1-2/permutation-subset-103.mcz
py <<'P'
import csv
def rows(name):
    return list(csv.DictReader(open(name), delimiter="\t"))
differ = {}
for pair in "1-2", "1-3":
    p = {n: mcz.read(f"out/{pair}/permutation-subset-{n}.mcz").tensors for n in ("40", "103", "all")}
    table = {r["images"]: r for r in rows(f"out/{pair}/subsets.tsv")}
    assert list(table) == ["40", "103", "all"], table
    for n, t in p.items():
        count = sum(int((t[g] != p["103"][g]).sum()) for g in t)
        differ.setdefault(n, []).append(count)
        line = {(s["data"], s["quantity"]): s for s in rows(f"out/{pair}/line-subset-{n}.summary.tsv")}
        r = table[n]
        assert (r["differ"], r["units"], r["reference"]) == (str(count), "16", "103"), (r, count)
        assert abs(float(r["barrier_train_loss"]) - float(line["train", "loss"]["barrier"])) < 1e-4, (r, line)
assert sum(differ["40"]) > 0 and sum(differ["103"]) == 0, differ
for r in rows("out/subsets.tsv"):
    x = differ[r["images"]]
    assert r["pairs"] == "2" and abs(float(r["differ"]) - np.mean(x)) < .051 and abs(float(r["differ_sd"]) - np.std(x, ddof=1)) < .051, r
P
graph "$@"
expect_equal "$(count_programs)" ''
graph subsets -n OUT=none TRAIN_IMAGES=6000 && expect_equal "$(grep -o 'subset-[a-z0-9]*.mcz' log | sort -u | paste -sd ' ')" 'subset-2500.mcz subset-5000.mcz subset-all.mcz'
graph subsets -n OUT=none TRAIN_IMAGES=1500 && grep -qF 'SUBSETS is only `all`' errors || die 'no warning without subsets'
! (graph subsets SUBSETS='40 x') >out.refused && has_words errors "SUBSETS*whole numbers*all*got '40 x'" || die "$(cat errors)"
! (graph subsets REFERENCE=7) >out.refused && has_words errors "REFERENCE*SUBSETS*got '7'" || die "$(cat errors)"
