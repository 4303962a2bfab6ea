# SPDX-License-Identifier: Apache-2.0
# mc-eval --attack with eps=0 changes nothing, also for statistics and convolutions.
fixture attacked
e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 --batch 64 -t 1"

$e line.mcz -o clean.tsv
$e --attack pgd:eps=0 line.mcz -o nothing.tsv
same <(cut -f 6- nothing.tsv | sed 1d) <(cut -f 2-5 clean.tsv | sed 1d)
$e --attack pgd:eps=0,steps=1 --bn-attack line.mcz | same - nothing.tsv
# with convolutions too
mc-train -q --net $net --data test.mcz --epochs 0 -t 1 -o c.mcz
mc-eval -q --data test.mcz --test-samples 40 --batch 32 -t 1 --attack pgd:eps=0,steps=1 c.mcz -o c.tsv
same <(cut -f 2,3 c.tsv | sed 1d) <(cut -f 4,5 c.tsv | sed 1d)
mc-eval -q --data test.mcz --test-samples 40 --batch 32 -t 1 c.mcz | same - <(cut -f 1-3 c.tsv)
