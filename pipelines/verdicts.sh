#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The paper's tables beside ours, each cell with a verdict; see the usage below.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: verdicts.sh [-f FORM] [-c CLAIMS] PAPER
Compare what the graphs measured with every number of the paper's tables (paper.tsv).

  -f FORM    markdown (default), or tsv
  -c CLAIMS  not the cells but the claims in that file, with what the cells say of each (claims.awk); tables
             NAME-bound.tsv beside it are read too
  -h         print this and exit

PAPER/NETWORK-DATA is a folder that connect.mk, pam.mk, measures.mk, middle.mk and subsets.mk made: table.tsv, pam.tsv and
so on of all pairs; PAPER/grid-NETWORK-DATA one of grid.mk, robust-NETWORK-DATA one of robust.mk, bound-mlp-DATA one of
bound.mk. So are the same names with -WORDS behind them; a cell has a row for each folder that gives it.

A folder's file `length` has one line, epochs=250 curve_epochs=250 permutation_epochs=20 points=65 pam=as-paper
train_images=all: these are the paper's (200 and 200 epochs for robust curves). A cell whose folder has less, or no such
file, is shown with what it is short of, and has not run. So has PAM's where `pam` is another step than the paper's. A
file `scale` has the fraction where the runs were shortened.

Rows without a number of the paper's are what the claims compare; they are in the form tsv alone. Of robust curves the rows
with statistics from attacked images (-bn-attack) are taken, as in the authors' code.

A verdict goes by the 95% interval of ours minus the paper's, Welch's t from both means and deviations over pairs,
with the variance of the paper's rounding of both:
  differs         the interval does not contain 0
  agrees          it does, and is at most half as wide as the effect of alignment, which is what the paper's table
                  has between aligned and unaligned, there; a number of the text is such an effect itself
  undecided       it is wider, or there is none (one pair); where the note says "cannot agree", it is wider with any
                  number of pairs
  not comparable  the authors' code makes the paper's number of something else; the note says of what
  not run         not there, or not at full length
Of exact repetitions 3 to 4% differ.

Examples:
  pipelines/verdicts.sh paper
  pipelines/verdicts.sh -f tsv paper | awk -F '\t' '$NF == "differs"'

Exit status: 0 done, 1 failed, 2 usage, 3 input damaged or not what it should be.
END
}

wrong() {
    echo "verdicts.sh: $1 (see verdicts.sh -h)" >&2
    exit 2
}

[ "${1:-}" != --help ] || set -- -h
form=markdown claims=
while getopts :f:c:h option; do
    case $option in
    f) form=$OPTARG ;;
    c) claims=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    :) wrong "-$OPTARG needs a word" ;;
    *) wrong "there is no option '-$OPTARG'" ;;
    esac
done
shift $((OPTIND - 1))
case $form in
markdown | tsv) ;;
*) wrong "there is no form '$form' (there are: markdown, tsv)" ;;
esac
[ $# = 1 ] || wrong "one folder of the paper's parts is needed"
# awk would take a name with = for a setting
case $1 in /* | ./*) paper=$1 ;; *) paper=./$1 ;; esac
case $claims in '' | /* | ./*) ;; *) claims=./$claims ;; esac
for need in "$paper/" ${claims:+"$claims"}; do
    [ -r "$need" ] || {
        echo "verdicts.sh: cannot read '$need'" >&2
        exit 1
    }
done

set --
found=
for part in $(awk -F '\t' 'NR > 1 && $1 != "bound" && !seen[$2 "-" $3]++ { print $2 "-" $3 }' "$here/paper/paper.tsv"); do
    set -- "$@" "part=$part"
    for folder in "$paper/$part" "$paper/$part"-* "$paper/grid-$part" "$paper/grid-$part"-* "$paper/robust-$part" "$paper/robust-$part"-*; do
        for name in scale length table.tsv pam.tsv training.tsv saved.tsv grid.tsv midpoint.tsv clean.tsv robust.tsv \
            measures.tsv middle.tsv subsets.tsv signature.tsv pointwise.tsv objective.tsv; do
            file=$folder/$name
            [ ! -e "$file" ] || { set -- "$@" "$file" && found=1; }
        done
    done
done
for file in "$paper"/bound-*/bound.tsv ${claims:+"$(dirname "$claims")"/*-bound.tsv}; do
    [ ! -e "$file" ] || { set -- "$@" "$file" && found=1; }
done

[ -n "$found" ] || [ $form = tsv ] || echo "verdicts.sh: $paper: it has no tables of a part of the paper's, such as tinyten-cifar10" >&2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
awk -f "$here/welch.awk" -f "$here/spread.awk" -f "$here/verdicts.awk" "$here/paper/paper.tsv" "$@" >"$made/cells.tsv"
name=cells
if [ -n "$claims" ]; then
    awk -f "$here/welch.awk" -f "$here/claims.awk" "$made/cells.tsv" "$claims" >"$made/claims.tsv"
    name=claims
fi
if [ "$form" = tsv ]; then
    cat "$made/$name.tsv"
else
    only='; paper!='
    [ -z "$claims" ] || only=
    echo "<!-- table: $name.tsv$only -->" | MADE=$made awk -f "$here/results.awk"
fi
