# SPDX-License-Identifier: Apache-2.0
# compare.py claims checks the hand-written verdicts on the paper's claims against their cells, and refuses damaged claims.
PATH=$MC_ROOT/pipelines/paper:$PATH
full='epochs=250 curve_epochs=250 permutation_epochs=20 points=65 pam=as-paper train_images=all'
# part DATA PAIRS ENDS SD UNALIGNED SD ALIGNED SD: tinyten's ends and mean along the curves
part() {
    mkdir -p "paper/tinyten-$1"
    echo "$full" >"paper/tinyten-$1/length"
    printf 'path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\tends\tends_sd\ncurve-unaligned\t%d\t%s\t%s\t1\t1\t%s\t%s\n' \
        "$2" "$5" "$6" "$3" "$4" >"paper/tinyten-$1/table.tsv"
    printf 'curve-aligned\t%d\t%s\t%s\t1\t1\t%s\t%s\n' "$2" "$7" "$8" "$3" "$4" >>"paper/tinyten-$1/table.tsv"
}
# claim VERDICT CELLS [HERE]: claims.tsv has that claim
claim() {
    printf 'claim\twhere\tshown by\tverdict\there\tkind\tcells\n' >claims.tsv
    printf 'a\t1\tx\t%s\t%s\tcost\t%s\n' "$1" "${3-note}" "$2" >>claims.tsv
}
# verdict VERDICT CELLS HERE: the cells allow only VERDICT, and the counts are printed before the note
verdict() {
    local v message
    for v in agrees differs undecided 'in part' 'not run' built; do
        claim "$v" "$2"
        if [ "$v" = "$1" ]; then
            expect_equal "$(compare.py claims -f tsv -c claims.tsv paper | tail -n 1 | cut -f 1-3,5,7-)" \
                $'a\t1\tx\t'"$v"$'\t'"$3"$'\tcost'
        else
            message=$(compare.py claims -c claims.tsv paper 2>&1 >table) && die "$v passes, not $1"
            expect_equal "$message" "compare.py: claims.tsv: line 2: the verdict is '$v', but its cells say '$1'"
            grep -q '^| a | 1 | x |' table
        fi
    done
}
above='table1 tinyten * curve-aligned.arc_mean > curve-unaligned.arc_mean'
part nothing 3 89 .1 87.4 .1 88.5 .1
verdict 'not run' "$above" note
part cifar10 3 89 .1 87.4 .1 88.5 .1
part cifar100 3 58 .1 56 .1 58.7 .1
verdict 'in part' "$above" '2 of 3 agree, 1 not run; note'
part tiny-imagenet 3 34 .1 32 .1 34 .1
verdict agrees "$above" '3 of 3 agree; note'
verdict agrees "table1 tinyten * curve-aligned.arc_mean > 30 & table1 tinyten cifar10 60 > curve-unaligned.minimum" '4 of 4 agree; note'
verdict differs "table1 tinyten * 58 > curve-aligned.arc_mean" '1 of 3 agree, 2 differ; note'
part tiny-imagenet 3 34 .1 32 .1 34 9
verdict undecided "$above" '2 of 3 agree, 1 undecided; note'
part tiny-imagenet 1 34 '' 32 '' 34 ''
verdict undecided "$above" '2 of 3 agree, 1 undecided; note'
part tiny-imagenet 3 34 .1 34 .1 32 .1
verdict differs "$above" '2 of 3 agree, 1 differ; note'
verdict differs "${above/\*/cifar10} & ${above/\*/tiny-imagenet}" '1 of 2 agree, 1 differ; note'
# a shorter run has not run; the first folder at the paper's length decides
cp -r paper/tinyten-tiny-imagenet full
sed -i 's/^epochs=250/epochs=125/' paper/tinyten-tiny-imagenet/length
verdict 'in part' "$above" '2 of 3 agree, 1 not run; note'
mv full paper/tinyten-tiny-imagenet-b
verdict differs "$above" '2 of 3 agree, 1 differ; note'
rm -r paper/tinyten-tiny-imagenet-b
# the ends' mean has two deviations: with one's degrees of freedom this is undecided
part cifar10 3 89 .22 87.4 .1 88.5 .05
verdict agrees 'table1 tinyten cifar10 network.ends > curve-aligned.arc_mean' '1 of 1 agree; note'
sed -i 's/\.22/.4/g' paper/tinyten-cifar10/table.tsv
verdict undecided 'table1 tinyten cifar10 network.ends > curve-aligned.arc_mean' '1 of 1 undecided; note'
# every cell of one kind above every cell of another
mkdir paper/grid-tinyten-cifar100
echo "$full" >paper/grid-tinyten-cifar100/length
{
    printf 'path\tlr\tbatch\tpairs\tarc_mean\tarc_mean_sd\n'
    for lr in .01 1e-1 .50; do for batch in 64 128 256; do
        printf "curve-unaligned\t$lr\t$batch\t3\t50\t.1\ncurve-aligned\t$lr\t$batch\t3\t60\t.1\n"
    done; done
} >paper/grid-tinyten-cifar100/grid.tsv
verdict agrees 'table3 * * curve-aligned.arc_mean@* > curve-unaligned.arc_mean@*' '81 of 81 agree; note'
mkdir paper/bound-mlp-cifar10
printf 'network\tdata\tway\tpairs\tbound_max\tbound_max_sd\nmlp:256,256\tcifar10\tunaligned\t3\t280\t6\nmlp:256,256\tcifar10\tl2-pre\t3\t163\t4\n' \
    >paper/bound-mlp-cifar10/bound.tsv
