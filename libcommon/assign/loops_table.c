/* SPDX-License-Identifier: Apache-2.0
 *
 * The portable and AVX2 loops of linear assignment, compiled from one source, and the choice
 * between them at run time. */
#include "libcommon/assign/loops_table.h"

#include "libcommon/base/isa.h"

#include <math.h>

static const int32_t counts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const int64_t long_counts[4] __attribute__((aligned(32))) = {0, 1, 2, 3};

#define SCAN_NAME(f) portable_##f
#define SCAN_TARGET
#define SCAN_BYTES 16
#define SCAN_EVENS 0, 2, 4, 6
#include "libcommon/assign/loops.h"

#ifdef __x86_64__
#define SCAN_NAME(f) avx2_##f
#define SCAN_TARGET __attribute__((target("avx2")))
#define SCAN_BYTES 32
#define SCAN_EVENS 0, 2, 4, 6, 8, 10, 12, 14
#include "libcommon/assign/loops.h"
#endif

int mc_assign_loops(const struct mc_assign_loops **out, struct mc_error *err)
{
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    *out = &portable_table;
#ifdef __x86_64__
    if (!rc && isa >= MC_ISA_AVX2)
        *out = &avx2_table;
#endif
    return rc;
}
