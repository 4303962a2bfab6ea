#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compare linear assignment with SciPy, in turn, one thread each: a TSV table with ratios.
here=$(dirname "$(readlink -f "$0")")
. "$here/../../pipelines/include/environment.sh" || exit 1
exec "${PYTHON:-/usr/bin/python3}" "$here/assign.py" "$MC_BUILD/tests/bench/bench_assign"
