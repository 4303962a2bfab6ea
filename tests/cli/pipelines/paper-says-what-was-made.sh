# SPDX-License-Identifier: Apache-2.0
# paper.mk: a part's file `length` has the epochs, points, images and kind of PAM that it was made with, a robust part's its own.

# made PART SETTING...: what `length` says
made() {
    graph paper NETS=mlp PART="$1" GOALS=test.mcz OUT=out "${@:2}"
    cat out/"$1"/length
}
is "$(made mlp-synth GRAPHS=connect)" 'epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=as-paper train_images=512'
is "$(made mlp-synth GRAPHS=pam PERMUTATION_EPOCHS=4 POINTS=65)" \
    'epochs=2 curve_epochs=1 permutation_epochs=4 points=65 pam=as-paper train_images=512'
is "$(made mlp-synth GRAPHS=pam PAM_FLAGS=)" 'epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=default train_images=512'
# what another graph's run leaves
is "$(made mlp-synth GRAPHS=connect)" 'epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=default train_images=512'
is "$(made mlp-synth GRAPHS=pam PAM_FLAGS='--as-paper --draws 4' TRAIN_IMAGES=)" \
    'epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=default train_images=all'
is "$(made robust-mlp-synth ROBUST_EPOCHS=7)" 'epochs=7 curve_epochs=7 permutation_epochs=20 points=3 pam=as-paper train_images=512'
# what only looks at a part leaves it
before=$(cat out/mlp-synth/length)
is "$(made mlp-synth GRAPHS=planes POINTS=9)" "$before"
