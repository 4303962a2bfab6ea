#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compare training steps of tinyten and resnet32, batch 128, and of googlenet with all heads, batch 32, with
# PyTorch's in both memory layouts. The sides run in turn, ROUNDS times for SECS seconds each; the ratio of
# the bests counts. Our side gathers and augments its batch in every step, PyTorch's does not. CLOCK=cpu
# counts one thread's processor time, which a busy machine disturbs less: use THREADS=1.
# usage: train.sh [net:batch...]    (ROUNDS, SECS, THREADS, CLOCK from the environment)
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../../pipelines/include/environment.sh" || exit 1
python=${PYTHON:-/usr/bin/python3} rounds=${ROUNDS:-3} secs=${SECS:-4} threads=${THREADS:-2} clock=${CLOCK:-}
[ $# -gt 0 ] || set -- tinyten:128 resnet32:128 googlenet:32

if ! "$python" -c 'import torch' 2>/dev/null; then
	echo "train.sh: $python has no PyTorch: running only our side" >&2
	peers=
else
	peers="nchw cl"
fi
printf 'net\tbatch\tthreads\tside\tbest_images_per_s\tours_over_it\n'
for item; do
	net=${item%:*} batch=${item#*:}
	for ((i = 0; i < rounds; i++)); do
		"$MC_BUILD/tests/bench/bench_train" "$net" "$batch" "$threads" "$secs" $clock | cut -f4 | sed 's/^/mc\t/'
		for p in $peers; do
			"$python" "$here/torch_train.py" "$p" "$net" "$batch" "$threads" "$secs" $clock | sed 's/^/torch-/'
		done
	done | awk -F '\t' -v OFS='\t' -v net="$net" -v batch="$batch" -v t="$threads" '
		$2 > best[$1] { best[$1] = $2 }
		END {
			n = split("mc torch-nchw torch-cl", side, " ")
			for (i = 1; i <= n; i++)
				if (side[i] in best)
					print net, batch, t, side[i], best[side[i]], sprintf("%.2f", best["mc"] / best[side[i]])
		}'
done
