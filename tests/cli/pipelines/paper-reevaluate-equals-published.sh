# SPDX-License-Identifier: Apache-2.0
# paper.mk publish, reevaluate: the published networks, permutations and control points reproduce the tables without training; a
# changed table is reported.
set -- paper DATA_FLAGS='--size 8' TRAIN_IMAGES=256 POINTS=5 PAIRS='1:2 3:4' SUBSETS='128 all' \
    PAM_FLAGS='--select-images 64 --draws 4' ATTACK=pgd:steps=1
parts='mlp-synth robust-mlp-synth'
graph "$@" PART="$parts" EXPERIMENTS='connect pam middle subsets averaged intervals robust'
mkdir published
graph "$@" PART="$parts" publish PUBLISHED=published
! find published -name 'curve-*.mcz' | grep . || die 'the ends are published twice'
for f in 1-2/{line,curve}-{,pam-}{,un}aligned{,.summary}.tsv; do same out/mlp-synth/$f published/mlp-synth/$f; done
graph "$@" OUT=again PART="$parts" reevaluate PUBLISHED=published
for f in curve-{,pam-}{,un}aligned; do expect_equal "$(id again/reevaluated/mlp-synth.from/1-2/$f.mcz)" "$(id out/mlp-synth/1-2/$f.mcz)"; done
! grep -q '^mc-train\|^mc-pam\|^mc-bezier --data' log || die "$(grep '^mc' log)"
# the tables of paths are measured, not copied
[ "$(grep -c '^mc-eval.*summary [^ ]*/mlp-synth/[^ ]*/line-aligned.summary.tsv' log)" = 2 ] || die "$(grep '^mc' log)"
for f in mlp-synth/{table,pam,pointwise,signature,middle,subsets,averaged,intervals}.tsv robust-mlp-synth/{clean,robust,midpoint}.tsv; do
    same out/$f again/reevaluated/$f
done
expect_equal "$(awk -F '\t' 'NF == 6 && $1 != "row" { differ += $4 != $5 } END { print differ + 0 }' log)" 0
# another number
sed -i '/^mlp.*curve-aligned/s/	[0-9.]*$/	12.34/' published/mlp-synth/pam.tsv
! (graph "$@" OUT=again reevaluate PUBLISHED=published PART=mlp-synth) >out.refused || die 'a changed table passes'
grep -q '^curve-aligned	[0-9]*	ends_sd	12.34	[0-9.]*	0.1$' log || die "$(cat log)"

# FROM accepts the networks of a rebuilt case, but not with other settings
publish=$MC_ROOT/pipelines/paper/publish
PATH=$MC_BUILD/bin:$PATH "$publish" make published/mlp-synth back
set -- connect NET=mlp DATA_FLAGS='--size 8' TRAIN_IMAGES=256 POINTS=5 PAIRS='1:2 3:4' OUT=figures FROM=back
graph "$@" CURVE_EPOCHS=1 figures/table.tsv
same out/mlp-synth/table.tsv figures/table.tsv
! (graph "$@" EPOCHS=3) >out.refused && has_words errors "FROM: 'back/net-1.mcz'*EPOCHS: 3 expected*got 2" || die "$(cat errors)"
! (graph paper OUT=again reevaluate PUBLISHED=published PART=grid-mlp-synth) >out.refused || die 'a missing experiment passes'
grep -qF 'published: no published curves' errors || die "$(cat errors)"
fails 1 ': no curves' "$publish" keep out/grid-mlp-synth kept
for none in out nowhere; do fails 1 'length is missing' "$publish" tables $none kept; done
[ ! -e kept ] || die 'an empty folder is left'
"$publish" tables out/mlp-synth kept
for f in out/mlp-synth/{,1-2/,3-4/}*.tsv; do same "$f" "kept/${f#out/mlp-synth/}"; done
same out/mlp-synth/length kept/length
! find kept -name '*.mcz' | grep . || die 'more than tables'
for none in kept nowhere; do fails 1 ': no published curves' "$publish" make $none made; done
[ ! -e made ] || die 'an empty folder is left'
fails 2 'two folders*required' "$publish" keep out
