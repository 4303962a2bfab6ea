# SPDX-License-Identifier: Apache-2.0
# --dropout 0 trains a curve between networks with dropout as between the same networks without it; the curve keeps their graph.
mc-data synth --samples 64 --size 16 -o d.mcz
for seed in 1 2; do
    mc-train -q --net tinyten-dropout --data d.mcz --epochs 1 --seed $seed -o $seed.mcz
    mc-convert $seed.mcz -o w.safetensors
    mc-convert w.safetensors --net tinyten --data d.mcz -o plain$seed.mcz
done
curve() { mc-bezier -q --data d.mcz --epochs 2 --batch 16 "$@"; }
curve 1.mcz 2.mcz -o with.mcz
curve --dropout 0 1.mcz 2.mcz -o without.mcz
curve plain1.mcz plain2.mcz -o plain.mcz
points() { mc-eval -q -d d.mcz --bn-data d.mcz --points 3 "$1"; }
expect_equal "$(points without.mcz)" "$(points plain.mcz)"
[ "$(points with.mcz)" != "$(points without.mcz)" ] || die 'dropout has no effect on curves'
expect_equal "$(mc-info --graph without.mcz)" "$(mc-info --graph with.mcz)"
mc-info without.mcz | grep -q 'mc-bezier .* dropout=0 ' || die 'the history lacks --dropout'
mc-info with.mcz >info
! grep 'mc-bezier .* dropout=' info || die 'the history has a dropout that was not given'
fails 2 '--dropout:*network*no dropout' curve --dropout 0 plain1.mcz plain2.mcz -o x.mcz
fails 2 'dropout' curve --dropout 1 1.mcz 2.mcz -o x.mcz
