#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compute two tinytens' permutation from 10,000 images by mc-acts | mc-corr | mc-hungarian, and in PyTorch by
# keeping every activation, in turn. Prints seconds and peak memory as a TSV table with ratios. The images are
# synthetic, or $DATA's.
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
