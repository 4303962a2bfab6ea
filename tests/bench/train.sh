#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The training step of tinyten, batch 128, against PyTorch's in both memory layouts: the sides run in
# turn, ROUNDS times for SECS seconds each, and the ratio of the bests is what counts. Our side
# gathers and augments its batch in every step, PyTorch's does not.
# usage: train.sh    (ROUNDS, SECS, THREADS from the environment)
set -euo pipefail
here=$(dirname "$0")
python=${PYTHON:-/usr/bin/python3} rounds=${ROUNDS:-3} secs=${SECS:-4} threads=${THREADS:-2}

if ! "$python" -c 'import torch' 2>/dev/null; then
	echo "train.sh: no PyTorch for $python: only our side" >&2
	peers=
else
	peers="nchw cl"
fi
printf 'net\tbatch\tthreads\tside\tbest_images_per_s\tours_over_it\n'
for ((i = 0; i < rounds; i++)); do
	"$MC_BUILD/tests/bench/bench_train" tinyten 128 "$threads" "$secs" | cut -f4 | sed 's/^/mc\t/'
	for p in $peers; do
		printf 'torch-%s\t%s\n' "$p" "$("$python" "$here/torch_train.py" "$p" 128 "$threads" "$secs")"
	done
done | awk -F '\t' -v OFS='\t' -v t="$threads" '
	$2 > best[$1] { best[$1] = $2 }
	END {
		n = split("mc torch-nchw torch-cl", side, " ")
		for (i = 1; i <= n; i++)
			if (side[i] in best)
				print "tinyten", 128, t, side[i], best[side[i]], sprintf("%.2f", best["mc"] / best[side[i]])
	}'
