#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Alignment as one pipe of programs. Each stage can be replaced or configured for an ablation; see the usage below.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: align.sh -d DATA.mcz [-p PERM.mcz] A.mcz B.mcz -o ALIGNED.mcz
Reorder B's units to match A's: mc-acts | mc-corr | mc-hungarian | mc-permute.

  -d FILE  data set on which to compare the units
  -o FILE  output: B with its units reordered (default: standard output)
  -p FILE  write the permutation too
  -h       print this and exit

Environment variables for ablations:

  SAMPLES=N     number of images (default: the first 20%)
  AT=post|pre   compare activations after or before the ReLU (default: post)
  MEASURE=NAME  correlation or l2, as in mc-corr --measure (default: correlation)
  ACTS, CORR, ASSIGN, PERMUTE
                commands that replace a stage (default: mc-acts, mc-corr, mc-hungarian, mc-permute)
  THREADS=N, DEVICE=DEV, PRECISION=f32|tf32|bf16|f16
                options of mc-acts (default: all cores, auto, f32)

Examples:
  pipelines/align.sh -d train.mcz a.mcz b.mcz -o b-aligned.mcz
  mc-acts -d train.mcz --at pre a.mcz b.mcz | mc-corr --measure l2 -o pre.mcz
  MEASURE=l2 ASSIGN="mc-hungarian --constraint pre.mcz" pipelines/align.sh -d train.mcz a.mcz b.mcz -o pb.mcz
  ASSIGN=formats/python/example_assign.py pipelines/align.sh -d train.mcz a.mcz b.mcz -o pb.mcz

Exit status: that of the last stage: 0 done, 1 failed, 2 usage, 3 invalid input.
END
}

usage_error() {
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
        [ $# -gt 1 ] || usage_error "$1 requires a file"
        case $1 in -d) data=$2 ;; -o) out=$2 ;; -p) perm=$2 ;; esac
        shift
        ;;
    -?*) usage_error "unknown option '$1'" ;;
    *) operands+=("$1") ;;
    esac
    shift
done
[ -n "$data" ] || usage_error "-d is required"
[ ${#operands[@]} -eq 2 ] || usage_error "two networks expected, got ${#operands[@]}"
a=${operands[0]} b=${operands[1]}
# b is read twice, and standard input is not passed on
[ "$a" != - ] && [ "$b" != - ] && [ "$data" != - ] || usage_error "inputs must be files"

# if the programs are not on PATH, use those of the source tree or of the installation (share/mc)
command -v mc-acts >/dev/null || PATH=$here/../build/bin:$here/../../bin:$PATH

acts=(--data "$data" --at "${AT:-post}" ${SAMPLES:+--samples "$SAMPLES"}
    ${THREADS:+--threads "$THREADS"} ${DEVICE:+--device "$DEVICE"}
    ${PRECISION:+--precision "$PRECISION"})

permutation() {
    # a stage may have arguments, so it is split into words
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
