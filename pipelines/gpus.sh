#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A job on a GPU that no other job of this script has. It waits until one is free, becomes the job, and the
# GPU is free again when the job and all that it started have ended, however they ended: a lock that the
# kernel holds, no list to clean up.
set -u

usage() {
    cat <<'END'
Usage: gpus.sh [-n JOBS] GPU... COMMAND [ARGUMENT]...
Run a command on one of these GPUs, when it is free of other jobs of this script.

  -n JOBS  so many at a time on a GPU (default: 1)
  -h       print this and exit

A GPU is a number as nvidia-smi counts; the command begins with the first word that is none. It sees that GPU
alone, as cuda:0. A job that uses none takes one all the same. GPUs are shared out among all of a user's jobs
on a machine, by locks in MC_GPU_LOCKS (default: mc-gpus-UID in TMPDIR or /tmp).

Examples:
  pipelines/gpus.sh 0 1 mc-train --net resnet32 --data train.mcz --device cuda --epochs 100 -o a.mcz
  make -j4 -f pipelines/connect.mk RUN="pipelines/gpus.sh 0 1 2 3" DEVICE=cuda NET=resnet32 PAIRS="1:2 3:4" OUT=out
  make -j8 -f pipelines/connect.mk RUN="pipelines/gpus.sh -n 4 0 1" DEVICE=cuda OUT=out

Exit status: the command's; 2: usage, 1: no lock is to be had.
END
}

wrong() {
    echo "gpus.sh: $1 (see gpus.sh -h)" >&2
    exit 2
}

jobs=1 gpus=()
[ "${1:-}" != --help ] || set -- -h
while getopts :n:h option; do
    case $option in
    n) jobs=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    :) wrong "-$OPTARG needs a number" ;;
    *) wrong "there is no option '-$OPTARG'" ;;
    esac
done
shift $((OPTIND - 1))
[[ $jobs =~ ^[1-9][0-9]{0,2}$ ]] || wrong "-n $jobs: a number of jobs is wanted"
while [[ ${1:-} =~ ^[0-9]+$ ]]; do
    gpus+=("$1")
    shift
done
[ ${#gpus[@]} -gt 0 ] || wrong 'which GPUs? their numbers come before the command'
[ $# -gt 0 ] || wrong 'a command is needed'
command -v "$1" >/dev/null || wrong "there is no command '$1'"

locks=${MC_GPU_LOCKS:-${TMPDIR:-/tmp}/mc-gpus-$UID}
mkdir -p -m 700 -- "$locks" 2>/dev/null && [ -O "$locks" ] || {
    echo "gpus.sh: '$locks' is no folder of yours for locks" >&2
    exit 1
}

# try GPU SLOT [flock's option]: take it, or nothing
try() {
    exec 9>"$locks/$1.$2" || exit 1
    flock "${@:3}" 9 || return 1
    export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=$1
}

told=
# the least crowded: every GPU's first place before any GPU's second
while :; do
    for ((slot = 0; slot < jobs; slot++)); do
        for gpu in "${gpus[@]}"; do
            ! try "$gpu" $slot -n || exec "$@"
        done
    done
    [ "$told" ] || echo "gpus.sh: waiting for one of the GPUs ${gpus[*]}" >&2
    told=1
    # all are taken: a second at one of them, then look again
    ! try "${gpus[RANDOM % ${#gpus[@]}]}" $((RANDOM % jobs)) -w 1 || exec "$@"
done
