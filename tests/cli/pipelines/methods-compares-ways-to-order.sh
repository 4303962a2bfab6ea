# SPDX-License-Identifier: Apache-2.0
# methods.mk compares orders by activations, weights and PAM. It shares the joint order and its means with soup.mk, its
# pairwise orders equal the programs by hand, and its tables agree with the objectives and accuracies of these.
settings=(PERMUTATION_EPOCHS=1 PAM_FLAGS='--draws 2 --select-images 100')
graph methods -n "${settings[@]}"
[ ! -e out ] || die 'make -n made a file'
bin=$MC_BUILD/bin graph methods "${settings[@]}"
expect_programs 'mc-eval1 mc-plot2 ' soup
graph methods "${settings[@]}"
expect_equal "$(grep mc- log)" ''

by_hand() { # by_hand ORDER NETWORK...: the row of an order whose networks are these
    mc-merge "${@:2}" -o mean.mcz
    same_content mean.mcz "out/mean-$1.mcz"
    mc-repair -q -t 1 --data out/train.mcz mean.mcz -o reestimated.mcz
    mc-repair -q -t 1 --data out/train.mcz mean.mcz --ends "${@:2}" -o repaired.mcz
    same_content repaired.mcz "out/mean-$1-repaired.mcz"
    mc-eval -q -t 1 --data out/test.mcz mean.mcz reestimated.mcz repaired.mcz | sed 1d | awk '{ printf "%.2f ", $3 }'
}
row() { awk -F '\t' -v m="$1" -v o="$2" '$4 == m && $5 == o { print $7, $8, $9, "" }' out/orders.tsv; }
n=out/net
for m in 1-2 2-3; do mc-hungarian -q out/$m/matrices.mcz -o p$m.mcz; done
mc-permute --inverse p1-2.mcz $n-1.mcz -o p1.mcz 2>errors
mc-permute p2-3.mcz $n-3.mcz -o p3.mcz
expect_equal "$(row activations 2)" "$(by_hand activations-to-2 p1.mcz $n-2.mcz p3.mcz)"
mc-match $n-1.mcz $n-2.mcz | mc-permute - $n-2.mcz -o p2.mcz
mc-match $n-1.mcz $n-3.mcz | mc-permute - $n-3.mcz -o p3.mcz
expect_equal "$(row weights 1)" "$(by_hand weights-to-1 $n-1.mcz p2.mcz p3.mcz)"
expect_equal "$(row identity '')" "$(by_hand unaligned $n-[123].mcz)"
same_content out/weights-joint.mcz <(mc-match --joint $n-[123].mcz)
# the running mean: network 2 to network 1, network 3 to their re-estimated mean
mc-hungarian -q out/1-2/matrices.mcz | mc-permute - $n-2.mcz -o p2.mcz
mc-merge $n-1.mcz p2.mcz | mc-repair -q -t 1 --data out/train.mcz - -o mean.mcz
mc-acts -q -t 1 --data out/train.mcz mean.mcz $n-3.mcz | mc-corr -q | mc-hungarian -q | mc-permute - $n-3.mcz -o p3.mcz
expect_equal "$(row activations running)" "$(by_hand activations-running $n-1.mcz p2.mcz p3.mcz)"
# git re-basin's: no network changes if it is matched again to the mean of the others
for i in 1 2 3; do mc-permute out/weights-running.mcz $n-$i.mcz -o w$i.mcz; done
mc-merge w1.mcz w2.mcz -o mean.mcz
mc-permute --identity w3.mcz -o i.mcz
mc-match --init i.mcz mean.mcz w3.mcz | mc-permute - w3.mcz | same_content - w3.mcz

py <<'END'
import csv, os
def rows(name):
    return list(csv.DictReader(open("out/%s.tsv" % name), delimiter="\t"))
orders, methods = rows("orders"), rows("methods")
keys = [(m["matching"], m["order"]) for m in methods]
ways = ["pairwise", "best reference", "running mean", "joint"]
expected = [(m, "MergeMany" if (m, w) == ("weights", "running mean") else w) for m in ("activations", "weights", "pam") for w in ways]
assert keys == [("identity", "")] + expected[:-1], keys
assert all(m["orders"] == ("3" if m["order"] == "pairwise" else "1") for m in methods)
def value(matching, order, column):
    return [float(r[column]) for r in orders if r["matching"] == matching and (r["order"] == order or order is None and r["order"].isdigit())]
