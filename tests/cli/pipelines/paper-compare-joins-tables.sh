# SPDX-License-Identifier: Apache-2.0
# compare.py cells joins the experiments' tables to the paper's numbers, each cell with a verdict, and refuses damaged input.
PATH=$MC_ROOT/pipelines/paper:$PATH
# rows: a table from lines with spaces for tabs
rows() { tr ' ' '\t'; }
# the lines of these cells without the first columns
cells() { compare.py cells -f tsv paper | grep -P "^$1\t" | cut -f "${2:-5-17}"; }

full='epochs=250 curve_epochs=250 permutation_epochs=20 points=65 pam=as-paper train_images=all'
# the numbers of the paper's tables were typed once and compared with its source
expect_equal "$(awk -F '\t' '$6 != "" { n[$1]++; NF = 9; $1 = $1; print >"typed" } END { print n["table1"], n["table2"], n["table3"], n["text"] }' \
    "$MC_ROOT/pipelines/paper/paper.tsv")" '69 30 18 3'
expect_equal "$(cksum <typed)" '2960951827 7871'

mkdir -p paper/{tinyten-cifar10,resnet32-cifar10,{grid-,robust-,}tinyten-cifar100} 'another tree/tinyten-cifar10'
expect_equal "$(compare.py cells -f tsv 'another tree' | cut -f 17 | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd ,)" '313 not run,1 verdict '
compare.py cells 'another tree' 2>&1 >log | grep -qx 'compare.py: another tree: no tables (expected folders such as tinyten-cifar10)' || die 'silent on an empty folder'
for f in paper/*/; do echo "$full" >"$f/length"; done
sed -i 's/epochs=250/epochs=200/g' paper/robust-*/length
rows >paper/tinyten-cifar10/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd barrier_train_loss barrier_train_loss_sd
tinyten cifar10 line-aligned 3 10 1 20 1 89.04 .06 .9 .1
tinyten cifar10 curve-unaligned 3 82.75 .5 87.41 .9 89.04 .06  
tinyten cifar10 curve-aligned 3 87.32 .1 88.46 .05 89.05 .06  
END
rows >paper/tinyten-cifar10/pam.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
tinyten cifar10 curve-aligned 3 87.32 .1 88.46 .05 89.04 .06
tinyten cifar10 curve-pam-aligned 3 87.6 .2 88.4 .1 89.04 .06
END
rows >paper/tinyten-cifar10/training.tsv <<'END'
network data training runs epochs objective objective_sd
tinyten cifar10 network 6 250 .3 .01
tinyten cifar10 curve-aligned 3 250 .3741 .0005
END
cells 'table[12]\ttinyten\tcifar10\t(network|curve-(un)?aligned)' 4-13,15-17 | diff - <(
    sed 's/ to /~to~/; s/not run/not~run/' <<'END' | rows | sed 's/~/ /g'
network ends 89.04 .06 3 89.0 0.1 0.04 -0.13 to 0.21 1.1   agrees
curve-unaligned arc_mean 87.41 .9 3 87.4 0.1 0.01 -2.18 to 2.20 1.1   undecided
curve-unaligned minimum 82.75 .5 3 82.8 0.5 -0.05 -1.18 to 1.08 5.0   agrees
curve-aligned arc_mean 88.46 .05 3 88.5 0.1 -0.04 -0.24 to 0.16 1.1   agrees
curve-aligned minimum 87.32 .1 3 87.8 0.1 -0.48 -0.71 to -0.25 5.0   differs
curve-unaligned objective    0.428 0.003   0.057   not run
curve-aligned objective .3741 .0005 3 0.371 0.002 0.0031 -0.0013 to 0.0075 0.057   agrees
END
)
expect_equal "$(cells 'table1\ttinyten\tcifar10\tcurve-pam-aligned\tminimum' 6,14-17 | paste -sd ' ')" $'87.6\ttinyten-cifar10\t\t\tagrees'

