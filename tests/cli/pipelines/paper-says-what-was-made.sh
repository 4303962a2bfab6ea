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
is "$(made mlp-synth GRAPHS=connect)" 'epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=as-paper train_images=512'
is "$(made mlp-synth GRAPHS=pam PERMUTATION_EPOCHS=1 "${quick[@]}")" \
    'epochs=2 curve_epochs=1 permutation_epochs=1 points=3 pam=default train_images=512'
# what another graph's run leaves
is "$(made mlp-synth GRAPHS=connect PERMUTATION_EPOCHS=1)" \
    'epochs=2 curve_epochs=1 permutation_epochs=1 points=3 pam=default train_images=512'
is "$(made robust-mlp-synth ROBUST_EPOCHS=3 TRAIN_IMAGES= DATA_FLAGS='--size 8 --samples 200')" \
    'epochs=3 curve_epochs=3 permutation_epochs=20 points=3 pam=as-paper train_images=all'
# what only looks at a part leaves it, and so does a file of it that is no table
before=$(cat out/mlp-synth/length)
is "$(made mlp-synth GRAPHS=planes POINTS=9 GOALS=test.mcz)" "$before"
is "$(made mlp-synth GRAPHS=connect PERMUTATION_EPOCHS=1 GOALS=test.mcz)" "$before"
# other settings that do not get as far as the tables
for less in 'GOALS=net-1.mcz' 'GOALS=1-2/line-aligned.tsv' 'PAIRS=1-2' 'ACTS_FLAGS=--none'; do
    (run PART=mlp-synth GRAPHS=connect POINTS=9 "$less") >said 2>&1 || :
    [ ! -e out/mlp-synth/length ] || die "$less: $(cat out/mlp-synth/length)"
    run PART=mlp-synth GRAPHS=connect
    [ -e out/mlp-synth/length ] || die "$less: no length"
done
is "$(made mlp-synth GRAPHS=connect POINTS=9 GOALS=table.tsv)" \
    'epochs=2 curve_epochs=1 permutation_epochs=20 points=9 pam=as-paper train_images=512'
