# SPDX-License-Identifier: Apache-2.0
# Some of the failing calls, unread pipes and full disks of tests/torture/io. Skipped where strace does not work.
[ -z "$MC_UNDER" ] || exit 77
TORTURE_SEED=1 exec "$MC_ROOT/tests/torture/io" "$MC_BUILD" 10 10
