/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices whose values span many orders of magnitude, with the same bits in C and Python (WIDE in
 * make_assign_golden.py). */
#ifndef ASSIGN_WIDE_MATRICES_H
#define ASSIGN_WIDE_MATRICES_H

#include "tests/parity/assign_matrices.h"

/* A number from 2^-bits to 2^bits. */
static inline double assign_spread(uint64_t seed, uint64_t k, int bits)
{
    const uint64_t r = assign_draw(seed, k);

    return ldexp(1 + (double)r * 0x1p-53, (int)(r % (uint64_t)(2 * bits)) - bits);
}

/* Coordinate k of unit i of a, and of unit j of b. */
static inline double assign_huge_a(size_t n, uint64_t seed, size_t i, size_t k)
{
    const double x = (double)(assign_draw(seed, i * ASSIGN_FEATURES + k) % 17) - 8;

    return i == n / 3 ? x * 0x1p40 : x;
}

static inline double assign_huge_b(size_t n, uint64_t seed, size_t j, size_t k)
{
    const double x = (double)(assign_draw(seed, (n - 1 - j) * ASSIGN_FEATURES + k) % 17) - 8;
    const double y = x + (double)(assign_draw(seed, (n + j) * ASSIGN_FEATURES + k) % 9) - 4;

    return j == n / 2 ? y * 0x1p40 : y;
}

static inline double assign_wide_value(const char *kind, size_t n, uint64_t seed, size_t i,
                                       size_t j)
{
    const size_t at = i * n + j;
    double d = 0;

    if (!strcmp(kind, "spread"))
        return -assign_spread(seed, at, 40);
    if (!strcmp(kind, "ties"))
        return -ldexp(1, (int)(assign_draw(seed, at) % 9) * 10 - 40);
    if (!strcmp(kind, "equal"))
        return -0x1p40;
    if (!strcmp(kind, "denormal"))
        return -ldexp((double)(assign_draw(seed, at) >> assign_draw(seed, n * n + at) % 53), -1074);
    if (!strcmp(kind, "rank-one"))
        return -(assign_spread(seed, i, 40) * assign_spread(seed, n + j, 40));
    if (!strcmp(kind, "rank-one-positive"))
        return assign_spread(seed, i, 16) * assign_spread(seed, n + j, 16);
    if (!strcmp(kind, "columns"))
        return -(double)assign_draw(seed, n + at) * assign_spread(seed, j, 40);
    if (strcmp(kind, "huge-units") != 0)
        return NAN;
    for (size_t k = 0; k < ASSIGN_FEATURES; k++) {
        const double x = assign_huge_a(n, seed, i, k) - assign_huge_b(n, seed, j, k);
        d += x * x;
    }
    return -d;
}

/* A new matrix (n,n), to be freed; NULL without memory. */
static inline double *assign_wide_matrix(const char *kind, size_t n, uint64_t seed)
{
    double *value = malloc(n * n * sizeof *value);

    for (size_t k = 0; value && k < n * n; k++)
        value[k] = assign_wide_value(kind, n, seed, k / n, k % n);
    return value;
}

#endif
