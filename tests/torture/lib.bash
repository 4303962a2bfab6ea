# SPDX-License-Identifier: Apache-2.0
# What the gates share; each reads it first. A gate is called with BUILD MINUTES [COUNT]: the build folder, how long it may
# take (3, .5), and how many of each of its kinds of points it tries, by default as many as its figure asks for. Its
# last line is `NAME: figures`, which end in `cut short by the time` where that was so; it ends with 1 where a fault was
# found, with 77 where it cannot be tried, and why. TORTURE_SEED=N draws the same points again.
set -eu
. "$(dirname "$(readlink -f "$0")")/../../pipelines/include/environment.sh" || exit 2
case ${1-} in
-h | --help)
    for f in "$0" "${BASH_SOURCE[0]}"; do sed -n '/^# SPDX/d; /^#!/d; s/^#$//; s/^# //p; /^set/q; /^\. /q' "$f"; done
    exit
    ;;
esac
if [ $# -lt 2 ] || [ ! -d "$1" ] || [[ ! $2 =~ ^[0-9]*\.?[0-9]+$ || ! ${3:-1} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: ${0##*/} BUILD MINUTES [COUNT]" >&2
    exit 2
fi
if [[ ! ${TORTURE_SEED:-0} =~ ^(0|[1-9][0-9]{0,8})$ ]]; then
    echo "${0##*/}: TORTURE_SEED=\"$TORTURE_SEED\": a whole number is wanted" >&2
    exit 2
fi
gate=${0##*/} count=${3:-}
work=$(mktemp -d)
# by names without blanks, which make and the loader would take for more than one
ln -s "$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)" "$work/root"
ln -s "$(cd "$1" && pwd)" "$work/build"
MC_ROOT=$work/root MC_BUILD=$work/build
export MC_ROOT MC_BUILD MC_UNDER=${MC_UNDER:-} MC_FIXTURES=$work/fixtures TMP=$work/tmp TMPDIR=$work/tmp
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$MC_ROOT/tests/cli/lib:$MC_ROOT/formats/python
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} PATH=$MC_BUILD/bin:$PATH
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
. "$MC_ROOT/tests/cli/lib/lib.bash"
mkdir "$TMP" "$MC_FIXTURES"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$TMP"

seed=${TORTURE_SEED:-$((SRANDOM % 1000000))}
RANDOM=$seed
echo "$gate: TORTURE_SEED=$seed"
# the time begins; once more behind what is built first
begins() { last=$(awk -v now="$EPOCHSECONDS" -v minutes="$minutes" 'BEGIN { printf "%d", now + 60 * minutes + .5 }'); }
in_time() { [ "$EPOCHSECONDS" -lt "$last" ] || { late=', cut short by the time' && return 1; }; }
minutes=$2 late=
begins
shuffled() { shuf --random-source=<(yes $seed); }
# pause MILLISECONDS, without a process
pause() { read -rt $(($1 / 1000)).$(printf %03d $(($1 % 1000))) -u "$never" || true; }
exec {never}<> <(:)

faults=0
# fault TEXT...: tells of it; after the fiftieth nothing more is tried
fault() {
    faults=$((faults + 1))
    echo "$gate: fault: $*"
    [ $faults -lt 50 ] || ended 'given up'
}
# ended FIGURES: the last line
ended() {
    echo "$gate: $1, $faults faults$late"
    exit $((faults > 0))
}
fails_undisturbed() {
    fault "undisturbed: $1"
    ended 'nothing was tried'
}
cannot() {
    echo "$gate: not tried: $1"
    exit 77
}
# without strace, or where one process may not trace another
needs_strace() { strace -o /dev/null true 2>/dev/null || cannot 'strace does not work here'; }

# resumable KIND: in $line a run of this kind that a kill does not end, on what make_resumable leaves here; it makes the
# files $made, and ck beside them
kinds=(train bezier pam plane) made=(out log.json marks.tsv)
resumable() {
    local on=(-q -t 1 --data d.mcz --batch 32) training=(--lr .05 --log-json log.json)
    case $1 in
    train) line=(mc-train "${on[@]}" "${training[@]}" --net mlp:bn,4 --epochs 3 --seed 5) ;;
    bezier) line=(mc-bezier "${on[@]}" "${training[@]}" --epochs 2 n1.mcz n2.mcz) ;;
    pam) line=(mc-pam "${on[@]}" "${training[@]}" --permutation-epochs 1 --permutation-lr 1 --epochs 1 n1.mcz n2.mcz) ;;
    plane) line=(mc-eval "${on[@]}" --bn-data d.mcz --plane --grid 3 --checkpoint-every 2 --marks marks.tsv n{1,2,3}.mcz) ;;
    esac
    line+=(--checkpoint ck --resume -o out)
}
make_resumable() {
    local s
    mc-data synth --samples 64 --size 8 -o d.mcz
    for s in 1 2 3; do mc-train -q -t 1 --net mlp:bn,4 --data d.mcz --batch 32 --epochs 2 --lr .05 --seed $s -o n$s.mcz; done
}
# begin: as before a run, with an old output
begin() {
    rm -f ck "${made[@]}" .*.mcz-tmp
    echo old >out
}
# resumed WHAT WHOLE: $line, run again, makes WHOLE.out and what else a run in one piece makes
resumed() {
    local rc=0 f
    "${line[@]}" >said 2>&1 || rc=$?
    [ $rc = 0 ] || fault "$1: resumed: status $rc: $(<said)"
    for f in "${made[@]}"; do
        [ ! -e "$2.$f" ] || cmp -s $f "$2.$f" || cmp -s <(timeless $f) <(timeless "$2.$f") || fault "$1: resumed: another $f"
    done
    [ -z "$(compgen -G '.*.mcz-tmp')" ] || fault "$1: resumed: temporaries are left:" .*.mcz-tmp
}
