# SPDX-License-Identifier: Apache-2.0
#
# The claims of the paper's text, each with a verdict, from the cells that verdicts.sh gives (-f tsv) and a file of claims
# after it: columns claim, where, shown, rule, verdict, here. A claim without a rule keeps the verdict that stands there.
# A rule is one or more of these, joined by " & ", and is put to our cells, which decide, to the paper's own numbers, as `own`,
# and to the cells of runs that are short of the paper's length, as `short`:
#
#   ITEM NETWORK DATA ROW.COLUMN OP WHAT [SHIFT] [most]      * is any network or data set
#
# WHAT is ROW.COLUMN, or ROW.COLUMN|ROW.COLUMN, which is the middle of these two, or a number, or `paper`; SHIFT, as -1, is
# added to it. Before it NETWORK/DATA: may say whose it is, each a name, or . for the same, or * for any; never the cell itself.
# Beside the cells that verdicts.sh gives there are gain.COLUMN, what the aligned curve has above the unaligned one, and
# share.COLUMN, that in percent of the unaligned one's where this is above 0, for > and < alone. OP is one of
#
#   >, <  the first is above, below the second: agrees where the 95% interval of the difference lies on that side of 0,
#         differs where it lies on the other
#   >=, <=  the first is not below, not above the second: differs where the interval lies on that side of 0, agrees where
#         it goes there by half the effect of alignment at most
#   >>    each of the first is above each of the second (table 3's cells)
#   ~     they are comparable: agrees where the interval lies within half the effect of alignment on both sides, differs
#         where it lies outside of that
#   =     ours is the paper's number: the cell's own verdict; cells that cannot agree, or are not comparable, do not count
#   ==    ours is that number in each of several pairs, and differs where it is another in one
#
# The two are taken as independent although the pairs share their ends, which as a rule makes the interval wider.
# A column without @ stands for that of every rate and batch size. All cells have to agree; with `most`, more than half of
# its rule's. One rule that differs decides the claim; else one that has not run leaves it not run, or `in part` where another
# cell has, and an undecided one undecided. A claim without a rule that a graph shows is `built`. Short runs of one pair do
# not count. Two of their cells are compared in the first kind of folder, by its words behind NETWORK-DATA, that has both;
# cells of two networks or data sets, whose folders are of one kind, where both are known to be as short.
BEGIN {
    FS = OFS = "\t"
    kinds = split("here own", kind, " ")
    verdict_of["agree"] = "agrees"
    verdict_of["differ"] = "differs"
    verdict_of["undecided"] = "undecided"
    verdict_of["not_run"] = "not run"
}
function bad(text) {
    printf "verdicts.sh: %s: line %d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    exit status = 3
}
# gain.COLUMN and share.COLUMN of all that have both curves, without a rate and batch size
function derive(   i, j, k, w, whose, r) {
    for (i = n_cells; i; i--)
        for (j = n_cells; j && name[i] ~ /^curve-aligned\./ && suffix[i] == ""; j--) {
            if (!beside(i, j) || name[j] != "curve-unaligned." substr(name[i], 15))
                continue
            for (k = 0; k < 2; k++) {
                n_cells++
                item[n_cells] = item[i]
                network[n_cells] = network[i]
                data[n_cells] = data[i]
                name[n_cells] = (k ? "share." : "gain.") substr(name[i], 15)
                suffix[n_cells] = ""
                effect[n_cells] = k ? "" : effect[i]
                for (w = 1; w <= kinds; w++) {
                    whose = kind[w]
                    lacks[whose, n_cells] = lacks[whose, i]
                    if (!both(whose, i, j) || k && m[whose, j] <= 0) {
                        m[whose, n_cells] = s[whose, n_cells] = ""
                        continue
                    }
                    r = k ? 100 / m[whose, j] : 1
                    m[whose, n_cells] = r * (m[whose, i] - m[whose, j])
                    s[whose, n_cells] = s[whose, i] == "" || s[whose, j] == "" ? "" : \
                        r * sqrt(s[whose, i] ^ 2 + (k ? m[whose, i] / m[whose, j] * s[whose, j] : s[whose, j]) ^ 2)
                    n[whose, n_cells] = n[whose, i] < n[whose, j] ? n[whose, i] : n[whose, j]
                    rounding[whose, n_cells] = r ^ 2 * (rounding[whose, i] + (k ? m[whose, i] / m[whose, j] : 1) ^ 2 * rounding[whose, j])
                }
            }
        }
}
FNR == 1 {
    files++
    split("", at)
    for (i = 1; i <= NF; i++)
        at[$i] = i
    if (files == 2) {
        derive()
        for (i = split("claim where shown rule verdict here", want, " "); i; i--)
            if (!(want[i] in at))
                bad("there is no column '" want[i] "'")
        print "claim", "where", "shown by", "in the paper's own numbers", "verdict", "in shorter runs", "here"
    }
    next
}
files == 1 {
    # of a cell's rows the first that is at the paper's length
    i = ($1, $2, $3, $4, $5) in index_of ? index_of[$1, $2, $3, $4, $5] : ++n_cells
    if (!(($1, $2, $3, $4, $5) in index_of) || $(at["verdict"]) != "")
        judged[i] = $(at["verdict"])
    whose = "here"
    if ($(at["short"]) != "") {
        whose = $(at["folder"])
        j = index(whose, $2 "-" $3)
        whose = "short " substr(whose, 1, j - 1) substr(whose, j + length($2 "-" $3))
    }
    if (!((whose, i) in m) && $(at["ours"]) != "" && (whose == "here" || $(at["pairs"]) > 1)) {
        if (whose != "here" && !(whose in known))
            known[kind[++kinds] = whose]
        m[whose, i] = $(at["ours"])
        s[whose, i] = $(at["ours_sd"])
        n[whose, i] = $(at["pairs"])
        lacks[whose, i] = $(at["short"])
    }
    if (($1, $2, $3, $4, $5) in index_of)
        next
    index_of[$1, $2, $3, $4, $5] = n_cells
    item[n_cells] = $1
    network[n_cells] = $2
    data[n_cells] = $3
    name[n_cells] = $4 "." $5
    suffix[n_cells] = $5 ~ /@/ ? substr($5, index($5, "@")) : ""
    m["own", n_cells] = $(at["paper"])
    note[n_cells] = $(at["note"])
    digits = $(at["paper"]) ~ /\./ ? length($(at["paper"])) - index($(at["paper"]), ".") : 0
    s["own", n_cells] = printed($(at["paper_sd"]), digits)
    n["own", n_cells] = 3
    effect[n_cells] = $(at["effect"])
    rounding["own", n_cells] = 100 ^ -digits / 12
    next
}
# is cell i one that a rule's ROW.COLUMN names
function named(i, text) { return text == name[i] || text suffix[i] == name[i] }
# what the authors' code makes cell i of, if not of what the paper says
function withheld(i) { return note[i] == "cannot agree" ? "" : note[i] }
# can cells i and j be compared: of the paper's own, not two of one network and data set that its authors' code makes of
# different things
function both(whose, i, j,   same) {
    same = network[i] == network[j] && data[i] == data[j]
    return m[whose, i] != "" && m[whose, j] != "" && (whose != "own" || !same || withheld(i) == withheld(j)) && \
        (whose !~ /^short/ || same || \
        lacks[whose, i] == lacks[whose, j] && lacks[whose, i] !~ /length unknown/)
}
# the middle of cells i and j, as cell "middle"
function halve(i, j,   w, whose) {
    network["middle"] = network[i]
    note["middle"] = note[i]
    data["middle"] = data[i]
    for (w = 1; w <= kinds; w++) {
        whose = kind[w]
        lacks[whose, "middle"] = lacks[whose, i]
        m[whose, "middle"] = both(whose, i, j) ? (m[whose, i] + m[whose, j]) / 2 : ""
        s[whose, "middle"] = s[whose, i] == "" || s[whose, j] == "" ? "" : sqrt(s[whose, i] ^ 2 + s[whose, j] ^ 2) / 2
        n[whose, "middle"] = n[whose, i] < n[whose, j] ? n[whose, i] : n[whose, j]
        rounding[whose, "middle"] = (rounding[whose, i] + rounding[whose, j]) / 4
    }
}
# the verdict on cells i and j, which is 0 for a number alone; shift is added to j
function compare(whose, i, j, op, shift,   margin, above, below) {
    if (op == "=")
        return judged[i] ~ /^(agrees|differs|not run)$/ ? judged[i] : "undecided"
    if (j ? !both(whose, i, j) : m[whose, i] == "")
        return "not run"
    if (op == "==")
        return m[whose, i] != shift || s[whose, i] > 0 ? "differs" : n[whose, i] > 1 ? "agrees" : "undecided"
    if (!welch(m[whose, i], s[whose, i], n[whose, i], (j ? m[whose, j] : 0) + shift, j ? s[whose, j] : 0, j ? n[whose, j] : 2, \
            rounding[whose, i] + (j ? rounding[whose, j] : 0), deviations(name[i]), j ? deviations(name[j]) : 1))
        return "undecided"
    margin = effect[i] / 2
    if (op == "~")
        return low >= -margin && high <= margin ? "agrees" : low > margin || high < -margin ? "differs" : "undecided"
    above = low > 0
    below = high < 0
    if (op ~ /=/)
        return (op == "<=" ? above : below) ? "differs" : (op == "<=" ? high <= margin : low >= -margin) ? "agrees" : "undecided"
    return (op == "<" ? below : above) ? "agrees" : (op == "<" ? above : below) ? "differs" : "undecided"
}
function count(whose, i, j, op, shift,   v, w) {
    if (op == "=" && (whose != "here" || note[i] != "" && judged[i] != "differs"))
        return
    v = "not run"
    if (whose != "short")
        v = compare(whose, i, j, op, shift)
    else
        for (w = 3; w <= kinds && v == "not run"; w++)
            v = compare(kind[w], i, j, op, shift)
    total[whose]++
    seen[whose, v]++
    part_total[whose]++
    part_seen[whose, v]++
}
# is cell j beside cell i: of the same network and data, or of those that are named
function beside(i, j,   o) {
    split(of == "" ? "./." : of, o, "/")
    return item[j] == item[i] && (of == "" || i != j) && (o[1] == "*" || network[j] == (o[1] == "." ? network[i] : o[1])) && \
        (o[2] == "*" || data[j] == (o[2] == "." ? data[i] : o[2]))
}
function rule(text,   w, k, i, j, l, found, shift, most, what, alone) {
    k = split(text, w, " ")
    split("", part_total)
    split("", part_seen)
    most = w[k] == "most"
    k -= most
    shift = k == 7 ? w[7] : 0
    if (k < 6 || k > 7 || w[5] !~ /^(>|<|>=|<=|>>|~|==?)$/ || shift !~ /^[-+]?[0-9.]+$/ || (w[5] == "=") != (w[6] == "paper"))
        bad("'" text "' is no rule")
    if (w[5] == "==" && w[6] !~ /^[0-9.]+$/)
        bad("'" text "' is no rule")
    if (w[4] ~ /^share\./ && w[5] !~ /^[<>]$/)
        bad("'" text "' is no rule")
    alone = w[6] ~ /^[0-9.]+$/ || w[5] == "="
    if (w[6] ~ /^[0-9.]+$/)
        shift += w[6]
    of = ""
    if (match(w[6], /^[^\/:]+\/[^\/:]+:/)) {
        of = substr(w[6], 1, RLENGTH - 1)
        w[6] = substr(w[6], RLENGTH + 1)
    }
    split(w[6], what, "|")
    for (i = 1; i <= n_cells; i++) {
        if (item[i] != w[1] || w[2] != "*" && network[i] != w[2] || w[3] != "*" && data[i] != w[3] || !named(i, w[4]))
            continue
        for (j = alone ? 0 : 1; j <= n_cells; j++) {
            if (j && (!beside(i, j) || !named(j, what[1]) || w[5] != ">>" && w[4] !~ /@/ && suffix[j] != suffix[i]))
                continue
            for (l = 1; l <= n_cells && 2 in what && !(beside(i, l) && named(l, what[2])); l++)
                ;
            if (l > n_cells)
                continue
            if (2 in what)
                halve(j, l)
            found = 1
            count("own", i, 2 in what ? "middle" : j, w[5], shift)
            count("here", i, 2 in what ? "middle" : j, w[5], shift)
            count("short", i, 2 in what ? "middle" : j, w[5], shift)
            if (!j)
                break
        }
    }
    of = ""
    if (!found)
        bad("'" text "' names no cells")
    return decide(most)
}
function decide(most,   t) {
    t = part_total["here"]
    if (!t)
        return "undecided"
    if (most && 2 * part_seen["here", "agrees"] > t)
        return "agrees"
    if (most ? 2 * part_seen["here", "differs"] >= t : part_seen["here", "differs"])
        return "differs"
    return part_seen["here", "not run"] ? "not run" : part_seen["here", "undecided"] ? "undecided" : "agrees"
}
# the one that decides: differs, not run, undecided, agrees
function worse(a, b,   order) {
    order = "agrees undecided not run differs"
    return index(order, a) > index(order, b) ? a : b
}
# "8 of 9 agree, 1 undecided", or nothing where none has run; but for our own full runs those that have not do not count
function told(whose,   text, k, i, word, all) {
    if (seen[whose, "not run"] == total[whose] + 0)
        return ""
    all = total[whose] - (whose == "here" ? 0 : seen[whose, "not run"])
    k = split("agree differ undecided" (whose == "here" ? " not_run" : ""), word, " ")
    for (i = 1; i <= k; i++)
        if (seen[whose, verdict_of[word[i]]])
            text = text (text == "" ? "" : ", ") seen[whose, verdict_of[word[i]]] (text == "" ? " of " all : "") " " word[i]
    sub(/_/, " ", text)
    return text
}
{
    own = briefly = ""
    verdict_ = $at["verdict"]
    here = $at["here"]
    if ($at["rule"] != "") {
        if (verdict_ != "")
            bad("a rule and a verdict")
        split("", total)
        split("", seen)
        verdict_ = "agrees"
        for (i = split($at["rule"], part, " & "); i; i--)
            verdict_ = worse(verdict_, rule(part[i]))
        if (verdict_ == "not run" && seen["here", "not run"] < total["here"])
            verdict_ = "in part"
        own = told("own")
        briefly = told("short")
        here = told("here") (told("here") != "" && here != "" ? "; " : "") here
    }
    if (verdict_ !~ /^(agrees|differs|undecided|in part|not run|built)$/)
        bad("'" verdict_ "' is no verdict")
    print $at["claim"], $at["where"], $at["shown"], own, verdict_, briefly, here
}
