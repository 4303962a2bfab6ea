# SPDX-License-Identifier: Apache-2.0
# paper.mk publish, reevaluate: networks, permutations and control points give the published tables again, without a training;
# a changed table is told.
set -- paper DATA_FLAGS='--size 8' TRAIN_IMAGES=256 POINTS=5 PAIRS='1:2 3:4' SUBSETS='128 all'
graph "$@" PART='mlp-synth robust-mlp-synth' GRAPHS='connect pam middle subsets averaged intervals robust' PAM_FLAGS='--select-images 64 --draws 4' ATTACK=pgd:steps=1
mkdir published
graph "$@" PART='mlp-synth robust-mlp-synth' publish PUBLISHED=published
# a third as large; a pair may have the curve itself
[ ! -e published/mlp-synth/1-2/curve-aligned.mcz ] || die 'the ends are published twice'
for f in 1-2/{line,curve}-{,pam-}{,un}aligned{,.summary}.tsv; do same out/mlp-synth/$f published/mlp-synth/$f; done
is "$(cat published/mlp-synth/1-2/curve-pam-aligned.tsv.settings)" "$(cat out/mlp-synth/1-2/curve-pam-aligned.tsv.settings)"
cp out/mlp-synth/3-4/curve-unaligned.mcz published/mlp-synth/3-4 && rm published/mlp-synth/3-4/inner-unaligned.mcz
graph "$@" OUT=again CURVE_EPOCHS=2 reevaluate PUBLISHED=published ATTACK=pgd:steps=1
for f in curve-{,pam-}{,un}aligned; do is "$(id again/reevaluated/mlp-synth.from/1-2/$f.mcz)" "$(id out/mlp-synth/1-2/$f.mcz)"; done
! grep -q '^mc-train\|^mc-pam\|^mc-bezier --data' log || die "$(grep '^mc' log)"
# the tables of paths are not taken from there
[ "$(grep -c '^mc-eval.* -o [^ ]*/mlp-synth/[^ ]*/line-aligned.tsv' log)" = 2 ] || die "$(grep '^mc' log)"
for f in mlp-synth/{table,pam,pointwise,signature,middle,subsets,averaged,intervals}.tsv robust-mlp-synth/{clean,robust,midpoint}.tsv mlp-synth/{scale,length}; do
    same out/$f again/reevaluated/$f
done
is "$(awk -F '\t' 'NF == 6 && $1 != "row" { n++; differ += $4 != $5 } END { print n, differ + 0 }' log)" \
    "$(cat out/mlp-synth/{pam,pointwise,signature,middle,subsets,averaged,intervals}.tsv out/robust-mlp-synth/{clean,robust,midpoint}.tsv |
        grep -cv '^network\|^pair	') 0"
# of some graphs alone
graph "$@" OUT=less reevaluate PUBLISHED=published PART=mlp-synth GRAPHS='connect middle'
is "$(cd less/reevaluated/mlp-synth && ls -- *.tsv | paste -sd ' ')" 'middle.tsv pointwise.tsv signature.tsv table.tsv'
# another figure
sed -i '/^mlp.*curve-aligned/s/	[0-9.]*$/	12.34/' published/mlp-synth/pam.tsv
! (graph "$@" OUT=again reevaluate PUBLISHED=published PART=mlp-synth) >out.refused || die 'a changed table passes'
grep -q '^curve-aligned	[0-9]*	ends_sd	12.34	[0-9.]*	0.1$' log || die "$(cat log)"
# with one curve of PAM less it is a table without them
rm published/mlp-synth/1-2/permutation-pam-aligned.mcz
graph "$@" OUT=less reevaluate PUBLISHED=published PART=mlp-synth
grep -q '^table.tsv, as published' log && ! grep pam.tsv log || die "$(cat log)"
# back in a folder, a part gives its ends to others, but for another kind of network
PATH=$MC_BUILD/bin:$PATH "$MC_ROOT/pipelines/published.sh" make published/mlp-synth back
set -- connect NET=mlp DATA_FLAGS='--size 8' TRAIN_IMAGES=256 POINTS=5 PAIRS='1:2 3:4' OUT=figures FROM=back
graph "$@" figures/table.tsv
same out/mlp-synth/table.tsv figures/table.tsv
! (graph "$@" NET=mlp:8) >out.refused && grep -qF "back/net-1.mcz was made with 'mlp 2 epochs" told || die "$(cat told)"
set -- paper PAIRS='1:2 3:4'
! (graph "$@" OUT=again reevaluate PUBLISHED=published PART=grid-mlp-synth) >out.refused || die 'what is not there passes'
grep -qF 'there are no curves of grid-mlp-synth' told || die "$(cat told)"
fails 1 'no pair with both curves' "$MC_ROOT/pipelines/published.sh" keep out/grid-mlp-synth kept
for none in out nowhere; do fails 1 'there is no file `length` in it' "$MC_ROOT/pipelines/published.sh" tables $none kept; done
[ ! -e kept ] || die 'an empty folder is left'
"$MC_ROOT/pipelines/published.sh" tables out/mlp-synth kept
for f in out/mlp-synth/{,1-2/,3-4/}*.tsv; do same "$f" "kept/${f#out/mlp-synth/}"; done
same out/mlp-synth/length kept/length
! find kept -name '*.mcz' | grep . || die 'more than tables'
for none in kept nowhere; do fails 1 'there is no pair with curves in it' "$MC_ROOT/pipelines/published.sh" make $none made; done
[ ! -e made ] || die 'an empty folder is left'
fails 2 'is wanted' "$MC_ROOT/pipelines/published.sh" keep out
