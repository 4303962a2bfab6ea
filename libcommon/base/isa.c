/* SPDX-License-Identifier: Apache-2.0
 *
 * The only reader of MC_ISA. */
#include "libcommon/base/isa.h"

#include <stdlib.h>
#include <string.h>

static enum mc_isa of_the_processor(void)
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

int mc_isa(enum mc_isa *isa, struct mc_error *err)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    const char *wish = getenv("MC_ISA");

    *isa = of_the_processor();
    if (!wish || !*wish)
        return 0;
    for (int i = MC_ISA_PORTABLE; i <= MC_ISA_AVX512; i++)
        if (!strcmp(wish, names[i])) {
            *isa = (int)*isa < i ? *isa : (enum mc_isa)i;
            return 0;
        }
    return mc_fail(err, MC_EUSAGE, "MC_ISA is '%s', not portable, avx2 or avx512", wish);
}
