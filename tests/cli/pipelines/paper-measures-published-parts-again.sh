# SPDX-License-Identifier: Apache-2.0
# paper.mk publish, reevaluate: networks, permutations and control points give the published tables again, without a training;
# a changed table is told.
set -- paper DATA_FLAGS='--size 8' TRAIN_IMAGES=256 POINTS=5 PAIRS='1:2 3:4'
graph "$@" PART='mlp-synth robust-mlp-synth' GRAPHS='connect pam robust' PAM_FLAGS='--select-images 64 --draws 4' ATTACK=pgd:steps=1
mkdir published
graph "$@" PART='mlp-synth robust-mlp-synth' publish PUBLISHED=published
# a third as large; a pair may have the curve itself
[ ! -e published/mlp-synth/1-2/curve-aligned.mcz ] || die 'the ends are published twice'
cp out/mlp-synth/3-4/curve-unaligned.mcz published/mlp-synth/3-4 && rm published/mlp-synth/3-4/inner-unaligned.mcz
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
fails 1 'no pair with both curves' "$MC_ROOT/pipelines/published.sh" keep out/grid-mlp-synth kept
[ ! -e kept ] || die 'an empty folder is left'
fails 2 'is wanted' "$MC_ROOT/pipelines/published.sh" keep out
