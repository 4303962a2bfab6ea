# SPDX-License-Identifier: Apache-2.0
# A line in the table of plans chooses a pass's engine if the engine supports the requested order of sums. Otherwise
# cuDNN's heuristics and notes choose. Every line of the committed table was timed.
awk -F '\t' 'NF != 12 || (NR > 1 && !($10 > 0)) { bad = 1; print } END { exit bad || !NR }' "$MC_ROOT/kernels/cuda/plans.tsv" ||
    die 'a line of plans.tsv was not timed'
require_emulation

# choices TABLE PRECISION: prints tinyten's engines
choices() { TABLE=$1 "$MC_BUILD/tests/emulation/tune" 0 "$2" 0 128 tinyten:32x32; }
head -n 1 "$MC_ROOT/kernels/cuda/plans.tsv" >empty
for p in f32 tf32 bf16 f16; do
    choices empty $p >$p
    for order in fixed any; do
        expect_equal "$(awk -F '\t' -v order=$order '$4 == order { n[$5]++ } END { print n["forward"], n["data"], n["weights"], n["add"] }' $p)" '7 6 7 6'
    done
    ! grep '	fixed	' $p | grep -vE '	(noted|own)	' || die "$p: an engine without a fixed order"
    [ $p = f32 ] || ! grep '	own	' $p || die "$p: our own engine is the first only in f32"
done

# choice ENGINE PROOF: the engine for this pass in fixed order, with a table of this line
choice() {
    { cat empty && printf '%s\t%s\t%s\t0\t1\t-\t-\n' "$key" "$1" "$2"; } >table
    choices table f32 >now
    cmp <(grep -v "$pass" now) <(grep -v "$pass" f32) >&2 || die "$1: other choices changed"
    grep -F "$key" now | cut -f7,8
}
# engine ORDER COLUMNS: the pass's line by the heuristics
engine() { grep "	$1	$pass" f32 | cut -f"$2"; }
pass='forward	16x32x32-16x32x32 '
key=$(engine fixed 1-6) usual=$(engine fixed 7,8) other=$(engine any 7)
expect_equal "$(engine any 8)" unproved
expect_equal "$(choice "$other" shown)" "$other	shown"
expect_equal "$(choice "$other" unproved)" "$usual"
expect_equal "$(choice 9999:2=1 noted)" "$usual"
expect_equal "$(choice "${other%%:*}:2=12345" shown)" "$usual"
# our own engine computes the weights' gradient; an engine without a fixed order never does in a fixed order
pass='weights	16x32x32-16x32x32 '
key=$(engine fixed 1-6)
expect_equal "$(engine fixed 7,8)" 'own	own'
expect_equal "$(choice 20 unordered)" 'own	own'
expect_equal "$(choice 0 noted)" '0	noted'

# a training warns once if shapes are not in the table, in f32
mc-data synth --samples 4 -o d.mcz
warnings() { mc-train --data d.mcz --epochs 1 --batch 4 --device cuda -o w.mcz "$@" 2>&1 | grep -c 'slower than possible: .*, convolutions not timed: run make gpu-tune$' || true; }
expect_equal "$(warnings --net resnet:8,2) $(warnings --net tinyten) $(warnings --net resnet:8,2 --precision bf16)" '1 0 0'
