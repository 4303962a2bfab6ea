# SPDX-License-Identifier: Apache-2.0
# cuBLASLt flushes `stdout` when a program exits, after the program has closed it. Without glibc's caches, freed memory is
# checked and overwritten at once.
require_emulation
mc-data synth --samples 2 -o d.mcz
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=90
for run in 1 2 3; do
    mc-train --net tinyten --data d.mcz --batch 2 --epochs 1 --device cuda -o w.mcz || die "run $run: status $?"
done
