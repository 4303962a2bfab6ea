# SPDX-License-Identifier: Apache-2.0
# Every program follows the conventions for --help, --version, exit statuses and messages.
set -eu
n=0
complain() { echo "$name: $*"; exit 1; }
expect_status() { # EXPECTED COMMAND...
    local want=$1 rc=0
    shift
    "$@" >out 2>err || rc=$?
    [ "$rc" = "$want" ] || complain "$* exits with $rc, not $want"
}

for program in "$MC_BUILD"/bin/mc-*; do
    name=${program##*/}
    n=$((n + 1))

    expect_status 0 "$name" --help
    [ ! -s err ] || complain "--help writes to stderr"
    cp out help
    expect_status 0 "$name" -h
    cmp -s out help || complain "-h is not --help"
    # the purpose in one line, then examples, then the usage
    case $(head -n 1 help) in [A-Z]*.) ;; *) complain "--help begins with '$(head -n 1 help)'" ;; esac
    [ "$(sed -n '2,3p' help | paste -sd '|')" = '|Examples:' ] || complain "no examples after the purpose"
    grep -q "^Usage: $name " help || complain "--help lacks the usage"
    grep -q '^Exit status: 0 success, 1 failure, 2 usage error, 3' help || complain "--help lacks the exit statuses"
    sed -n '/^Examples:/,/^$/p' help | sed '1d;$d' >examples
    [ "$(grep -c "^  .*\b$name\b" examples)" -ge 2 ] || complain "--help lacks two examples"
    ! grep -v '^  ' examples || complain "an example is too long for a line"
    [ "$(wc -L <help)" -le 80 ] || complain "--help is wider than 80 columns"
    if grep -E '^ +(-[a-zA-Z], )?--?[a-z]' help | grep -qvE '(  [^ ]|[A-Z0-9=|]$)'; then complain "an option has no text"; fi
    for option in --help --version --quiet --verbose; do
        grep -q -- " $option" help || complain "lacks $option"
    done

    expect_status 0 "$name" --version
    [[ $(head -n 1 out) =~ ^$name\ \(mc\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || complain "--version says '$(head -n 1 out)'"
    if [ "$name" != mc-plot ]; then # which reads no streams and uses no backend
        if [[ $(sed -n 2p out) =~ ^commit\ [0-9a-f]{7,}(-dirty)?$ ]]; then sed -i 2d out; fi # a build between releases
        [ "$(sed -n 2p out)" = 'stream format 3' ] || complain "--version lacks the format"
        [[ $(sed -n 3p out) =~ ^backends:\ cpu\ \((portable|avx2|avx512),\ oneDNN\ [0-9.]+\),\ cuda\ \([a-zA-Z_\ ,]+\)$ ]] ||
            complain "--version lacks the backends: '$(cat out)'"
        [ "$(wc -l <out)" = 3 ] || complain "--version says more than three lines"
        # it works in any environment
        MC_CUDA_LIBRARY=/nonexistent MC_ISA=other expect_status 0 "$name" --version
        grep -q '^backends: cpu (MC_ISA must be .*), cuda (the library of MC_CUDA_LIBRARY is missing)$' out ||
            complain "--version says '$(cat out)'"
        MC_ISA=portable expect_status 0 "$name" --version
        grep -q '^backends: cpu (portable, ' out || complain "--version does not look at MC_ISA"
    fi

    for bad in --no-such-option -Z --quiet=x; do
        expect_status 2 "$name" "$bad"
        [ ! -s out ] || complain "$bad writes to stdout"
        case $(cat err) in "$name: "*"option '"*) ;; *) complain "$bad says '$(cat err)'" ;; esac
        [ "$(wc -l <err)" = 1 ] || complain "$bad says more than a line"
    done

    for option in --help --version; do
        rc=0
        "$name" $option >/dev/full 2>err || rc=$?
        [ "$rc" = 1 ] && [ "$(wc -l <err)" = 1 ] || complain "$option to a full disk exits with $rc"
    done
done
[ "$n" -gt 0 ]
