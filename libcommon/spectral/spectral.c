/* SPDX-License-Identifier: Apache-2.0
 *
 * Thick-restart Lanczos on W^T W, with all products that it needs for orthogonality kept as the
 * small matrix of the Rayleigh-Ritz step. */
#include "libcommon/spectral/spectral.h"

#include "libcommon/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8  /* partial sums of a row */
#define BASIS 48 /* vectors of a Krylov space */
#define KEEP 24  /* of which a restart keeps the best */
#define CYCLES 200

/* A Ritz value is converged once its residual is under these shares of it: for its own sake, and
 * for its vector's. The value's own error is at most its residual. */
#define VALUE_TOLERANCE 1e-7
#define VECTOR_TOLERANCE 1e-10
#define NOTHING 1e-14 /* what is left of a product by W^T W that has no new direction */
#define SLACK 1e-6

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef float row_vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef double loose __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

struct search {
    size_t rows, cols;
    const float *w;
    double *locked; /* (n_locked,cols) right singular vectors found to be clipped */
    double *sigma;  /* (n_locked) their singular values */
    size_t n_locked, room;
    double *basis;          /* (BASIS + 1,cols) orthonormal, and orthogonal to the locked */
    double *kept;           /* (KEEP,cols) */
    double h[BASIS][BASIS]; /* basis^T W^T W basis */
    double y[BASIS][BASIS]; /* column i is h's eigenvector of the value theta[i] */
    double theta[BASIS];    /* descending */
};

static double dot(size_t n, const double *a, const double *b)
{
    double lane[LANES], sum = 0;
    vec s = {0};
    size_t j = 0;

    for (; j + LANES <= n; j += LANES)
        s += *(const loose *)(a + j) * *(const loose *)(b + j);
    memcpy(lane, &s, sizeof lane);
    for (; j < n; j++)
        sum += a[j] * b[j];
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static double row_dot(size_t n, const float *a, const double *b)
{
    double lane[LANES], sum = 0;
    vec s = {0};
    size_t j = 0;

    for (; j + LANES <= n; j += LANES)
        s += __builtin_convertvector(*(const row_vec *)(a + j), vec) * *(const loose *)(b + j);
    memcpy(lane, &s, sizeof lane);
    for (; j < n; j++)
        sum += a[j] * b[j];
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static void add(size_t n, double *y, double a, const double *x)
{
    size_t j = 0;

    for (; j + LANES <= n; j += LANES)
        *(loose *)(y + j) += a * *(const loose *)(x + j);
    for (; j < n; j++)
        y[j] += a * x[j];
}

static void row_add(size_t n, double *y, double a, const float *x)
{
    size_t j = 0;

    for (; j + LANES <= n; j += LANES)
        *(loose *)(y + j) += a * __builtin_convertvector(*(const row_vec *)(x + j), vec);
    for (; j < n; j++)
        y[j] += a * x[j];
}

static void gram(const struct search *s, const double *x, double *z)
{
    memset(z, 0, s->cols * sizeof *z);
    for (size_t i = 0; i < s->rows; i++) {
        const float *row = s->w + i * s->cols;
        row_add(s->cols, z, row_dot(s->cols, row, x), row);
    }
}

/* Makes basis vector k orthogonal to those before it, its products with them into column k - 1 of
 * h, and of length 1. Returns the length it had. Twice is enough (Kahan; Parlett 1980). */
static double orthogonalise(struct search *s, size_t k)
{
    double *x = s->basis + k * s->cols, length;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < s->n_locked; i++) {
            const double *v = s->locked + i * s->cols;
            add(s->cols, x, -dot(s->cols, v, x), v);
        }
        for (size_t i = 0; i < k; i++) {
            const double *v = s->basis + i * s->cols;
            double along = dot(s->cols, v, x);
            add(s->cols, x, -along, v);
            s->h[i][k - 1] += along;
        }
    }
    length = sqrt(dot(s->cols, x, x));
    for (size_t j = 0; length > 0 && j < s->cols; j++)
        x[j] /= length;
    return length;
}

static void start(struct search *s, uint32_t number)
{
    for (size_t j = 0; j < s->cols; j++) {
        struct mc_rng4 r = mc_rng(0, MC_RNG_SPECTRAL, number, (uint32_t)(j / 4), 0);
        s->basis[j] = (double)mc_rng_unit(r.v[j % 4]) - (.5 - 0x1p-25);
    }
    memset(s->h, 0, sizeof s->h);
    orthogonalise(s, 0);
}

