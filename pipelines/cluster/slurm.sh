#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Submits an experiment to a Slurm cluster as four jobs, each after the one before: the data, an array of the networks,
# an array of the pairs, and the tables of all pairs. Each task runs make.
# shellcheck disable=SC2016 # variables in single quotes are expanded in the task
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/../include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: slurm.sh [OPTION...] EXPERIMENT SETTING=VALUE...
Submit an experiment of pipelines/, such as connect.mk, to Slurm. Print the numbers of its jobs.

  -t TIME    time limit per task (default: twice the estimate of the goal `cost`, and ten minutes)
  -m MEM     memory per task (default: 1.5 times the estimate, and 1000M)
  -g GPUS    GPUs per task that trains (default: 1 with DEVICE=cuda, else 0)
  -a LIMIT   maximum number of tasks of an array that run at a time
  -s OPTION  another option for sbatch; repeatable: -s --partition=long -s --account=me
  -n         print the scripts, submit nothing
  -h         print this and exit

All nodes must see OUT, the data and the programs under the same paths. A task has THREADS cores. Slurm restarts a task if
its node fails; the task resumes from its checkpoint. After a failure, run the same command again: finished results are kept.
The tasks' messages are in OUT/slurm.

Examples:
  pipelines/cluster/slurm.sh connect.mk DATA=cifar10 DATA_DIR=DIR NET=resnet20 PAIRS="1:2 3:4 5:6" OUT=out
  pipelines/cluster/slurm.sh -t 2:00:00 -m 8G -s --partition=gpu connect.mk DEVICE=cuda DATA=cifar10 DATA_DIR=DIR OUT=out

Exit status: 0 done, 1 failed, 2 usage.
END
}

fail() { # STATUS TEXT
    echo "slurm.sh: $2" >&2
    exit "$1"
}

time='' memory='' gpus='' limit='' dry='' more=() jobs=()
[ "${1:-}" != --help ] || set -- -h
while getopts t:m:g:a:s:nh option; do
    case $option in
    t) time=$OPTARG ;;
    m) memory=$OPTARG ;;
    g) gpus=$OPTARG ;;
    a) limit=$OPTARG ;;
    s) more+=("$OPTARG") ;;
    n) dry=yes ;;
    h) usage && exit ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ -f "$here/../${1:-}" ] || fail 2 "'${1:-}' is not an experiment of pipelines/ (connect.mk, for example; see slurm.sh -h)"
# make cannot include files by a path with spaces; a link may stand for it
graphs=$here/..
[[ $graphs != *[[:space:]]* ]] || graphs=$(cd "$(dirname "$0")/.." && pwd)
[[ $graphs != *[[:space:]]* ]] || fail 1 "'$graphs' contains spaces: call slurm.sh through a link without"
make=(make --no-print-directory -f "$(realpath -s --relative-to=. "$graphs/$1")" "${@:2}")
# make -n checks the settings and prints their values
commands=$("${make[@]}" -n all) || exit 2
eval "$(grep -E '^export (OUT|THREADS|DEVICE|PAIRS)=' <<<"$commands")"
[[ $DEVICE != cuda* ]] || gpus=${gpus:-1}
read -ra pairs <<<"$PAIRS"
mapfile -t seeds < <(tr ' :' '\n\n' <<<"$PAIRS" | sort -nu)
cost=
[ "$time" ] && [ "$memory" ] || cost=$("${make[@]}" cost) || fail 1 'the goal `cost` failed: set -t and -m'

# submit NAME ROWS GPUS TASKS GOAL...: submits a job, or an array if TASKS is not 0, to run after the last one. ROWS is a
# pattern: it selects the rows of the goal cost whose maximum sets the limits of time and memory.
submit() {
    local name=$1 minutes megabytes script options word
    read -r minutes megabytes < <(awk -v rows="^($2) " '$0 ~ rows { if ($3 > h) h = $3; if ($4 > m) m = $4 }
        END { print int(h * 120) + 10, int(m * 1.5) + 1000 }' <<<"$cost")
    options=(--parsable "--job-name=mc-$name" --requeue --open-mode=append --ntasks=1 "--cpus-per-task=$THREADS"
        "--time=${time:-$minutes}" "--mem=${memory:-${megabytes}M}" "--output=$OUT/slurm/$name-%j.log")
    [ "${3:-0}" = 0 ] || options+=("--gpus=$3")
    [ ${#jobs[@]} = 0 ] || options+=("--dependency=afterok:${jobs[-1]}" --kill-on-invalid-dep=yes)
    [ "$4" = 0 ] || options+=("--array=0-$(($4 - 1))${limit:+%$limit}" "--output=$OUT/slurm/$name-%A_%a.log")
    options+=("${more[@]}")
    script=$(
        printf '#!/bin/bash\ncd %q || exit\n' "$PWD"
        printf 'seeds=(%s) pairs=(%s)\n' "${seeds[*]}" "${pairs[*]}"
        # a restarted task appends to its log
        echo 'echo "== $(uname -n), job $SLURM_JOB_ID, start $((SLURM_RESTART_COUNT + 1))"'
        printf 'exec '
        for word in "${make[@]}"; do
            [[ $1$word == pairSEEDS=* ]] || printf '%q ' "$word" # PAIRS stands for it
        done
        echo "${*:5}"
    )
    if [ "$dry" ]; then
        printf '# sbatch%s\n%s\n\n' "$(printf ' %q' "${options[@]}")" "$script"
        jobs+=("JOB-$name")
        return
    fi
    if ! job=$(sbatch "${options[@]}" <<<"$script"); then
        [ ${#jobs[@]} = 0 ] || scancel "${jobs[@]}"
        fail 1 "sbatch refused the job '$name' (cancelled: ${jobs[*]:-none})"
    fi
    jobs+=("${job%%;*}")
    echo "$name ${jobs[-1]}"
}

[ "$dry" ] || mkdir -p "$OUT/slurm"
submit data data 0 0 "$OUT/train.mcz" "$OUT/test.mcz"
submit network 'net-[0-9]+' "$gpus" ${#seeds[@]} '"net-${seeds[SLURM_ARRAY_TASK_ID]}"'
submit pair '[0-9]+-[0-9]+' "$gpus" ${#pairs[@]} '"PAIRS=${pairs[SLURM_ARRAY_TASK_ID]}" pair'
submit all tables 0 0 all
