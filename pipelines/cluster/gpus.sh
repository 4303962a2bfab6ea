#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a job on a GPU that no other job of this script uses, or at most a given number of them. It waits for a free
# slot, locks it, and becomes the job. The kernel releases the lock when the job and all its children have ended, even by a kill.
set -u

usage() {
    cat <<'END'
Usage: gpus.sh GPU[:JOBS]... COMMAND [ARGUMENT]...
Run a command on one of these GPUs, as soon as one has a free slot.

  -h       print this and exit

GPU is the number of a device in nvidia-smi; an unknown one is refused. JOBS is the maximum number of jobs on it at a time (default: 1).
COMMAND is the first argument that is not a GPU. It sees only its GPU, as cuda:0.

The slots are shared by all jobs of this script that you run on this machine. A job that does not use a GPU
occupies one too. The lock files are in the folder MC_GPU_LOCKS (default: mc-gpus-UID in TMPDIR or /tmp).

With JOBS above 1, the jobs of a GPU compute at the same time under MPS, or in turns without it. The first job
starts an MPS daemon for the GPU (nvidia-cuda-mps-control), and the last one stops it. The daemon's pipes and
logs are in the folder of locks, in GPU.mps. If the daemon does not start, the first job reports the reason.
If CUDA_MPS_PIPE_DIRECTORY is set, the jobs use that MPS daemon.

Examples:
  pipelines/cluster/gpus.sh 0 1 mc-train --net resnet32 --data train.mcz --device cuda --epochs 100 -o a.mcz
  make -j4 -f pipelines/connect.mk RUN="pipelines/cluster/gpus.sh 0 1 2 3" DEVICE=cuda DATA=cifar10 DATA_DIR=DIR OUT=out
  make -j8 -f pipelines/connect.mk RUN="pipelines/cluster/gpus.sh 0:6 1:2" DEVICE=cuda DATA=cifar10 DATA_DIR=DIR OUT=out

Exit status: that of the command; 1 cannot lock, 2 usage.
END
}

usage_error() {
    echo "gpus.sh: $1 (see gpus.sh -h)" >&2
    exit 2
}

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
-*) usage_error "unknown option '$1'" ;;
esac
gpus=() slots=() max_slots=0
while [[ ${1:-} =~ ^[0-9]+(:[^[:space:]]*)?$ ]]; do
    jobs=${1#"${1%%:*}"} jobs=${jobs:-:1}
    [[ $jobs =~ ^:[1-9][0-9]{0,2}$ ]] || usage_error "$1: GPU:JOBS expected, with JOBS from 1 to 999"
    gpus+=("${1%%:*}") slots+=("${jobs#:}")
    [ "${jobs#:}" -le $max_slots ] || max_slots=${jobs#:}
    shift
done
[[ ${1:-} != [0-9]*[[:space:]]* ]] || usage_error "'$1' must be separate arguments, without quotes"
[ ${#gpus[@]} -gt 0 ] || usage_error 'a GPU is required before the command'
[ $# -gt 0 ] || usage_error 'a command is required'
command -v "$1" >/dev/null || usage_error "unknown command '$1'"
count=0
while read -r word _; do [ "$word" != GPU ] || ((++count)); done < <(timeout 20 nvidia-smi -L 2>/dev/null)
for gpu in "${gpus[@]}"; do
    [ "$count" = 0 ] || [ $((10#$gpu)) -lt "$count" ] || usage_error "unknown GPU $gpu (nvidia-smi -L lists 0 to $((count - 1)))"
done

locks=${MC_GPU_LOCKS:-${TMPDIR:-/tmp}/mc-gpus-$UID}
# shellcheck disable=SC2174 # only the folder of locks must be private
mkdir -p -m 700 -- "$locks" 2>/dev/null && [ -O "$locks" ] || {
    echo "gpus.sh: lock directory '$locks' is not owned by you" >&2
    exit 1
}

# without_locks COMMAND: runs it without inherited file descriptors, because it may outlive this job and its parents
without_locks() (
    for fd in /proc/self/fd/*; do
        [ "${fd##*/}" -le 2 ] || eval "exec ${fd##*/}>&-"
    done
    exec "$@"
)

control() {
    without_locks timeout 20 nvidia-cuda-mps-control "$@"
}

# take_turns GPU JOBS REASON: reports that MPS does not run, unless a running job has reported it. The job keeps the lock.
take_turns() {
    exec 8>"$locks/$1.turns" || exit 1
    ! flock -n 8 || echo "gpus.sh: GPU $1: no MPS, $2 jobs take turns: $3" >&2
    flock -s 8
}

# share GPU JOBS: uses MPS if possible. Each GPU has its own daemon, because a daemon numbers its GPUs from 0.
share() {
    local folder=$locks/$1.mps
    [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || return 0
    if ! command -v nvidia-cuda-mps-control >/dev/null; then
        take_turns "$@" 'nvidia-cuda-mps-control is missing'
        return 0
    fi
    mkdir -p "$folder/pipe" "$folder/log" && exec 7>"$folder/starts" 8>"$folder/jobs" || exit 1
    export CUDA_MPS_PIPE_DIRECTORY=$folder/pipe CUDA_MPS_LOG_DIRECTORY=$folder/log
    # `starts`: one job at a time starts the daemon. `jobs`: shared by the jobs, exclusive to the process that stops it.
    flock 7 && flock -s 8 || exit 1
    # Start a process that waits for the last job to end and then stops the daemon. It starts before the daemon, so that
    # every daemon is stopped. If such a process already runs, the new one waits up to 10 s, because the other may be
    # about to end.
    without_locks setsid -f flock -w 10 "$folder/stops" flock "$folder/jobs" \
        bash -c 'timeout 20 nvidia-cuda-mps-control <<<quit' >/dev/null 2>&1 </dev/null
    if control <<<get_server_list >"$folder/output" 2>&1 ||
        { control -d >"$folder/output" 2>&1 </dev/null && control <<<get_server_list >"$folder/output" 2>&1; }; then
        export CUDA_VISIBLE_DEVICES=0
        exec 7>&-
    else
        set -- "$@" "$(tail -n 1 "$folder/output")"
        unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
        exec 7>&- 8>&-
        take_turns "$@"
    fi
}

# try INDEX SLOT [FLOCK_OPTION...]: locks this slot of GPU number INDEX of the arguments, or fails
try() {
    local gpu=${gpus[$1]}
    [ "$2" -lt "${slots[$1]}" ] || return 1
    exec 9>"$locks/$gpu.$2" || exit 1
    flock "${@:3}" 9 || return 1
    export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=$gpu
    [ "${slots[$1]}" = 1 ] || share "$gpu" "${slots[$1]}"
}

reported=
while :; do
    # prefer the GPU with the fewest jobs: slot 0 of every GPU before slot 1 of any
    for ((slot = 0; slot < max_slots; slot++)); do
        for i in "${!gpus[@]}"; do
            ! try "$i" $slot -n || exec "$@"
        done
    done
    [ "$reported" ] || echo "gpus.sh: waiting for one of the GPUs ${gpus[*]}" >&2
    reported=1
    # wait a second for a random slot, then try all again
    i=$((RANDOM % ${#gpus[@]}))
    ! try $i $((RANDOM % slots[i])) -w 1 || exec "$@"
done