/* From `have` basis vectors and the one behind them to `size` and one behind them; to fewer if the
 * space is closed. *left: what the last product adds to the space, 0 if it is closed. */
static size_t expand(struct search *s, size_t have, size_t size, double *left)
{
    double greatest = 0;

    for (size_t i = 0; i < have; i++)
        greatest = fmax(greatest, s->h[i][i]);
    for (size_t k = have; k < size; k++) {
        gram(s, s->basis + k * s->cols, s->basis + (k + 1) * s->cols);
        *left = orthogonalise(s, k + 1);
        for (size_t i = 0; i <= k; i++)
            s->h[k][i] = s->h[i][k];
        greatest = fmax(greatest, fmax(s->h[k][k], *left));
        if (*left <= NOTHING * greatest || s->n_locked + k + 1 == s->cols) {
            *left = 0;
            return k + 1;
        }
    }
    return size;
}

/* One of Jacobi's rotations, which makes a[p][q] of a symmetric matrix 0. */
static void rotate(size_t n, double (*a)[BASIS], double (*y)[BASIS], size_t p, size_t q)
{
    double tau = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (tau < 0 ? -1 : 1) / (fabs(tau) + hypot(1, tau));
    double c = 1 / hypot(1, t), sine = c * t;

    for (size_t i = 0; i < n; i++) {
        double x = a[i][p], z = a[i][q];
        a[i][p] = c * x - sine * z;
        a[i][q] = sine * x + c * z;
        x = y[i][p];
        z = y[i][q];
        y[i][p] = c * x - sine * z;
        y[i][q] = sine * x + c * z;
    }
    for (size_t i = 0; i < n; i++) {
        double x = a[p][i], z = a[q][i];
        a[p][i] = c * x - sine * z;
        a[q][i] = sine * x + c * z;
    }
    a[p][q] = a[q][p] = 0;
}

/* theta and y of the leading (n,n) of h, which is spoilt. */
static void ritz(struct search *s, size_t n)
{
    int again = 1;

    memset(s->y, 0, sizeof s->y);
    for (size_t i = 0; i < n; i++)
        s->y[i][i] = 1;
    for (int sweep = 0; again && sweep < 30; sweep++) {
        again = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabs(s->h[p][q]) > 1e-16 * (fabs(s->h[p][p]) + fabs(s->h[q][q]))) {
                    rotate(n, s->h, s->y, p, q);
                    again = 1;
                }
    }
    for (size_t i = 0; i < n; i++)
        s->theta[i] = s->h[i][i];
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            best = s->theta[j] > s->theta[best] ? j : best;
        double t = s->theta[i];
        s->theta[i] = s->theta[best];
        s->theta[best] = t;
        for (size_t j = 0; j < n; j++) {
            t = s->y[j][i];
            s->y[j][i] = s->y[j][best];
            s->y[j][best] = t;
        }
    }
}

static void ritz_vector(const struct search *s, size_t n, size_t i, double *out)
{
    memset(out, 0, s->cols * sizeof *out);
    for (size_t j = 0; j < n; j++)
        add(s->cols, out, s->y[j][i], s->basis + j * s->cols);
}

static int lock(struct search *s, size_t n, size_t i, struct mc_error *err)
{
    if (s->n_locked == s->room) {
        size_t more = s->room ? 2 * s->room : 16;
        double *locked = realloc(s->locked, more * s->cols * sizeof *locked);
        s->locked = locked ? locked : s->locked;
        double *sigma = locked ? realloc(s->sigma, more * sizeof *sigma) : NULL;
        s->sigma = sigma ? sigma : s->sigma;
        if (!sigma)
            return mc_fail(err, MC_ENOMEM, "out of memory for %zu singular vectors", more);
        s->room = more;
    }
    ritz_vector(s, n, i, s->locked + s->n_locked * s->cols);
    s->sigma[s->n_locked++] = sqrt(s->theta[i]);
    return 0;
}

/* Locks the eigenvalues of W^T W above `limit` as they converge. One start sees one vector of each
 * eigenvalue, so after a search that locked any there has to be another. *top: the greatest that is
 * left. number: of the start. */
