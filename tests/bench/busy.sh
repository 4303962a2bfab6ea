#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Training of tinyten by two threads beside LOOPS busy loops (28), with libgomp's default of spinning threads and the passive ones
# that the programs choose; then both on the machine as it is. Images/s, the best of ROUNDS (2).
set -euo pipefail
. "$(dirname "$0")/../../pipelines/prologue.sh"
loops=${LOOPS:-28} rounds=${ROUNDS:-2}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
mc-data -q synth --samples 256 -o "$work/data.mcz"

# rate SETTING: images/s of one epoch; 0 if it takes over a minute
rate() {
    env "$1" timeout 100 mc-train -t 2 -q --net tinyten --data "$work/data.mcz" --epochs 1 --log-json "$work/log" \
        -o /dev/null || true
    sed -n 's/.*"images_per_second":\([0-9.e+]*\).*/\1/p' "$work/log" | tail -n 1 | grep . || echo 0
}
printf 'beside\tspinning\tpassive\n'
for beside in "$loops" 0; do
    for ((i = 0; i < beside; i++)); do while :; do :; done & done
    for ((i = 0; i < rounds; i++)); do
        rm -f "$work/log"
        echo "spinning $(rate GOMP_SPINCOUNT=300000)"
        rm -f "$work/log"
        echo "passive $(rate OMP_WAIT_POLICY=passive)"
    done | awk -v OFS='\t' -v n="$beside" '$2 > best[$1] { best[$1] = $2 } END { print n, best["spinning"] + 0, best["passive"] + 0 }'
    kill $(jobs -p) 2>/dev/null || true
    wait 2>/dev/null || true
done
