# SPDX-License-Identifier: Apache-2.0
# mc-hungarian finds SciPy's permutation, with the same bytes from files and pipes, on any threads and instruction set.
fixture matrices

mc-hungarian -q m.mcz -o p.mcz
mc-info --check -q p.mcz
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/assignments.py" check m.mcz p.mcz
mc-hungarian -q -t 1 m.mcz | same p.mcz -
mc-hungarian -q --threads 2 - <m.mcz | same p.mcz -
for isa in portable avx2; do cat m.mcz | MC_ISA=$isa mc-hungarian -q | same p.mcz -; done
mc-hungarian -q --no-history m.mcz -o plain.mcz
same_content p.mcz plain.mcz
! cmp -s plain.mcz p.mcz || die '--no-history writes a history'
