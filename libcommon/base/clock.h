/* SPDX-License-Identifier: Apache-2.0
 *
 * Elapsed time for rates and progress. No result depends on it. */
#ifndef MC_CLOCK_H
#define MC_CLOCK_H

#include <time.h>

/* Monotonic seconds. */
static inline double mc_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
