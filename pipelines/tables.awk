# SPDX-License-Identifier: Apache-2.0
#
# What tables.sh prints: rows of networks and their curves, columns of data sets, from the tables of connect.mk.
# It sets before: what (accuracy, loss), form (markdown, latex, tsv), and before each file label (or nothing).
BEGIN {
    FS = OFS = "\t"
    tsv = form == "tsv"
    latex = form == "latex"
    parts = split(what == "accuracy" ? "ends arc_mean minimum" : "objective", part, " ")
    # the first of these is a network's own row
    first = what == "accuracy" ? 2 : 1
    digits = what == "accuracy" ? "%.1f" : "%.3f"
    if (tsv) {
        head = "network" OFS "data" OFS "curve" OFS (what == "accuracy" ? "pairs" : "runs" OFS "epochs")
        for (p = 1; p <= parts; p++)
            head = head OFS part[p] OFS part[p] "_sd"
    }
}
function bad(file, text) {
    printf "tables.sh: %s: %s\n", file, text > "/dev/stderr"
    status = 3
    exit 3
}
function get(name) {
    if (!(name in column))
        bad(FILENAME, "line 1: there is no column '" name "' (the table of all pairs in OUT is wanted)")
    return $column[name]
}
function cell_of(p,   m, sd, text) {
    m = get(part[p])
    sd = get(part[p] "_sd")
    if (m !~ /^-?[0-9.]+$/ || sd !~ /^[0-9.]*$/)
        bad(FILENAME, "line " FNR ": '" m "' and '" sd "' are no numbers")
    text = sprintf(digits, m)
    if (sd != "")
        text = text (latex ? " \\pm " : " ± ") sprintf(digits, sd)
    return latex ? "$" text "$" : text
}
FNR == 1 {
    split("", column)
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
{
    curve = get(what == "accuracy" ? "path" : "training")
    net = label == "" ? get("network") : label
    data = get("data")
    if (curve == "network" && !tsv)
        ends[net, data] = cell_of(1)
    if (curve !~ /^curve-/)
        next
    curve = substr(curve, 7)
    curves_of[FILENAME]++
    if ((net, data, curve) in from) {
        # pam.tsv has the rows of the table.tsv beside it too
        table = FILENAME
        if (!sub(/\/pam\.tsv$/, "/table.tsv", table) || from[net, data, curve] != table)
            bad(FILENAME, net " on " data " is in " from[net, data, curve] " too (NAME=OUT gives it another name)")
        if (row_of[net, data, curve] != $0)
            bad(FILENAME, "its 'curve-" curve "' is not that of table.tsv (pam.mk is wanted with the settings of connect.mk)")
        next
    }
    from[net, data, curve] = FILENAME
    row_of[net, data, curve] = $0
    if (!(net in seen_net)) {
        seen_net[net] = 1
        nets[++n_nets] = net
    }
    if (!(data in seen_data)) {
        seen_data[data] = 1
        sets[++n_sets] = data
    }
    if (!((net, curve) in seen_curve)) {
        seen_curve[net, curve] = 1
        curves[net, ++n_curves[net]] = curve
    }
    if (tsv) {
        line = net OFS data OFS curve OFS (what == "accuracy" ? get("pairs") : get("runs") OFS get("epochs"))
        for (p = 1; p <= parts; p++)
            line = line OFS get(part[p]) OFS get(part[p] "_sd")
        lines[net, data, curve] = line
        next
    }
    for (p = 1; p <= parts; p++)
        cell[net, curve, data, p] = cell_of(p)
    if (first > 1)
        ends[net, data] = cell_of(1)
}
function text(t) {
    if (latex)
        gsub(/[_%&#$]/, "\\\\&", t)
    else
        gsub(/\|/, "\\|", t)
    return t
}
# the curves of a network as the paper has them, others after them
function arrange(net,   n, i, k, old) {
    n = split("unaligned pam-unaligned pam-aligned aligned", old, " ")
    for (i = 1; i <= n_curves[net]; i++)
        if (curves[net, i] !~ /^(pam-)?(un)?aligned$/)
            old[++n] = curves[net, i]
    for (i = 1; i <= n; i++)
        if ((net, old[i]) in seen_curve)
            curves[net, ++k] = old[i]
}
# a row: its cells stand in row[1..n]
function put(n,   i, line) {
    line = (latex ? "" : "| ") row[1]
    for (i = 2; i <= n; i++)
        line = line (latex ? " & " : " | ") row[i]
    print line (latex ? " \\\\" : " |")
}
END {
    # an empty file has no line to notice it at
    for (i = 1; i < ARGC && !status; i++)
        if (ARGV[i] !~ /^label=/ && !curves_of[ARGV[i]])
            bad(ARGV[i], "has no curves (CURVE_EPOCHS=0?)")
    if (status)
        exit status
    for (i = 1; i <= n_nets; i++)
        arrange(nets[i])
    if (tsv) {
        print head
        for (i = 1; i <= n_nets; i++)
            for (s = 1; s <= n_sets; s++)
                for (c = 1; c <= n_curves[nets[i]]; c++)
                    if ((nets[i], sets[s], curves[nets[i], c]) in lines)
                        print lines[nets[i], sets[s], curves[nets[i], c]]
        exit
    }
    width = 1 + n_sets * (parts - first + 1)
    # the corner says what all the cells are
    row[1] = (latex ? "Model" : "model") text(what == "accuracy" ? " (test accuracy, %)" : " (objective)")
    k = 1
    for (s = 1; s <= n_sets; s++)
        for (p = first; p <= parts; p++)
            row[++k] = text(sets[s]) (what == "loss" ? "" : p == first ? ", mean" : ", min.")
    if (latex) {
        right = ""
        for (i = 2; i <= width; i++)
            right = right "r"
        print "\\begin{tabular}{l" right "}\n\\toprule"
    }
    put(width)
    if (!latex) {
        for (i = 1; i <= width; i++)
            row[i] = i == 1 ? "---" : "---:"
        put(width)
    }
    for (i = 1; i <= n_nets; i++) {
        net = nets[i]
        if (latex)
            print "\\midrule"
        k = 1
        row[1] = latex ? text(net) : "**" text(net) "**"
        for (s = 1; s <= n_sets; s++)
            for (p = first; p <= parts; p++)
                row[++k] = p == first ? ends[net, sets[s]] : ""
        put(width)
        for (c = 1; c <= n_curves[net]; c++) {
            k = 1
            row[1] = text(curves[net, c])
            for (s = 1; s <= n_sets; s++)
                for (p = first; p <= parts; p++)
                    row[++k] = cell[net, curves[net, c], sets[s], p]
            put(width)
        }
    }
    if (latex)
        print "\\bottomrule\n\\end{tabular}"
}