# cells below the paper's length have no verdict: each word of the length alone, none, no length
# less WORDS OF LENGTH: verdict and shortfall of three cells, plain and PAM's
less() {
    rm -rf less
    cp -R paper less
    if [ "$1" = none ]; then rm less/tinyten-cifar10/length; else sed -i "s/$1/$2/" less/tinyten-cifar10/length; fi
    compare.py cells -f tsv less | grep -P 'table1\ttinyten\tcifar10\tcurve-(pam-)?aligned\tminimum' | awk -F '\t' '{ print $15 ":" $17 }' | paste -sd ,
}
expect_equal "$(less x x)" :agrees,:differs
expect_equal "$(less ^epochs=250 epochs=5)" 'epochs=5:not run,epochs=5:not run'
expect_equal "$(less curve_epochs=250 curve_epochs=25)" 'curve_epochs=25:not run,curve_epochs=25:not run'
expect_equal "$(less points=65 points=5)" 'points=5:not run,points=5:not run'
expect_equal "$(less images=all images=500)" 'train_images=500:not run,train_images=500:not run'
expect_equal "$(less permutation_epochs=20 permutation_epochs=1)" 'permutation_epochs=1:not run,:differs'
expect_equal "$(less pam=as-paper pam=default)" 'pam=default:not run,:differs'
expect_equal "$(less none)" 'length unknown:not run,length unknown:not run'
sed -i 's/=200/=100/g' less/robust-tinyten-cifar100/length
printf 'path\tpairs\tclean_gain\tclean_gain_sd\trobust_gain\trobust_gain_sd\tboth_gain\tboth_gain_sd\tclean_best\tclean_best_sd\trobust_best\trobust_best_sd\ncurve-aligned-bn-attack\t3\t2\t1\t1\t1\t1\t1\t1\t1\t1\t1\n' >less/robust-tinyten-cifar100/midpoint.tsv
compare.py cells -f tsv less | grep -P 'text\ttinyten\tcifar100\tcurve-aligned-bn-attack\tclean_gain' | grep -qP 'curve_epochs=100\t\tnot run' || die 'a short robust curve passes'

# a second folder: its different numbers are rows, and have the verdict if the first folder is short
cp -R paper both
cp -R both/tinyten-cifar10 both/tinyten-cifar10-as-paper
sed -i s/as-paper/default/ both/tinyten-cifar10/length
sed -i 's/87.6\t.2/85.6\t.2/' both/tinyten-cifar10/pam.tsv
both() { compare.py cells -f tsv both | grep -P "table1\ttinyten\tcifar10\tcurve-$1\tminimum" | cut -f 6,14,15,17 | paste -sd ,; }
expect_equal "$(both pam-aligned)" $'85.6\ttinyten-cifar10\tpam=default\t,87.6\ttinyten-cifar10-as-paper\t\tagrees'
expect_equal "$(both aligned)" $'87.32\ttinyten-cifar10\t\tdiffers'

# numbers that the authors' code computes differently; one pair is undecided; a number without a deviation has only ours
mkdir paper/tinyten-tiny-imagenet
echo "$full" >paper/tinyten-tiny-imagenet/length
sed 's/cifar10/tiny-imagenet/' paper/tinyten-cifar10/table.tsv >paper/tinyten-tiny-imagenet/table.tsv
expect_equal "$(cells 'table1\ttinyten\ttiny-imagenet\t(network|curve-aligned)' 16-17 | paste -sd ,)" \
    $'the authors\' curves are of another network\tnot comparable,the authors\' curves are of another network\tnot comparable,the authors\' curves are of another network\tnot comparable'
