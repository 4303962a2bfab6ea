# SPDX-License-Identifier: Apache-2.0
# The groups that mcz.torch.groups derives of 30 modules drawn at random keep their outputs when their units are permuted:
# for other batches and lengths, in both modes, called twice. Or it refuses a module with one line. At least half of the
# modules have groups.
need_torch 2.4
export OMP_NUM_THREADS=1
"$python" -W ignore "$MC_ROOT/tests/parity/random_modules.py" run 0 30 >results 2>errors ||
    die "$(grep -v -e '	groups	' -e '	none	' -e '	refused	' results; tail -n 5 errors)"
