/* SPDX-License-Identifier: Apache-2.0
 *
 * Projection by fused sweeps, and greedy decomposition by linear assignment. */
#include "libcommon/assign/doubly_stochastic.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/isa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8 /* partial sums per row on every instruction set, so that the bits are the same */

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES)));
/* a vector without alignment */
typedef double loose __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Set row[j] = max(0, row[j] + (a + b[j])), add it to the column sums and return the row's sum. A
 * NaN stays NaN. */
static inline __attribute__((always_inline)) double row_body(size_t n, double *row, double a,
                                                             const double *b, double *col_sum)
{
    double lane[LANES];
    vec sum = {0};
    size_t j = 0;

    for (; j + LANES <= n; j += LANES) {
        vec x = *(const loose *)(row + j) + (a + *(const loose *)(b + j));
        x = (vec)((mask)x & ~(mask)(x < 0));
        *(loose *)(row + j) = x;
        *(loose *)(col_sum + j) += x;
        sum += x;
    }
    memcpy(lane, &sum, sizeof lane);
    for (size_t l = 0; j < n; j++, l++) {
        double x = row[j] + (a + b[j]);
        x = x < 0 ? 0 : x;
        row[j] = x;
        col_sum[j] += x;
        lane[l] += x;
    }
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

typedef double row_fn(size_t n, double *row, double a, const double *b, double *col_sum);

#define ROW(name, target)                                                                          \
    target static double name(size_t n, double *row, double a, const double *b, double *col_sum)   \
    {                                                                                              \
        return row_body(n, row, a, b, col_sum);                                                    \
    }
ROW(row_portable, )
#if defined(__x86_64__)
ROW(row_avx2, __attribute__((target("avx2"))))
ROW(row_avx512, __attribute__((target("avx512f"))))
#endif

/* Indexed by enum mc_isa. */
static row_fn *const rows[] = {
    row_portable,
#if defined(__x86_64__)
    row_avx2,
    row_avx512,
#endif
};

/* The second half of a sweep adds a[i] + b[j] to each entry. This is deferred to the max(0, .) of
 * the next pass. So a pass is a max(0, .) that also sums for the next sweep, and any pass may be
 * the last. */
int mc_doubly_stochastic_project(size_t n, double *p, size_t sweeps, double tolerance,
                                 struct mc_doubly_stochastic *info, struct mc_error *err)
{
    double *a, *b, *col_sum, residual;
    size_t n_sweeps = 0;
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    if (rc || (rc = mc_new(&a, 3 * n, err)))
        return rc;
    row_fn *row = rows[isa];
    b = a + n;
    col_sum = b + n;
    for (;; n_sweeps++) {
        double excess = 0, size = (double)n;

        residual = 0;
        memset(col_sum, 0, n * sizeof *col_sum);
        for (size_t i = 0; i < n; i++) {
            double off = row(n, p + i * n, a[i], b, col_sum) - 1;
            residual = fmax(residual, fabs(off));
            excess += off;
            a[i] = off;
        }
        for (size_t j = 0; j < n; j++) {
            b[j] = -(col_sum[j] - 1) / size;
            residual = fmax(residual, fabs(col_sum[j] - 1));
        }
        if (!isfinite(excess) || !isfinite(residual)) {
            free(a);
            return mc_fail(err, MC_EINPUT, "a matrix of %zu rows has sums that are not finite", n);
        }
        if (n_sweeps == sweeps || residual <= tolerance)
            break;
        for (size_t i = 0; i < n; i++)
            a[i] = excess / (size * size) - a[i] / size;
    }
    free(a);
    if (info)
        *info = (struct mc_doubly_stochastic){.sweeps = n_sweeps, .residual = residual};
    return 0;
}

/* ---- Birkhoff and von Neumann ---------------------------------------------------------------- */

/* Exclude entries below `drop` by a very low value: a matching that uses one is worth less than any
 * other, by more than mc_assign_max rounds. Return 0 if a row has no entry left. */
static int bar(size_t n, double *left, double drop)
{
    double tops = 0;

    for (size_t i = 0; i < n; i++) {
        double top = 0;
        for (size_t j = 0; j < n; j++)
            if (left[i * n + j] >= drop)
                top = fmax(top, left[i * n + j]);
        if (!(top > 0))
            return 0;
        tops += top;
    }
    for (size_t k = 0; k < n * n; k++)
        if (!(left[k] > 0 && left[k] >= drop))
            left[k] = -2 * tops;
    return 1;
}

int mc_birkhoff_decompose(struct mc_birkhoff *b, size_t n, const double *d, double drop,
                          struct mc_error *err)
{
    double *left = NULL;
    int rc = mc_new_items(&left, n, n * sizeof *left, err);

    *b = (struct mc_birkhoff){.n = n};
    for (size_t k = 0; !rc && k < n * n; k++) {
        if (!isfinite(d[k]))
            rc = mc_fail(err, MC_EINPUT, "row %zu of the matrix has a value that is not finite",
                         k / n);
        left[k] = d[k];
    }
    while (!rc && bar(n, left, drop)) {
        double alpha = INFINITY;

        if ((rc = mc_list_room(&b->alpha, b->n_terms, err)) ||
            (rc = mc_list_items(&b->perm, b->n_terms, n * sizeof *b->perm, err)))
            break;
        int32_t *perm = b->perm + b->n_terms * n;
        if ((rc = mc_assign_max(n, left, perm, NULL, err)))
            break;
        for (size_t i = 0; i < n; i++)
            alpha = fmin(alpha, left[i * n + (size_t)perm[i]]);
        if (!(alpha > 0))
            break;
        /* the smallest becomes exactly 0, so the loop ends */
        for (size_t i = 0; i < n; i++)
            left[i * n + (size_t)perm[i]] -= alpha;
        b->alpha[b->n_terms++] = alpha;
    }
    free(left);
    return rc;
}

struct term {
    double alpha;
    size_t index;
};

static int by_weight(const void *x, const void *y)
{
    const struct term *a = x, *b = y;

    if (a->alpha != b->alpha)
        return a->alpha > b->alpha ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

int mc_birkhoff_heaviest(struct mc_birkhoff *b, size_t n_terms, struct mc_error *err)
{
    const size_t n = b->n_terms, keep = n_terms && n_terms < n ? n_terms : n;
    struct mc_birkhoff heaviest = {.n = b->n, .n_terms = keep};
    struct term *terms = NULL;
    int rc = 0;

    if ((rc = mc_new(&terms, n, err)) || (rc = mc_new(&heaviest.alpha, keep, err)) ||
        (rc = mc_new(&heaviest.perm, keep * b->n, err))) {
        free(terms);
        free(heaviest.alpha);
        return rc;
    }
    for (size_t k = 0; k < n; k++)
        terms[k] = (struct term){b->alpha[k], k};
    qsort(terms, n, sizeof *terms, by_weight);
    for (size_t k = 0; k < keep; k++) {
        heaviest.alpha[k] = terms[k].alpha;
        memcpy(heaviest.perm + k * b->n, b->perm + terms[k].index * b->n, b->n * sizeof *b->perm);
    }
    free(terms);
    mc_birkhoff_release(b);
    *b = heaviest;
    return 0;
}

void mc_birkhoff_release(struct mc_birkhoff *b)
{
    free(b->alpha);
    free(b->perm);
    *b = (struct mc_birkhoff){0};
}

size_t mc_birkhoff_draw(const struct mc_birkhoff *b, double u)
{
    double sum = 0, upto = 0;
    size_t k = 0;

    for (size_t i = 0; i < b->n_terms; i++)
        sum += b->alpha[i];
    while (k + 1 < b->n_terms && (upto += b->alpha[k]) <= u * sum)
        k++;
    return k;
}
