#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Linear assignment against SciPy, in turn, one thread each: a TSV table with ratios.
exec "${PYTHON:-/usr/bin/python3}" "${0%.sh}.py" "$MC_BUILD/tests/bench/bench_assign"
