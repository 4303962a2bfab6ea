#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One make at a time in OUT, also where several machines see it. common.mk calls this, with make's number, which its own
# parent's is not where make was killed a moment ago:
#
#   lock.sh OUT MAKE GRAPH [UNIT]
#                               take OUT for this make until it ends, however it ends; status 1, and why on stdout, where
#                               another make has it. Jobs that a killed make left behind are waited for. With a UNIT,
#                               the pair or network that alone is made, makes of other units may work there, too. Results
#                               that a killed make replaced without saying with what settings lose their settings.
#   lock.sh -c JOBS MAKE LINE   a line of a recipe, for make as its shell
#
# OUT/.lock is locked by a process that ends with make, and says which make it is; OUT/.jobs is locked by every job.
# Of a unit these are OUT/.lock-UNIT and OUT/.jobs-UNIT, while OUT/.lock is shared by all units.
# The kernel (or NFS) holds these locks, so nothing is to be cleaned up after a kill.
set -u
case ${1-} in
-h | --help)
    sed -n '/^# One make/,/^# The kernel/s/^# \{0,1\}//p' "$0"
    exit
    ;;
esac
folder=${0%/*}
[ "$folder" != "$0" ] || folder=.
. "$folder/include/environment.sh" || exit 1

# running PID: it has not ended; its parent is $parent then
running() {
    local stat fields
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    read -ra fields <<<"${stat##*) }"
    parent=${fields[1]}
    [[ ${fields[0]} != [ZX] ]]
}

# within PID: of a make that PID's make started
within() {
    local p=$make
    while [ "$p" != "$1" ]; do
        running "$p" && p=$parent && [ "$p" -gt 1 ] || return 1
    done
}

# opened FILE: at $fd, to be written where that may be, as NFS asks of a lock that excludes others
opened() {
    { exec {fd}<>"$1"; } 2>/dev/null || { exec {fd}<"$1"; } 2>/dev/null
}

if [ $# -lt 3 ] || [ "$1 $#" = "-c 3" ]; then
    echo 'lock.sh: OUT MAKE GRAPH [UNIT], or -c JOBS MAKE LINE, is wanted (see lock.sh -h)' >&2
    exit 2
fi
if [ "$1" = -c ]; then
    [ ! -e "$2" ] || exec {jobs}<"$2" || exit 1
    [ -z "${jobs-}" ] || flock -s "$jobs" 2>/dev/null
    # a job that begins after its make has ended would be in the way of the next make's
    running "$3" || exit 1
    # bash becomes a line's only command, which so gets the signals that make sends
    exec /bin/bash -c "$4"
fi

# forget: of results that are no longer what they were before they were made anew, the settings
forget() {
    local before old=("$out"/*.before "$out"/*/*.before)
    [ -z "$unit" ] || old=("$out/${unit#-}".*before "$out/${unit#-}"/*.before)
    for before in "${old[@]}"; do
        [ -e "$before" ] || continue
        [ "$before" -ef "${before%.before}" ] || rm -f "${before%.before}.settings"
        rm -f "$before"
    done
}

out=$1 make=$2 unit=${4:+-$4} busy=75
# who may not write there makes nothing there
[ -w "$out" ] || exit 0
# of others who may, too
(umask 0; : >>"$out/.lock"; : >>"$out/.lock$unit"; : >>"$out/.jobs$unit") 2>/dev/null
if ! { opened "$out/.lock" && lock=$fd && opened "$out/.lock$unit" && mine=$fd && opened "$out/.jobs$unit" && exec {fd}>&-; }; then
    echo "cannot open .lock and .jobs there"
    exit 1
fi

for ((tries = 0; ; tries++)); do
    at=
    flock -n -E $busy ${unit:+-s} "$lock"
    rc=$?
    if [ $rc = 0 ] && [ -n "$unit" ]; then
        at=$unit
        flock -n -E $busy "$mine"
        rc=$?
    fi
    case $rc in
    0) break ;;
    "$busy") ;;
    *)
        echo "OUT=\"$out\": there are no locks on this file system: two makes there would go unnoticed" >&2
        forget
        exit 0
        ;;
    esac
    read -r pid graph host since <"$out/.lock$at"
    [ "${host:-}" != "$(uname -n)" ] || ! within "$pid" || exit 0
    # one that has just ended lets go in a moment, one that has just begun says so
    if [ $tries = 30 ] || { [ -n "${host:-}" ] && { [ "$host" != "$(uname -n)" ] || running "$pid"; }; }; then
        echo "make ${pid:-} (${graph:-}) on ${host:-} has been at work there since ${since:-}: wait for it, or give another OUT"
        exit 1
    fi
    sleep .1
done
for f in "$out/.lock" ${unit:+"$out/.lock$unit"}; do
    printf '%s %s %s %s\n' "$make" "$3" "$(uname -n)" "$(date '+%F %T')" 2>/dev/null >"$f"
done
(
    trap '' HUP INT QUIT TERM
    exec {never}<> <(:)
    while running "$make"; do read -rt .1 -u "$never"; done
) </dev/null >/dev/null 2>&1 &
exec {lock}<&- {mine}<&-
# those of the same unit, or of makes that had all of OUT; for such a make those of every unit
if [ -n "$unit" ]; then left_by=("$out/.jobs$unit" "$out/.jobs"); else left_by=("$out/.jobs" "$out/.jobs-"*); fi
for of in "${left_by[@]}"; do
    [ -e "$of" ] || continue
    opened "$of" || exit 1
    jobs=$fd
    # another unit's make may be looking, too, for a moment
    if [ -n "$unit" ]; then wait=(-w 2); else wait=(-n); fi
    flock -E $busy "${wait[@]}" "$jobs"
    if [ $? = $busy ]; then
        left=$(exec {jobs}<&-
            for f in /proc/[0-9]*/fd/*; do
                pid=${f#/proc/} pid=${pid%%/*}
                [ "$pid" = $$ ] || ! [ "$f" -ef "$of" ] || echo "$pid ($(<"/proc/$pid/comm"))"
            done 2>/dev/null | sort -u | paste -sd ' ')
        echo "OUT=\"$out\": waiting for what an earlier make started and left running (end it, or wait): ${left:-on another machine}" >&2
        while flock -E $busy -w .5 "$jobs"; [ $? = $busy ]; do running "$make" || exit 1; done
    fi
    exec {jobs}<&-
done
forget
exit 0
