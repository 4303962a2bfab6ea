# SPDX-License-Identifier: Apache-2.0
# Every program reports a missing input and a missing output folder by name, with status 1.
. "$MC_ROOT/tests/cli/lib/programs.bash"

n=0
reports_missing() {
    local words=("$@") i
    for i in "${!words[@]}"; do
        if [ -e "${words[i]}" ]; then
            fails 1 "cannot open 'nothing'" "${words[@]:0:i}" nothing "${words[@]:i+1}"
            n=$((n + 1))
        fi
    done
    [ "$1" = mc-info ] || fails 1 "'nowhere/x.svg': No such file" "$@" -o nowhere/x.svg
}
programs reports_missing
[ $n -gt 25 ]
