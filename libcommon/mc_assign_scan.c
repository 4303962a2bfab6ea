/* SPDX-License-Identifier: Apache-2.0
 *
 * The portable and the AVX2 loops of linear assignment, from one source, and the choice among the
 * tables at run time. */
#include "mc_assign_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t evens[8] = {0, 2, 4, 6, 8, 10, 12, 14};
static const int32_t counts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const int64_t long_counts[4] __attribute__((aligned(32))) = {0, 1, 2, 3};

#define SCAN_NAME(f) portable_##f
#define SCAN_TITLE "portable"
#define SCAN_TARGET
#define SCAN_BYTES 16
#include "mc_assign_loops.h"

#ifdef __x86_64__
#define SCAN_NAME(f) avx2_##f
#define SCAN_TITLE "avx2"
#define SCAN_TARGET __attribute__((target("avx2")))
#define SCAN_BYTES 32
#include "mc_assign_loops.h"
#endif

size_t mc_assign_scans(const struct mc_assign_scan *out[2])
{
    size_t n = 0;

#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        out[n++] = &avx2_table;
#endif
    out[n++] = &portable_table;
    return n;
}

const struct mc_assign_scan *mc_assign_scan_best(void)
{
    const struct mc_assign_scan *all[2];
    const char *wish = getenv("MC_ISA");
    size_t n = mc_assign_scans(all);

    for (size_t i = 0; wish && i < n; i++)
        if (!strcmp(all[i]->name, wish))
            return all[i];
    return all[0];
}
