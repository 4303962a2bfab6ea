# SPDX-License-Identifier: Apache-2.0
# verdicts.sh -c puts the paper's claims to our cells and to the paper's own, by the rules of claims.awk, and refuses what is none.
PATH=$MC_ROOT/pipelines:$PATH
# claims FILE-OF-RULES: the verdict, the paper's own and ours of each
claims() { verdicts.sh -f tsv -c claims.tsv paper | tail -n +2 | cut -f 4-6; }
# of tinyten NAME MEAN SD MEAN SD MEAN SD: ends, unaligned and aligned mean, on three data sets
part() {
    mkdir -p "paper/tinyten-$1"
    printf 'path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\tends\tends_sd\ncurve-unaligned\t%d\t%s\t%s\t1\t1\t%s\t%s\n' \
        "$2" "$5" "$6" "$3" "$4" >"paper/tinyten-$1/table.tsv"
    printf 'curve-aligned\t%d\t%s\t%s\t1\t1\t%s\t%s\n' "$2" "$7" "$8" "$3" "$4" >>"paper/tinyten-$1/table.tsv"
}
rule() { printf 'claim\twhere\tshown\trule\tverdict\there\na\t1\tx\t%s\t\tnote\n' "$1" >claims.tsv; }
above='table1 tinyten * curve-aligned.arc_mean > curve-unaligned.arc_mean'
mkdir paper
rule "$above"
is "$(claims)" $'3 of 3 agree\tnot run\tnote'
part cifar10 3 89 .1 87.4 .1 88.5 .1
part cifar100 3 58 .1 56 .1 58.7 .1
is "$(claims)" $'3 of 3 agree\tnot run\t2 of 3 agree, 1 not run; note'
part tiny-imagenet 3 34 .1 32 .1 34 .1
is "$(claims)" $'3 of 3 agree\tagrees\t3 of 3 agree; note'
part tiny-imagenet 3 34 .1 32 .1 34 9
is "$(claims)" $'3 of 3 agree\tundecided\t2 of 3 agree, 1 undecided; note'
rule "$above most"
is "$(claims)" $'3 of 3 agree\tagrees\t2 of 3 agree, 1 undecided; note'
part tiny-imagenet 1 34 '' 32 '' 34 ''
rule "$above"
is "$(claims)" $'3 of 3 agree\tundecided\t2 of 3 agree, 1 undecided; note'
part tiny-imagenet 3 34 .1 34 .1 32 .1
is "$(claims)" $'3 of 3 agree\tdiffers\t2 of 3 agree, 1 differ; note'
echo .5 >paper/tinyten-tiny-imagenet/scale
is "$(claims)" $'3 of 3 agree\tnot run\t2 of 3 agree, 1 not run; note'
# less; comparable within half of 1.1; two rules; zero; all of one kind above all of the other
rule 'table1 tinyten cifar10 curve-aligned.arc_mean < curve-unaligned.arc_mean'
is "$(claims)" $'1 of 1 differ\tdiffers\t1 of 1 differ; note'
rule 'table1 tinyten cifar10 curve-aligned.arc_mean ~ network.ends'
is "$(claims)" $'1 of 1 undecided\tundecided\t1 of 1 undecided; note'
part cifar10 3 88.6 .05 87.4 .1 88.5 .05
is "$(claims)" $'1 of 1 undecided\tagrees\t1 of 1 agree; note'
part cifar10 3 91 .05 87.4 .1 88.5 .05
is "$(claims)" $'1 of 1 undecided\tdiffers\t1 of 1 differ; note'
rule "${above/\*/cifar10} & table1 tinyten cifar10 network.ends > 0"
is "$(claims)" $'2 of 2 agree\tagrees\t2 of 2 agree; note'
rule 'table3 * * curve-aligned.arc_mean >> curve-unaligned.arc_mean'
is "$(claims)" $'81 of 81 agree\tnot run\tnote'
rule 'table3 * * curve-aligned.arc_mean > curve-unaligned.arc_mean'
is "$(claims)" $'9 of 9 agree\tnot run\tnote'

for wrong in 'table1 * * curve-aligned.arc_mean = 0' 'table1 * curve-aligned.arc_mean > 0' "$above all"; do
    rule "$wrong"
    fails 3 "claims.tsv: line 2: '$wrong' is no rule" verdicts.sh -c claims.tsv paper
done
rule 'table1 * * curve-aligned.mean > 0'
fails 3 "'table1 * * curve-aligned.mean > 0' names no cells" verdicts.sh -c claims.tsv paper
rule ''
fails 3 "'' is no verdict" verdicts.sh -c claims.tsv paper
sed -i 's/\t\tnote/\tagrees\tnote/' claims.tsv
is "$(claims)" $'\tagrees\tnote'
sed -i 's/\tx\t/&'"$above"'/' claims.tsv
fails 3 'a rule and a verdict' verdicts.sh -c claims.tsv paper
sed -i 1s/rule/law/ claims.tsv
fails 3 "claims.tsv: line 1: there is no column 'rule'" verdicts.sh -c claims.tsv paper
