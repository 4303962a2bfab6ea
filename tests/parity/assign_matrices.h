/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices for the tests and the benchmark of linear assignment, with the same bits in C and Python
 * (make_assign_golden.py): integers, followed by operations whose rounding IEEE 754 defines. */
#ifndef ASSIGN_MATRICES_H
#define ASSIGN_MATRICES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum assign_kind {
    ASSIGN_UNIFORM,     /* uniform in [0,1) */
    ASSIGN_CORRELATION, /* cosines of noisy pairs of integer vectors; some rows and columns dead */
    ASSIGN_TIES,        /* integers from -2 to 2 */
    ASSIGN_TIED_CORRELATION, /* correlations rounded down to sixteenths */
    ASSIGN_KINDS
};

static const char *const assign_kind_names[ASSIGN_KINDS] = {"uniform", "correlation", "ties",
                                                            "tied-correlation"};

enum { ASSIGN_FEATURES = 24 };

/* The kind of this name, or ASSIGN_KINDS if it is unknown. */
static inline enum assign_kind assign_kind_named(const char *name)
{
    enum assign_kind kind = 0;

    while (kind < ASSIGN_KINDS && strcmp(name, assign_kind_names[kind]))
        kind++;
    return kind;
}

/* Number k of stream `seed` (splitmix64), with 53 bits. */
static inline uint64_t assign_draw(uint64_t seed, uint64_t k)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (k + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) >> 11;
}

/* A new matrix (n,n) of this kind, to be freed; NULL for ASSIGN_KINDS or without memory. */
static inline double *assign_matrix(enum assign_kind kind, size_t n, uint64_t seed)
{
    const size_t F = ASSIGN_FEATURES;
    double *value = malloc(n * n * sizeof *value);
    int32_t *x = malloc(2 * n * F * sizeof *x), *y = x ? x + n * F : NULL;
    int64_t *norm = malloc(2 * n * sizeof *norm);

    if (!value || !x || !norm || kind == ASSIGN_KINDS) {
        free(value);
        value = NULL;
        goto out;
    }
    if (kind == ASSIGN_UNIFORM || kind == ASSIGN_TIES) {
        for (size_t k = 0; k < n * n; k++) {
            uint64_t r = assign_draw(seed, k);
            value[k] = kind == ASSIGN_UNIFORM ? (double)r * 0x1p-53 : (double)(r % 5) - 2;
        }
        goto out;
    }
    /* unit j of the second network is unit n-1-j of the first, plus noise */
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < F; k++)
            x[i * F + k] = (int32_t)(assign_draw(seed, i * F + k) % 17) - 8;
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < F; k++)
            y[j * F + k] =
                x[(n - 1 - j) * F + k] + (int32_t)(assign_draw(seed, (n + j) * F + k) % 33) - 16;
    for (size_t i = 0; i < 2 * n; i++) {
        norm[i] = 0;
        for (size_t k = 0; k < F; k++) {
            if (assign_draw(seed, 2 * n * F + i) % 20 == 0)
                x[i * F + k] = 0; /* dead; y follows x */
            norm[i] += (int64_t)x[i * F + k] * x[i * F + k];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            int32_t dot = 0;
            for (size_t k = 0; k < F; k++)
                dot += x[i * F + k] * y[j * F + k];
            double both = (double)(norm[i] * norm[n + j]);
            double c = both > 0 ? (double)dot / sqrt(both) : 0;
            value[i * n + j] = kind == ASSIGN_CORRELATION ? c : floor(c * 16) / 16;
        }
out:
    free(x);
    free(norm);
    return value;
}

#endif
