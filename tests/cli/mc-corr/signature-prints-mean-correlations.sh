# SPDX-License-Identifier: Apache-2.0
# mc-corr --signature prints mean correlations before and after a permutation, with and without dead units.
fixture planted

mc-corr -q dq.mcz | mc-hungarian -q -o p.mcz
mc-corr --signature --perm p.mcz dq.mcz >sig.tsv
head -n 1 sig.tsv |
    grep -qx 'layer	units	dead_a	dead_b	identity	permuted	identity_live	permuted_live'
# each layer: both networks have the same dead units; live units correlate 1, dead ones 0
awk -F '\t' 'NR > 1 {
        if ($3 != $4 || !near($6, ($2 - $3) / $2) || !near($8, 1) || !($5 < .8) || !($7 < .8)) exit bad = 1
        dead[$1] = $3 }
    function near(x, y) { return x - y < 1e-6 && y - x < 1e-6 }
    END { exit bad || NR != 9 || dead["layers.3.relu"] < 2 }' sig.tsv
mc-corr --signature dq.mcz | head -n 1 |
    grep -qx 'layer	units	dead_a	dead_b	identity	identity_live'
mc-corr --signature --perm p.mcz dq.mcz -o x.tsv
same sig.tsv x.tsv
cat p.mcz | mc-corr --signature --perm - dq.mcz | same sig.tsv -
fails 3 "permutation expected*weights*mc-match" mc-corr --signature --perm a.mcz dq.mcz
mc-train -q -t 1 --net mlp:8 --data data.mcz --samples 16 --epochs 1 -o mlp.mcz
mc-permute --random 1 --perm-out mlp-p.mcz mlp.mcz -o x.mcz
fails 3 "the permutation is for another network" mc-corr --signature --perm mlp-p.mcz dq.mcz

# a node that several groups share has a distinct row for each name, so that mc-plot accepts the table
mc-data -q synth --samples 16 -o d32.mcz
for s in 1 2; do mc-train -q -t 1 --net "$MC_ROOT/formats/samples/example_net.json" --data d32.mcz --epochs 1 --seed $s -o e$s.mcz; done
mc-acts -q --data d32.mcz --samples 16 e1.mcz e2.mcz >shared.mcz
mc-corr -q shared.mcz | mc-hungarian -q -o shared-p.mcz
mc-corr -q --signature --perm shared-p.mcz shared.mcz >shared.tsv
grep -q '^block.relu2 (.' shared.tsv || die "$(cat shared.tsv)"
[ -z "$(cut -f 1 shared.tsv | sort | uniq -d)" ] || die "$(cat shared.tsv)"
mc-plot signature shared.tsv -o shared.svg
