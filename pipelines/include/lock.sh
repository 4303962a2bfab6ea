# SPDX-License-Identifier: Apache-2.0
#
# lock_out PROGRAM PID OUT [UNIT...]: locks OUT, or only these units of it (net-SEED, A-B), as long as this process or a
# child that inherits the lock runs. The messages of others name PROGRAM and its process PID. If a killed make left jobs
# running there, it prints their names and waits for them.
lock_out() {
    local program=$1 pid=$2 out=$3 files=("$3/.lock") file jobs
    shift 3
    if [ $# = 0 ]; then
        lock "$out/.lock" -x
    else
        lock "$out/.lock" -s
        files=("${@/#/$out/.lock-}")
        for file in "${files[@]}"; do lock "$file" -x; done
    fi
    for file in "${files[@]}"; do echo "$program $pid on $(uname -n)" >"$file"; done
    jobs=$(running_jobs "$@")
    [ -z "$jobs" ] || echo "$program: OUT=$out: waiting for jobs of an earlier make: $jobs" >&2
    while [ -n "$(running_jobs "$@")" ]; do sleep .5; done
}
# lock FILE FLOCK_OPTION: locks FILE for lock_out, or exits with its holder's name
lock() {
    local rc=0 fd other
    exec {fd}<>"$1" # NFS needs both for -s and -x
    flock -w 3 "$2" "$fd" || rc=$?
    case $rc in
    0) ;;
    1)
        read -r other <"$1" || other='another make'
        echo "$program: OUT=$out: in use by $other: wait for it, or choose another OUT" >&2
        exit 1
        ;;
    *) echo "$program: OUT=$out: the file system has no locks: do not run two makes at a time" >&2 ;;
    esac
}
# running_jobs UNIT...: prints the jobs that run in OUT, or in these units of it, for lock_out
running_jobs() {
    local unit pid folder
    folder=$(sed 's/[.+^]/\\&/g' <<<"$out")
    for unit in "${@:-}"; do
        for pid in $(pgrep -f "mc-[a-z]+ (.*[ =])?$folder/$unit${unit:+[/.]}"); do
            [ ! "/proc/$pid/cwd" -ef . ] || printf '%s (%s) ' "$pid" "$(<"/proc/$pid/comm")"
        done
    done 2>/dev/null
}
