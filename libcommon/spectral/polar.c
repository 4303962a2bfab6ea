/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/spectral/polar.h"

#include "libcommon/base/alloc.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* C = U diag(s) vt, all row-major. LAPACK is column-major: it decomposes the transpose. */
struct svd {
    double *c, *u, *vt, *s;
};

static void release(struct svd *x)
{
    free(x->c);
    free(x->u);
    free(x->vt);
    free(x->s);
}

static int decompose(struct svd *x, size_t K, const double *c, int vectors, struct mc_error *err)
{
    const int k = (int)K;
    double *work = NULL, size = 0;
    int *iwork = NULL, info = 0;
    int rc = mc_new(&iwork, 8 * K, err);

    *x = (struct svd){0};
    if (rc || (rc = mc_new(&x->c, K * K, err)) || (rc = mc_new(&x->s, K, err)) ||
        (rc = mc_new(&x->u, vectors ? K * K : 1, err)) ||
        (rc = mc_new(&x->vt, vectors ? K * K : 1, err)))
        goto out;
    memcpy(x->c, c, K * K * sizeof *c);
    for (int query = 1; query >= 0 && !rc && !info; query--) {
        info =
            LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, vectors ? 'A' : 'N', k, k, x->c, k, x->s, x->vt,
                                k, x->u, k, query ? &size : work, query ? -1 : (int)size, iwork);
        rc = query ? mc_new(&work, (size_t)size, err) : 0;
    }
    if (!rc && info)
        rc = mc_fail(err, MC_EFAIL, "LAPACK cannot decompose %zux%zu (status %d)", K, K, info);
out:
    free(work);
    free(iwork);
    return rc;
}

static void multiply(size_t n, size_t K, const double *a, const double *b, double *out)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)K, (int)n, 1, a, (int)n, b,
                (int)K, 0, out, (int)K);
}

/* Turn the last `n` rows of x->vt, so that trace((U vt)^T fallback) is greatest. A small multiple of
 * the identity decides the directions that the fallback leaves free. */
static int turn_free(struct svd *x, size_t K, size_t n, const double *fallback,
                     struct mc_error *err)
{
    const int f = (int)n, k = (int)K;
    double *overlap = NULL, *turned = NULL, *rows = x->vt + (K - n) * K;
    double largest = 0, share = 1;
    struct svd y = {0};
    int rc = mc_new(&overlap, n * n, err);

    if (rc || (rc = mc_new(&turned, n * K, err)))
        goto out;
    if (fallback)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, f, k, k, 1, x->u + K - n, k, fallback,
                    k, 0, turned, k);
    for (size_t i = 0; i < n * K; i++)
        largest = fmax(largest, fabs(turned[i]));
    if (largest > 0)
        share = MC_POLAR_FREE * largest;
    for (size_t i = 0; i < n * K; i++)
        turned[i] += share * x->u[i % K * K + K - n + i / K];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, f, f, k, 1, turned, k, rows, k, 0, overlap,
                f);
    if ((rc = decompose(&y, n, overlap, 1, err)))
        goto out;
    multiply(n, n, y.u, y.vt, overlap);
    multiply(n, K, overlap, rows, turned);
    memcpy(rows, turned, n * K * sizeof *rows);
out:
    release(&y);
    free(overlap);
    free(turned);
    return rc;
}

int mc_polar(size_t K, const double *c, const double *fallback, double *m, double *value,
             size_t *n_free, struct mc_error *err)
{
    struct svd x;
    int rc = decompose(&x, K, c, m != NULL, err);

    *n_free = 0;
    *value = 0;
    for (size_t i = 0; i < K && !rc; i++) {
        *value += x.s[i];
        *n_free += x.s[i] <= MC_POLAR_FREE * x.s[0];
    }
    if (!rc && m && *n_free)
        rc = turn_free(&x, K, *n_free, fallback, err);
    if (!rc && m)
        multiply(K, K, x.u, x.vt, m);
    release(&x);
    return rc;
}
