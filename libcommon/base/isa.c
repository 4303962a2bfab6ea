/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of the instruction set. Only this file reads MC_ISA. */
#include "libcommon/base/isa.h"

#include <stdlib.h>
#include <string.h>

static enum mc_isa processor_isa(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return MC_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return MC_ISA_AVX2;
#endif
    return MC_ISA_PORTABLE;
}

int mc_isa_is_lowered(enum mc_isa isa)
{
    return isa < processor_isa();
}

int mc_isa(enum mc_isa *isa, struct mc_error *err)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    const char *limit = getenv("MC_ISA");

    *isa = processor_isa();
    if (!limit || !*limit)
        return 0;
    for (int i = MC_ISA_PORTABLE; i <= MC_ISA_AVX512; i++)
        if (!strcmp(limit, names[i])) {
            *isa = (int)*isa < i ? *isa : (enum mc_isa)i;
            return 0;
        }
    return mc_fail(err, MC_EUSAGE, "MC_ISA must be portable, avx2 or avx512 (got '%s')", limit);
}
