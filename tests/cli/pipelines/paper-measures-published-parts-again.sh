# SPDX-License-Identifier: Apache-2.0
# paper.mk reevaluate: networks, permutations and curves give the published tables again, without a training; a changed table is told.
set -- paper DATA_FLAGS='--size 8' TRAIN_IMAGES=256 POINTS=5 PAIRS='1:2 3:4'
graph "$@" PART='mlp-synth robust-mlp-synth' GRAPHS='connect pam robust' PAM_FLAGS='--select-images 64 --draws 4' ATTACK=pgd:steps=1
for part in mlp-synth robust-mlp-synth; do
    for pair in 1-2 3-4; do
        mkdir -p published/$part/$pair
        cp out/$part/$pair/permutation.mcz out/$part/$pair/curve-*ed.mcz published/$part/$pair
    done
    cp out/$part/net-?.mcz out/$part/*.tsv out/$part/scale published/$part
done
graph "$@" OUT=again reevaluate PUBLISHED=published ATTACK=pgd:steps=1
! grep -q '^mc-train\|^mc-pam\|^mc-bezier --data' log || die "$(grep '^mc' log)"
for f in mlp-synth/table.tsv mlp-synth/pam.tsv robust-mlp-synth/clean.tsv robust-mlp-synth/robust.tsv mlp-synth/scale; do
    same out/$f again/reevaluated/$f
done
is "$(grep -c '	0.00	0.0000$' log)" $((8 + 6 + 6))
# another figure
sed -i '/^mlp.*curve-aligned/s/	[0-9.]*$/	12.34/' published/mlp-synth/pam.tsv
! (graph "$@" OUT=again reevaluate PUBLISHED=published PART=mlp-synth) >out.refused || die 'a changed table passes'
! (graph "$@" OUT=again reevaluate PUBLISHED=published PART=grid-mlp-synth) >out.refused || die 'what is not there passes'
grep -qF 'there are no curves of grid-mlp-synth' told || die "$(cat told)"
