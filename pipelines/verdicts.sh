#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The paper's tables beside ours, each cell with a verdict; see the usage below.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/locale.sh" || exit 1

usage() {
    cat <<'END'
Usage: verdicts.sh [-f FORM] [-c CLAIMS] PAPER
Compare what the graphs measured with every number of the paper's tables (paper.tsv).

  -f FORM    markdown (default), or tsv
  -c CLAIMS  not the cells but the claims in that file, with what the cells say of each (claims.awk)
  -h         print this and exit

PAPER/NETWORK-DATA is a folder that connect.mk, and pam.mk, made: table.tsv, pam.tsv, training.tsv and saved.tsv of
all pairs; PAPER/grid-NETWORK-DATA one of grid.mk (grid.tsv), PAPER/robust-NETWORK-DATA one of robust.mk (midpoint.tsv,
clean.tsv, robust.tsv). A file `scale` in a folder has one number: 0.1 where the runs were a tenth as long; without it
they were at full length, unless training.tsv has fewer than 250 epochs. What is not there has not run.

A verdict goes by the 95% interval of ours minus the paper's, Welch's t from both means and deviations over pairs,
with the variance of the paper's rounding:
  differs    the interval does not contain 0
  agrees     it does, and is at most half as wide as the effect of alignment, which is what the paper's table
             has between aligned and unaligned, there
  undecided  it is wider, or there is none (one pair)
  not run    not there, or not at full length
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
case $1 in /*) paper=$1 ;; *) paper=./$1 ;; esac
case $claims in '' | /*) ;; *) claims=./$claims ;; esac
for need in "$paper/" ${claims:+"$claims"}; do
    [ -r "$need" ] || {
        echo "verdicts.sh: cannot read '$need'" >&2
        exit 1
    }
done

set --
for part in $(awk -F '\t' 'NR > 1 && !seen[$2 "-" $3]++ { print $2 "-" $3 }' "$here/paper.tsv"); do
    for folder in "$paper/$part" "$paper/grid-$part" "$paper/robust-$part"; do
        scale=1
        [ ! -e "$folder/scale" ] || scale=$(cat "$folder/scale")
        if ! echo "$scale" | awk 'NF != 1 || $1 !~ /^[0-9]*\.?[0-9]+$/ || $1 <= 0 || $1 > 1 { exit 1 }'; then
            echo "verdicts.sh: $folder/scale: '$scale' is no number above 0 and at most 1" >&2
            exit 3
        fi
        set -- "$@" "part=$part" "scale=$scale"
        for name in table pam training saved grid midpoint clean robust; do
            file=$folder/$name.tsv
            [ ! -e "$file" ] || set -- "$@" "$file"
        done
    done
done

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
awk -f "$here/welch.awk" -f "$here/verdicts.awk" "$here/paper.tsv" "$@" >"$made/cells.tsv"
name=cells
if [ -n "$claims" ]; then
    awk -f "$here/welch.awk" -f "$here/claims.awk" "$made/cells.tsv" "$claims" >"$made/claims.tsv"
    name=claims
fi
if [ "$form" = tsv ]; then
    cat "$made/$name.tsv"
else
    echo "<!-- table: $name.tsv -->" | awk -v made="$made" -f "$here/results.awk"
fi
