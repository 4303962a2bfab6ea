# SPDX-License-Identifier: Apache-2.0
# gpu-tune replaces a device's lines in the table of plans, and keeps those of other devices.
require_emulation

printf '# a remark\nheading\nsm_99/1\t9\tf32\tfixed\tdata\tx\t1:2=3\tnoted\t0\t1\t-\t-\n' >table.tsv
key=$("$MC_BUILD/tests/emulation/tune" 0 f32 0 2 resnet:8,2:8x8 | cut -f1,2 | sort -u)
printf '%s\tf32\tfixed\tdata\told\t1:2=3\tnoted\t0\t1\t-\t-\n' "$key" >>table.tsv
(
    cd "$MC_ROOT"
    TABLE=$TMP/table.tsv TUNE=$MC_BUILD/tests/emulation/tune NETS=resnet:8,2:8x8 BATCH=2 REPEATS=1 PRECISION="f32 tf32 bf16" \
        tests/bench/write-table cuda "$MC_BUILD"
)
same <(head -n 1 table.tsv) <(head -n 1 "$MC_ROOT/kernels/cuda/plans.tsv")
grep -q '^sm_99' table.tsv || die 'the lines of another device are gone'
! grep -q 'old\|remark' table.tsv || die "$(cat table.tsv)"
for p in f32 tf32 bf16; do
    for pass in forward data weights add; do
        [ "$(grep -c "^$key	$p	fixed	$pass	" table.tsv)" -ge 4 ] || die "$p, $pass: $(cat table.tsv)"
    done
done
# lines for the fixed order contain only engines with a fixed order
! grep '	fixed	' table.tsv | grep -E '	(unordered|unproved)	' || die 'an engine without a fixed order'
awk -F'\t' '/^sm_90/ && !($10 > 0 && $12 > 0) { bad = 1 } END { exit bad }' table.tsv || die "not timed: $(cat table.tsv)"

# tables timed before replace lines of their shapes only, also a line for any order that they lack
line() { printf 'sm_9/1\t9\tf32\t%s\tdata\t%s\t%s\tnoted\t0\t1\t-\t-\n' "$@"; }
{ echo heading && line fixed a old && line any a old && line fixed b kept; } >table.tsv
{ echo heading && line fixed a new; } >first.tsv
{ echo heading && line fixed a second && line any a second && line fixed c new; } >second.tsv
(cd "$MC_ROOT" && TABLE=$TMP/table.tsv tests/bench/write-table cuda "$MC_BUILD" "$TMP"/{first,second}.tsv)
expect_equal "$(tail -n +2 table.tsv | cut -f4,6,7)" $'fixed\ta\tnew\nfixed\tb\tkept\nfixed\tc\tnew'
