# SPDX-License-Identifier: Apache-2.0
# Programs refuse a second input from standard input, and each reports an empty file.
. "$MC_ROOT/tests/cli/lib/programs.bash"

n=0
piped() {
    [ "$1" != mc-align ] || return 0 # it reads files alone
    local words=("$@") i inputs=0
    for i in "${!words[@]}"; do
        [ -e "${words[i]}" ] || continue
        words[i]=- inputs=$((inputs + 1))
        if [[ ${*:i+1:1} == w.npz ]]; then # an archive is read from its end
            fails 2 'standard input' "${@:1:i}" - "${@:i+2}"
        else
            fails 3 'stdin: is empty' "${@:1:i}" - "${@:i+2}"
        fi
        n=$((n + 1))
    done
    [ $inputs -lt 2 ] || fails 2 'standard input' "${words[@]}"
}
programs piped
[ $n -gt 25 ]
