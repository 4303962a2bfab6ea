# SPDX-License-Identifier: Apache-2.0
# verdicts.sh -c puts the paper's claims to our cells and to the paper's own, by the rules of claims.awk, and refuses what is none.
PATH=$MC_ROOT/pipelines:$PATH
# claims: the paper's own, the verdict and ours of each; short: what shorter runs say
claims() { verdicts.sh -f tsv -c claims.tsv paper | tail -n +2 | cut -f 4,5,7; }
short() { verdicts.sh -f tsv -c claims.tsv paper | tail -n +2 | cut -f 6; }
full='epochs=250 curve_epochs=250 permutation_epochs=20 points=65 pam=as-paper train_images=all'
# of tinyten NAME MEAN SD MEAN SD MEAN SD: ends, unaligned and aligned mean, on three data sets
part() {
    mkdir -p "paper/tinyten-$1"
    echo "$full" >"paper/tinyten-$1/length"
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
is "$(claims)" $'3 of 3 agree\tin part\t2 of 3 agree, 1 not run; note'
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
is "$(claims)" $'3 of 3 agree\tin part\t2 of 3 agree, 1 not run; note'
# what is short of the paper's length stands apart
is "$(short)" '1 of 1 differ'
rule 'table1 tinyten cifar10 gain.arc_mean > tinyten/cifar100:gain.arc_mean'
echo .5 | tee paper/tinyten-cifar10/scale >paper/tinyten-cifar100/scale
is "$(short)" '1 of 1 differ'
echo .2 >paper/tinyten-cifar100/scale # another length
is "$(short)" ''
rm paper/tinyten-cifar{10,100}/scale
rm paper/tinyten-cifar10/length paper/tinyten-cifar100/length
is "$(short)" '' # which are not known to be as short
echo "$full" | tee paper/tinyten-cifar10/length >paper/tinyten-cifar100/length
# the first kind of folder that has both, of several pairs, however a full one stands beside them
rule 'table1 tinyten cifar10 curve-aligned.arc_mean > curve-unaligned.arc_mean'
mkdir paper/tinyten-cifar10-{a,b,c}
sed 's/^\(curve-aligned.*\)88.5/\184/' paper/tinyten-cifar10/table.tsv >paper/tinyten-cifar10-c/table.tsv
is "$(short)" '1 of 1 differ'
grep -v curve-aligned paper/tinyten-cifar10/table.tsv >paper/tinyten-cifar10-a/table.tsv
printf 'path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\tends\tends_sd\ncurve-unaligned\t1\t80\t\t80\t\t89\t\ncurve-aligned\t1\t89\t\t80\t\t89\t\n' >paper/tinyten-cifar10-b/table.tsv
is "$(short)" '1 of 1 differ'
cp paper/tinyten-cifar10/table.tsv paper/tinyten-cifar10-b/
is "$(short)" '1 of 1 agree'
is "$(claims)" $'1 of 1 agree\tagrees\t1 of 1 agree; note'
rm -r paper/tinyten-cifar10-{a,b,c}
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
# a rule each of its own `most`: of three cells two agree, and the other rule's differs
part tiny-imagenet 3 34 .1 34 .1 32 .1
rm paper/tinyten-tiny-imagenet/scale
part cifar10 3 88.6 .05 87.4 .1 88.5 .05
rule "$above most"
is "$(claims)" $'3 of 3 agree\tagrees\t2 of 3 agree, 1 differ; note'
rule "$above most & ${above/\*/tiny-imagenet}"
is "$(claims)" $'4 of 4 agree\tdiffers\t2 of 4 agree, 2 differ; note'
rule "${above/\*/tiny-imagenet} & $above most"
is "$(claims)" $'4 of 4 agree\tdiffers\t2 of 4 agree, 2 differ; note'

# the rules of claims.tsv, with cells that bear the claim out, that contradict it and that leave it open
# given N CLAIM'S BEGINNING: claims.tsv is that claim
given() { grep -P "^(claim\t|$1)" "$MC_ROOT/pipelines/paper/claims.tsv" >claims.tsv; [ "$(wc -l <claims.tsv)" = 2 ] || die "$1"; }
verdict() { claims | cut -f 2; }
# minima NET DATA ENDS UNALIGNED ALIGNED: their deviations are .1
minima() {
    mkdir -p "paper/$1-$2"
    echo "$full" >"paper/$1-$2/length"
    printf 'path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\tends\tends_sd\ncurve-unaligned\t3\t50\t.1\t%s\t.1\t%s\t.1\ncurve-aligned\t3\t50\t.1\t%s\t.1\t%s\t.1\n' \
        "$4" "$3" "$5" "$3" >"paper/$1-$2/table.tsv"
}
all_minima() { for net in tinyten resnet32 googlenet; do minima $net cifar100 "$@"; done; }
# the least of many points is below the ends without a barrier, too: both curves alike
all_minima 58 57.65 57.65
given 'Unaligned curves have a barrier'; is "$(verdict)" differs
given 'The accuracy along aligned curves is flat'; is "$(verdict)" agrees
all_minima 58 53 53
is "$(verdict)" differs
given 'Unaligned curves have a barrier'; is "$(verdict)" agrees
all_minima 58 57 57
is "$(verdict)" undecided
# the epochs saved, and a pair that never comes there
saved() { printf 'epochs\tpairs\taccuracy_pairs\taccuracy_saved\taccuracy_saved_sd\tlead\tlead_sd\n250\t3\t%s\t%s\t%s\t.1\t.01\n' "$@" >paper/tinyten-cifar100/saved.tsv; }
given 'It takes 100 epochs less'; is "$(verdict)" 'not run'
saved 3 95 1; is "$(verdict)" agrees # read off a figure
saved 3 40 12; is "$(verdict)" differs
saved 0 0 0; is "$(verdict)" differs
saved 2 66 57; is "$(verdict)" undecided
# robust curves: a barrier, half as deep as another, a point that is better in both
mkdir paper/robust-{tinyten,resnet32,googlenet}-cifar10{,0}
for f in paper/robust-*; do echo "$full" | sed 's/=250/=200/g' >$f/length; done
robust() {
    for f in paper/robust-*; do
        printf 'path\tpairs\tbarrier_test_loss\tbarrier_test_loss_sd\tminimum\tminimum_sd\tends\tends_sd\ncurve-unaligned-bn-attack\t3\t.2\t.01\t%s\t.1\t50\t.1\ncurve-aligned-bn-attack\t3\t.1\t.01\t%s\t.1\t50\t.1\n' "$@" | tee $f/clean.tsv >$f/robust.tsv
    done
}
for kind in clean robust; do
    given "With alignment the barrier in $kind"
    robust 44 49; is "$(verdict)" agrees
    robust 44 46; is "$(verdict)" differs
    robust 44 47; is "$(verdict)" undecided
    sed -i 's/=200/=8/g' paper/robust-tinyten-cifar10/length; is "$(verdict)" 'in part'
    sed -i 's/=8/=200/g' paper/robust-tinyten-cifar10/length
done
given 'Curves between robust'; is "$(verdict)" agrees
robust 49.6 49.6; is "$(verdict)" differs
given 'For TinyTen and ResNet32 a point'
both() {
    for f in paper/robust-{tinyten,resnet32}-cifar100; do
        printf 'path\tpairs\tclean_gain\tclean_gain_sd\trobust_gain\trobust_gain_sd\tboth_gain\tboth_gain_sd\tclean_best\tclean_best_sd\trobust_best\trobust_best_sd\ncurve-aligned-bn-attack\t3\t5.2\t.5\t1.3\t.1\t%s\t.1\t2\t.1\t2\t.1\n' "$1" >$f/midpoint.tsv
    done
}
both 2; is "$(verdict)" agrees
both .1; is "$(verdict)" differs
given "The middle of ResNet32's"; is "$(verdict)" agrees
sed -i 's/\t1.3\t/\t3.3\t/' paper/robust-resnet32-cifar100/midpoint.tsv
is "$(verdict)" differs
# no better: worse, as good as, better
rule 'table1 tinyten cifar10 curve-unaligned.arc_mean <= curve-aligned.arc_mean'
is "$(verdict)" agrees
part cifar10 3 88.6 .05 88.4 .1 88.5 .1; is "$(verdict)" agrees
part cifar10 3 88.6 .05 88.9 .1 88.5 .05; is "$(verdict)" differs
part cifar10 3 88.6 .05 88.5 1 88.5 1; is "$(verdict)" undecided
# gains beside those of other networks and data sets, in points and in percent
gain='table1 tinyten cifar10 gain.arc_mean > tinyten/tiny-imagenet:gain.arc_mean'
part cifar10 3 89 .1 87 .1 89 .1
part cifar100 3 58 .1 56 .1 57 .1
part tiny-imagenet 3 34 .1 30 .1 31.5 .1
rule "$gain"; is "$(claims | cut -f 1,2)" $'1 of 1 differ\tagrees'
rule "${gain//gain./share.}"; is "$(claims | cut -f 1,2)" $'1 of 1 differ\tdiffers'
rule 'table1 tinyten cifar10 gain.arc_mean > ./*:gain.arc_mean'; is "$(claims | cut -f 3)" '2 of 2 agree; note'
rule 'table1 tinyten cifar10 gain.arc_mean > */*:gain.arc_mean'; is "$(claims | cut -f 2-3)" $'in part\t4 of 8 agree, 4 not run; note'
# no share of nothing
part tiny-imagenet 3 34 .1 0 .1 31.5 .1
rule "${gain//gain./share.}"; is "$(claims | cut -f 1,2)" $'1 of 1 differ\tnot run'
rule "${gain//gain./share.}"; sed -i 's/ > / ~ /' claims.tsv; fails 3 'is no rule' verdicts.sh -c claims.tsv paper
part tiny-imagenet 3 34 .1 34 .1 32 .1
# the other graphs' tables
measures() {
    for data in cifar10 cifar100 tiny-imagenet; do
        printf 'path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\nunaligned\t3\t50\t.1\t50\t.1\ncorrelation\t3\t%s\t.1\t%s\t.1\nl2-post\t3\t%s\t.1\t%s\t.1\nl2-pre\t3\t%s\t.1\t%s\t.1\n' \
            $1 $1 $2 $2 $3 $3 >paper/tinyten-$data/measures.tsv
    done
}
part tiny-imagenet 3 34 .1 34 .1 32 .1
verdicts() {
    for claim in 'Every way of' 'Aligning post-activations out' 'Correlation out'; do given "$claim"; verdict; done | paste -sd ,
}
measures 55 54 53; is "$(verdicts)" agrees,agrees,agrees
measures 52 54 55; is "$(verdicts)" agrees,differs,differs
measures 55 55 49; is "$(verdicts)" differs,agrees,undecided
subsets() { printf 'images\tpairs\tdiffer\tdiffer_sd\n2500\t3\t%s\t%s\n5000\t3\t0\t0\n' $1 $2 >paper/tinyten-cifar100/subsets.tsv; }
given 'The alignment of CIFAR-100'
subsets 0 0; is "$(verdict)" agrees
subsets 29 4; is "$(verdict)" differs
subsets 2 2; is "$(verdict)" differs # one pair is enough
printf 'images\tpairs\tdiffer\tdiffer_sd\n2500\t1\t0\t\n5000\t1\t0\t\n' >paper/tinyten-cifar100/subsets.tsv
is "$(verdict)" undecided # and not enough for the contrary
# PAM: what it finds from the alignment, what Q falls by; too few images to judge by count for nothing
pams() {
    for f in paper/{tinyten,resnet32}-{cifar10,cifar100,tiny-imagenet}; do
        { printf 'pair\tpath\touter\tothers_before\tothers_after\tdecrease\n'
        for p in 1-2 3-4 5-6; do for v in un ''; do printf "$p\\tcurve-pam-${v}aligned\\t1\\t$1\\t$2\\t$3${p#*-}\\n"; done; done; } >$f/objective.tsv
    done
}
mkdir -p paper/{tinyten,resnet32}-{cifar10,cifar100,tiny-imagenet}
for f in paper/{tinyten,resnet32}-{cifar10,cifar100,tiny-imagenet}; do echo "$full" >$f/length; done
verdicts() { for claim in 'The permutation of alignment is locally' 'Q falls'; do given "$claim"; verdict; done | paste -sd ,; }
pams .7 .7 .3; is "$(verdicts)" agrees,agrees
pams .7 .6 -.3; is "$(verdicts)" differs,differs
pams '' '' .3; is "$(verdicts)" 'not run,agrees'
middle() {
    for net in tinyten resnet32 googlenet; do
        for data in cifar10 cifar100 tiny-imagenet; do
            mkdir -p paper/$net-$data
            echo "$full" >paper/$net-$data/length
            { printf 'pair\tcurve\tend\tlayer\tidentity\tpermuted\n'
            for p in 1-2 3-4 5-6; do printf "$p\\tunaligned\\tfirst\\ta\\t.5\\t.6\\n$p\\taligned\\tfirst\\ta\\t$1\\t$2\\n"; done; } >paper/$net-$data/middle.tsv
        done
    done
}
verdicts() { for claim in 'The middle of the aligned curve is more' 'The middle of the aligned curve is almost'; do given "$claim"; verdict; done | paste -sd ,; }
middle .7 .7; is "$(verdicts)" agrees,agrees
middle .4 .6; is "$(verdicts)" differs,differs
curves() {
    for f in paper/{tinyten,resnet32,googlenet}-{cifar10,cifar100,tiny-imagenet}; do
        printf "pairs\tabove\tabove_sd\tvariation_unaligned\tvariation_unaligned_sd\tvariation_aligned\tvariation_aligned_sd\n3\t$1\t2\t.5\t.01\t$2\t.01\n" >$f/pointwise.tsv
        printf "pair\tlayer\tidentity\tpermuted\n1-2\ta\t0\t.5\n1-2\tb\t.2\t$3\n3-4\ta\t0\t.5\n3-4\tb\t.2\t$3\n" >$f/signature.tsv
    done
}
verdicts() { for claim in 'The accuracy at each' 'Neurons matched' 'The middle of the unaligned'; do given "$claim"; verdict; done | paste -sd ,; }
curves 90 .2 .7; is "$(verdicts)" agrees,agrees,agrees
curves 90 .7 .1; is "$(verdicts)" differs,differs,undecided
curves 40 .2 .1; is "$(verdicts)" differs,differs,undecided
# straight lines
lines() { for f in paper/{tinyten,resnet32,googlenet}-{cifar10,cifar100,tiny-imagenet}; do
    printf "path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\tends\tends_sd\tbarrier_train_loss\tbarrier_train_loss_sd\nline-unaligned\t3\t50\t.1\t50\t.1\t50\t.1\t2\t.1\nline-aligned\t3\t50\t.1\t50\t.1\t50\t.1\t$1\t.1\n" >$f/table.tsv
done; }
given 'The aligned straight line'
lines 1; is "$(verdict)" agrees
lines 3; is "$(verdict)" differs
# the paper's own: PAM's training loss is not compared with the plain curves', nor any cell that its code makes of something else
given 'From no alignment, PAM finds'; is "$(claims | cut -f 1)" '10 of 12 agree, 2 undecided'
given "GoogLeNet's training loss"; is "$(claims | cut -f 1)" '3 of 6 agree, 3 differ'
# the ends' mean has two deviations: with one's degrees of freedom this is undecided
rule 'table1 tinyten cifar10 curve-aligned.arc_mean ~ network.ends'
part cifar10 3 88.6 .22 87.4 .1 88.5 .05; is "$(verdict)" agrees
# a cell that cannot agree does not count
given 'Networks of 250 epochs'
for net in tinyten resnet32 googlenet; do for data in cifar10 cifar100 tiny-imagenet; do
    ends=$(awk -F '\t' -v n=$net -v d=$data '$1 == "table1" && $2 == n && $3 == d && $5 == "ends" { print $6 }' "$MC_ROOT/pipelines/paper/paper.tsv")
    printf "path\tpairs\tarc_mean\tarc_mean_sd\tminimum\tminimum_sd\tends\tends_sd\ncurve-unaligned\t3\t50\t.1\t50\t.1\t$ends\t.01\n" >paper/$net-$data/table.tsv
done; done
is "$(verdict)" agrees
# tables of the bound beside the claims
given 'The bound on the loss'
is "$(verdict)" 'not run'
bound() { printf 'network\tdata\tway\tpairs\tbound_max\tbound_max_sd\nmlp:256,256\tcifar10\tunaligned\t3\t280\t6\nmlp:256,256\tcifar10\tl2-pre\t3\t%s\t4\n' $1 >my-bound.tsv; }
bound 163; is "$(verdict)" agrees
bound 300; is "$(verdict)" differs
given 'Aligning post-activations under'
sed -i 's/l2-pre/constrained/' my-bound.tsv; is "$(verdict)" differs
bound 163; sed -i 's/l2-pre/constrained/' my-bound.tsv; is "$(verdict)" agrees

for wrong in 'table1 * * curve-aligned.arc_mean == network.ends' 'table1 * * curve-aligned.arc_mean = 0' 'table1 * * curve-aligned.arc_mean > paper' 'table1 * * curve-aligned.arc_mean > 0 x' 'table1 * curve-aligned.arc_mean > 0' "$above all"; do
    rule "$wrong"
    fails 3 "claims.tsv: line 2: '$wrong' is no rule" verdicts.sh -c claims.tsv paper
done
rule 'table1 * * curve-aligned.mean > 0'
fails 3 "'table1 * * curve-aligned.mean > 0' names no cells" verdicts.sh -c claims.tsv paper
rule ''
fails 3 "'' is no verdict" verdicts.sh -c claims.tsv paper
sed -i 's/\t\tnote/\tbuilt\tnote/' claims.tsv
is "$(claims)" $'\tbuilt\tnote'
sed -i 's/\tbuilt\tnote/\tagrees\tnote/' claims.tsv
is "$(claims)" $'\tagrees\tnote'
sed -i 's/\tx\t/&'"$above"'/' claims.tsv
fails 3 'a rule and a verdict' verdicts.sh -c claims.tsv paper
sed -i 1s/rule/law/ claims.tsv
fails 3 "claims.tsv: line 1: there is no column 'rule'" verdicts.sh -c claims.tsv paper
