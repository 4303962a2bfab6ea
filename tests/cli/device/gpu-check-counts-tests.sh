# SPDX-License-Identifier: Apache-2.0
# gpu-check and gpu-memcheck count tests on the emulated device, and start compute-sanitizer with our kernels only.
require_emulation

ONLY=unit/kernels/test_dropout "$MC_ROOT/tests/gpu/check" "$MC_BUILD" >out
grep -qx 'ok      unit/kernels/test_dropout (cuda, f32) (2)' out && tail -n 1 out | grep -qx '[0-9]* passed, 0 failed' || die "$(cat out)"

# a compute-sanitizer stub records its arguments
mkdir bin
cat >bin/compute-sanitizer <<'END'
#!/bin/bash
[ "$1" != --help ] || { echo ' --kernel-name arg  only these' && exit; }
while [ $# -gt 1 ]; do
    case $1 in
    --tool) printf '%s ' "$2" ;;
    --report-api-errors) [ "$2" = no ] || exit 3 ;;
    --error-exitcode) ;;
    --kernel-name) echo "$2" >>"$SEEN.kernels" ;;
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
grep -q 'memcheck test_dropout' seen || die "$(cat seen)"
for t in backend moments augment; do
    [ "$(grep -cx "memcheck test_$t" seen)" = 2 ] || die "$(cat seen)"
    for tool in race sync; do [ "$(grep -cx "${tool}check test_$t" seen)" = 1 ] || die "$(cat seen)"; done
done
# our kernels only: all in the sources
sort -u seen.kernels >kernels
[ "$(wc -l <kernels)" = "$(cat "$MC_ROOT"/kernels/cuda/*.cu | grep -c '__global__ void')" ] && grep -qx 'kns=_Z7sgd_step\|kns=_Z8sgd_step' kernels ||
    die "$(cat kernels)"
