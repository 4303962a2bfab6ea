# SPDX-License-Identifier: Apache-2.0
# A gate of tests/torture that runs out of time is reported as short, and one whose program writes nothing fails. Skipped
# without strace.
[ -z "$MC_UNDER" ] || exit 77
strace -o /dev/null true 2>/dev/null || exit 77
ONLY=kill TORTURE_SEED=1 "$MC_ROOT/tests/torture.sh" "$MC_BUILD" .001 >output || die "$(<output)"
expect_equal "$(tail -n 1 output | sed 's/ at [0-9]* of [0-9]*/ at N of N/')" \
    'kill     short    0 of 2000 kills at random, at N of N system calls (0 not reached again), 0 faults, cut short by the time'
fails 2 "TORTURE_SEED*whole number (got 'x')" env TORTURE_SEED=x "$MC_ROOT/tests/torture/kill" "$MC_BUILD" 1
"$MC_ROOT/tests/torture/kill" -h | grep -q 'BUILD MINUTES \[COUNT\]' || die 'no usage in --help'

mkdir -p none/bin none/tests
cp -R "$MC_BUILD"/bin/. none/bin
printf '#!/bin/sh\nexit 0\n' >none/bin/mc-hungarian
! "$MC_ROOT/tests/torture/io" none 1 1 >output || die "passes without output: $(<output)"
grep -q '^io: fault: undisturbed: mc-hungarian .*: no output$' output || die "$(<output)"
