# SPDX-License-Identifier: Apache-2.0
# soup.mk writes the same networks and accuracies as the programs by hand, with and without batch norm; each stage can be
# replaced, and a changed setting rebuilds only what depends on it.
graph soup -n
[ ! -e out ] || die 'make -n made a file'
bin=$MC_BUILD/bin graph soup report
expect_equal "$(count_programs)" 'mc-acts3 mc-corr3 mc-data2 mc-eval1 mc-hungarian1 mc-merge2 mc-permute3 mc-plot2 mc-repair2 mc-train3 '
graph soup
expect_equal "$(count_programs)" ''
by_hand() {
    local p
    for p in 1-2 1-3 2-3; do
        mc-acts -q -t 1 --data out/train.mcz out/net-${p%-*}.mcz out/net-${p#*-}.mcz | mc-corr -q -o m$p.mcz
    done
    mc-hungarian -q --joint m1-2.mcz m1-3.mcz m2-3.mcz -o joint.mcz --table joint.tsv
    for p in 1 2 3; do mc-permute joint.mcz out/net-$p.mcz -o p$p.mcz; done
    mc-merge out/net-[123].mcz -o plain.mcz
    mc-merge p[123].mcz -o mean.mcz
    same_content mean.mcz out/mean-joint.mcz
    same_content plain.mcz out/mean-unaligned.mcz
    mc-repair -q -t 1 --data out/train.mcz mean.mcz --ends p[123].mcz -o repaired.mcz
    same_content repaired.mcz out/mean-joint-repaired.mcz
    mc-repair -q -t 1 --data out/train.mcz plain.mcz --ends out/net-[123].mcz | same_content - out/mean-unaligned-repaired.mcz
    mc-eval -q -t 1 --data out/test.mcz out/net-[123].mcz plain.mcz mean.mcz repaired.mcz | sed 1d | cut -f 3 >accuracies
    awk -F '\t' '$3 ~ /^(net-.|mean-unaligned|mean-joint|mean-joint-repaired)$/ { printf "%.4f\n", $5 }' out/soup.tsv | same accuracies -
    # the objective and the best of three references
    awk -F '\t' '$1 == "total" { b = $4; for (i = 5; i <= 6; i++) if ($i > b) b = $i; printf "%.2f %.2f\n", $3, b }' joint.tsv >objective
    awk -F '\t' '$3 ~ /^mean-joint/ { print $6, $7 }' out/soup.tsv | sort -u | same objective -
}
by_hand
mc-repair -q -t 1 --data out/train.mcz mean.mcz | same_content - out/mean-joint-reestimated.mcz
mc-repair -q -t 1 --data out/train.mcz plain.mcz | same_content - out/mean-unaligned-reestimated.mcz
expect_equal "$(cut -f 3 out/soup.tsv | paste -sd ' ')" "weights net-1 net-2 net-3 mean-unaligned mean-unaligned-reestimated $(
)mean-unaligned-repaired mean-joint mean-joint-reestimated mean-joint-repaired"
py <<'END'
from page import Page
page = Page("out/report.html")
assert mcz.read("out/joint.mcz").id in page.cells and "mean-joint-repaired" in page.cells, page.cells
END
svg_texts out/soup.svg >texts
for text in net-1 mean-joint-repaired 'test accuracy (%)' 'mlp:bn,16 on synth, seeds 1, 2, 3'; do grep -qx "$text" texts || die "no $text: $(<texts)"; done

expect_programs 'mc-eval1 mc-merge2 mc-plot2 mc-repair2 ' soup MERGE='mc-merge --weights 3,1,1'
mc-merge --weights 3,1,1 p[123].mcz | same_content - out/mean-joint.mcz
expect_programs 'mc-eval1 mc-merge2 mc-plot2 mc-repair2 ' soup MERGE=mc-merge
expect_programs 'mc-eval1 mc-plot2 mc-repair2 ' soup REPAIR='mc-repair --samples 100'
printf '#!/bin/sh\necho replaced >>calls\nexec mc-hungarian --joint --starts 1 "$@"\n' >my_align
chmod +x my_align
graph soup REPAIR=mc-repair JOINT=./my_align SEEDS='1 2'
expect_equal "$(cat calls) $(cut -f 3 out/soup.tsv | grep -c net-)" 'replaced 2'

# networks of another folder; a network without batch norm has the mean itself as re-estimated mean
graph connect SEEDS='1 2' OUT=ends shared
graph soup SEEDS='1 2' FROM=ends OUT=copied
same ends/net-2.mcz copied/net-2.mcz
! grep -q '^mc-train' log || die 'FROM trains'
rm -r out
graph soup NET=mlp:16
by_hand
same out/mean-joint.mcz out/mean-joint-reestimated.mcz

refused() { # refused WORDS SETTING...
    ! (graph soup OUT=none "${@:2}") >output 2>&1 || die "$2 passes"
    expect_words output "$1"
    [ ! -e none ] || [ -z "$(find none -name '*.mcz')" ] || die "$2: made a file"
}
refused 'PAIRS*all pairs*networks: set SEEDS="1 2 3 4" instead' PAIRS='1:2 3:4'
refused 'SEEDS*at most 16 seeds (got 17)' SEEDS="$(seq -s ' ' 17)"
refused 'SEEDS*2 to 16 different numbers (got "1 1")' SEEDS='1 1'
refused "MERGE*command (got 'missing-command')" MERGE=missing-command
