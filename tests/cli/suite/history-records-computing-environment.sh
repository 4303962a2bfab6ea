# SPDX-License-Identifier: Apache-2.0
# The history records threads, instruction set and libraries, which decide a result's bits; the content id excludes them.
mc-data synth --samples 64 --size 8 -o d.mcz

isa=$(mc-train -v --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu -o one.mcz 2>&1 | sed -n 's/.*cpu, \([a-z0-9]*\) kernels.*/\1/p')
run_every_program --device cpu -t 1
expect_all_computed_with "device=cpu threads=1 isa=$isa $onednn onednn-isa=[a-z0-9_]+ $table"

mc-corr -q --device cpu -t 1 out/raw.mcz out/raw.mcz -o out/matrices.mcz
expect_computed_with out/matrices.mcz mc-corr "device=cpu threads=1 isa=$isa $onednn onednn-isa=[a-z0-9_]+ $table"
mc-corr -q out/moments.mcz -o matrices.mcz
mc-info matrices.mcz >info
! grep 'mc-corr .*device=' info || die 'mc-corr computed no moments'

# the number of threads and the instruction set in actual use
OMP_THREAD_LIMIT=1 mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 2 --device cpu -o few.mcz
expect_computed_with few.mcz mc-train "device=cpu threads=1 isa=$isa .*"
same one.mcz few.mcz
ONEDNN_MAX_CPU_ISA=SSE41 MC_ISA=portable mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu -o portable.mcz
expect_computed_with portable.mcz mc-train "device=cpu threads=1 isa=portable $onednn onednn-isa=[a-z0-9_]+ $table"
# MC_ISA limits oneDNN too
for set in avx2 portable; do
    [ "$isa" != portable ] && [ "$isa" != $set ] || continue # nothing is lowered
    MC_ISA=$set mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu -o $set.mcz
    expect_computed_with $set.mcz mc-train "device=cpu threads=1 isa=$set $onednn onednn-isa=avx2[a-z0-9_]* $table"
    for other in '' AVX512_CORE; do
        ONEDNN_MAX_CPU_ISA=$other MC_ISA=$set mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu -o x.mcz
        same x.mcz $set.mcz
    done
done
# without a computation, or with --no-history, it records nothing
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o new.mcz
mc-bezier -q --epochs 0 out/n1.mcz out/n2.mcz -o line.mcz
mc-info new.mcz >info
! grep device= info || die 'mc-train trained nothing'
mc-info line.mcz >info
! grep 'mc-bezier .*device=' info || die 'mc-bezier trained no curve'
mc-train -q --net mlp:8 --data d.mcz --epochs 1 -t 1 --device cpu --no-history -o bare.mcz
mc-info bare.mcz >info
! grep device= info || die 'a history'
same_content bare.mcz one.mcz
