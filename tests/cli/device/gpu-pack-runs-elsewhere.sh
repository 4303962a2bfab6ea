# SPDX-License-Identifier: Apache-2.0
# gpu-pack packs everything that a machine without network needs, and device-run runs it there: here on the emulated
# device, from the pack alone.
require_emulation
unset MC_CUDA_LIBRARY # the pack contains its own

mkdir data state
for file in data_batch_{1..5}.bin test_batch.bin batches.meta.txt; do head -c 500000 /dev/urandom >data/$file; done
echo kept >state/net.checkpoint
export PACK=$PWD/pack WORK=$PWD/work OUT=$PWD/out
export COMPRESS='gzip -1' PACK_MIB=80 # gzip's archives are larger than xz's
# make must pass EMULATED on, from its command line and from the environment; everything is built already
sed 's/^gpu-pack:[^#]*/gpu-pack: /' "$MC_ROOT/Makefile" >built.mk
goal() { make --no-print-directory -C "$MC_ROOT" BUILD="$(realpath --relative-to="$MC_ROOT" "$MC_BUILD")" gpu-pack "$@"; }
pack() { goal -f "$TMP/built.mk" "$@"; }
goal -n EMULATED=yes >output || die "$(tail -n 3 output)"
is_emulated() { tar -tzf pack/archives/programs.tar | grep -qx build/deps/libcuda.so.1 || die "$1: CUDA's own library was packed"; }
EMULATED=yes pack >sizes
is_emulated environment
pack EMULATED=yes DATA=$PWD/data STATE=$PWD/state >sizes
is_emulated 'command line'
awk -F '\t' '$1 ~ /^[0-9]/ { n++; if ($3 > 80) exit 1 } END { exit n != 2 }' sizes || die "$(cat sizes)"
export EMULATED=yes
fails 1 'no test_batch.bin' env DATA=$PWD "$MC_ROOT/tests/gpu/pack" "$MC_BUILD"
fails 2 'DATA="no data": no such folder' goal -n DATA='no data'
fails 1 'MiB' env PACK_MIB=10 "$MC_ROOT/tests/gpu/pack" "$MC_BUILD"

# the parts arrive in two calls; after the first one there is nothing to run yet
run() { "$MC_ROOT/tests/gpu/device-run" "$@" >output 2>&1; }
step_status() { awk -F '\t' -v step="$2" '$1 == step { print $2 }' "out/$1.tsv"; }
mv pack/1 first
run unpack || die "$(cat output)"
expect_equal "$(cat work/cifar-10-batches-bin/data_batch_*.bin | cksum)" "$(cat data/data_batch_*.bin | cksum)"
! run device || die 'ran without programs'
expect_equal "$(step_status device programs)" failed
mv pack/2 second && mv first pack/1
ONLY=unit/kernels/test_dropout STEPS='unpack about unit-f32 flat' run gate || die "$(cat output)"
for step in unpack about unit-f32; do expect_equal "$(step_status gate $step)" passed; done
expect_equal "$(<work/state/net.checkpoint)" kept
tar -tzf out/gate.tar.gz | grep -qx gate/unit-f32.log || die 'the archive has no log'

# the pack contains all that the programs need except the C library and cuDNN
export LD_LIBRARY_PATH=$WORK/build/deps
find work/build -type f -perm -u+x -exec ldd {} + >needs 2>&1
awk -v here="$PWD/" '/^\t.*=>/ && index($3, here) != 1 && $1 !~ /^(lib(c|m|mvec|dl|rt|pthread|resolv|cudnn)\.so|ld-linux)/' needs >lacks
[ ! -s lacks ] || die "$(cat lacks)"
unset LD_LIBRARY_PATH

# failed, skipped and interrupted steps are reported, and the other steps run; other packs accept the device too
ONLY=none STEPS='unit-bf16 unit-f16' run device && die 'no test ran'
expect_equal "$(step_status device unit-bf16) $(step_status device unit-f16)" 'failed failed'
STEPS=dropout-f32 ONLY=unit/kernels/test_dropout run memcheck || die "$(cat output)"
[[ $(step_status memcheck dropout-f32) == @(skipped|passed) ]] || die "$(cat output)"
NETS=mlp:8 SECS=100 PRECISION=f32 STEPS=mlp:8 run bench 3 && die 'measured without time'
expect_equal "$(step_status bench mlp:8)" unfinished
NETS=mlp:8 BATCH=4 MC_EMULATION_IDLE=1 STEPS=kernels-f32 run bench || die "$(cat output)"
grep -q '^mlp:8	all	' work/results/bench/kernels-f32.log || die "$(cat work/results/bench/kernels-f32.log)"
rm -r work
# a part that was damaged in transit is refused
printf x >>"$(echo pack/1/test.*)"
run device && die 'a damaged part was accepted'
expect_equal "$(step_status device unpack)" failed
