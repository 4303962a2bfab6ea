#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A job on a GPU that no other job of this script has, or only so many. It waits until there is a place, becomes
# the job, and the place is free again when the job and all that it started have ended, however they ended: a
# lock that the kernel holds, no list to clean up.
set -u

usage() {
    cat <<'END'
Usage: gpus.sh GPU[:JOBS]... COMMAND [ARGUMENT]...
Run a command on one of these GPUs, when it is free of other jobs of this script.

  -h       print this and exit

A GPU is a number as nvidia-smi counts, with the number of jobs that it takes at a time (1); the command begins
with the first word that is none. It sees that GPU alone, as cuda:0. A job that uses none takes one all the
same. Where nvidia-smi -L counts GPUs, one beyond them is refused. GPUs are shared out among all of a user's jobs on a machine, by locks in MC_GPU_LOCKS (default:
mc-gpus-UID in TMPDIR or /tmp).

Several jobs of a GPU compute at the same time under MPS and in turns without it. The first of them starts a
daemon of that GPU's own (nvidia-cuda-mps-control), whose pipes and logs lie beside the locks, in GPU.mps; it
is stopped when the last has ended. Where it cannot be started, the first job says so. With
CUDA_MPS_PIPE_DIRECTORY set, MPS is yours: none is started.

Examples:
  pipelines/cluster/gpus.sh 0 1 mc-train --net resnet32 --data train.mcz --device cuda --epochs 100 -o a.mcz
  make -j4 -f pipelines/connect.mk RUN="pipelines/cluster/gpus.sh 0 1 2 3" DEVICE=cuda DATA=cifar10 DATA_DIR=DIR OUT=out
  make -j8 -f pipelines/connect.mk RUN="pipelines/cluster/gpus.sh 0:6 1:2" DEVICE=cuda DATA=cifar10 DATA_DIR=DIR OUT=out

Exit status: the command's; 2: usage, 1: no lock is to be had.
END
}

wrong() {
    echo "gpus.sh: $1 (see gpus.sh -h)" >&2
    exit 2
}

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
-*) wrong "there is no option '$1'" ;;
esac
gpus=() places=() most=0
while [[ ${1:-} =~ ^[0-9]+(:[^[:space:]]*)?$ ]]; do
    jobs=${1#"${1%%:*}"} jobs=${jobs:-:1}
    [[ $jobs =~ ^:[1-9][0-9]{0,2}$ ]] || wrong "$1: a number of jobs is wanted behind the colon"
    gpus+=("${1%%:*}") places+=("${jobs#:}")
    [ "${jobs#:}" -le $most ] || most=${jobs#:}
    shift
done
[[ ${1:-} != [0-9]*[[:space:]]* ]] || wrong "'$1': each GPU is an argument of its own, without quotes around them"
[ ${#gpus[@]} -gt 0 ] || wrong 'which GPUs? their numbers come before the command'
[ $# -gt 0 ] || wrong 'a command is needed'
command -v "$1" >/dev/null || wrong "there is no command '$1'"
there=0
while read -r word _; do [ "$word" != GPU ] || ((++there)); done < <(timeout 20 nvidia-smi -L 2>/dev/null)
for gpu in "${gpus[@]}"; do
    [ "$there" = 0 ] || [ $((10#$gpu)) -lt "$there" ] || wrong "there is no GPU $gpu: nvidia-smi -L counts $there, from 0 on"
done

locks=${MC_GPU_LOCKS:-${TMPDIR:-/tmp}/mc-gpus-$UID}
# shellcheck disable=SC2174 # only the folder of locks must be private
mkdir -p -m 700 -- "$locks" 2>/dev/null && [ -O "$locks" ] || {
    echo "gpus.sh: '$locks' is no folder of yours for locks" >&2
    exit 1
}

# alone COMMAND: without any lock of this job's or of what started it, as it may outlive them
alone() (
    for fd in /proc/self/fd/*; do
        [ "${fd##*/}" -le 2 ] || eval "exec ${fd##*/}>&-"
    done
    exec "$@"
)

control() {
    alone timeout 20 nvidia-cuda-mps-control "$@"
}

# turns GPU JOBS WHY: tell that there is no MPS, unless a job at work has; the job keeps this lock
turns() {
    exec 8>"$locks/$1.turns" || exit 1
    ! flock -n 8 || echo "gpus.sh: GPU $1: no MPS, $2 jobs take turns: $3" >&2
    flock -s 8
}

# share GPU JOBS: under MPS, if it can be. A daemon counts its GPUs from 0 again, so each has its own.
share() {
    local here=$locks/$1.mps
    [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || return 0
    if ! command -v nvidia-cuda-mps-control >/dev/null; then
        turns "$@" 'there is no nvidia-cuda-mps-control'
        return 0
    fi
    mkdir -p "$here/pipe" "$here/log" && exec 7>"$here/starts" 8>"$here/jobs" || exit 1
    export CUDA_MPS_PIPE_DIRECTORY=$here/pipe CUDA_MPS_LOG_DIRECTORY=$here/log
    # one starts it; the jobs have the other lock in common, which who stops it has alone
    flock 7 && flock -s 8 || exit 1
    # one waits for the last job, and is there before what it stops; a new one waits a little for the one that may just
    # have been there
    alone setsid -f flock -w 10 "$here/stops" flock "$here/jobs" bash -c 'timeout 20 nvidia-cuda-mps-control <<<quit' \
        >/dev/null 2>&1 </dev/null
    if control <<<get_server_list >"$here/said" 2>&1 ||
        { control -d >"$here/said" 2>&1 </dev/null && control <<<get_server_list >"$here/said" 2>&1; }; then
        export CUDA_VISIBLE_DEVICES=0
        exec 7>&-
    else
        set -- "$@" "$(tail -n 1 "$here/said")"
        unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
        exec 7>&- 8>&-
        turns "$@"
    fi
}

# try NUMBER SLOT [flock's option]: take that place of a GPU, or nothing
try() {
    local gpu=${gpus[$1]}
    [ "$2" -lt "${places[$1]}" ] || return 1
    exec 9>"$locks/$gpu.$2" || exit 1
    flock "${@:3}" 9 || return 1
    export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=$gpu
    [ "${places[$1]}" = 1 ] || share "$gpu" "${places[$1]}"
}

told=
# the least crowded: every GPU's first place before any GPU's second
while :; do
    for ((slot = 0; slot < most; slot++)); do
        for i in "${!gpus[@]}"; do
            ! try "$i" $slot -n || exec "$@"
        done
    done
    [ "$told" ] || echo "gpus.sh: waiting for one of the GPUs ${gpus[*]}" >&2
    told=1
    # all are taken: a second at one of them, then look again
    i=$((RANDOM % ${#gpus[@]}))
    ! try $i $((RANDOM % places[i])) -w 1 || exec "$@"
done
