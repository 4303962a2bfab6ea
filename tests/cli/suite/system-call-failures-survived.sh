# SPDX-License-Identifier: Apache-2.0
# Runs some of the failing calls, pipes without a reader and full disks of tests/torture/io. Skipped without strace.
[ -z "$MC_UNDER" ] || exit 77
TORTURE_SEED=1 exec "$MC_ROOT/tests/torture/io" "$MC_BUILD" 10 10
