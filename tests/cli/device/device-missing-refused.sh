# SPDX-License-Identifier: Apache-2.0
# A missing device is refused in one line, with any state of the CUDA backend; `auto` then uses the CPU. It warns if a
# driver or a library named by the user led it to expect a GPU.

mc-data synth --samples 64 -o d.mcz
t="mc-train --net mlp:8 --data d.mcz --epochs 1 -o no.mcz"
fails 2 "unknown device 'cuda:'" $t --device cuda:
fails 2 "unknown device 'cuda:-1'" $t --device cuda:-1
fails 2 "unknown device 'cuda:0x'" $t --device cuda:0x
fails 2 "unknown device 'cudas'" $t --device cudas

# the CPU has one precision, and `auto` is the CPU without a device
for p in tf32 bf16 f16; do
    fails 2 "--precision $p:*CPU supports*f32" $t --precision $p --device cpu
done
fails 2 "unknown value 'f64'*f32, tf32, bf16, f16" $t --precision f64
mc-train --net mlp:8 --data d.mcz --epochs 1 --device cpu --precision f32 -o f32.mcz

# a library by name: missing, and another one
export MC_CUDA_LIBRARY=$PWD/none.so
fails 1 'none.so' $t --device cuda
mc-train -q --net mlp:8 --data d.mcz --epochs 1 -o auto.mcz 2>err
[ "$(wc -l <err)" = 1 ] && grep -q '^mc-train: warning: computing on the CPU: cuda: .*none.so.* (--device cpu: no warning)$' err || die "$(cat err)"
fails 1 '--precision bf16: cuda: ' $t --precision bf16
grep -q 'none.so' err.fails
MC_CUDA_LIBRARY=libm.so.6
fails 1 'libm.so.6*not a CUDA backend' $t --device cuda:0
unset MC_CUDA_LIBRARY

# a program without the library next to it
mkdir alone
cp "$MC_BUILD/bin/mc-train" alone
fails 1 'cuda:*build*no CUDA backend' alone/$t --device cuda
alone/mc-train -q --net mlp:8 --data d.mcz --epochs 1 -o alone.mcz 2>err
[ ! -s err ] || die "warned without a library: $(cat err)"
mc-train --net mlp:8 --data d.mcz --epochs 1 --device cpu -o cpu.mcz
[ "$MC_UNDER" = valgrind ] || same alone.mcz cpu.mcz # which runs outside the build folder
same auto.mcz cpu.mcz
same f32.mcz cpu.mcz

# with the library, installed or by name: no device, or no device of this number
[ -e "$MC_BUILD/lib/libmc-cuda.so" ] || exit 0
mkdir -p lib/mc
cp "$MC_BUILD/lib/libmc-cuda.so" lib/mc
fails 1 'device' alone/$t --device cuda:1000
MC_CUDA_LIBRARY=$PWD/lib/mc/libmc-cuda.so fails 1 'device' alone/$t --device cuda:1000
[ ! -e no.mcz ] || die 'a failed run wrote its output'
