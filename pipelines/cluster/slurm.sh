#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A make graph on a Slurm cluster: the data, then an array of the networks, then an array of the pairs, a task each with
# make inside, then what is of all pairs. Each waits for the one before to have gone well.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/../include/environment.sh" || exit 1

usage() {
    cat <<'END'
Usage: slurm.sh [OPTION...] GRAPH SETTING=VALUE...
Submit a graph of pipelines/ to Slurm: jobs for the data, for each network, for each pair, and for all of them.

  -t TIME    of a task at most, as sbatch takes it (default: twice what `cost` says, and ten minutes)
  -m MEM     of a task (default: what `cost` says and half as much again, at least 1G)
  -g GPUS    of a task that trains (default: 1 with DEVICE=cuda, else none)
  -a MOST    so many tasks of an array at a time (default: as Slurm likes)
  -s OPTION  one more for sbatch, may come often: -s --partition=long -s --account=me
  -n         print the scripts, submit nothing
  -h         print this and exit

GRAPH is connect.mk or another one with PAIRS, SETTINGs are its own; OUT has to be a folder that all nodes see, as the
programs and the data are. A task has THREADS cores. Slurm starts a task again where its node failed or it was requeued;
it goes on from its checkpoints. Submit the same again after a failure: what is done is not done twice. Logs: OUT/slurm.

Examples:
  pipelines/cluster/slurm.sh connect.mk DATA=cifar10 DATA_DIR=~/data NET=resnet20 PAIRS="1:2 3:4 5:6" OUT=out
  pipelines/cluster/slurm.sh -t 2:00:00 -m 8G -s --partition=gpu connect.mk DEVICE=cuda DATA=cifar10 DATA_DIR=DIR OUT=out

Prints the jobs' numbers. Exit status: 0 done, 1 failed, 2 usage.
END
}

wrong() { # STATUS TEXT
    echo "slurm.sh: $2" >&2
    exit "$1"
}

time='' memory='' gpus='' most='' more=() submitted=() dry=''
[ "${1:-}" != --help ] || set -- -h
while getopts :t:m:g:a:s:nh option; do
    case $option in
    t) time=$OPTARG ;;
    m) memory=$OPTARG ;;
    g) gpus=$OPTARG ;;
    a) most=$OPTARG ;;
    s) more+=("$OPTARG") ;;
    n) dry=1 ;;
    h)
        usage
        exit 0
        ;;
    :) wrong 2 "-$OPTARG needs a value (see slurm.sh -h)" ;;
    *) wrong 2 "there is no option '-$OPTARG' (see slurm.sh -h)" ;;
    esac
done
shift $((OPTIND - 1))
[[ $most$gpus =~ ^[0-9]*$ ]] || wrong 2 "-a and -g take a number (see slurm.sh -h)"
[ $# -gt 0 ] || wrong 2 'which graph? connect.mk, say (see slurm.sh -h)'
# with blanks it is as it was named, as a link may stand for it
[[ $here != *[[:space:]]* ]] || here=$(cd "$(dirname "$0")" && pwd)
[[ $here != *[[:space:]]* ]] || wrong 1 "$here: the path to this tree may hold no blank: name it through a link without"
graph=$here/${1##*/}
[ -e "$graph" ] || wrong 2 "there is no graph '$1' beside slurm.sh"
[ "${1##*/}" != paper.mk ] || wrong 2 'paper.mk has parts: submit their graphs one by one'
shift
out=out threads=2 device=auto pairs=1:2 settings=()
for word; do
    case $word in
    OUT=*) out=${word#OUT=} && out=${out%/} && out=${out/#\~\//$HOME/} ;;
    THREADS=*) threads=${word#THREADS=} ;;
    DEVICE=*) device=${word#DEVICE=} ;;
    PAIRS=*) pairs=${word#PAIRS=} && continue ;;
    SEEDS=*) pairs=${word#SEEDS=} && pairs=${pairs/ /:} && continue ;;
    [A-Z]*=*) ;;
    *) wrong 2 "'$word' is no SETTING=VALUE" ;;
    esac
    settings+=("$word")
