/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend under test: $MC_TEST_DEVICE in $MC_TEST_PRECISION (mc_precision_names), with sums in
 * any order if $MC_TEST_DETERMINISTIC is "no", with $MC_TEST_THREADS threads if a test requests
 * more than one. Header only. */
#ifndef MC_TEST_OPEN_H
#define MC_TEST_OPEN_H

#include "kernels/backend.h"

#include <stdlib.h>
#include <string.h>

/* float32 by default */
static inline int precision_tested(enum mc_precision *out, struct mc_error *err)
{
    const char *name = getenv("MC_TEST_PRECISION");

    *out = MC_PRECISION_F32;
    if (!name)
        return 0;
    for (int i = 0; mc_precision_names[i]; i++)
        if (!strcmp(name, mc_precision_names[i])) {
            *out = (enum mc_precision)i;
            return 0;
        }
    return mc_fail(err, MC_EUSAGE, "MC_TEST_PRECISION: unknown precision '%s'", name);
}

static inline int threads_tested(int threads)
{
    const char *more = getenv("MC_TEST_THREADS");

    return more && threads > 1 ? atoi(more) : threads;
}

/* otherwise: the default device */
static inline int open_tested(struct mc_backend **out, const char *fallback, int threads,
                              struct mc_error *err)
{
    const char *device = getenv("MC_TEST_DEVICE");
    struct mc_backend_opts o = {.device = device ? device : fallback,
                                .threads = threads_tested(threads)};
    const char *deterministic = getenv("MC_TEST_DETERMINISTIC");
    const int rc = precision_tested(&o.precision, err);

    o.any_order = deterministic && !strcmp(deterministic, "no");
    return rc ? rc : mc_backend_open(out, &o, err);
}

/* The bound on a relative error that is `exact` in float32. Otherwise 16 roundings to the bits of
 * the precision under test, the result of a few layers. */
static inline double within(double exact)
{
    enum mc_precision p = MC_PRECISION_F32;
    struct mc_error err = {0};
    const int bad = precision_tested(&p, &err);
    const double loose = bad || p == MC_PRECISION_F32 ? 0
                         : p == MC_PRECISION_BF16     ? 16. / 256
                                                      : 16. / 2048;

    return loose > exact ? loose : exact;
}

#endif
