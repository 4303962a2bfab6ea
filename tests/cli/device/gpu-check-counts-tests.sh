# SPDX-License-Identifier: Apache-2.0
# gpu-check and gpu-memcheck count the tests on a device, the emulated one; what compute-sanitizer is given.
emulated

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