static int find(struct search *s, uint32_t number, double limit, double *top, struct mc_error *err)
{
    size_t have = 0;
    int rc = 0;

    start(s, number);
    for (int cycle = 1;; cycle++) {
        const size_t free_dims = s->cols - s->n_locked;
        double left = 0, best = -1, theta[KEEP];
        size_t n = expand(s, have, free_dims < BASIS ? free_dims : BASIS, &left), n_kept = 0;
        int done = left == 0 || cycle == CYCLES;

        ritz(s, n);
        for (size_t i = 0; !rc && i < n; i++) {
            double residual = left * fabs(s->y[n - 1][i]);
            /* whatever converges or not, the greatest is a direction that W stretches too far */
            int sure = residual <= VECTOR_TOLERANCE * s->theta[i] || (cycle == CYCLES && !i);
            if (s->theta[i] > limit && sure) {
                rc = lock(s, n, i, err);
                continue;
            }
            if (best < 0) {
                best = s->theta[i];
                done |= best <= limit && residual <= VALUE_TOLERANCE * best;
            }
            if (n_kept < KEEP && !done) {
                theta[n_kept] = s->theta[i];
                ritz_vector(s, n, i, s->kept + n_kept++ * s->cols);
            }
        }
        *top = fmax(best, 0);
        if (rc || done)
            return rc;
        memset(s->h, 0, sizeof s->h);
        for (size_t i = 0; i < n_kept; i++)
            s->h[i][i] = theta[i];
        memcpy(s->basis + n_kept * s->cols, s->basis + n * s->cols, s->cols * sizeof *s->basis);
        memcpy(s->basis, s->kept, n_kept * s->cols * sizeof *s->basis);
        have = n_kept;
    }
}

/* *squares: of the Frobenius norm. */
static int begin(struct search **out, size_t rows, size_t cols, const float *w, double *squares,
                 struct mc_error *err)
{
    struct search *s = calloc(1, sizeof *s);

    *squares = 0;
    *out = s;
    if (s)
        s->basis = calloc(cols, (BASIS + 1 + KEEP) * sizeof *s->basis);
    if (!s || !s->basis)
        return mc_fail(err, MC_ENOMEM, "out of memory for singular values of %zu columns", cols);
    s->kept = s->basis + (BASIS + 1) * cols;
    s->rows = rows;
    s->cols = cols;
    s->w = w;
    for (size_t k = 0; k < rows * cols; k++)
        *squares += (double)w[k] * w[k];
    if (!isfinite(*squares))
        return mc_fail(err, MC_EINPUT, "a matrix of %zu rows holds a value that is not finite",
                       rows);
    return 0;
}

static void end(struct search *s)
{
    if (!s)
        return;
    free(s->locked);
    free(s->sigma);
    free(s->basis);
    free(s);
}

int mc_spectral_norm(size_t rows, size_t cols, const float *w, double *norm, struct mc_error *err)
{
    struct search *s = NULL;
    double squares, top = 0;
    int rc = begin(&s, rows, cols, w, &squares, err);

    if (!rc)
        rc = find(s, 0, INFINITY, &top, err);
    if (!rc)
        *norm = sqrt(top);
    end(s);
    return rc;
}

/* W - sum over i of (1 - most / sigma_i) W v_i v_i^T; `row` has room for one in float64. */
static void deflate(const struct search *s, float *w, double most, double *row)
{
    for (size_t i = 0; i < s->rows; i++, w += s->cols) {
        for (size_t j = 0; j < s->cols; j++)
            row[j] = (double)w[j];
        for (size_t k = 0; k < s->n_locked; k++) {
            const double *v = s->locked + k * s->cols;
            add(s->cols, row, -(1 - most / s->sigma[k]) * row_dot(s->cols, w, v), v);
        }
        for (size_t j = 0; j < s->cols; j++)
            w[j] = (float)row[j];
    }
}

int mc_spectral_clip(size_t rows, size_t cols, float *w, double most, struct mc_error *err)
{
    const double limit = most * (1 + SLACK) * most * (1 + SLACK);
    struct search *s = NULL;
    double squares, top = 0;
    int rc;

    if (!(most > 0 && isfinite(most)))
        return mc_fail(err, MC_EUSAGE, "a spectral norm of %g is not a positive number", most);
    rc = begin(&s, rows, cols, w, &squares, err);
    if (!rc && squares > limit) {
        size_t before;
        uint32_t number = 0;
        do {
            before = s->n_locked;
            rc = find(s, number++, limit, &top, err);
        } while (!rc && s->n_locked > before && s->n_locked < cols);
        if (!rc && s->n_locked)
            deflate(s, w, most, s->kept);
        if (!rc)
            rc = (int)s->n_locked;
    }
    end(s);
    return rc;
}
