# SPDX-License-Identifier: Apache-2.0
# verdicts.sh puts what the graphs measured beside the paper's numbers, each cell with its verdict, and refuses damaged input.
PATH=$MC_ROOT/pipelines:$PATH
# a table of these rows, blanks for tabs
rows() { tr ' ' '\t'; }
# the lines of these cells without the first columns
cells() { verdicts.sh -f tsv paper | grep -P "^$1\t" | cut -f "${2:-5-15}"; }

# the numbers of the paper's tables were typed once and compared with its source
is "$(awk -F '\t' '$6 != "" { n[$1]++; $1 = $1; print >"typed" } END { print n["table1"], n["table2"], n["table3"], n["text"] }' \
    "$MC_ROOT/pipelines/paper.tsv")" '69 30 18 3'
is "$(cksum <typed)" '368235506 7850'

mkdir -p paper/{tinyten-cifar10,resnet32-cifar10,{grid-,robust-,}tinyten-cifar100} 'another tree/tinyten-cifar10'
is "$(verdicts.sh -f tsv 'another tree' | cut -f 15 | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd ,)" '176 not run,1 verdict '
rows >paper/tinyten-cifar10/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
tinyten cifar10 line-aligned 3 10 1 20 1 89.04 .06
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
cells 'table[12]\ttinyten\tcifar10\t(network|curve-(un)?aligned)' 4-15 | diff - <(
    sed 's/ to /~to~/; s/not run/not~run/' <<'END' | rows | sed 's/~/ /g'
network ends 89.04 .06 3 89.0 0.1 0.04 -0.15 to 0.23 1.1 1 agrees
curve-unaligned arc_mean 87.41 .9 3 87.4 0.1 0.01 -2.18 to 2.20 1.1 1 undecided
curve-unaligned minimum 82.75 .5 3 82.8 0.5 -0.05 -1.18 to 1.08 5.0 1 agrees
curve-aligned arc_mean 88.46 .05 3 88.5 0.1 -0.04 -0.23 to 0.15 1.1 1 agrees
curve-aligned minimum 87.32 .1 3 87.8 0.1 -0.48 -0.70 to -0.26 5.0 1 differs
curve-unaligned objective    0.428 0.003   0.057  not run
curve-aligned objective .3741 .0005 3 0.371 0.002 0.0031 -0.0013 to 0.0075 0.057 1 agrees
END
)
is "$(cells 'table1\ttinyten\tcifar10\tcurve-pam-aligned\tminimum' 6,15 | paste -sd ' ')" $'87.6\tagrees'
# shortened, and one pair
rows >paper/resnet32-cifar10/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
resnet32 cifar10 curve-aligned 3 90 .1 91 .1 92 .1
END
echo .1 >paper/resnet32-cifar10/scale
sed 's/resnet32/tinyten/; s/cifar10/cifar100/; s/\.1//g; s/\t3\t/\t1\t/' paper/resnet32-cifar10/table.tsv >paper/tinyten-cifar100/table.tsv
is "$(cells 'table1\tresnet32\tcifar10\tcurve-aligned\tminimum' 6-15)" $'90\t.1\t3\t92.2\t0.0\t\t\t3.1\t.1\tnot run'
is "$(cells 'table1\ttinyten\tcifar100\tcurve-aligned\tminimum' 6-15)" $'90\t\t1\t57.7\t0.4\t32.30\t\t4.5\t1\tundecided'
# fewer epochs than the paper's, though no file says so
cp -R paper short
sed -i 's/\t250\t/\t25\t/' short/tinyten-cifar10/training.tsv
is "$(verdicts.sh -f tsv short | awk -F '\t' '$3 == "cifar10" && $6 != "" { print $14, $15 }' | sort -u)" '.1 not run
0.1 not run'
# the other graphs' tables
rows >paper/grid-tinyten-cifar100/grid.tsv <<'END'
network data path lr batch pairs arc_mean arc_mean_sd
tinyten cifar100 curve-aligned 0.01 64 3 57.1 .1
END
rows >paper/robust-tinyten-cifar100/midpoint.tsv <<'END'
path pairs clean_gain clean_gain_sd robust_gain robust_gain_sd
curve-aligned 3 2 .1 1 .2
END
rows >paper/robust-tinyten-cifar100/robust.tsv <<'END'
path pairs minimum minimum_sd ends ends_sd
curve-unaligned 3 28 1 29 1
curve-aligned 3 30 1 31 1
curve-aligned-bn-attack 3 1 1 2 1
END
rows >paper/tinyten-cifar100/saved.tsv <<'END'
epochs objective_pairs objective_saved objective_saved_sd accuracy_pairs accuracy_saved accuracy_saved_sd
250 0   3 91.3 5
END
is "$(cells 'table3\ttinyten\tcifar100\tcurve-aligned\tarc_mean@0.01,64' 6-7,15)" $'57.1\t.1\tdiffers'
is "$(cells 'text\ttinyten\tcifar100\tcurve-aligned' 5-11,15 | paste -sd ,)" \
    $'accuracy_saved\t91.3\t5\t3\t100\t\t-8.7\tundecided,clean_gain\t2\t.1\t3\t\t\t\t,robust_gain\t1\t.2\t3\t\t\t\t'