verdict agrees 'bound * * unaligned.bound_max > l2-pre.bound_max' '1 of 1 agree; note'

# a cell without a comparison has its own verdict, and without one it has only run; the count of missing runs is printed
verdict undecided 'table1 tinyten cifar10 network.ends' '1 of 1 undecided; note'
plain='bound * * unaligned.bound_max'
for v in agrees differs undecided; do
    claim $v "$plain"
    expect_equal "$(compare.py claims -f tsv -c claims.tsv paper | tail -n 1 | cut -f 5,7)" "$v"$'\tnote'
done
# wrong TEXT: the claim is refused with TEXT
wrong() {
    local message
    message=$(compare.py claims -c claims.tsv paper 2>&1 >/dev/null) && die 'a wrong claim passes'
    expect_equal "$message" "compare.py: claims.tsv: line 2: $1"
}
claim 'not run' "$plain"
wrong "the verdict is 'not run', but its cells say 'agrees' or 'differs' or 'undecided'"
claim undecided "$plain & table1 resnet32 * network.ends"
expect_equal "$(compare.py claims -f tsv -c claims.tsv paper | tail -n 1 | cut -f 7)" '3 of 4 not run; note'
# sums, equality, other networks; the paper's own numbers and shorter runs have their own counts
part cifar10 3 89 .1 87.4 .1 88.5 .1
part cifar100 3 58 .1 56 .1 58 .1
verdict differs 'table1 tinyten cifar* network.ends = curve-aligned.arc_mean' '1 of 2 agree, 1 differ; note'
verdict agrees 'table1 tinyten cifar* 2 * curve-aligned.arc_mean > network.ends + curve-unaligned.arc_mean' '2 of 2 agree; note'
gain='curve-aligned.arc_mean - curve-unaligned.arc_mean'
verdict 'in part' "table1 tinyten cifar100 $gain > NETWORK/*: $gain" '1 of 2 agree, 1 not run; note'
sed -i 's/^epochs=250/epochs=125/' paper/tinyten-cifar10/length
claim 'not run' "table1 tinyten cifar10 $gain > 0.5"
expect_equal "$(compare.py claims -f tsv -c claims.tsv paper | tail -n 1 | cut -f 4,6,7)" $'1 of 1 agree\t1 of 1 agree\tnote'
claim 'not run' "table1 tinyten cifar10 $gain > googlenet/DATA: $gain"
expect_equal "$(compare.py claims -f tsv -c claims.tsv paper | tail -n 1 | cut -f 4,6,7)" $'1 of 1 agree\t\tnote'
# a claim without cells
for v in agrees differs undecided 'not run' built; do
    claim "$v" ''
    compare.py claims -c claims.tsv paper >output
done
claim 'in part' ''
wrong "the verdict is 'in part', but its cells say 'agrees' or 'differs' or 'undecided' or 'not run' or 'built'"

# every comparison of claims.tsv of one cell with another or with a number can agree and differ
PYTHONPATH=$MC_ROOT/pipelines/paper:$PYTHONPATH py <<'END_OF_PY'
import cells, claims, fnmatch
lines = [cells.Line(c, folder="", effect="") for c in cells.read(cells.HERE + "/paper.tsv")[1]]
groups = claims.grouped(lines, True)
parts = [p for claim in cells.read(cells.HERE + "/claims.tsv")[1] for p in claim["cells"].split(" & ") if p]
simple = [m for m in map(claims.PART.fullmatch, parts) if m[5] == ">" and not m[6] and len(m[4].split(" ") + m[8].split(" ")) == 2]
assert len(simple) > 25 and all(map(claims.PART.fullmatch, parts)), simple
for m in simple:
    for far, verdict in (1000, "agrees"), (-1000, "differs"):
        for line in lines:
            name, sides = line["row"] + "." + line["column"], (m[4], m[8])
            at = [fnmatch.fnmatchcase(name, side) for side in sides]
            line.update(ours=str(far if at[0] else -far), ours_sd=".1", pairs="3")
        assert set(claims.outcomes(m[0], groups, claims.ours)) == {verdict}, (m[0], verdict)
END_OF_PY

for bad in 'table1 * * a < b' 'table1 * * a >' 'table1 * a > b' "$above -1" "$above & "; do
    claim agrees "$bad"
    fails 3 "compare.py: claims.tsv: line 2: '" compare.py claims -c claims.tsv paper
    fails 3 'must be ITEM NETWORK DATA SUM, or the same with > SUM or = SUM' compare.py claims -c claims.tsv paper
done
for none in 'table1 * * curve-aligned.mean > 0' 'table4 * * curve-aligned.arc_mean' 'table1 * * curve-aligned.arc_mean > nothing'; do
    claim agrees "$none"
    fails 3 "claims.tsv: line 2: '$none' names no cells" compare.py claims -c claims.tsv paper
done
sed -i 1s/cells/rule/ claims.tsv
fails 3 "claims.tsv: line 1: column 'cells'*missing" compare.py claims -c claims.tsv paper
# all published claims pass
compare.py claims "$MC_ROOT/pipelines/paper/published" >output
expect_equal "$(grep -c '^| ' output)" 59
