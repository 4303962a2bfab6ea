/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices for the tests of projection and decomposition. Include after cmocka.h. Header only. */
#ifndef MC_TEST_DOUBLY_STOCHASTIC_H
#define MC_TEST_DOUBLY_STOCHASTIC_H

#include "libcommon/assign/doubly_stochastic.h"
#include "tests/parity/assign_matrices.h"
#include "tests/unit/must.h"

enum { MANY_SWEEPS = 200000 };

static inline double uniform(uint64_t seed, size_t k)
{
    return (double)assign_draw(seed, k) * 0x1p-53;
}

static inline double *room(size_t n)
{
    double *x = malloc(n * n * sizeof *x);

    assert_non_null(x);
    return x;
}

static inline double *copy(size_t n, const double *x)
{
    return memcpy(room(n), x, n * n * sizeof *x);
}

/* column (7i + 3) mod n of row i, for n that 7 does not divide */
static inline double *planted(size_t n)
{
    double *x = room(n);

    for (size_t k = 0; k < n * n; k++)
        x[k] = (k / n * 7 + 3) % n == k % n;
    return x;
}

enum { NOISY_PERMUTATION, WIDE, NEAR_UNIFORM, KINDS };
static const char *const kind_names[] = {"noise about a permutation", "wide noise", "near uniform"};

static inline double *start(int kind, size_t n)
{
    double *x = planted(n);

    for (size_t k = 0; k < n * n; k++) {
        double noise = 2 * uniform(n, k) - 1;
        x[k] = kind == WIDE                ? 3 * noise
               : kind == NOISY_PERMUTATION ? x[k] + .02 * noise
                                           : 1 / (double)n + 1.5 / (double)n * noise;
    }
    return x;
}

static inline struct mc_doubly_stochastic project(size_t n, double *p, size_t sweeps,
                                                  double tolerance)
{
    struct mc_doubly_stochastic info;

    must(mc_doubly_stochastic_project(n, p, sweeps, tolerance, &info, &why));
    return info;
}

static inline double *converged(int kind, size_t n, double tolerance)
{
    double *p = start(kind, n);
    struct mc_doubly_stochastic info = project(n, p, MANY_SWEEPS, tolerance);

    assert_true(info.residual <= tolerance);
    return p;
}

#endif
