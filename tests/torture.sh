#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What mc is put through: every gate in tests/torture, one after the other, each with its share of the time; then a table of
# them with the figures that they reached. tests/torture.sh BUILD MINUTES; TORTURE_SEED=N draws the same points again,
# ONLY=WORD runs the gates whose name holds WORD. A gate that had too little time for its figure is called short, and one that
# could not be tried skipped; the time of a gate begins behind what it builds. Status 1 where a fault was found.
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
    echo "no gate has '${ONLY:-}' in its name" >&2
    exit 2
fi
share=$(awk -v minutes="$2" -v n=${#gates[@]} 'BEGIN { printf "%.2f", minutes / n }')
said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
rows=() status=0
for gate in "${gates[@]}"; do
    echo "== $gate"
    "$gate" "$1" "$share" </dev/null 2>&1 | tee "$said"
    case ${PIPESTATUS[0]} in
    0)
        verdict=passed
        [[ $(tail -n 1 "$said") != *short* ]] || verdict=short
        ;;
    77) verdict=skipped ;;
    *) verdict=FAULTS status=1 ;;
    esac
    rows+=("$(printf '%-8s %-8s %s' "${gate##*/}" $verdict "$(tail -n 1 "$said" | sed "s/^${gate##*/}: //")")")
done
printf '\n%s\n' "$(printf '%s\n' "${rows[@]}")"
exit $status
