/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular values as eigenvalues of the smaller Gram matrix, by LAPACK. */
#include "libcommon/spectral/spectral.h"

#include <cblas.h>
#include <lapacke.h>
#include <lapacke_utils.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define SLACK 1e-6

/* M (n,N), n <= N, is w, or its transpose if w has more rows than columns. BLAS reads the same
 * memory as either, by layout. */
struct gram {
    CBLAS_LAYOUT layout;
    int n, N, ld;    /* n > 0 */
    double *m;       /* M */
    double *mm;      /* (n,n) M M^T, upper triangle; `values` overwrites it */
    double *squared; /* (n) eigenvalues of M M^T, ascending: M's squared singular values */
    double squares;  /* their sum */
};

/* Replace LAPACKE's function, which prints to stdout, where a stream may go. LAPACK's status
 * reports the same errors. */
void LAPACKE_xerbla(const char *name, lapack_int info)
{
    (void)name;
    (void)info;
}

static void release(struct gram *g)
{
    free(g->m);
    free(g->mm);
    free(g->squared);
}

static int load(struct gram *g, size_t rows, size_t cols, const float *w, struct mc_error *err)
{
    const size_t n = rows < cols ? rows : cols;

    *g = (struct gram){.layout = rows < cols ? CblasRowMajor : CblasColMajor, .n = (int)n};
    if (rows <= INT_MAX && cols <= INT_MAX) {
        g->m = malloc(rows * cols * sizeof *g->m);
        g->mm = calloc(n, n * sizeof *g->mm);
        g->squared = malloc(n * sizeof *g->squared);
    }
    if (!g->m || !g->mm || !g->squared)
        return mc_fail(err, MC_ENOMEM, "out of memory for singular values of %zux%zu", rows, cols);
    g->N = (int)(rows + cols - n);
    g->ld = (int)cols;
    for (size_t k = 0; k < rows * cols; k++) {
        g->m[k] = (double)w[k];
        g->squares += g->m[k] * g->m[k];
    }
    if (!isfinite(g->squares))
        return mc_fail(err, MC_EINPUT, "a matrix of %zu rows has a value that is not finite", rows);
    return 0;
}

/* Compute the squared singular values above `least`, with the left singular vectors of M in
 * `vectors` (n,n). If vectors is NULL, compute only the maximum. Return their number or an
 * error. */
static int values(struct gram *g, double least, double *vectors, struct mc_error *err)
{
    int found = 0, *support = malloc(2 * (size_t)g->n * sizeof *support), info = -1010;

    cblas_dsyrk(g->layout, CblasUpper, CblasNoTrans, g->n, g->N, 1, g->m, g->ld, 0, g->mm, g->n);
    if (support)
        info = LAPACKE_dsyevr((int)g->layout, vectors ? 'V' : 'N', vectors ? 'V' : 'I', 'U', g->n,
                              g->mm, g->n, least, 2 * g->squares, g->n, g->n, 0, &found, g->squared,
                              vectors, g->n, support);
    free(support);
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return mc_fail(err, MC_ENOMEM, "out of memory for singular values of %dx%d", g->n, g->N);
    return info ? mc_fail(err, MC_EFAIL, "LAPACK cannot find singular values of %dx%d (status %d)",
                          g->n, g->N, info)
                : found;
}

int mc_spectral_norm(size_t rows, size_t cols, const float *w, double *norm, struct mc_error *err)
{
    struct gram g;
    int rc = load(&g, rows, cols, w, err);

    if (!rc)
        rc = values(&g, 0, NULL, err);
    if (rc > 0)
        *norm = sqrt(fmax(g.squared[0], 0));
    release(&g);
    return rc < 0 ? rc : 0;
}

/* Subtract from M the sum over i < k of (1 - most / sigma_i) u_i u_i^T M. Scales `vectors`. */
static int deflate(struct gram *g, int k, double most, double *vectors, struct mc_error *err)
{
    const int row_major = g->layout == CblasRowMajor, step = row_major ? g->n : 1;
    const int ld = row_major ? g->N : k;
    double *along = malloc((size_t)k * (size_t)g->N * sizeof *along);

    if (!along)
        return mc_fail(err, MC_ENOMEM, "out of memory for %d singular vectors", k);
    for (int i = 0; i < k; i++)
        cblas_dscal(g->n, sqrt(1 - most / sqrt(g->squared[i])),
                    vectors + (size_t)i * (size_t)(row_major ? 1 : g->n), step);
    cblas_dgemm(g->layout, CblasTrans, CblasNoTrans, k, g->N, g->n, 1, vectors, g->n, g->m, g->ld,
                0, along, ld);
    cblas_dgemm(g->layout, CblasNoTrans, CblasNoTrans, g->n, g->N, k, -1, vectors, g->n, along, ld,
                1, g->m, g->ld);
    free(along);
    return k;
}

int mc_spectral_clip(size_t rows, size_t cols, float *w, double most, struct mc_error *err)
{
    const double limit = most * (1 + SLACK) * most * (1 + SLACK);
    double *vectors = NULL;
    struct gram g;

    if (!(most > 0 && isfinite(most)))
        return mc_fail(err, MC_EUSAGE, "spectral norm must be positive and finite (got %g)", most);
    int rc = load(&g, rows, cols, w, err);
    if (!rc && g.squares > limit) {
        vectors = malloc((size_t)g.n * (size_t)g.n * sizeof *vectors);
        rc = vectors ? values(&g, limit, vectors, err)
                     : mc_fail(err, MC_ENOMEM, "out of memory for singular vectors of %d", g.n);
        if (rc > 0)
            rc = deflate(&g, rc, most, vectors, err);
        for (size_t k = 0; rc > 0 && k < rows * cols; k++)
            w[k] = (float)g.m[k];
    }
    free(vectors);
    release(&g);
    return rc;
}
