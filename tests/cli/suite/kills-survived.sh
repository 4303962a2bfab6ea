# SPDX-License-Identifier: Apache-2.0
# Some of the kills of tests/torture/kill. Skipped where strace does not work.
[ -z "$MC_UNDER" ] || exit 77
TORTURE_SEED=1 exec "$MC_ROOT/tests/torture/kill" "$MC_BUILD" 10 6