expect_equal "$(cells 'table1\tgooglenet\tcifar100\tcurve-aligned' 5,16-17 | paste -sd ,)" $'arc_mean\tcannot agree\tnot run,minimum\t\tnot run'
rm -r paper/tinyten-tiny-imagenet
# a shortened case with one pair
rows >paper/resnet32-cifar10/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
resnet32 cifar10 curve-aligned 3 90 .1 91 .1 92 .1
END
sed -i 's/^epochs=250/epochs=25/' paper/resnet32-cifar10/length
sed 's/resnet32/tinyten/; s/cifar10/cifar100/; s/\.1//g; s/\t3\t/\t1\t/' paper/resnet32-cifar10/table.tsv >paper/tinyten-cifar100/table.tsv
expect_equal "$(cells 'table1\tresnet32\tcifar10\tcurve-aligned\tminimum' 6-15,17)" $'90\t.1\t3\t92.2\t0.0\t\t\t3.1\tresnet32-cifar10\tepochs=25\tnot run'
expect_equal "$(cells 'table1\ttinyten\tcifar100\tcurve-aligned\tminimum' 6-12,17)" $'90\t\t1\t57.7\t0.4\t32.30\t\tundecided'
# tinyten-dropout is the paper's tinyten
mkdir -p dropout/tinyten-dropout-cifar100
echo "$full" >dropout/tinyten-dropout-cifar100/length
sed 's/^tinyten/tinyten-dropout/' paper/tinyten-cifar100/table.tsv >dropout/tinyten-dropout-cifar100/table.tsv
row() { compare.py cells -f tsv "$1" | grep -P 'table1\ttinyten\tcifar100\tcurve-aligned\tminimum' | cut -f 6-12,17; }
expect_equal "$(row dropout)" "$(row paper)"
# the other experiments' tables
rows >paper/grid-tinyten-cifar100/grid.tsv <<'END'
network data path lr batch pairs arc_mean arc_mean_sd
tinyten cifar100 curve-aligned 0.01 64 3 57.1 .1
END
rows >paper/robust-tinyten-cifar100/midpoint.tsv <<'END'
path pairs clean_gain clean_gain_sd robust_gain robust_gain_sd both_gain both_gain_sd clean_best clean_best_sd robust_best robust_best_sd
curve-aligned 3 0 .1 0 .2 0 .1 0 .3 0 .4
curve-aligned-bn-attack 3 2 .1 1 .2 .9 .1 2.5 .3 1.5 .4
END
rows >paper/robust-tinyten-cifar100/robust.tsv <<'END'
path pairs minimum minimum_sd barrier_test_loss barrier_test_loss_sd ends ends_sd
curve-unaligned 3 1 1 .5 .01 2 1
curve-aligned 3 1 1 .5 .01 2 1
curve-unaligned-bn-attack 3 28 1 .25 .01 29 1
curve-aligned-bn-attack 3 30 1 .125 .01 31 1
END
rows >paper/tinyten-cifar100/saved.tsv <<'END'
epochs pairs objective_pairs objective_saved objective_saved_sd accuracy_pairs accuracy_saved accuracy_saved_sd lead lead_sd
250 3 0 0 0 2 91.3 5 .05 .01
END
rows >paper/tinyten-cifar100/measures.tsv <<'END'
network data path pairs arc_mean arc_mean_sd minimum minimum_sd
tinyten cifar100 l2-pre 3 57 .1 56 .2
END
rows >paper/tinyten-cifar100/subsets.tsv <<'END'
network data images reference pairs units differ differ_sd
tinyten cifar100 2500 10000 3 320 29.0 4.0
END
rows >paper/tinyten-cifar100/middle.tsv <<'END'
pair curve end layer units identity permuted
1-2 aligned first a 8 .5 .6
1-2 aligned second a 8 .7 .8
3-4 aligned first a 8 .8 .8
3-4 line-aligned first a 8 .1 .8
END
rows >paper/tinyten-cifar100/signature.tsv <<'END'
pair layer units identity permuted
1-2 a 8 .25 .75
1-2 b 8 .5 .75
3-4 a 8 0 .25
END
rows >paper/tinyten-cifar100/pointwise.tsv <<'END'
network data pairs above above_sd variation_unaligned variation_unaligned_sd variation_aligned variation_aligned_sd
tinyten cifar100 3 98.4 1.6 .5 .01 .2 .02
END
rows >paper/tinyten-cifar100/objective.tsv <<'END'
pair path outer others_before others_after decrease
1-2 curve-pam-aligned 1 .75 .5 .5
1-2 curve-pam-aligned 2 .5 .25 -.25
3-4 curve-pam-aligned 1 .75 .5 .25
3-4 curve-pam-unaligned 1 1 .5 .25
END
mkdir paper/bound-mlp-cifar10
rows >paper/bound-mlp-cifar10/bound.tsv <<'END'
network data way pairs bound_max bound_max_sd
mlp:256,256 cifar10 l2-pre 3 170.5 2
END
expect_equal "$(cells 'table3\ttinyten\tcifar100\tcurve-aligned\tarc_mean@0.01,64' 6-7,17)" $'57.1\t.1\tdiffers'
expect_equal "$(cells 'text\ttinyten\tcifar100\tcurve-aligned(-bn-attack)?' 5-12,17 | paste -sd ,)" \
    $'accuracy_saved\t91.3\t5\t3\t100\t\t-9\t-18 to 1\tagrees,clean_gain\t2\t.1\t3\t\t\t\t\t,robust_gain\t1\t.2\t3\t\t\t\t\t,both_gain\t.9\t.1\t3\t\t\t\t\t'
