# SPDX-License-Identifier: Apache-2.0
# The table of algorithms: a device's lines are written anew, others' stay.
emulated

printf '# a remark\nheading\nsm_99\t9\tf32\tfixed\tdata\tx\talgo-1\t1\talgo-1\t1\nsm_00\t0\tf32\tfixed\tdata\told\talgo-1\t1\talgo-1\t1\n' >table.tsv
cd "$MC_ROOT"
TABLE=$TMP/table.tsv TUNE=$MC_BUILD/tests/emulation/tune NETS=resnet:8,2:8x8 BATCH=2 REPEATS=1 PRECISION="f32 tf32 bf16" \
    tests/bench/write-table cuda "$MC_BUILD"
cd "$TMP"
head -n 1 table.tsv | grep -q '^device	cudnn	precision	sums	pass	shape	algorithm	ms' || die "$(cat table.tsv)"
grep -q '^sm_99' table.tsv || die 'the lines of another device are gone'
! grep -q 'old\|remark' table.tsv || die "$(cat table.tsv)"
for p in f32 tf32 bf16; do
    for pass in forward data weights; do
        [ "$(grep -c "^sm_00	0	$p	fixed	$pass	" table.tsv)" -ge 4 ] || die "$p, $pass: $(cat table.tsv)"
    done
done
# what the heuristics rank for another arithmetic is not their first choice
! awk -F'\t' '$5 == "forward" && $9 != "implicit-gemm"' table.tsv | grep . || die 'a choice for another arithmetic'
# what is in a fixed order stands there alone
! grep '	fixed	' table.tsv | grep -E '	(data	.*	algo-0|weights	.*	algo-[03])	' || die 'an algorithm that adds atomically'
