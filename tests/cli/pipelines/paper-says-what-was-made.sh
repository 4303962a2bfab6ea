# SPDX-License-Identifier: Apache-2.0
# paper.mk: a part's file `length` has the epochs, points, images and kind of PAM that its tables were made with, a robust part's
# its own; while they are made, and where they were not, there is none.

run() { graph paper NETS=mlp DATA_FLAGS='--size 8' PAIRS=1:2 OUT=out "$@"; }
# made PART SETTING...: what `length` says
made() {
    run PART="$1" "${@:2}"
    cat out/"$1"/length
}
quick=(PAM_FLAGS='--as-paper --select-images 64 --draws 1')
connect='epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=as-paper train_images=512'
is "$(made mlp-synth GRAPHS=connect)" "$connect"
pam='epochs=2 curve_epochs=1 permutation_epochs=1 points=3 pam=default train_images=512'
is "$(made mlp-synth GRAPHS=pam PERMUTATION_EPOCHS=1 "${quick[@]}")" "$pam"
# what another graph's run leaves
is "$(made mlp-synth GRAPHS=connect)" "$pam"
is "$(made robust-mlp-synth ROBUST_EPOCHS=3 TRAIN_IMAGES= DATA_FLAGS='--size 8 --samples 200')" \
    'epochs=3 curve_epochs=3 permutation_epochs=20 points=3 pam=as-paper train_images=all'
# what only looks at a part leaves it, and so does a file of it that is no table, and what a graph refuses
is "$(made mlp-synth GRAPHS=planes POINTS=9 GOALS=test.mcz)" "$pam"
is "$(made mlp-synth GRAPHS=connect GOALS='test.mcz train.mcz')" "$pam"
(run PART=mlp-synth GRAPHS=connect POINTS=9 PAIRS=1-2) >said 2>&1 && die 'a pair without a colon passes'
is "$(cat out/mlp-synth/length)" "$pam"
[ -e out/mlp-synth/pam.tsv ] || die 'a table is removed for nothing'
# tables of other settings do not outlive their length, whatever becomes of the run
for less in GOALS='test.mcz train.mcz' ACTS_FLAGS=--none GOALS=table.tsv; do
    cp out/mlp-synth/table.tsv out/mlp-synth/pam.tsv
    (run PART=mlp-synth GRAPHS=connect POINTS=9 "$less") >said 2>&1 || :
    [ ! -e out/mlp-synth/length ] && [ ! -e out/mlp-synth/pam.tsv ] || die "$less: $(ls out/mlp-synth)"
    is "$(made mlp-synth GRAPHS=connect)" "$connect"
done
# those of PAM not another permutation step
cp out/mlp-synth/table.tsv out/mlp-synth/pam.tsv
(run PART=mlp-synth GRAPHS=pam GOALS=test.mcz "${quick[@]}") >said 2>&1
[ -e out/mlp-synth/table.tsv ] && [ ! -e out/mlp-synth/pam.tsv ] && [ ! -e out/mlp-synth/length ] || die "$(ls out/mlp-synth)"
# a word of the file is none of the shell's
echo "epochs=2 pam=x';touch hit;:' permutation_epochs=\$(touch hit)" >out/mlp-synth/length
is "$(made mlp-synth GRAPHS=connect)" "$connect"
[ ! -e hit ] || die 'a word of the file is run'
fails 2 'make -i' make -i -f "$MC_ROOT/pipelines/paper.mk" help
