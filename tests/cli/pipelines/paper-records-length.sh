# SPDX-License-Identifier: Apache-2.0
# paper.mk writes epochs, points, images and the kind of PAM to a case's file `length`, and keeps tables of other settings out
# of the folder.

run() { graph paper NETS=mlp DATA_FLAGS='--size 8' PAIRS=1:2 OUT=out "$@"; }
# made PART SETTING...: the contents of `length`
made() {
    run PART="$1" "${@:2}"
    cat out/"$1"/length
}
connect='epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=as-paper train_images=512'
# an earlier run without tables does not count
mkdir -p out/mlp-synth
echo 'epochs=9' >out/mlp-synth/length
expect_equal "$(made mlp-synth EXPERIMENTS=connect)" "$connect"
expect_equal "$(made robust-mlp-synth ROBUST_EPOCHS=3 TRAIN_IMAGES= DATA_FLAGS='--size 8 --samples 200')" \
    'epochs=3 curve_epochs=3 permutation_epochs=20 points=3 pam=as-paper train_images=all'
run PART=mlp-synth EXPERIMENTS=pam PERMUTATION_EPOCHS=1 PAM_FLAGS='--select-images 64 --draws 1' SUFFIX=-short
expect_equal "$(cat out/mlp-synth-short/length)" 'epochs=2 curve_epochs=1 permutation_epochs=1 points=3 pam=default train_images=512'
# refused and unchanged
cp -p out/mlp-synth/table.tsv before.tsv
for other in POINTS=9 PERMUTATION_EPOCHS=1 EPOCHS=1 TRAIN_IMAGES=64 PAM_FLAGS=; do
    ! (run PART=mlp-synth EXPERIMENTS=connect "$other") >out.refused 2>&1 || die "$other passes"
    expect_words errors "out/mlp-synth/length: *other settings*$connect*OUT*SUFFIX"
done
! (run PART=mlp-synth EXPERIMENTS=connect POINTS=9 PAIRS=1-2) >out.refused 2>&1 || die 'a pair without a colon passes'
expect_equal "$(cat out/mlp-synth/length)" "$connect"
same before.tsv out/mlp-synth/table.tsv
run PART=mlp-synth EXPERIMENTS=connect
expect_equal "$(count_programs)" ''
# words of the file are not executed
echo "epochs=2 pam=x';touch hit;:' permutation_epochs=\$(touch hit)" >out/mlp-synth/length
! (run PART=mlp-synth EXPERIMENTS=connect) >out.refused 2>&1 || die 'another length passes'
[ ! -e hit ] || die 'a word of the file is executed'
