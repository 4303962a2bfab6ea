# SPDX-License-Identifier: Apache-2.0
# Programs are built with hardening against memory errors in readers by default. Without an optimiser or under
# sanitizers the flags that need it are left out; HARDEN= leaves out all.
for program in "$MC_BUILD"/bin/mc-*; do
    [[ ${program##*/} != mc-@(plot|align) ]] || continue # scripts
    readelf -hldW "$program" >errors
    grep -q 'Type: *DYN' errors || die "$program has a fixed address"
    grep -q 'GNU_RELRO' errors && grep -qE 'BIND_NOW|FLAGS_1.*NOW' errors || die "$program: its table of functions can be written"
    grep -q 'GNU_STACK.* RW ' errors || die "$program: its stack can be executed"
    readelf -sW "$program" >errors
    grep -q '__stack_chk_fail@' errors || die "$program has no stack protector"
    [ "$MC_UNDER" = sanitize ] || grep -qE '__(memcpy|snprintf|vsnprintf)_chk@' errors || die "$program is not fortified"
done
# flags SETTING...: prints the compiler's flags for a file
flags() { make -C "$MC_ROOT" -nB --no-print-directory V=1 NVCC= BUILD="$TMP/b" "$@" "$TMP/b/tools/mc-info.o" 2>/dev/null | grep -- "-c tools/mc-info.c"; }
flags CFLAGS=-O2 | grep -q -- '-D_FORTIFY_SOURCE=3 -O2'
for without in CFLAGS=-O0 CFLAGS=-g EXTRA_CFLAGS=-O0 'EXTRA_CFLAGS=-fsanitize=address -O1'; do
    flags "$without" >errors
    grep -q -- '-fstack-protector-strong' errors || die "$without: $(cat errors)"
    if grep -q FORTIFY errors; then die "$without: $(cat errors)"; fi
done
flags HARDEN= | grep -vq -- '-fstack'
