# SPDX-License-Identifier: Apache-2.0
# Shared by the gates. Usage: GATE BUILD MINUTES [COUNT]. BUILD is the build folder, MINUTES the time limit (3, .5), COUNT the
# number of points of each kind (default: the gate's figure). The last line is `NAME: figures`; it ends with `cut short by the
# time` if the time ran out. The exit status is 1 if a fault was found, 77 with the reason if the gate cannot run.
# TORTURE_SEED=N draws the same points again.
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
    echo "${0##*/}: TORTURE_SEED must be a whole number (got '$TORTURE_SEED')" >&2
    exit 2
fi
gate=${0##*/} count=${3:-}
work=$(mktemp -d)
# make and the loader split names at spaces: use links without spaces
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
# start_clock: starts the time limit; gates that build call it again afterwards
start_clock() { last=$(awk -v now="$EPOCHSECONDS" -v minutes="$minutes" 'BEGIN { printf "%d", now + 60 * minutes + .5 }'); }
in_time() { [ "$EPOCHSECONDS" -lt "$last" ] || { late=', cut short by the time' && return 1; }; }
minutes=$2 late=
start_clock
shuffled() { shuf --random-source=<(yes $seed); }
# pause MILLISECONDS: sleeps without a process
pause() { read -rt $(($1 / 1000)).$(printf %03d $(($1 % 1000))) -u "$never" || true; }
exec {never}<> <(:)

faults=0
# fault TEXT...: reports a fault; gives up after 50
fault() {
    faults=$((faults + 1))
    echo "$gate: fault: $*"
    [ $faults -lt 50 ] || ended 'given up'
}
# ended FIGURES: prints the last line and exits
ended() {
    echo "$gate: $1, $faults faults$late"
    exit $((faults > 0))
}
fails_undisturbed() {
    fault "undisturbed: $1"
    ended 'nothing was tried'
}
skip() {
    echo "$gate: skipped: $1"
    exit 77
}
# require_strace: skips the gate without strace, or if tracing is not permitted
require_strace() { strace -o /dev/null true 2>/dev/null || skip 'strace does not work here'; }

# resumable KIND: sets $line to a resumable run of this kind. It reads the files of make_resumable, and writes the files
# $made and the checkpoint ck.
kinds=(train bezier pam plane) made=(out log.json marks.tsv)
resumable() {
    local options=(-q -t 1 --data d.mcz --batch 32) training=(--lr .05 --log-json log.json)
    case $1 in
    train) line=(mc-train "${options[@]}" "${training[@]}" --net mlp:bn,4 --epochs 3 --seed 5) ;;
    bezier) line=(mc-bezier "${options[@]}" "${training[@]}" --epochs 2 n1.mcz n2.mcz) ;;
    pam) line=(mc-pam "${options[@]}" "${training[@]}" --permutation-epochs 1 --permutation-lr 1 --epochs 1 n1.mcz n2.mcz) ;;
    plane) line=(mc-eval "${options[@]}" --bn-data d.mcz --plane --grid 3 --checkpoint-every 2 --marks marks.tsv n{1,2,3}.mcz) ;;
    esac
    line+=(--checkpoint ck --resume -o out)
}
make_resumable() {
    local s
    mc-data synth --samples 64 --size 8 -o d.mcz
    for s in 1 2 3; do mc-train -q -t 1 --net mlp:bn,4 --data d.mcz --batch 32 --epochs 2 --lr .05 --seed $s -o n$s.mcz; done
}
# reset_files: the state before a run, with an old output
reset_files() {
    rm -f ck "${made[@]}" .*.mcz-tmp
    echo old >out
}
# resume WHAT WHOLE: runs $line again, which must write the files WHOLE.* of an undisturbed run
resume() {
    local rc=0 f
    "${line[@]}" >output 2>&1 || rc=$?
    [ $rc = 0 ] || fault "$1: resumed: status $rc: $(<output)"
    for f in "${made[@]}"; do
        [ ! -e "$2.$f" ] || cmp -s $f "$2.$f" || cmp -s <(strip_times $f) <(strip_times "$2.$f") || fault "$1: resumed: $f differs"
    done
    [ -z "$(compgen -G '.*.mcz-tmp')" ] || fault "$1: resumed: left temporary files:" .*.mcz-tmp
}
