# SPDX-License-Identifier: Apache-2.0
# mcz.torch.groups permutes the axes that an operation allows, and no others, for settings that decide this: strides, padding,
# negative and empty axes, ties, masks. tests/parity/operation_rules.py compares outputs in float64 independently of it.
need_torch 2.15
export OMP_NUM_THREADS=1
"$python" "$MC_ROOT/tests/parity/operation_rules.py" >table.tsv 2>errors || die "$(grep WRONG table.tsv; tail -n 3 errors)"
