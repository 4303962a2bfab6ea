#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Alignment as one pipe: the second network with its units reordered to match the first one's. Each stage
# can be swapped or set for an ablation; see the usage below.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: align.sh -d DATA.mcz [-p PERM.mcz] A.mcz B.mcz -o ALIGNED.mcz
Reorder B's units to match A's: mc-acts | mc-corr | mc-hungarian | mc-permute.

  -d FILE  the data set on which the units are compared
  -o FILE  B with its units reordered (default: standard output)
  -p FILE  keep the permutation too
  -h       print this and exit

The ablation points are variables of the environment:

  SAMPLES=N     images that are looked at (default: the first 20%)
  AT=post|pre   after or before the ReLU (post)
  MEASURE=NAME  what is matched: mc-corr --measure: correlation, l2 (correlation)
  ACTS, CORR, ASSIGN, PERMUTE
                commands that take a stage's place (mc-acts, mc-corr, mc-hungarian, mc-permute)
  THREADS=N, DEVICE=DEV, PRECISION=f32|tf32|bf16|f16
                where and how the networks run (all cores, auto, f32)

Examples:
  pipelines/align.sh -d train.mcz a.mcz b.mcz -o b-aligned.mcz
  mc-acts -d train.mcz --at pre a.mcz b.mcz | mc-corr --measure l2 -o pre.mcz
  MEASURE=l2 ASSIGN="mc-hungarian --constraint pre.mcz" pipelines/align.sh -d train.mcz a.mcz b.mcz -o pb.mcz
  ASSIGN=formats/python/example_assign.py pipelines/align.sh -d train.mcz a.mcz b.mcz -o pb.mcz

Exit status: that of the last stage: 0 done, 1 failed, 2 usage, 3 input damaged or not what it should be.
END
}

wrong() {
    echo "align.sh: $1 (see align.sh -h)" >&2
    exit 2
}

data='' out=- perm='' operands=()
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    -d | -o | -p)
        [ $# -gt 1 ] || wrong "$1 needs a file"
        case $1 in -d) data=$2 ;; -o) out=$2 ;; -p) perm=$2 ;; esac
        shift
        ;;
    -?*) wrong "there is no option '$1'" ;;
    *) operands+=("$1") ;;
    esac
    shift
done
[ -n "$data" ] || wrong "-d is needed"
[ ${#operands[@]} -eq 2 ] || wrong "two networks are needed, ${#operands[@]} are given"
a=${operands[0]} b=${operands[1]}
# b is read twice, and the pipes are ours
[ "$a" != - ] && [ "$b" != - ] && [ "$data" != - ] || wrong "inputs must be files"

# the programs beside this where none are on PATH: in the source tree, or installed in share/mc
command -v mc-acts >/dev/null || PATH=$here/../build/bin:$here/../../bin:$PATH

acts=(--data "$data" --at "${AT:-post}" ${SAMPLES:+--samples "$SAMPLES"}
    ${THREADS:+--threads "$THREADS"} ${DEVICE:+--device "$DEVICE"}
    ${PRECISION:+--precision "$PRECISION"})

permutation() {
    # a stage may be a command with arguments, so it is split into words
    # shellcheck disable=SC2086
    ${ACTS:-mc-acts} "${acts[@]}" "$a" "$b" |
        ${CORR:-mc-corr} --measure "${MEASURE:-correlation}" |
        ${ASSIGN:-mc-hungarian}
}

# No pipefail: a stage that fails writes no end record, so the next one fails too, up to the last.
if [ -z "$perm" ]; then
    # shellcheck disable=SC2086
    permutation | ${PERMUTE:-mc-permute} - "$b" -o "$out"
    exit
fi
case $perm in -*) perm=./$perm ;; esac
part=$perm.part.$$
trap 'rm -f "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
permutation >"$part" || exit
# shellcheck disable=SC2086
${PERMUTE:-mc-permute} "$part" "$b" -o "$out" && mv "$part" "$perm"
