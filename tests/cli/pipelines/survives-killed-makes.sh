# SPDX-License-Identifier: Apache-2.0
# Some of the killed and doubled makes of tests/torture/make.
[ -z "$MC_UNDER" ] || exit 77
exec "$MC_ROOT/tests/torture/make" "$MC_BUILD" 10 2
