# SPDX-License-Identifier: Apache-2.0
# Runs some of the kills of tests/torture/kill. Skipped without strace.
[ -z "$MC_UNDER" ] || exit 77
TORTURE_SEED=1 exec "$MC_ROOT/tests/torture/kill" "$MC_BUILD" 10 6
