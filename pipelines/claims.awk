# SPDX-License-Identifier: Apache-2.0
#
# The claims of the paper's text, each with a verdict, from the cells that verdicts.sh gives (-f tsv) and a file of claims
# after it: columns claim, where, shown, rule, verdict, here. A claim without a rule keeps the verdict that stands there.
# A rule is one or more of these, joined by " & ", and is put to our cells and, as `own`, to the paper's own numbers:
#
#   ITEM NETWORK DATA ROW.COLUMN OP ROW.COLUMN|0 [most]      * is any network or data set
#
#   >, <  the first is above, below the second: agrees where the 95% interval of the difference lies on that side of 0,
#         differs where it lies on the other
#   >>    each of the first is above each of the second (table 3's cells)
#   ~     they are comparable: agrees where the interval lies within half the effect of alignment on both sides, differs
#         where it lies outside of that
#
# The two are taken as independent although the pairs share their ends, which as a rule makes the interval wider.
# A column without @ stands for that of every rate and batch size. All cells have to agree; with `most`, more than half.
# One that differs decides; else one that has not run leaves the claim not run, and an undecided one undecided.
BEGIN {
    FS = OFS = "\t"
    verdict_of["agree"] = "agrees"
    verdict_of["differ"] = "differs"
    verdict_of["undecided"] = "undecided"
    verdict_of["not_run"] = "not run"
}
function bad(text) {
    printf "verdicts.sh: %s: line %d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    exit status = 3
}
FNR == 1 {
    files++
    split("", at)
    for (i = 1; i <= NF; i++)
        at[$i] = i
    if (files == 2) {
        for (i = split("claim where shown rule verdict here", want, " "); i; i--)
            if (!(want[i] in at))
                bad("there is no column '" want[i] "'")
        print "claim", "where", "shown by", "in the paper's own numbers", "verdict", "here"
    }
    next
}
files == 1 {
    n_cells++
    item[n_cells] = $1
    network[n_cells] = $2
    data[n_cells] = $3
    name[n_cells] = $4 "." $5
    suffix[n_cells] = $5 ~ /@/ ? substr($5, index($5, "@")) : ""
    if ($(at["scale"]) == 1) {
        m["here", n_cells] = $(at["ours"])
        s["here", n_cells] = $(at["ours_sd"])
        n["here", n_cells] = $(at["pairs"])
    }
    m["own", n_cells] = $(at["paper"])
    s["own", n_cells] = $(at["paper_sd"])
    n["own", n_cells] = 3
    effect[n_cells] = $(at["effect"])
    digits = $(at["paper"]) ~ /\./ ? length($(at["paper"])) - index($(at["paper"]), ".") : 0
    rounding["own", n_cells] = 100 ^ -digits / 12
    next
}
# is cell i one that a rule's ROW.COLUMN names
function named(i, text) { return text == name[i] || text suffix[i] == name[i] }
# the verdict on cells i and j, which is 0 for the number 0
function compare(whose, i, j, op,   margin) {
    if (m[whose, i] == "" || j && m[whose, j] == "")
        return "not run"
    if (!welch(m[whose, i], s[whose, i], n[whose, i], j ? m[whose, j] : 0, j ? s[whose, j] : 0, j ? n[whose, j] : 2, \
            rounding[whose, i] + (j ? rounding[whose, j] : 0)))
        return "undecided"
    margin = effect[i] / 2
    if (op == "~")
        return low >= -margin && high <= margin ? "agrees" : low > margin || high < -margin ? "differs" : "undecided"
    return (op == "<" ? high < 0 : low > 0) ? "agrees" : (op == "<" ? low > 0 : high < 0) ? "differs" : "undecided"
}
function count(whose, i, j, op,   v) {
    v = compare(whose, i, j, op)
    total[whose]++
    seen[whose, v]++
}
function rule(text,   w, k, i, j, found) {
    k = split(text, w, " ")
    if (k < 6 || k > 7 || k == 7 && w[7] != "most" || w[5] !~ /^(>|<|>>|~)$/)
        bad("'" text "' is no rule")
    most = k == 7
    for (i = 1; i <= n_cells; i++) {
        if (item[i] != w[1] || w[2] != "*" && network[i] != w[2] || w[3] != "*" && data[i] != w[3] || !named(i, w[4]))
            continue
        for (j = w[6] == "0" ? 0 : 1; j <= n_cells; j++) {
            if (j && (item[j] != item[i] || network[j] != network[i] || data[j] != data[i] || !named(j, w[6]) || \
                    w[5] != ">>" && w[4] !~ /@/ && suffix[j] != suffix[i]))
                continue
            found = 1
            count("own", i, j, w[5])
            count("here", i, j, w[5])
            if (!j)
                break
        }
    }
    if (!found)
        bad("'" text "' names no cells")
}
function decide(whose,   t) {
    t = total[whose]
    if (most && 2 * seen[whose, "agrees"] > t)
        return "agrees"
    if (most ? 2 * seen[whose, "differs"] >= t : seen[whose, "differs"])
        return "differs"
    return seen[whose, "not run"] ? "not run" : seen[whose, "undecided"] ? "undecided" : "agrees"
}
# "8 of 9 agree, 1 undecided", or nothing where none has run
function told(whose,   text, k, i, word) {
    if (seen[whose, "not run"] == total[whose])
        return ""
    k = split("agree differ undecided not_run", word, " ")
    for (i = 1; i <= k; i++)
        if (seen[whose, verdict_of[word[i]]])
            text = text (text == "" ? "" : ", ") seen[whose, verdict_of[word[i]]] (text == "" ? " of " total[whose] : "") " " word[i]
    sub(/_/, " ", text)
    return text
}
{
    own = ""
    verdict_ = $at["verdict"]
    here = $at["here"]
    if ($at["rule"] != "") {
        if (verdict_ != "")
            bad("a rule and a verdict")
        split("", total)
        split("", seen)
        for (i = split($at["rule"], part, " & "); i; i--)
            rule(part[i])
        verdict_ = decide("here")
        own = told("own")
        here = told("here") (told("here") != "" && here != "" ? "; " : "") here
    }
    if (verdict_ !~ /^(agrees|differs|undecided|not run)$/)
        bad("'" verdict_ "' is no verdict")
    print $at["claim"], $at["where"], $at["shown"], own, verdict_, here
}
