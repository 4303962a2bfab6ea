# SPDX-License-Identifier: Apache-2.0
#
# A row an alignment, from what `mc-permute -v` says of the units that it moves beyond the reference (*.moved) and
# from the summaries of the straight line to the aligned end: the units and how many of them are matched otherwise,
# the barriers of the line, its mean and minimum test accuracy.
#
#   awk -v reference=10000 -f spread.awk -f subsets.awk images=2500 1-2/subset-2500.moved 1-2/line-subset-2500.summary.tsv
#
# With -v spread=1 -v network=NET -v data=NAME: mean and standard deviation over the pairs.
BEGIN {
    FS = OFS = "\t"
    columns = split("differ barrier_test_loss barrier_train_loss arc_mean minimum", title, " ")
    head = spread ? "network" OFS "data" OFS "images" OFS "reference" OFS "pairs" : "images" OFS "reference"
    head = head OFS "units"
    for (c = 1; c <= columns; c++)
        head = head OFS title[c] (spread ? OFS title[c] "_sd" : "")
    print head
}
FNR == 1 {
    if (!(images in units)) {
        order[++subsets] = images
        units[images] = 0
    }
    moved = FILENAME ~ /\.moved$/
    if (moved) {
        n = ++m[images]
        cell[images, n, 1] = units[images] = 0
    } else {
        n = ++k[images]
        split("", column)
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
}
moved && / of [0-9]+ units move$/ {
    words = split($0, word, " ")
    cell[images, n, 1] += word[words - 4]
    units[images] += word[words - 2]
}
moved { next }
$2 == "loss" { cell[images, n, $1 == "test" ? 2 : 3] = $column["barrier"] }
$1 == "test" && $2 == "accuracy" {
    cell[images, n, 4] = $column["arc_mean"]
    cell[images, n, 5] = $column["min"]
}
END {
    for (i = 1; i <= subsets; i++) {
        images = order[i]
        line = (spread ? network OFS data OFS : "") images OFS reference (spread ? OFS m[images] : "") OFS units[images]
        for (c = 1; c <= columns; c++) {
            form = c == 1 ? (spread ? "%.1f" : "%d") : c < 4 ? "%.4f" : "%.2f"
            line = line OFS sprintf(form, mean(images, m[images], c))
            if (spread)
                line = line OFS deviation(form, images, m[images], c)
        }
        print line
    }
}
