# SPDX-License-Identifier: Apache-2.0
# Seeds of fuzzing, inputs that once crashed a reader, and 2,000 fixed damaged ones per target are read or refused with a
# message.
[ "${MC_UNDER:-}" != valgrind ] || exit 77
/usr/bin/python3 "$MC_ROOT/tests/fuzz/seeds.py" seeds
damaged=2000
[ -z "${MC_UNDER:-}" ] || damaged=500
for t in seeds/*; do
    t=${t#seeds/}
    rm -f last
    FUZZ_TARGET=$t "$MC_BUILD/tests/fuzz/fuzz" -damaged=$damaged -last=last "seeds/$t" >output 2>errors ||
        die "$t: $(tail -n 30 errors; [ ! -e last ] || base64 -w 0 last)"
    expect_equal "$(cat output)" "$(ls seeds/$t | wc -l) inputs, $damaged damaged"
done
[ "$(ls seeds | wc -l)" -gt 20 ] || die "too few targets"
FUZZ_TARGET=png "$MC_BUILD/tests/fuzz/fuzz" seeds/png nothing 2>errors && die "a missing input was run"
grep -q 'cannot read nothing' errors
