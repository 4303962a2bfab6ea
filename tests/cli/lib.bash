# SPDX-License-Identifier: Apache-2.0
# What the scripts share: `. "$MC_ROOT/tests/cli/lib.bash"`.
set -eu

# a network to train where any will do: under valgrind a small one, as a convolution's step takes minutes there
net=tinyten
[ "${MC_UNDER:-}" != valgrind ] || net=mlp:bn,16

die() {
    echo "$*"
    exit 1
}

# fails STATUS TEXT COMMAND...: the command ends with that status, says one line with that text on stderr
# and nothing on stdout
fails() {
    local status=$1 part=$2 rc=0
    shift 2
    MC_FAILS=1 "$@" >out.fails 2>err.fails || rc=$?
    [ "$rc" = "$status" ] || die "$*: status $rc, not $status: $(cat err.fails)"
    [ "$(wc -l <err.fails)" = 1 ] || die "$*: not one line: $(cat err.fails)"
    grep -qF -- "$part" err.fails || die "$*: no '$part' in: $(cat err.fails)"
    [ ! -s out.fails ] || die "$*: wrote to stdout"
}

# same FILE FILE: the same bytes
same() {
    cmp "$1" "$2" || die "$1 and $2 differ"
}

# no_temporaries: none lies here
no_temporaries() {
    local left
    left=$(find . -name '*mc*tmp*')
    [ -z "$left" ] || die "left behind: $left"
}

# id FILE: its content id
id() {
    mc-info --json "$1" | sed 's/.*"id": *"\([0-9a-f]*\)".*/\1/'
}

# column FILE NAME: that column of a table, without the header
column() {
    awk -F '\t' -v want="$2" '!c { for (i = 1; i <= NF; i++) if ($i == want) c = i
        if (!c) exit 1; next } { print $c }' "$1"
}
