# SPDX-License-Identifier: Apache-2.0
# make gpu-check, gpu-memcheck, gpu-tune and gpu-bench fail in one line without a device.
# refuses TEXT COMMAND...: the command prints one plain line to standard output and exits with 1
refuses() {
    local rc=0
    "${@:2}" >out 2>err || rc=$?
    [ $rc = 1 ] && [ "$(wc -l <out)" = 1 ] && [ ! -s err ] && grep -q "^$1: nothing was .*: cuda" out ||
        die "${*:2}: status $rc: $(cat out err)"
}
none=cuda:1000 # no machine has a device of this number
DEVICE=$none refuses gpu-check "$MC_ROOT/tests/gpu/check" "$MC_BUILD"
DEVICE=$none refuses gpu-memcheck "$MC_ROOT/tests/gpu/check" "$MC_BUILD" memcheck
DEVICE=$none refuses gpu-bench "$MC_ROOT/tests/gpu/bench" "$MC_BUILD"
DEVICE=$none refuses gpu-bench "$MC_ROOT/tests/gpu/bench" "$MC_BUILD" --kernels
DEVICE=$none refuses gpu-tune "$MC_ROOT/tests/gpu/tune-table" "$MC_BUILD"
make -n -C "$MC_ROOT" BUILD="$MC_BUILD" gpu-bench KERNELS=yes | grep -q "tests/gpu/bench $MC_BUILD --kernels"
DEVICE=cpu "$MC_ROOT/tests/gpu/check" "$MC_BUILD" >out && die 'the CPU was checked'
[ "$(<out)" = 'gpu-check: nothing was checked: DEVICE=cpu is not a GPU' ] || die "$(<out)"
for goal in check memcheck bench tune; do
    make -n -C "$MC_ROOT" BUILD="$MC_BUILD" gpu-$goal >out && grep -q "tests/gpu/.* $MC_BUILD" out || die "make gpu-$goal"
done
# missing parts of a pack are reported
! OUT=results WORK=work PACK=none "$MC_ROOT/tests/gpu/device-run" unpack >errors || die "$(cat errors)"
grep -q '^failed  *unpack' errors || die "$(cat errors)"
