# SPDX-License-Identifier: Apache-2.0
# bound.mk's bound exceeds the barrier on the same images for each alignment, and both equal those of the programs. It
# prints mean and deviation over pairs, and whether both rank the alignments in the same order.
set -- NET=mlp:16,12 TRAIN_IMAGES=400 EPOCHS=3 LR=0.05 BATCH=32 POINTS=9 ALIGN_IMAGES=60
graph bound "$@"
expect_equal "$(count_programs)" 'mc-acts2 mc-bezier5 mc-bound5 mc-corr3 mc-data1 mc-eval5 mc-hungarian4 mc-permute4 mc-train2 '
graph bound "$@"
expect_equal "$(count_programs)" ''
expect_equal "$(cut -f 1 out/1-2/bound.tsv | paste -sd ' ')" 'way unaligned correlation l2-post l2-pre constrained'

mc-acts -q -t 1 --at pre -d out/train.mcz --samples 60 out/net-1.mcz out/net-2.mcz -o m.mcz
mc-bound --points 9 out/net-1.mcz out/net-2.mcz m.mcz out/1-2/permutation.mcz >bound
mc-bezier -q --epochs 0 out/net-1.mcz out/1-2/b-aligned.mcz |
    mc-eval -q -t 1 -d out/train.mcz --samples 60 --points 9 --summary summary -o path.tsv
py <<'END'
rows = lambda f: [line.rstrip("\n").split("\t") for line in open(f)]
head, *table = rows("out/1-2/bound.tsv")
table = {r[0]: dict(zip(head[1:], map(float, r[1:]))) for r in table}
bound = rows("bound")[2]
path = np.genfromtxt("path.tsv", names=True)
rise = path["trainloss"] - (1 - path["t"]) * path["trainloss"][0] - path["t"] * path["trainloss"][-1]
want = [float(bound[1]), float(bound[3]), max(rise.max(), 0), rise.mean()]
assert np.abs(np.array([table["correlation"][k] for k in head[1:]]) - want).max() < 2e-4, (table, want)
for way, v in table.items():
    assert v["barrier_max"] <= v["bound_max"] and v["barrier_mean"] <= v["bound_mean"], (way, v)
    assert table["l2-pre"]["bound_max"] <= v["bound_max"], (way, v)
# the ranks follow from the table
(of, *_), *ranks = rows("out/1-2/ranks.tsv")
assert [r[:2] for r in ranks] == [["1-2", "max"], ["1-2", "mean"]]
for _, what, by_bound, by_barrier, alike, couples, same in ranks:
    for order, column in (by_bound, "bound_" + what), (by_barrier, "barrier_" + what):
        ways = order.replace("=", "<").split(" < ")
        values = [table[w][column] for w in ways]
        assert sorted(ways) == sorted(table) and values == sorted(values), (order, table)
    # alignments with the same permutation count once
    ways = len({tuple(v.values()) for v in table.values()})
    assert int(couples) == ways * (ways - 1) // 2 and (same == "yes") == (alike == couples) and 0 <= int(alike) <= int(couples)
END
# with programs: the constrained alignment differs, and one pair of the other three is ordered differently
mkdir 1-2
way() {
    printf 'permutation\tmax\tat\tmean\nx\t%s\t0\t%s\n' $2 $2 >1-2/bound-$1.tsv
    printf 'data\tquantity\tfirst\tlast\tmean\tbarrier\ntrain\tloss\t0\t0\t%s\t%s\n' $3 $3 >1-2/barrier-$1.summary.tsv
}
way unaligned 9 3; way l2-post 5 1; way constrained 5 1; way l2-pre 4 2
tables ranks 1-2/bound-{unaligned,l2-post,constrained,l2-pre}.tsv | cut -f 2- | sed 1d | same - <(
    for of in max mean; do printf "$of\tl2-pre < l2-post = constrained < unaligned\tl2-post = constrained < l2-pre < unaligned\t2\t3\tno\n"; done)

graph bound "$@" PAIRS='1:2 1:3'
py <<'END'
rows = lambda f: [line.rstrip("\n").split("\t") for line in open(f)]
pairs = [rows("out/%s/bound.tsv" % p) for p in ("1-2", "1-3")]
head, *both = rows("out/bound.tsv")
assert head[:6] == ["network", "data", "way", "pairs", "bound_max", "bound_max_sd"] and len(head) == 12
for i, row in enumerate(both):
    assert row[:4] == ["mlp:16,12", "synth", pairs[0][i + 1][0], "2"]
    x = np.array([p[i + 1][1:] for p in pairs], float)
    got = np.array(row[4:], float)
    assert np.abs(got[::2] - x.mean(0)).max() < 2e-4 and np.abs(got[1::2] - x.std(0, ddof=1)).max() < 2e-4
assert [r[0] for r in rows("out/ranks.tsv")] == ["pair", "1-2", "1-2", "1-3", "1-3", "mean", "mean"]
END
for net in tinyten mlp:bn,8; do
    (graph bound "$@" NET=$net) >refused && die "$net passes"
    expect_words errors "NET*mlp*without batch norm*got '$net'"
done