for m in methods:
    if m["order"] == "pairwise":
        for c in "averaged", "repaired", "objective":
            v = value(m["matching"], None, c)
            assert len(v) == 3 and abs(float(m[c]) - np.mean(v)) < .006 and abs(float(m[c + "_sd"]) - np.std(v, ddof=1)) < .006, (m, c)
    if m["order"] == "best reference":
        assert float(m["objective"]) == max(value(m["matching"], None, "objective"))
last = open("out/joint.summary.tsv").read().splitlines()[-1].split("\t")
objective = {(r["matching"], r["order"]): float(r["objective"]) for r in orders}
assert abs(objective["activations", "joint"] - float(last[2])) < .006
for i in "123":
    assert abs(objective["activations", i] - float(last[2 + int(i)])) < .006
assert max(objective.values()) == objective["activations", "joint"]
assert all(float(r["cpu_seconds"]) > 0 and float(r["memory_mb"]) > 1 for r in orders if r["matching"] != "identity"), orders
nets = value("identity", "", "ends")
END
svg_texts out/methods.svg >texts
for text in identity 'weights MergeMany' averaged repaired 'test accuracy (%)'; do grep -qx "$text" texts || die "no $text: $(<texts)"; done

# the cost of a result that another experiment made is unknown
rm out/1-2/moments.cost
tables orders out/accuracy-methods.tsv out/objective-activations-to-[13].tsv out/objective-joint.tsv >costs
expect_equal "$(column costs order | paste -sd ' '): $(grep -c $'\t\t$' costs)" '1 3 joint: 2'

# one matching; a network without batch norm; a pair alone makes its matrices and permutations
rm -r out
graph methods NET=mlp:8 SEEDS='1 2' MATCHINGS=weights
expect_equal "$(cut -f 4,5 out/methods.tsv | paste -sd ' ' | tr '\t' ' ')" 'matching order identity  weights pairwise weights best reference weights MergeMany weights joint'
same_content out/mean-weights-joint.mcz out/mean-weights-joint-reestimated.mcz
# other networks and matchings change the tables, also if their results exist; another pair's folder does not count. TMPDIR may
# contain spaces.
cut -f 1-10 out/orders.tsv >two
graph methods NET=mlp:8 SEEDS='1 2 3' MATCHINGS='activations weights'
graph methods NET=mlp:8 SEEDS='1 2' MATCHINGS=weights
cut -f 1-10 out/orders.tsv | same two -
rm out/1-3/*.cost
mkdir 'a folder'
TMPDIR="$PWD/a folder" graph methods NET=mlp:8 SEEDS='1 2' MATCHINGS='activations weights'
expect_equal "$(column out/orders.tsv cpu_seconds | grep -c .)" 9
graph methods OUT=part shared
graph methods OUT=part PAIRS=1:2 "${settings[@]}" pair
expect_equal "$(cd part && find . -name '*.mcz' | sort | paste -sd ' ')" "./1-2/matrices.mcz ./1-2/moments.mcz ./1-2/permutation-pam.mcz $(
)./1-2/permutation-weights.mcz ./1-2/permutation.mcz ./net-1.mcz ./net-2.mcz ./net-3.mcz ./test.mcz ./train.mcz"

refused() { # refused WORDS SETTING...
    ! (graph methods OUT=none "${@:2}") >output 2>&1 || die "$2 passes"
    expect_words output "$1"
    [ ! -e none ] || [ -z "$(find none -name '*.mcz')" ] || die "$2: made a file"
}
refused "MATCHINGS*different words*activations, weights*pam (got 'activation')" MATCHINGS=activation
refused "MATCHINGS*different words*activations, weights*pam (got '')" MATCHINGS=
refused 'PAIRS*all pairs*networks: set SEEDS="1 2 3 4" instead' PAIRS='1:2 3:4'
refused "JOINT*command (got 'missing-command')" JOINT=missing-command
refused "PERMUTATION_EPOCHS*whole number, at least 0 (got 'x')" PERMUTATION_EPOCHS=x
