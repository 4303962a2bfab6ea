# SPDX-License-Identifier: Apache-2.0
# What make gpu-check, gpu-memcheck, gpu-tune and gpu-bench run: without a device one line and status 1; with one (the emulated)
# the tests are counted, the sides compared.
. "$MC_ROOT/tests/cli/lib.bash"

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
DEVICE=$none refuses gpu-tune "$MC_ROOT/tests/gpu/tune-table" "$MC_BUILD"
DEVICE=cpu "$MC_ROOT/tests/gpu/check" "$MC_BUILD" >out && die 'the CPU was checked'
[ "$(<out)" = 'gpu-check: nothing was checked: DEVICE=cpu is no GPU' ] || die "$(<out)"
for goal in check memcheck bench tune; do
    make -n -C "$MC_ROOT" BUILD="$MC_BUILD" gpu-$goal >out && grep -q "tests/gpu/.* $MC_BUILD" out || die "make gpu-$goal"
done

export MC_CUDA_LIBRARY=$MC_BUILD/tests/emulation/libmc-cuda.so
[ -e "$MC_CUDA_LIBRARY" ] && [ -z "$MC_UNDER" ] || exit 0
ONLY=unit/kernels/test_dropout "$MC_ROOT/tests/gpu/check" "$MC_BUILD" >out
grep -qx 'ok      unit/kernels/test_dropout (cuda, f32) (2)' out && tail -n 1 out | grep -qx '[0-9]* passed, 0 failed' || die "$(cat out)"

# a compute-sanitizer of ours: what the tools are given
mkdir bin
cat >bin/compute-sanitizer <<'END'
#!/bin/bash
while [ $# -gt 1 ]; do
    case $1 in
    --tool) printf '%s ' "$2" ;;
    --report-api-errors) [ "$2" = no ] || exit 3 ;;
    --error-exitcode) ;;
    --log-file) echo '========= ERROR SUMMARY: 0 errors' >"$2" ;;
    *) exit 4 ;;
    esac
    shift 2
done >>"$SEEN"
echo "${1##*/}" >>"$SEEN"
printf '1..1\nok 1 - it\n'
END
chmod +x bin/compute-sanitizer
SEEN=$PWD/seen PATH=$PWD/bin:$PATH PRECISION='f32 f16' ONLY=unit/kernels/test_ "$MC_ROOT/tests/gpu/check" "$MC_BUILD" memcheck >out
tail -n 1 out | grep -qx '[0-9]* passed, 0 failed' || die "$(cat out)"
[ "$(grep -c 'memcheck test_backend' seen)" = 2 ] && grep -q 'memcheck test_dropout' seen || die "$(cat seen)"
for tool in race init sync; do [ "$(grep -c "^${tool}check test_backend$" seen)" = 1 ] || die "$(cat seen)"; done

# a PyTorch of ours: modes and their speeds
cat >python <<'END'
#!/bin/bash
[ "$1" != -c ] || exit 0
for mode in $2; do [ "$mode" = "${OMIT:-}" ] || printf '%s\t%s\n' "$mode" "$([ $mode = cl,bf16,graph ] && echo 1000000 || echo 500000)"; done
END
chmod +x python
PYTHON=$PWD/python PRECISION=f32 ROUNDS=2 SECS=.01 "$MC_ROOT/tests/gpu/bench" "$MC_BUILD" mlp:8:4 >out 2>err
[ "$(grep -c '^mlp:8	4	torch,' out)" = 16 ] && [ "$(grep -c '^mlp:8	4	mc,f32' out)" = 2 ] || die "$(cat out)"
grep -q '^mlp:8, batch 4, mc,f32: a fixed order costs' out || die "$(cat out)"
tail -n 1 out | grep -q 'mc,f32.* torch,cl,bf16,graph 1000000: 0\.[0-9]* times the best of PyTorch$' || die "$(cat out)"
[ "$(grep -c '^mlp:8, batch 4, round [12]: torch,cl,f16	500000' err)" = 2 ] || die "$(cat err)"
# a side that gave nothing is named, in each network's lines and at the end
rc=0
OMIT=cl,bf16,graph PYTHON=$PWD/python PRECISION=f32 ROUNDS=1 SECS=.01 NETS='mlp:8:4 mlp:8:2' "$MC_ROOT/tests/gpu/bench" \
    "$MC_BUILD" >out 2>err || rc=$?
[ $rc = 1 ] && grep -qx 'mlp:8, batch 4: missing: torch,cl,bf16,graph' out &&
    grep -q '^mlp:8, batch 2: .* times the best of PyTorch that was measured$' out &&
    tail -n 1 out | grep -qx 'gpu-bench: missing: mlp:8, batch 4: torch,cl,bf16,graph; mlp:8, batch 2: torch,cl,bf16,graph' ||
    die "status $rc: $(cat out)"
rc=0
PYTHON=false PRECISION='f32 none' ROUNDS=1 SECS=.01 "$MC_ROOT/tests/gpu/bench" "$MC_BUILD" mlp:8:4 >out 2>err || rc=$?
[ $rc = 1 ] && tail -n 1 out | grep -qx 'gpu-bench: missing: mlp:8, batch 4: mc,none mc,none,any-order' || die "$rc: $(cat out)"

# the table: a device's lines are written anew, others' stay
printf '# a remark\nheading\nsm_99\t9\tf32\tfixed\tdata\tx\talgo-1\t1\talgo-1\t1\nsm_00\t0\tf32\tfixed\tdata\told\talgo-1\t1\talgo-1\t1\n' >table.tsv
cd "$MC_ROOT"
TABLE=$TMP/table.tsv TUNE=$MC_BUILD/tests/emulation/tune NETS=resnet:8,2:8x8 BATCH=2 REPEATS=1 PRECISION="f32 tf32 bf16" \
    tests/bench/write-table cuda "$MC_BUILD"
cd "$TMP"
head -n 1 table.tsv | grep -q '^device	cudnn	precision	sums	pass	shape	algorithm	ms' || die "$(cat table.tsv)"
grep -q '^sm_99' table.tsv || die 'the lines of another device are gone'
! grep -q 'old\|remark' table.tsv || die "$(cat table.tsv)"
for p in f32 tf32 bf16; do
    for pass in forward data weights; do
        [ "$(grep -c "^sm_00	0	$p	fixed	$pass	" table.tsv)" -ge 4 ] || die "$p, $pass: $(cat table.tsv)"
    done
done
# what the heuristics rank for another arithmetic is not their first choice
! awk -F'\t' '$5 == "forward" && $9 != "implicit-gemm"' table.tsv | grep . || die 'a choice for another arithmetic'
# what is in a fixed order stands there alone
! grep '	fixed	' table.tsv | grep -E '	(data	.*	algo-0|weights	.*	algo-[03])	' || die 'an algorithm that adds atomically'