done
[ -n "$dry" ] || command -v sbatch >/dev/null || wrong 1 'there is no sbatch on PATH: this is no machine that submits to Slurm (-n prints the scripts)'
# what is wrong with the settings, and what the tasks take, before anything is submitted
make=(make --no-print-directory -f "$graph" "${settings[@]}" "PAIRS=$pairs")
"${make[@]}" -n all >/dev/null || exit 2
if [ -z "$time" ] || [ -z "$memory" ]; then
    cost=$("${make[@]}" cost) || wrong 1 'what this costs could not be told here: give -t and -m'
fi
# need PATTERN: of the rows that match, the longest time in minutes and the most memory in MB
need() {
    awk -v row="$1" '$1 ~ row && NF == 6 { if ($3 > h) h = $3; if ($5 > m) m = $5 } END { print int(h * 120) + 10, int(m * 1.5) + 1000 }' <<<"$cost"
}
[ -n "$gpus" ] || { [[ $device == cuda* ]] && gpus=1; }
read -ra list <<<"$pairs"
mapfile -t seeds < <(for p in "${list[@]}"; do IFS=: read -r a b _ <<<"$p" && printf '%s\n' "$a" "$b"; done | sort -nu)

# refused NAME: all are wanted, or none
refused() {
    [ ${#submitted[@]} != 0 ] || wrong 1 "sbatch refused the job '$1'"
    scancel "${submitted[@]}" || wrong 1 "sbatch refused the job '$1', and scancel did not take back those before: ${submitted[*]}"
    wrong 1 "sbatch refused the job '$1': those before are cancelled: ${submitted[*]}"
}

# submit NAME ROW GPUS AFTER TASKS COMMAND...: a job, or an array of so many tasks; says its number
submit() {
    local name=$1 row=$2 devices=$3 after=$4 tasks=$5 minutes=10 megabytes=1000 command
    local options=(--parsable "--job-name=mc-$name" --requeue --open-mode=append "--cpus-per-task=$threads" --ntasks=1)
    shift 5
    [ -z "${cost:-}" ] || read -r minutes megabytes < <(need "$row")
    options+=("--time=${time:-$minutes}" "--mem=${memory:-${megabytes}M}")
    [ -z "$devices" ] || [ "$devices" = 0 ] || options+=("--gpus=$devices")
    [ -z "$after" ] || options+=("--dependency=afterok:$after" --kill-on-invalid-dep=yes)
    if [ "$tasks" -gt 0 ]; then
        options+=("--array=0-$((tasks - 1))${most:+%$most}" "--output=$out/slurm/$name-%A_%a.log")
    else
        options+=("--output=$out/slurm/$name-%j.log")
    fi
    options+=("${more[@]}")
    command=$(
        echo '#!/bin/bash'
        printf 'cd %q || exit\n' "$PWD"
        # of a name that is used in the command
        printf 'seeds=(%s)\npairs=(%s)\n' "${seeds[*]}" "${list[*]}"
        # a task that is started again writes the same log
        # shellcheck disable=SC2016
        printf 'echo "== $(uname -n), job $SLURM_JOB_ID, start $((SLURM_RESTART_COUNT + 1))"\n'
        printf 'exec'
        printf ' %q' "${make[@]}"
        printf ' %s' "$@"
        echo
    )
    if [ -n "$dry" ]; then
        printf '# sbatch'
        printf ' %q' "${options[@]}"
        printf '\n%s\n\n' "$command"
        job=JOB-$name
        return
    fi
    job=$(sbatch "${options[@]}" <<<"$command") || refused "$name"
    job=${job%%;*}
    submitted+=("$job")
    echo "$name $job"
}

[ -n "$dry" ] || mkdir -p "$out/slurm" || exit 1
submit data '^data:?$' '' '' 0 "$out/train.mcz" "$out/test.mcz"
# shellcheck disable=SC2016 # expanded in the task
submit network '^net-' "$gpus" "$job" ${#seeds[@]} '"net-${seeds[SLURM_ARRAY_TASK_ID]}"'
# shellcheck disable=SC2016
submit pair '^[0-9]+-[0-9]+' "$gpus" "$job" ${#list[@]} '"PAIRS=${pairs[SLURM_ARRAY_TASK_ID]}" pair'
submit all '^none' '' "$job" 0 all
