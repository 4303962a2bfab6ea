# SPDX-License-Identifier: Apache-2.0
#
# One table from the summaries that mc-eval writes of several paths (PATH.summary.tsv): a row a path, the
# test set's accuracy at the ends, its mean, arc-length mean and minimum, and the loss barriers.
BEGIN {
    FS = OFS = "\t"
    print "path", "end_a", "end_b", "mean", "arc_mean", "minimum", "at_t", "barrier_test_loss", "barrier_train_loss"
}
FNR == 1 {
    split("", column)
    for (i = 1; i <= NF; i++)
        column[$i] = i
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.summary\.tsv$/, "", name)
    order[++n] = name
    next
}
$1 == "test" && $2 == "accuracy" {
    accuracy[name] = sprintf("%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f", $column["first"], $column["last"],
        $column["mean"], $column["arc_mean"], $column["min"], $column["min_t"])
}
$2 == "loss" {
    barrier[name, $1] = sprintf("%.4f", $column["barrier"])
}
END {
    for (i = 1; i <= n; i++)
        print order[i], accuracy[order[i]], barrier[order[i], "test"], barrier[order[i], "train"]
}
