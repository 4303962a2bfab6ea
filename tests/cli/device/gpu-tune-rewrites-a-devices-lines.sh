# SPDX-License-Identifier: Apache-2.0
# The table of plans: a device's lines are written anew, others' stay; with no repeats they are the heuristics' choices.
emulated

# table REPEATS: writes table.tsv
table() {
    (
        cd "$MC_ROOT"
        TABLE=$TMP/table.tsv TUNE=$MC_BUILD/tests/emulation/tune NETS=resnet:8,2:8x8 BATCH=2 REPEATS=$1 PRECISION="f32 tf32 bf16" \
            tests/bench/write-table cuda "$MC_BUILD"
    )
}
printf '# a remark\nheading\nsm_99/1\t9\tf32\tfixed\tdata\tx\t1:2=3\tnoted\t0\t-\t-\t-\n' >table.tsv
table 0
cp table.tsv untimed.tsv
key=$(grep -m 1 '^sm_90/132	' table.tsv | cut -f1,2)
printf '%s\tf32\tfixed\tdata\told\t1:2=3\tnoted\t0\t-\t-\t-\n' "$key" >>table.tsv
table 1
for file in untimed.tsv table.tsv; do
    head -n 1 $file | grep -q '^device	cudnn	precision	sums	pass	shape	plan	proof	work	ms	' || die "$(cat $file)"
    grep -q '^sm_99' $file || die 'the lines of another device are gone'
    ! grep -q 'old\|remark' $file || die "$(cat $file)"
    for p in f32 tf32 bf16; do
        for pass in forward data weights add; do
            [ "$(grep -c "^$key	$p	fixed	$pass	" $file)" -ge 4 ] || die "$p, $pass: $(cat $file)"
        done
    done
    # what is in a fixed order stands there alone
    ! grep '	fixed	' $file | grep -E '	(unordered|unproved)	' || die 'an order that is not fixed'
done
# faster sums in any order are found by timing, or not
grep -q '	any	' untimed.tsv || die "$(cat untimed.tsv)"
! grep '	shown	' untimed.tsv || die 'nothing was run'
awk -F'\t' '/^sm_90/ && !($10 > 0 && $12 > 0) { bad = 1 } END { exit bad }' table.tsv || die "not timed: $(cat table.tsv)"
! awk -F'\t' '/^sm_90/ && $10 != "-"' untimed.tsv | grep . || die 'timed'
