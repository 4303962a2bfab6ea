# SPDX-License-Identifier: Apache-2.0
# Every rule of pipelines/paper/claims.tsv can give differs, each of its parts by itself: where its first cells lie far on the wrong side,
# as far as they can: a minimum is at most the ends', and what is no gain at least 0.
pipelines=$MC_ROOT/pipelines
mkdir paper
"$pipelines/verdicts.sh" -f tsv paper >cells
awk -F '\t' 'NR > 1 && $4 != "" { n = split($4, part, " & "); for (i = 1; i <= n; i++) print NR "\t" part[i] }' \
    "$MC_ROOT/pipelines/paper/claims.tsv" >rules
[ "$(wc -l <rules)" -gt 40 ] || die "$(wc -l <rules) rules"
while IFS=$'\t' read -r line rule; do
    sed -n "1p;${line}p" "$MC_ROOT/pipelines/paper/claims.tsv" >claims
    # all cells 500 ± .1 of three pairs, the first ones of the rule elsewhere
    for side in wrong right; do
        awk -v rule="$rule" -v side=$side 'BEGIN { FS = OFS = "\t"; split(rule, w, " "); sub(/^(gain|share)\./, "curve-aligned.", w[4]) }
            NR > 1 {
                $6 = 500; $7 = .1; $8 = 3; $15 = ""
                name = $4 "." $5
                short = name
                sub(/@.*/, "", short)
                if ($1 == w[1] && (w[2] == "*" || w[2] == $2) && (w[3] == "*" || w[3] == $3) && (name == w[4] || short == w[4])) {
                    if (w[5] == "=")
                        $17 = side == "wrong" ? "differs" : "agrees"
                    else if (w[5] != "~")
                        $6 = (w[5] ~ />/) == (side == "right") ? (w[5] == "<" && w[6] ~ /ends$/ && name ~ /minimum/ ? 500 : 1000) : name ~ /gain|lead|decrease/ ? -1000 : 0
                    else if (side == "wrong")
                        $6 = 1000
                }
            }
            { print }' cells >made
        awk -f "$pipelines/welch.awk" -f "$pipelines/claims.awk" made claims | tail -n 1 | cut -f 5 >$side
    done
    is "$rule: $(cat wrong)" "$rule: differs"
    # in a rule of one part the other side agrees
    grep -q ' & ' claims || is "$rule: $(cat right)" "$rule: agrees"
done <rules
