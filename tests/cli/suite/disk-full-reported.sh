# SPDX-License-Identifier: Apache-2.0
# Every program reports a full disk in one line with status 1, for -o and for standard output.
. "$MC_ROOT/tests/cli/lib/programs.bash"

n=0
fails_on_full_disk() {
    n=$((n + 1))
    local rc=0
    "$@" >/dev/full 2>err || rc=$?
    [ "$rc $(wc -l <err)" = '1 1' ] || die "$*: status $rc, $(cat err)"
    grep -q 'No space left on device' err || die "$*: $(cat err)"
    case $* in
    mc-info* | *--verify*) ;; # without -o, or with another output
    *) fails 1 'No space left' "$@" -o /dev/full ;;
    esac
}
programs fails_on_full_disk
[ $n -gt 20 ]