sed -i 's/91.3\t5/50\t5/' paper/tinyten-cifar100/saved.tsv
expect_equal "$(cells 'text\ttinyten\tcifar100\tcurve-aligned\taccuracy_saved' 11-12,17)" $'-50\t-59 to -41\tdiffers'
expect_equal "$(cells '(measures|middle|subsets|bound|curves|pam)\t.*' 1,4-8 | awk -F '\t' '$4 != ""' | rows | paste -sd ,)" \
    $'measures\tl2-pre\tarc_mean\t57\t.1\t3,measures\tl2-pre\tminimum\t56\t.2\t3,middle\taligned\tlikeness\t0.7000\t0.1414\t2,middle\taligned\tlikeness_gain\t0.0500\t0.0707\t2,subsets\t2500\tdiffer\t29.0\t4.0\t3,bound\tl2-pre\tbound_max\t170.5\t2\t3,middle\tends\thalf_gain\t0.1562\t0.0442\t2,middle\tends\tleast_gain\t0.2500\t0.0000\t2,curves\tcurve-aligned\tabove\t98.4\t1.6\t3,curves\tcurve-unaligned\tvariation\t.5\t.01\t3,curves\tcurve-aligned\tvariation\t.2\t.02\t3,curves\tcurve-aligned\tlead\t.05\t.01\t3,pam\tcurve-pam-unaligned\tdecrease\t0.250000\t\t1,pam\tcurve-pam-aligned\tdecrease\t0.000000\t0.353553\t2,pam\tcurve-pam-aligned\tothers_gain\t0.250000\t0.000000\t2'
expect_equal "$(cells 'robust\ttinyten\tcifar100' 4-6 | awk '$3' | paste -sd ,)" $'network\trobust_ends\t29,curve-unaligned-bn-attack\trobust_minimum\t28,curve-aligned-bn-attack\trobust_minimum\t30,curve-unaligned-bn-attack\trobust_barrier\t.25,curve-aligned-bn-attack\trobust_barrier\t.125'

compare.py cells paper | grep -q '^| middle' && die 'rows without a number'
compare.py cells paper | grep -qxF '| table1 | tinyten | cifar10 | curve-aligned | minimum | 87.32 ± .1 | 3 | 87.8 ± 0.1 | -0.48 | -0.71 to -0.25 | 5.0 | tinyten-cifar10 | | | differs | 3 |'
# report: both forms as files, and the count of each verdict
compare.py cells -f tsv paper >all.tsv
compare.py cells paper >numbers.md
expect_equal "$(compare.py report paper)" 'numbers of the paper: 108 not run,3 differs,3 undecided,6 agrees; paper/verdicts.md, verdicts.tsv'
same all.tsv paper/verdicts.tsv
same numbers.md paper/verdicts.md
rm paper/verdicts.*
compare.py -h | grep -q 'compare.py cells .*PAPER'

fails 2 'required: PAPER*compare.py --help' compare.py cells
fails 2 'unrecognized arguments: paper' compare.py cells paper paper
fails 2 "invalid choice: 'html'" compare.py cells -f html paper
fails 2 'unrecognized arguments: -x' compare.py cells -x paper
fails 2 'required: COMMAND' compare.py
fails 1 "'nothing'*not a folder" compare.py cells nothing
fails 1 "cannot use 'nothing'" compare.py claims -c nothing paper
fails 1 'cannot use '\''standard output'\' bash -c 'compare.py cells paper >/dev/full'
# one line without SciPy
mkdir -p none/scipy
echo 'raise ModuleNotFoundError("scipy")' >none/scipy/__init__.py
fails 1 'SciPy is missing' env PYTHONPATH="$PWD/none" compare.py cells paper
# damaged TEXT FILE EXPRESSION: TEXT is reported after this sed edit of a table
damaged() {
    cp "paper/$2" kept
    sed -i "$3" "paper/$2"
    fails 3 "$1" compare.py cells paper
    cp kept "paper/$2"
}
damaged "tinyten-cifar10/table.tsv: line 1: column 'arc_mean'*missing" tinyten-cifar10/table.tsv '1s/arc_mean/mean/'
damaged "table.tsv: line 4: 'nan', '.05', '3'*mean, deviation*number*values" tinyten-cifar10/table.tsv 's/88.46/nan/'
damaged "training.tsv: line 3: '.3741', '', ''*mean" tinyten-cifar10/training.tsv '3s/\t3\t.*/\t\t\t.3741\t/'
damaged 'training.tsv:*mlp:bn,8*cifar10*folder*tinyten-cifar10' tinyten-cifar10/training.tsv 's/^tinyten/mlp:bn,8/'
damaged 'training.tsv:*no rows' tinyten-cifar10/training.tsv d
damaged "pam.tsv:*'curve-aligned' differs*table.tsv's" tinyten-cifar10/pam.tsv 's/88.46/88.47/'
damaged "length: 'points'*missing" tinyten-cifar10/length 's/points=65//'
damaged "length: 'point'*unknown" tinyten-cifar10/length 's/points/point/'
damaged "length: 'points=many'*not a length" tinyten-cifar10/length 's/65/many/'
damaged "midpoint.tsv: line 1: column 'robust_gain'*missing" robust-tinyten-cifar100/midpoint.tsv 's/robust_gain/gain/g'
