# SPDX-License-Identifier: Apache-2.0
# make gpu-check, gpu-memcheck, gpu-tune and gpu-bench without a device: one line and status 1.
# refuses WHAT COMMAND...: one plain line, on standard output, and 1
refuses() {
    local rc=0
    "${@:2}" >out 2>err || rc=$?
    [ $rc = 1 ] && [ "$(wc -l <out)" = 1 ] && [ ! -s err ] && grep -q "^$1: nothing was .*: cuda" out ||
        die "${*:2}: status $rc: $(cat out err)"
}
none=cuda:1000 # there is none of this number anywhere
DEVICE=$none refuses gpu-check "$MC_ROOT/tests/gpu/check" "$MC_BUILD"
DEVICE=$none refuses gpu-memcheck "$MC_ROOT/tests/gpu/check" "$MC_BUILD" memcheck
DEVICE=$none refuses gpu-bench "$MC_ROOT/tests/gpu/bench" "$MC_BUILD"
DEVICE=$none refuses gpu-bench "$MC_ROOT/tests/gpu/bench" "$MC_BUILD" --kernels
DEVICE=$none refuses gpu-tune "$MC_ROOT/tests/gpu/tune-table" "$MC_BUILD"
make -n -C "$MC_ROOT" BUILD="$MC_BUILD" gpu-bench KERNELS=yes | grep -q "tests/gpu/bench $MC_BUILD --kernels"
DEVICE=cpu "$MC_ROOT/tests/gpu/check" "$MC_BUILD" >out && die 'the CPU was checked'
[ "$(<out)" = 'gpu-check: nothing was checked: DEVICE=cpu is no GPU' ] || die "$(<out)"
for goal in check memcheck bench tune; do
    make -n -C "$MC_ROOT" BUILD="$MC_BUILD" gpu-$goal >out && grep -q "tests/gpu/.* $MC_BUILD" out || die "make gpu-$goal"
done
# parts of a pack that have not come are told
! OUT=results WORK=work PACK=none "$MC_ROOT/tests/gpu/device-run" unpack >errors || die "$(cat errors)"
grep -q '^failed  *unpack' errors || die "$(cat errors)"
