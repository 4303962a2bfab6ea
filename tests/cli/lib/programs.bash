# SPDX-License-Identifier: Apache-2.0
# programs FUNCTION: calls the function with command lines on formats/samples, one for each program and form. Words that
# name files are inputs.
programs() {
    local s=$MC_ROOT/formats/samples/good f=$1
    local d=$s-dataset.mcz w=$s-weights.mcz
    [ -e w.npz ] || mc-convert "$w" -o w.npz
    [ -e table.tsv ] || printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t1\t50\n' >table.tsv
    [ -e summary.tsv ] || mc-eval -q -t 1 --points 2 --data "$d" --summary summary.tsv "$s-curve.mcz" >/dev/null
    [ -e plain.mcz ] || mc-train -q -t 1 --net mlp:3 --no-augment --epochs 1 --data "$d" -o plain.mcz
    [ -e pre.mcz ] || mc-acts -q -t 1 --at pre --data "$d" --samples 2 plain.mcz plain.mcz -o pre.mcz
    [ -e other.mcz ] || mc-train -q -t 1 --net mlp:3 --no-augment --epochs 1 --seed 2 --data "$d" -o other.mcz
    [ -e pair.mcz ] || mc-acts -q -t 1 --at pre --data "$d" --samples 3 plain.mcz other.mcz | mc-corr -q -o pair.mcz
    [ -e pair-set.mcz ] || mc-permute --join plain.mcz other.mcz -o pair-set.mcz
    $f mc-train -q --net mlp:3 --no-augment --epochs 1 --data "$d"
    $f mc-acts -q --data "$d" "$w" "$w"
    $f mc-acts -q --raw --data "$d" "$w"
    $f mc-corr -q "$s-moments.mcz"
    $f mc-corr --signature "$s-moments.mcz"
    $f mc-corr --signature --perm "$s-permutation.mcz" "$s-moments.mcz"
    $f mc-corr -q "$s-activations.mcz" "$s-activations.mcz"
    $f mc-bound -q plain.mcz plain.mcz pre.mcz
    $f mc-bound -q plain.mcz plain.mcz pre.mcz "$s-permutation.mcz"
    $f mc-hungarian -q "$s-matrices.mcz"
    $f mc-procrustes -q "$s-matrices.mcz"
    $f mc-hungarian -q --joint pair.mcz
    $f mc-hungarian -q --joint --score pair-set.mcz pair.mcz
    $f mc-match -q "$w" "$w"
    $f mc-align -q "$w" "$w"
    $f mc-match -q --joint plain.mcz other.mcz
    $f mc-match -q --maps "$w" "$w"
    $f mc-match -q --init "$s-permutation.mcz" "$w" "$w"
    $f mc-permute "$s-permutation.mcz" "$w"
    $f mc-permute "$s-permutation-joint.mcz" "$w"
    $f mc-permute --compose "$s-permutation-matrices.mcz" "$s-permutation-matrices.mcz"
    $f mc-permute --verify "$d" "$s-permutation.mcz" "$w"
    $f mc-permute --join plain.mcz other.mcz
    $f mc-merge "$w" "$w"
    $f mc-bezier -q --epochs 0 "$w" "$w"
    $f mc-bezier -q --epochs 1 --data "$d" "$w" "$w"
    $f mc-bezier --point .5 "$s-curve.mcz"
    $f mc-pam -q --permutation-epochs 1 --epochs 1 --data "$d" "$w" "$w"
    $f mc-pam -q --permutation-epochs 1 --epochs 1 --perm "$s-permutation.mcz" --data "$d" "$w" "$w"
    $f mc-repair -q --data "$d" "$w"
    $f mc-repair -q --data "$d" "$w" --ends "$w" "$w"
    $f mc-pgd -q --data "$d" "$w"
    $f mc-eval -q --data "$d" "$w"
    $f mc-eval -q --points 2 --data "$d" "$s-curve.mcz"
    $f mc-eval --compare loss summary.tsv
    $f mc-bootstrap "$s-losses.mcz" "$s-losses.mcz"
    $f mc-convert -q --to npz "$w"
    $f mc-convert -q --to safetensors "$w"
    $f mc-convert -q --from npz --like "$w" w.npz
    $f mc-plot path --format svg table.tsv
    $f mc-plot dots --columns test.loss --format svg table.tsv
    $f mc-data synth --samples 20
    $f mc-info "$w"
}
