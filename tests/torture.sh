#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every gate in tests/torture, each with an equal share of the time, and prints a table of their figures:
# tests/torture.sh BUILD MINUTES. TORTURE_SEED=N draws the same points again. ONLY=WORD runs the gates whose name contains
# WORD. A gate that runs out of time is `short`, one that cannot run is `skipped`. The time that a gate builds does not
# count. Exit status 1 if a gate found a fault.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/../pipelines/include/environment.sh" || exit 2
cd "$here/.." || exit 2
if [ $# != 2 ] || [ ! -d "$1" ] || [[ ! $2 =~ ^[0-9]*\.?[0-9]+$ ]]; then
    echo 'usage: tests/torture.sh BUILD MINUTES' >&2
    exit 2
fi
gates=()
for gate in tests/torture/*; do
    [ ! -x "$gate" ] || [[ ${gate##*/} != *"${ONLY:-}"* ]] || gates+=("$gate")
done
if [ ${#gates[@]} = 0 ]; then
    echo "tests/torture.sh: no gate's name contains '${ONLY:-}'" >&2
    exit 2
fi
share=$(awk -v minutes="$2" -v n=${#gates[@]} 'BEGIN { printf "%.2f", minutes / n }')
output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT
rows=() status=0
for gate in "${gates[@]}"; do
    echo "== $gate"
    "$gate" "$1" "$share" </dev/null 2>&1 | tee "$output"
    case ${PIPESTATUS[0]} in
    0)
        verdict=passed
        [[ $(tail -n 1 "$output") != *short* ]] || verdict=short
        ;;
    77) verdict=skipped ;;
    *) verdict=FAULTS status=1 ;;
    esac
    rows+=("$(printf '%-8s %-8s %s' "${gate##*/}" $verdict "$(tail -n 1 "$output" | sed "s/^${gate##*/}: //")")")
done
printf '\n%s\n' "$(printf '%s\n' "${rows[@]}")"
exit $status
