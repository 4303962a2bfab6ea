# SPDX-License-Identifier: Apache-2.0
#
# One table from the summaries that mc-eval writes of several paths (PATH.summary.tsv): a row a path, the
# test set's accuracy at the ends, its mean, arc-length mean and minimum, and the loss barriers.
#
#   awk -f spread.awk -f paths.awk -f table.awk 1-2/*.summary.tsv
#
# With -v robust=1 the robust figures that mc-eval --attack adds, in the same columns.
# With -v spread=1 -v network=NET -v data=NAME: the same paths of several pairs, each number's mean and its
# standard deviation over the pairs; `ends` is the mean of a pair's two ends, and its deviation half the root of the sum
# of both ends' variances over the pairs, as the paper's is (the authors' visualization/viz_curve.py).
BEGIN { begin("end_a end_b mean arc_mean minimum at_t barrier_test_loss barrier_train_loss" (spread ? " ends" : "")) }
FNR == 1 {
    next_path()
    next
}
# clean figures, or robust ones
($1 ~ /\.robust$/) != (robust + 0) { next }
{ sub(/\.robust$/, "", $1) }
function ends_deviation(form, name,   a, b) {
    a = deviation("%.17g", name, n[name], 1)
    b = deviation("%.17g", name, n[name], 2)
    return a == "" ? "" : sprintf(form, sqrt(a * a + b * b) / 2)
}
function take(c, value) { cell[name, n[name], c] = value }
$1 == "test" && $2 == "accuracy" {
    take(1, $column["first"]); take(2, $column["last"]); take(3, $column["mean"])
    take(4, $column["arc_mean"]); take(5, $column["min"]); take(6, $column["min_t"])
    take(9, ($column["first"] + $column["last"]) / 2)
}
$2 == "loss" { take($1 == "test" ? 7 : 8, $column["barrier"]) }
END {
    for (i = 1; i <= paths; i++) {
        name = order[i]
        line = spread ? network OFS data OFS name OFS n[name] : name
        for (c = 1; c <= columns; c++) {
            form = c == 7 || c == 8 ? "%.4f" : "%.2f"
            line = line OFS sprintf(form, mean(name, n[name], c))
            if (spread)
                line = line OFS (c == 9 ? ends_deviation(form, name) : deviation(form, name, n[name], c))
        }
        print line
    }
}
