#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The paper's tables 1 and 2 from the folders that connect.mk, and pam.mk, made; see the usage below.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: tables.sh [-f FORM] accuracy|loss [NAME=]OUT...
Collect what connect.mk measured into one table, networks by data sets; with pam.mk's curves where it was run too.

  -f FORM  markdown (default), latex (a tabular, with booktabs), or tsv (a row a curve)
  -h       print this and exit

accuracy: test accuracy along the learned curves, the mean by arc length and the minimum; in a network's
own row that of its ends. loss: the mean objective of the curves' last epoch, weight decay and all; in a
network's own row that of its training. Mean ± standard deviation (n - 1) over the pairs (over all networks
in that row of losses); without ± where there is one. NAME takes the network's place.

Examples:
  pipelines/tables.sh accuracy out
  pipelines/tables.sh -f latex loss out 'wide resnet=out-wide' > table2.tex

Exit status: 0 done, 1 failed, 2 usage, 3 input damaged or not what it should be.
END
}

wrong() {
    echo "tables.sh: $1 (see tables.sh -h)" >&2
    exit 2
}

[ "${1:-}" != --help ] || set -- -h
form=markdown
while getopts :f:h option; do
    case $option in
    f) form=$OPTARG ;;
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
markdown | latex | tsv) ;;
*) wrong "there is no form '$form' (there are: markdown, latex, tsv)" ;;
esac
what=${1:-}
case $what in
accuracy) table=table.tsv ;;
loss) table=training.tsv ;;
*) wrong "needs one of accuracy, loss" ;;
esac
shift
[ $# -gt 0 ] || wrong "a folder that connect.mk made is needed"

for operand; do
    shift
    name='' folder=$operand
    case $operand in *=*) name=${operand%%=*} folder=${operand#*=} ;; esac
    # awk would take a name with = for a setting
    case $folder in /*) ;; *) folder=./$folder ;; esac
    if ! [ -r "$folder/$table" ]; then
        echo "tables.sh: cannot read '$folder/$table' (connect.mk makes it)" >&2
        exit 1
    fi
    set -- "$@" "label=$name" "$folder/$table"
    # training.tsv has PAM's rows itself
    [ $what = loss ] || ! [ -r "$folder/pam.tsv" ] || set -- "$@" "$folder/pam.tsv"
done
exec awk -v what="$what" -v form="$form" -f "$here/tables.awk" "$@"
