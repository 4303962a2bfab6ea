# SPDX-License-Identifier: Apache-2.0
#
# What verdicts.sh prints: the cells of paper.tsv, which is read first, with ours beside them, from the files of the
# folders after it; before those of each folder `part` (NETWORK-DATA) is set. A cell has a row for each folder that gives it
# in other numbers, and its verdict stands in one of them: in the first that is at the paper's length, else in the first.
# Cells that the paper's text compares without a number have no verdict; they are there for the claims. With welch.awk and
# spread.awk.
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
    if ((key, folder) in ours && ours[key, folder] != m OFS sd OFS n)
        bad("its '" row "' is not that of table.tsv (pam.mk is wanted with the settings of connect.mk)")
    if (!((key, folder) in ours))
        place[key, ++places[key]] = folder
    ours[key, folder] = m OFS sd OFS n
}
# what of the file `length` is less than the paper's: one word of it, as pam_lacks where only PAM's cells have it
function measure(word,   k, name, value, want) {
    k = index(word, "=")
    name = substr(word, 1, k - 1)
    value = substr(word, k + 1)
    if (name ~ /^(curve_)?epochs$/)
        want = folder ~ /\/robust-[^\/]*\/$/ ? 200 : 250
    else if (!(want = name == "permutation_epochs" ? 20 : name == "points" ? 65 : 0) && name !~ /^(pam|train_images)$/)
        bad("there is no '" name "' in a length")
    told[folder, name] = 1
    if (want ? value ~ number : value != "") {
        if (want ? value + 0 >= want : value == (name == "pam" ? "as-paper" : "all"))
            return
        if (name ~ /^(pam|permutation_epochs)$/)
            pam_lacks[folder] = pam_lacks[folder] " " word
        else
            lacks[folder] = lacks[folder] " " word
    } else
        bad("'" word "' is no length")
}
# what a cell of that folder lacks to be the paper's; the paper has no length for the bound
function short(item, row, f,   text) {
    if (item == "bound")
        return ""
    text = (f in known ? "" : " length unknown") lacks[f] (row ~ /pam/ ? pam_lacks[f] : "")
    return substr(text, 2)
}
FNR == 1 {
    split("", at)
    for (i = 1; i <= NF; i++)
        at[$i] = i
    file = folder = FILENAME
    sub(/.*\//, "", file)
    sub(/[^\/]*$/, "", folder)
    if (file == "scale") {
        if ($0 !~ number || $0 <= 0 || $0 > 1)
            bad("'" $0 "' is no number above 0 and at most 1")
        if ($0 < 1)
            lacks[folder] = lacks[folder] " scale=" $0
    }
    if (file == "length") {
        known[folder] = 1
        n = split($0, word, " ")
        for (i = 1; i <= n; i++)
            measure(word[i])
        for (i = split("epochs curve_epochs permutation_epochs points pam train_images", word, " "); i; i--)
            if (!((folder, word[i]) in told))
                bad("there is no '" word[i] "='")
    }
    lines[FILENAME] = file ~ /^(scale|length)$/
    next
}
{ lines[FILENAME]++ }
file == "paper.tsv" {
    cells[++n_cells] = $0
    paper[$1, $2, $3, $4, $5] = $6
}
file ~ /bound\.tsv$/ { part = get("network") "-" get("data") }
file != "paper.tsv" && "network" in at && $at["network"] "-" get("data") != part {
    bad("is of " $at["network"] " on " $at["data"] ", not of the folder's " part)
}
file == "table.tsv" || file == "pam.tsv" {
    take(get("path"), "arc_mean", get("arc_mean"), get("arc_mean_sd"), get("pairs"))
    take(get("path"), "minimum", get("minimum"), get("minimum_sd"), get("pairs"))
    if ($at["path"] ~ /^line-/)
        take($at["path"], "barrier_train_loss", get("barrier_train_loss"), get("barrier_train_loss_sd"), get("pairs"))
    # as trained: in another order the rounding, and so the accuracy, may be another
    if ($at["path"] == "curve-unaligned")
        take("network", "ends", get("ends"), get("ends_sd"), get("pairs"))
}
file == "training.tsv" { take(get("training"), "objective", get("objective"), get("objective_sd"), get("runs")) }
file == "grid.tsv" {
    take(get("path"), "arc_mean@" (get("lr") + 0) "," (get("batch") + 0), get("arc_mean"), get("arc_mean_sd"), get("pairs"))
}
file == "saved.tsv" {
    take("curve-aligned", "accuracy_saved", get("accuracy_saved"), get("accuracy_saved_sd"), get("pairs"))
    take("curve-aligned", "lead", get("lead"), get("lead_sd"), get("pairs"))
}
file == "pointwise.tsv" {
    take("curve-aligned", "above", get("above"), get("above_sd"), get("pairs"))
    take("curve-aligned", "variation", get("variation_aligned"), get("variation_aligned_sd"), get("pairs"))
    take("curve-unaligned", "variation", get("variation_unaligned"), get("variation_unaligned_sd"), get("pairs"))
}
file == "measures.tsv" {
    take(get("path"), "arc_mean", get("arc_mean"), get("arc_mean_sd"), get("pairs"))
    take(get("path"), "minimum", get("minimum"), get("minimum_sd"), get("pairs"))
}
file == "subsets.tsv" { take(get("images"), "differ", get("differ"), get("differ_sd"), get("pairs")) }
file ~ /bound\.tsv$/ { take(get("way"), "bound_max", get("bound_max"), get("bound_max_sd"), get("pairs")) }
# how like an end the middle of a curve is, and what aligning it to that end adds: means over layers and both ends; the same
# of one end and the other, half of what aligning adds there, and the least that it adds in a layer
file == "middle.tsv" || file == "signature.tsv" {
    k = part SUBSEP folder SUBSEP (file == "middle.tsv" ? get("curve") : "ends")
    if (!(k in middles))
        order[++kept] = k
    if (!((k, get("pair")) in nth))
        nth[k, $at["pair"]] = ++middles[k]
    j = nth[k, $at["pair"]]
    layers = ++seen[k, j]
    gain = get("permuted") - get("identity")
    cell[k, j, 1] += ($at["identity"] - cell[k, j, 1]) / layers
    cell[k, j, 2] += (gain - cell[k, j, 2]) / layers
    cell[k, j, 3] = cell[k, j, 2] / 2
    if (layers == 1 || gain < cell[k, j, 4])
        cell[k, j, 4] = gain
}
# what PAM won beyond the prices of its steps, in the iteration where that is least; and by how much the first permutation
# step lowered the loss of images that did not choose the permutation
file == "objective.tsv" && get("decrease") != "" {
    k = part SUBSEP folder SUBSEP get("path")
    if (!((k, get("pair")) in nth)) {
        j = nth[k, $at["pair"]] = ++pams[k]
        if (j == 1)
            order[++kept] = k
        cell[k, j, 1] = $at["decrease"]
        # too few images may be left for that
        if (get("others_before") != "" && get("others_after") != "")
            cell[k, ++others[k], 2] = $at["others_before"] - $at["others_after"]
    } else if ($at["decrease"] < cell[k, nth[k, $at["pair"]], 1])
        cell[k, nth[k, $at["pair"]], 1] = $at["decrease"]
}
# of robust.mk
file == "midpoint.tsv" {
    take(get("path"), "clean_gain", get("clean_gain"), get("clean_gain_sd"), get("pairs"))
    take(get("path"), "robust_gain", get("robust_gain"), get("robust_gain_sd"), get("pairs"))
    take(get("path"), "both_gain", get("both_gain"), get("both_gain_sd"), get("pairs"))
    take(get("path"), "clean_best", get("clean_best"), get("clean_best_sd"), get("pairs"))
    take(get("path"), "robust_best", get("robust_best"), get("robust_best_sd"), get("pairs"))
}
file == "clean.tsv" || file == "robust.tsv" {
    kind = file == "clean.tsv" ? "clean" : "robust"
    take(get("path"), kind "_minimum", get("minimum"), get("minimum_sd"), get("pairs"))
    take($at["path"], kind "_barrier", get("barrier_test_loss"), get("barrier_test_loss_sd"), get("pairs"))
    # batch norm's statistics from attacked images, as the authors' code has them
    if ($at["path"] == "curve-unaligned-bn-attack")
        take("network", kind "_ends", get("ends"), get("ends_sd"), get("pairs"))
}
function form(x, digits,   text) {
    text = x == "" ? "" : sprintf("%." digits "f", x)
    return text ~ /^-0(\.0*)?$/ ? substr(text, 2) : text
}
END {
    for (i = 1; i < ARGC && !status; i++)
        if (ARGV[i] !~ /^part=/ && !lines[ARGV[i]]) {
            FILENAME = ARGV[i]
            bad("has no rows")
        }
    for (i = 1; i <= kept; i++) {
        k = order[i]
        split(k, w, SUBSEP)
        part = w[1]
        folder = w[2]
        if (k in middles) {
            n = split("likeness likeness_gain half_gain least_gain", word, " ")
            for (c = 1; c <= n; c++)
                take(w[3], word[c], sprintf("%.4f", mean(k, middles[k], c)), deviation("%.4f", k, middles[k], c), middles[k])
        } else {
            take(w[3], "decrease", sprintf("%.6f", mean(k, pams[k], 1)), deviation("%.6f", k, pams[k], 1), pams[k])
            if (others[k])
                take(w[3], "others_gain", sprintf("%.6f", mean(k, others[k], 2)), deviation("%.6f", k, others[k], 2), others[k])
        }
    }
    if (status)
        exit status
    print "item", "network", "data", "row", "column", "ours", "ours_sd", "pairs", "paper", "paper_sd", "difference", \
        "interval", "effect", "folder", "short", "note", "verdict"
    for (i = 1; i <= n_cells; i++) {
        $0 = cells[i]
        digits = $8
        key = $2 "-" $3 SUBSEP $4 SUBSEP $5
        column = $5 == "ends" ? "arc_mean" : $5
        # the text's numbers are effects of alignment themselves
        effect = $1 == "text" ? $6 : ""
        if (($1, $2, $3, "curve-unaligned", column) in paper) {
            effect = paper[$1, $2, $3, "curve-aligned", column] - paper[$1, $2, $3, "curve-unaligned", column]
            effect = form(effect < 0 ? -effect : effect, digits)
        }
        note = $10 != "" || $6 == "" || decidable($7, $9, digits, effect, deviations($5)) ? $10 : "cannot agree"
        chosen = 1
        while (chosen < places[key] && short($1, $4, place[key, chosen]) != "")
            chosen++
        if (chosen > 1 && short($1, $4, place[key, chosen]) != "")
            chosen = 1
        for (j = 1; j <= places[key] || j == 1; j++) {
            f = place[key, j]
            if (j != chosen && ours[key, f] == ours[key, place[key, chosen]] && short($1, $4, f) == "")
                continue
            split("", o)
            split(ours[key, f], o)
            difference = interval = what = ""
            lacking = f == "" ? "" : short($1, $4, f)
            if (f == "" || lacking != "")
                what = "not run"
            else if ($6 != "" && $10 != "")
                what = "not comparable"
            else if ($6 != "") {
                what = verdict(o[1], o[2], o[3], $6, $7, $9, digits, effect, deviations($5))
                difference = form(o[1] - $6, digits + 1)
                if (low != "")
                    interval = form(low, digits + 1) " to " form(high, digits + 1)
            }
            sub(/\/$/, "", f)
            sub(/.*\//, "", f)
            print $1, $2, $3, $4, $5, o[1], o[2], o[3], $6, $7, difference, interval, effect, f, lacking, note, \
                (j == chosen ? what : "")
        }
    }
}
