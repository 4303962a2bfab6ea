# SPDX-License-Identifier: Apache-2.0
# The inputs that fuzzing begins with, and those that once ended a reader, are taken or refused in words.
[ "${MC_UNDER:-}" != valgrind ] || exit 77
/usr/bin/python3 "$MC_ROOT/tests/fuzz/seeds.py" seeds
for t in $(ls seeds); do
    is "$(FUZZ_TARGET=$t "$MC_BUILD/tests/fuzz/fuzz" "seeds/$t" 2>said)" "$(ls seeds/$t | wc -l) inputs" || cat said
done
[ "$(ls seeds | wc -l)" -gt 20 ] || die "too few targets"
FUZZ_TARGET=png "$MC_BUILD/tests/fuzz/fuzz" seeds/png nothing 2>said && die "an input that is not there was run"
grep -q 'cannot read nothing' said