is "$(cells 'robust\ttinyten\tcifar100' 4-6 | awk '$3' | paste -sd ,)" $'network\trobust_ends\t29,curve-unaligned\trobust_minimum\t28,curve-aligned\trobust_minimum\t30'

verdicts.sh paper | grep -qxF '| table1 | tinyten | cifar10 | curve-aligned | minimum | 87.32 ± .1 | 3 | 87.8 ± 0.1 | -0.48 | -0.70 to -0.26 | 5.0 | 1 | differs |'
verdicts.sh -h | grep -q '^Usage: '

fails 2 'one folder of the paper'\''s parts is needed' verdicts.sh
fails 2 'one folder of the paper'\''s parts is needed' verdicts.sh paper paper
fails 2 "there is no form 'html'" verdicts.sh -f html paper
fails 2 "there is no option '-x'" verdicts.sh -x
fails 2 '-c needs a word' verdicts.sh -c
fails 1 "cannot read './nothing/'" verdicts.sh nothing
fails 1 "cannot read './nothing'" verdicts.sh -c nothing paper
# damaged TEXT FILE EXPRESSION: with that edit of a table
damaged() {
    cp "paper/$2" kept
    sed -i "$3" "paper/$2"
    fails 3 "$1" verdicts.sh paper
    cp kept "paper/$2"
}
damaged "tinyten-cifar10/table.tsv: line 1: there is no column 'arc_mean' (the table of all pairs in OUT is wanted)" tinyten-cifar10/table.tsv '1s/arc_mean/mean/'
damaged "table.tsv: line 4: 'nan', '.05', '3' are no mean, deviation and number of values" tinyten-cifar10/table.tsv 's/88.46/nan/'
damaged "training.tsv: line 3: '.3741', '', '' are no mean" tinyten-cifar10/training.tsv '3s/\t3\t.*/\t\t\t.3741/'
damaged 'training.tsv: is of mlp:bn,8 on cifar10, not of the folder'\''s tinyten-cifar10' tinyten-cifar10/training.tsv 's/^tinyten/mlp:bn,8/'
damaged 'training.tsv: has no rows' tinyten-cifar10/training.tsv d
damaged "pam.tsv: its 'curve-aligned' is not that of table.tsv" tinyten-cifar10/pam.tsv 's/88.46/88.47/'
damaged "scale: '2' is no number above 0 and at most 1" resnet32-cifar10/scale s/.*/2/
damaged "scale: 'a tenth' is no number above 0 and at most 1" resnet32-cifar10/scale 's/.*/a tenth/'
damaged "midpoint.tsv: line 1: there is no column 'robust_gain'" robust-tinyten-cifar100/midpoint.tsv 's/robust_gain/gain/g'
