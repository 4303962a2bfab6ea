# SPDX-License-Identifier: Apache-2.0
#
# What verdicts.sh prints: the cells of paper.tsv, which is read first, with ours beside them, from the tables of the
# folders after it; before those of each folder `part` (NETWORK-DATA) and `scale` are set. Cells that the paper's text
# compares without a number have no verdict; they are there for the claims. With welch.awk.
BEGIN {
    FS = OFS = "\t"
    number = "^-?([0-9]+\\.?[0-9]*|\\.[0-9]+)$"
}
function bad(text) {
    printf "verdicts.sh: %s: %s\n", FILENAME, text > "/dev/stderr"
    status = 3
    exit 3
}
function get(name) {
    if (!(name in at))
        bad("line 1: there is no column '" name "'" (file ~ /^(table|pam)/ ? " (the table of all pairs in OUT is wanted)" : ""))
    return $at[name]
}
# ours of one cell: mean, deviation over the pairs, their number
function take(row, column, m, sd, n,   key) {
    key = part SUBSEP row SUBSEP column
    if (m !~ number || sd != "" && sd !~ number || n !~ /^[1-9][0-9]*$/)
        bad("line " FNR ": '" m "', '" sd "', '" n "' are no mean, deviation and number of values")
    if (key in ours && ours[key] != m OFS sd OFS n)
        bad("its '" row "' is not that of table.tsv (pam.mk is wanted with the settings of connect.mk)")
    ours[key] = m OFS sd OFS n
    scales[key] = scale
    folders[key] = folder
}
FNR == 1 {
    split("", at)
    for (i = 1; i <= NF; i++)
        at[$i] = i
    file = folder = FILENAME
    sub(/.*\//, "", file)
    sub(/[^\/]*$/, "", folder)
    next
}
{ lines[FILENAME]++ }
file == "paper.tsv" {
    cells[++n_cells] = $0
    paper[$1, $2, $3, $4, $5] = $6
}
file != "paper.tsv" && "network" in at && $at["network"] "-" get("data") != part {
    bad("is of " $at["network"] " on " $at["data"] ", not of the folder's " part)
}
file == "table.tsv" || file == "pam.tsv" {
    take(get("path"), "arc_mean", get("arc_mean"), get("arc_mean_sd"), get("pairs"))
    take(get("path"), "minimum", get("minimum"), get("minimum_sd"), get("pairs"))
    # as trained: in another order the rounding, and so the accuracy, may be another
    if ($at["path"] == "curve-unaligned")
        take("network", "ends", get("ends"), get("ends_sd"), get("pairs"))
}
file == "training.tsv" {
    take(get("training"), "objective", get("objective"), get("objective_sd"), get("runs"))
    # the paper's length, whatever `scale` says
    if (scale == 1 && get("epochs") < 250)
        shorter[folder] = $at["epochs"] / 250
}
file == "grid.tsv" {
    take(get("path"), "arc_mean@" (get("lr") + 0) "," (get("batch") + 0), get("arc_mean"), get("arc_mean_sd"), get("pairs"))
}
file == "saved.tsv" && get("accuracy_pairs") > 0 {
    take("curve-aligned", "accuracy_saved", get("accuracy_saved"), get("accuracy_saved_sd"), get("accuracy_pairs"))
}
# of robust.mk
file == "midpoint.tsv" {
    take(get("path"), "clean_gain", get("clean_gain"), get("clean_gain_sd"), get("pairs"))
    take(get("path"), "robust_gain", get("robust_gain"), get("robust_gain_sd"), get("pairs"))
}
file == "clean.tsv" || file == "robust.tsv" {
    kind = file == "clean.tsv" ? "clean" : "robust"
    take(get("path"), kind "_minimum", get("minimum"), get("minimum_sd"), get("pairs"))
    if ($at["path"] == "curve-unaligned")
        take("network", kind "_ends", get("ends"), get("ends_sd"), get("pairs"))
}
function form(x, digits) { return x == "" ? "" : sprintf("%." digits "f", x) }
END {
    for (i = 1; i < ARGC && !status; i++)
        if (ARGV[i] !~ /^(part|scale)=/ && !lines[ARGV[i]]) {
            FILENAME = ARGV[i]
            bad("has no rows")
        }
    if (status)
        exit status
    print "item", "network", "data", "row", "column", "ours", "ours_sd", "pairs", "paper", "paper_sd", "difference", \
        "interval", "effect", "scale", "verdict"
    for (i = 1; i <= n_cells; i++) {
        $0 = cells[i]
        digits = $8
        key = $2 "-" $3 SUBSEP $4 SUBSEP $5
        split("", o)
        split(ours[key], o)
        column = $5 == "ends" ? "arc_mean" : $5
        effect = ""
        if (($1, $2, $3, "curve-unaligned", column) in paper) {
            effect = paper[$1, $2, $3, "curve-aligned", column] - paper[$1, $2, $3, "curve-unaligned", column]
            effect = form(effect < 0 ? -effect : effect, digits)
        }
        difference = interval = what = ""
        if (folders[key] in shorter)
            scales[key] = shorter[folders[key]]
        if (o[1] == "" || scales[key] != 1)
            what = "not run"
        else if ($6 != "") {
            what = verdict(o[1], o[2], o[3], $6, $7, $9, digits, effect)
            difference = form(o[1] - $6, digits + 1)
            if (low != "")
                interval = form(low, digits + 1) " to " form(high, digits + 1)
        }
        print $1, $2, $3, $4, $5, o[1], o[2], o[3], $6, $7, difference, interval, effect, scales[key], what
    }
}
