# SPDX-License-Identifier: Apache-2.0
# pages.py tables prints connect.mk's tables in the paper's form, networks by data sets, and refuses damaged ones.
PATH=$MC_ROOT/pipelines/paper:$PATH
# rows: a table from lines with spaces for tabs
rows() { tr ' ' '\t'; }

mkdir c10 c100 deep
rows >c10/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
tiny_ten cifar10 line-aligned 3 10 1 20 1 89.04 .06
tiny_ten cifar10 curve-unaligned 3 82.75 .5 87.41 .1 89.04 .06
tiny_ten cifar10 curve-aligned 3 87.82 .1 88.46 .1 89.04 .06
END
# one pair: no deviations
rows >deep/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
resnet:32 cifar10 curve-unaligned 1 89.1  92.2  92.9 
resnet:32 cifar10 curve-aligned 1 92.2  92.7  92.9 
END
rows >c100/table.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
tiny_ten cifar100 curve-unaligned 3 53.2 1.1 56 .2 58.1 .5
tiny_ten cifar100 curve-aligned 3 57.7 .4 58.7 .2 58.1 .5
END
rows >c10/training.tsv <<'END'
network data training runs epochs objective objective_sd loss loss_sd
tiny_ten cifar10 network 6 250 .3 .01 .2 .01
tiny_ten cifar10 curve-unaligned 3 250 .42849 .003 .3 .01
tiny_ten cifar10 curve-aligned 3 250 .371 .002 .3 .01
END

# pam.mk's table repeats the other rows
cp -R c10 pam
rows >pam/pam.tsv <<'END'
network data path pairs minimum minimum_sd arc_mean arc_mean_sd ends ends_sd
tiny_ten cifar10 line-aligned 3 10 1 20 1 89.04 .06
tiny_ten cifar10 curve-unaligned 3 82.75 .5 87.41 .1 89.04 .06
tiny_ten cifar10 curve-aligned 3 87.82 .1 88.46 .1 89.04 .06
tiny_ten cifar10 curve-pam-unaligned 3 84 .3 87.6 .1 89.04 .06
tiny_ten cifar10 curve-pam-aligned 3 87.6 .2 88.4 .1 89.04 .06
END
rows >>pam/training.tsv <<'END'
tiny_ten cifar10 curve-pam-unaligned 3 250 .413 .001 .3 .01
tiny_ten cifar10 curve-pam-aligned 3 250 .372 .002 .3 .01
END

pages.py tables accuracy c10 "$PWD/deep" c100 | diff - <(
    cat <<'END'
| model (test accuracy, %) | cifar10, mean | cifar10, min. | cifar100, mean | cifar100, min. |
| --- | ---: | ---: | ---: | ---: |
| **tiny_ten** | 89.0 ± 0.1 |  | 58.1 ± 0.5 |  |
| unaligned | 87.4 ± 0.1 | 82.8 ± 0.5 | 56.0 ± 0.2 | 53.2 ± 1.1 |
| aligned | 88.5 ± 0.1 | 87.8 ± 0.1 | 58.7 ± 0.2 | 57.7 ± 0.4 |
| **resnet:32** | 92.9 |  |  |  |
| unaligned | 92.2 | 89.1 |  |  |
| aligned | 92.7 | 92.2 |  |  |
END
)
pages.py tables -f latex loss c10 | diff - <(
    cat <<'END'
\begin{tabular}{lr}
\toprule
Model (objective) & cifar10 \\
\midrule
tiny\_ten & $0.300 \pm 0.010$ \\
unaligned & $0.428 \pm 0.003$ \\
aligned & $0.371 \pm 0.002$ \\
\bottomrule
\end{tabular}
END
)
pages.py tables -f tsv accuracy wide=deep c10 | diff - <(
    rows <<'END'
network data curve pairs ends ends_sd arc_mean arc_mean_sd minimum minimum_sd
wide cifar10 unaligned 1 92.9  92.2  89.1 
wide cifar10 aligned 1 92.9  92.7  92.2 
tiny_ten cifar10 unaligned 3 89.04 .06 87.41 .1 82.75 .5
tiny_ten cifar10 aligned 3 89.04 .06 88.46 .1 87.82 .1
END
)
# the paper's order
pages.py tables -f tsv accuracy pam | cut -f 3,7,9 | tail -n +2 | diff - <(
    rows <<'END'
unaligned 87.41 82.75
pam-unaligned 87.6 84
pam-aligned 88.4 87.6
aligned 88.46 87.82
END
)
pages.py tables accuracy pam deep | grep -qxF '| pam-unaligned | 87.6 ± 0.1 | 84.0 ± 0.3 |'
[ "$(pages.py tables loss pam | cut -d ' ' -f 2 | tail -n +3 | paste -sd ' ')" = '**tiny_ten** unaligned pam-unaligned pam-aligned aligned' ]
pages.py tables accuracy 'a wide one=deep' | grep -qxF '| **a wide one** | 92.9 |  |'
pages.py -h | grep -q 'pages.py tables .*accuracy|loss'

pages.py tables -f latex accuracy c10 | grep -qxF 'Model (test accuracy, \%) & cifar10, mean & cifar10, min. \\'

fails 2 'required: accuracy|loss, [NAME=]OUT' pages.py tables
fails 2 "invalid choice: 'speed'" pages.py tables speed c10
fails 2 'required: [NAME=]OUT' pages.py tables loss
fails 2 "invalid choice: 'html'" pages.py tables -f html loss c10
fails 2 'unrecognized arguments: -x' pages.py tables -x loss c10
fails 1 "cannot use 'c100/training.tsv'" pages.py tables loss c10 c100
fails 3 'tiny_ten*cifar10*c10/table.tsv too' pages.py tables accuracy c10 c10
fails 3 "c10/table.tsv too" pages.py tables -f tsv accuracy c10 c10
mkdir none word empty
sed -i 's/87.41/87.42/' pam/pam.tsv
fails 3 "pam/pam.tsv:*'curve-unaligned' differs*table.tsv's" pages.py tables accuracy pam
sed 's/\tarc_mean\t/\tmean\t/' c10/table.tsv >none/table.tsv
fails 3 "none/table.tsv: line 1: column 'arc_mean'*missing" pages.py tables accuracy none
sed 's/87.41/nan/' c10/table.tsv >word/table.tsv
fails 3 "word/table.tsv: line 3: arc_mean 'nan'*not a number" pages.py tables accuracy word
: >empty/table.tsv
fails 3 "empty/table.tsv:*no curves" pages.py tables accuracy c10 empty
# without SciPy too
mkdir scipy
echo 'raise ModuleNotFoundError("scipy")' >scipy/__init__.py
PYTHONPATH=. pages.py tables loss c10 >made
