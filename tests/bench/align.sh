#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Two tinytens' permutation from 10,000 images: mc-acts | mc-corr | mc-hungarian against keeping every
# activation in PyTorch, in turn; seconds and peak memory, as a TSV table with ratios. Images are synthetic,
# or those of the data set in $DATA.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/../../pipelines/include/environment.sh" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${DATA:-$work/data.mcz}
[ -f "$data" ] || mc-data synth --samples 10000 -o "$data"
for seed in 1 2; do
    mc-train -q --net tinyten --data "$data" --samples 1280 --epochs 1 --seed $seed -o "$work/$seed.mcz"
done
"${PYTHON:-/usr/bin/python3}" "$here/align.py" "$data" "$work/1.mcz" "$work/2.mcz" "$work"
