#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Train tinyten, batch 128, on a quiet machine and next to LOOPS busy loops, with three kinds of idle threads: the programs'
# default (sleep after a short spin), libgomp's default (spin for milliseconds, GOMP_SPINCOUNT=300000), and threads that
# never spin. They run in turn, ROUNDS times for SECS seconds each; an epoch is two steps, and the best counts.
# usage: busy.sh [LOOPS...]    (default: 0 28; ROUNDS, SECS, THREADS from the environment)
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/../../pipelines/include/environment.sh" || exit 1
rounds=${ROUNDS:-3} secs=${SECS:-8} threads=${THREADS:-2}
[ $# -gt 0 ] || set -- 0 28
unset OMP_WAIT_POLICY GOMP_SPINCOUNT

work=$(mktemp -d)
# busy loops end after their time even if this script is killed
trap 'rm -rf "$work"' EXIT
mc-data synth --samples 256 -o "$work/d.mcz"

# rate [SETTING]: images/s of the best epoch
rate() {
    local rc=0
    rm -f "$work/log"
    timeout "$secs" env "$@" mc-train -q -t "$threads" --net tinyten --data "$work/d.mcz" --batch 128 --lr 1e-4 \
        --epochs 100000 --log-json "$work/log" -o /dev/null || rc=$?
    [ $rc = 124 ] || exit 1
    sed -n 's/.*"images_per_second":\([0-9.e+]*\).*/\1/p' "$work/log" | awk '$1 > best { best = $1 } END { print best + 0 }'
}

printf 'busy_loops\tthreads\tidle_threads\tbest_images_per_s\n'
for loops; do
    for ((i = 0; i < rounds; i++)); do
        # a separate session, so that Linux gives all loops together as much time as the training
        setsid timeout $((3 * secs)) bash -c 'for ((i = 0; i < $1; i++)); do while :; do :; done & done; wait' - "$loops" || true &
        printf 'default\t%s\n' "$(rate)"
        printf 'spin\t%s\n' "$(rate GOMP_SPINCOUNT=300000)"
        printf 'sleep\t%s\n' "$(rate OMP_WAIT_POLICY=passive)"
        wait
    done | awk -F '\t' -v OFS='\t' -v loops="$loops" -v t="$threads" '
        $2 >= best[$1] { best[$1] = $2 }
        END { for (side in best) print loops, t, side, best[side] }' | sort
done
