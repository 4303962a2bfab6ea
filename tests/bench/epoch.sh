#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compare mc-train's first epoch with its bare step (bench_train). The epoch is the whole program: it reads the data,
# makes the plan, trains and writes the network. The sides run in turn, ROUNDS times. The bare step's best and best
# median images/s count, and the best epoch. CLOCK=cpu counts processor time, which a busy machine disturbs less: use
# THREADS=1.
# usage: epoch.sh [net...]    (DATA=TRAIN.mcz, ROUNDS, SECS, THREADS, CLOCK, BATCH, IMAGES from the environment)
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../../pipelines/include/environment.sh" || exit 1
[ $# -gt 0 ] || set -- tinyten resnet32
rounds=${ROUNDS:-3} threads=${THREADS:-2} batch=${BATCH:-128} images=${IMAGES:-50000} clock=${CLOCK:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${DATA:-$work/train.mcz}
[ "${DATA:-}" ] || mc-data synth --samples "$images" -q -o "$data"
TIMEFORMAT='%R'
[ "$clock" != cpu ] || TIMEFORMAT='%U %S'

printf 'net\tthreads\tbare_best\tbare_median\tfirst_epoch\tover_median\n'
for net; do
	for ((i = 0; i < rounds; i++)); do
		"$MC_BUILD/tests/bench/bench_train" "$net" "$batch" "$threads" "${SECS:-4}" $clock | cut -f4,5
		{ time mc-train -q -t "$threads" --net "$net" --batch "$batch" --data "$data" --samples "$images" \
			--epochs 1 --seed 1 -o "$work/net.mcz" 2>&3; } 3>&2 2>"$work/time"
		awk -v n="$images" '{ print "epoch\t" n / ($1 + $2) }' "$work/time"
	done | awk -F '\t' -v OFS='\t' -v net="$net" -v t="$threads" '
		$1 == "epoch" { if ($2 > epoch) epoch = $2; next }
		{ if ($1 > best) best = $1; if ($2 > median) median = $2 }
		END { print net, t, best, median, sprintf("%.1f", epoch), sprintf("%.3f", epoch / median) }'
done
