# SPDX-License-Identifier: Apache-2.0
# Runs some of the killed and doubled makes of tests/torture/make.
[ -z "$MC_UNDER" ] || exit 77
stub_plot
export BIN=$bin TORTURE_SEED=1
exec "$MC_ROOT/tests/torture/make" "$MC_BUILD" 10 2
