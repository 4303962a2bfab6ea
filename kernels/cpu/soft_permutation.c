/* SPDX-License-Identifier: Apache-2.0
 *
 * Soft permutations of the parameter vector, and the gradient of their matrices.
 *
 * Every use of a group has the same form: `slices` slices of (K, m), `stride` floats apart. A use
 * on a tensor's rows is one slice: its matrix multiplies everything that belongs to a unit. A use
 * on its columns has one slice per row. Columns are multiplied first, from theta to `mid`, then
 * rows, from `mid` to the result. The gradient of a use on rows is therefore taken at `mid`. The
 * gradient of a use on columns goes back through the rows' transposes.
 *
 * The work is split into pieces that depend only on the network, and each product runs in one
 * thread, so the results do not depend on the number of threads. */
#include "kernels/cpu/cpu.h"

#include "libcommon/assign/doubly_stochastic.h"
#include "libcommon/base/alloc.h"
#include "libcommon/permutation/soft_permutation.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 512, /* approximate columns of a product per piece */
    ROWS = 64      /* rows of a matrix whose gradient one thread computes */
};

struct span { /* the pieces of a use */
    size_t first, n;
};

/* Columns [column, column + n) of the slices [slice, slice + slices). If slices > 1, they are
 * whole: column is 0 and n is m. */
struct set {
    const struct mc_soft_perm_use *use;
    size_t slice, slices, column, n;
};

struct band { /* rows [row, row + rows) of a group's matrix */
    size_t group, row, rows;
};

struct mc_soft_perm {
    struct cpu *be;
    const struct mc_graph *g;
    const struct mc_symmetry *s;
    struct mc_soft_perm_plan plan;
    struct span *spans; /* (n_uses) */
    struct set *sets;   /* the sets of columns, then those of rows */
    size_t n_parts, n_columns;
    struct band *bands;
    size_t n_bands;
    float *mid, *back; /* (P): parameters after the columns, and their gradient */
    float *pack;       /* two per thread, pack_floats each */
    size_t pack_floats;
    size_t projectors, projected; /* threads that project; doubles of the largest matrix */
    double *project;              /* one matrix per projecting thread, then (n_groups) residuals */
};

/* ---- construction --------------------------------------------------------------------------- */

/* Split a use into pieces and return their number. out may be NULL. */
static size_t split(const struct mc_soft_perm_use *u, struct set *out)
{
    const size_t slices = u->slices > 1 && u->m < COLUMNS ? COLUMNS / u->m : 1;
    const size_t columns = slices > 1 ? u->m : COLUMNS;
    size_t n = 0;

    for (size_t b = 0; b < u->slices; b += slices)
        for (size_t column = 0; column < u->m; column += columns, n++)
            if (out)
                out[n] = (struct set){u, b, b + slices < u->slices ? slices : u->slices - b, column,
                                      column + columns < u->m ? columns : u->m - column};
    return n;
}

/* Return whether slices must be packed. One slice is already a matrix, and slices of one column are
 * its transpose. */
static int packed(const struct set *p)
{
    return p->slices > 1 && p->n > 1;
}

static int plan_pieces(struct mc_soft_perm *a, struct mc_error *err)
{
    int rc = mc_new(&a->spans, a->plan.n_uses, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < a->plan.n_uses; i++)
        a->n_parts += a->spans[i].n = split(&a->plan.uses[i], NULL);
    if ((rc = mc_new(&a->sets, a->n_parts, err)))
        return rc;
    a->n_parts = 0;
    for (int dim = 1; dim >= 0; dim--) {
        for (size_t i = 0; i < a->plan.n_uses; i++) {
            if (a->plan.uses[i].dim != dim)
                continue;
            a->spans[i].first = a->n_parts;
            a->n_parts += split(&a->plan.uses[i], a->sets + a->n_parts);
        }
        if (dim)
            a->n_columns = a->n_parts;
    }
    for (size_t i = 0; i < a->n_parts; i++) {
        const struct set *p = &a->sets[i];
        const size_t need = packed(p) ? p->use->k * p->slices * p->n : 0;
        a->pack_floats = need > a->pack_floats ? need : a->pack_floats;
    }
    a->pack_floats = (a->pack_floats + 15) / 16 * 16 + 16; /* so that threads share no cache line */
    return 0;
}

int cpu_soft_perm_new(struct mc_backend *be, const struct mc_graph *g, const struct mc_symmetry *s,
                      struct mc_soft_perm **out, struct mc_error *err)
{
    struct mc_soft_perm *a = NULL;
    size_t bands = 0;
    int rc = mc_new(&a, 1, err);

    if (rc)
        return rc;
    *a = (struct mc_soft_perm){.be = cpu_of(be), .g = g, .s = s};
    for (size_t k = 0; k < s->n_groups; k++)
        bands += (s->groups[k].size + ROWS - 1) / ROWS;
    if ((rc = mc_new(&a->bands, bands, err)) || (rc = mc_new(&a->mid, g->P, err)) ||
        (rc = mc_new(&a->back, g->P, err)))
        goto out;
    for (size_t k = 0; k < s->n_groups; k++) {
        const size_t size = s->groups[k].size;
        a->projected = size * size > a->projected ? size * size : a->projected;
        for (size_t i = 0; i < size; i += ROWS)
            a->bands[a->n_bands++] = (struct band){k, i, i + ROWS < size ? ROWS : size - i};
    }
    if ((rc = mc_soft_perm_plan(&a->plan, s, g, err)) || (rc = plan_pieces(a, err)))
        goto out;
    a->projectors = (size_t)be->threads < s->n_groups ? (size_t)be->threads : s->n_groups;
    if (!(rc = mc_new(&a->pack, 2 * (size_t)be->threads * a->pack_floats, err)))
        rc = mc_new(&a->project, a->projectors * a->projected + s->n_groups, err);
out:
    if (rc)
        cpu_soft_perm_free(a);
    else
        *out = a;
    return rc;
}

void cpu_soft_perm_free(struct mc_soft_perm *a)
{
    if (!a)
        return;
    mc_soft_perm_plan_release(&a->plan);
    free(a->spans);
    free(a->sets);
    free(a->bands);
    free(a->mid);
    free(a->back);
    free(a->pack);
    free(a->project);
    free(a);
}

/* ---- one piece ------------------------------------------------------------------------------ */

static size_t place(const struct set *p)
{
    return p->use->base + p->slice * p->use->stride + p->column;
}

static float *pack_of(const struct mc_soft_perm *a, int index)
{
    return a->pack + (2 * (size_t)omp_get_thread_num() + (size_t)index) * a->pack_floats;
}

/* Pack a piece's slices of units [row, row + rows) side by side: (rows, slices * m). */
static void pack(const struct set *p, size_t row, size_t rows, const float *x, float *out)
{
    const size_t m = p->n;

    for (size_t i = 0; i < rows; i++)
        for (size_t b = 0; b < p->slices; b++)
            memcpy(out + (i * p->slices + b) * m, x + place(p) + b * p->use->stride + (row + i) * m,
                   m * sizeof *x);
}

static void unpack(const struct set *p, const float *x, float *out)
{
    const size_t m = p->n;

    for (size_t b = 0; b < p->slices; b++)
        for (size_t i = 0; i < p->use->k; i++)
            memcpy(out + place(p) + b * p->use->stride + i * m, x + (i * p->slices + b) * m,
                   m * sizeof *x);
}

/* y = P x, or P^T x. */
static void multiply(const struct mc_soft_perm *a, const struct set *p, const float *matrices,
                     int transposed, const float *x, float *y)
{
    const struct mc_soft_perm_use *u = p->use;
    const size_t k = u->k, n = p->slices * p->n, offset = place(p);
    const float *matrix = matrices + a->plan.offset[u->group];

    if (packed(p)) {
        float *in = pack_of(a, 0), *out = pack_of(a, 1);
        pack(p, 0, k, x, in);
        cpu_gemm(a->be,
                 (struct mc_product){
                     .size = {k, n, k}, .a = {matrix, k, transposed}, .b = {in, n}, .c = {out, n}});
        unpack(p, out, y);
    } else if (p->slices > 1) {
        cpu_gemm(a->be, (struct mc_product){.size = {n, k, k},
                                            .a = {x + offset, u->stride},
                                            .b = {matrix, k, !transposed},
                                            .c = {y + offset, u->stride}});
    } else {
        cpu_gemm(a->be, (struct mc_product){.size = {k, n, k},
                                            .a = {matrix, k, transposed},
                                            .b = {x + offset, u->m},
                                            .c = {y + offset, u->m}});
    }
}

/* Rows of d += the products dy x^T of the piece. */
static void outer(const struct mc_soft_perm *a, const struct set *p, const struct band *r,
                  const float *dy, const float *x, float *d)
{
    const struct mc_soft_perm_use *u = p->use;
    const size_t k = u->k, n = p->slices * p->n, offset = place(p);
    struct mc_product product = {.size = {r->rows, k, n}, .beta = 1, .c = {d, k}};

    if (packed(p)) {
        float *left = pack_of(a, 0), *right = pack_of(a, 1);
        pack(p, r->row, r->rows, dy, left);
        pack(p, 0, k, x, right);
        product.a = (struct mc_factor){left, .ld = n};
        product.b = (struct mc_factor){right, n, .transposed = 1};
    } else if (p->slices > 1) {
        product.a = (struct mc_factor){dy + offset + r->row, u->stride, .transposed = 1};
        product.b = (struct mc_factor){x + offset, .ld = u->stride};
    } else {
        product.a = (struct mc_factor){dy + offset + r->row * u->m, .ld = u->m};
        product.b = (struct mc_factor){x + offset, u->m, .transposed = 1};
    }
    cpu_gemm(a->be, product);
}

/* ---- entry points ---------------------------------------------------------------------------- */

void cpu_soft_permute(struct mc_soft_perm *a, const struct mc_buf *matrices,
                      const struct mc_buf *theta, struct mc_buf *out)
{
    const float *p = mc_const_floats(matrices), *from = mc_const_floats(theta);
    float *to = mc_floats(out);

    cpu_enter(a->be);
    memcpy(a->mid, from, a->g->P * sizeof *from);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < a->n_columns; i++)
        multiply(a, &a->sets[i], p, 0, from, a->mid);
    memcpy(to, a->mid, a->g->P * sizeof *to);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = a->n_columns; i < a->n_parts; i++)
        multiply(a, &a->sets[i], p, 0, a->mid, to);
}

static void band_grad(const struct mc_soft_perm *a, const struct band *r, const float *theta,
                      const float *grad, float *out)
{
    const size_t k = a->s->groups[r->group].size;
    float *d = out + a->plan.offset[r->group] + r->row * k;

    for (size_t i = 0; i < a->plan.n_uses; i++) {
        const struct mc_soft_perm_use *u = &a->plan.uses[i];
        const struct span *pieces = &a->spans[i];
        for (size_t j = pieces->first; u->group == r->group && j < pieces->first + pieces->n; j++)
            if (u->dim)
                outer(a, &a->sets[j], r, u->through ? a->back : grad, theta, d);
            else
                outer(a, &a->sets[j], r, grad, a->mid, d);
    }
}

void cpu_soft_permute_grad(struct mc_soft_perm *a, const struct mc_buf *matrices,
                           const struct mc_buf *theta, const struct mc_buf *grad,
                           struct mc_buf *grad_matrices)
{
    const float *p = mc_const_floats(matrices), *dy = mc_const_floats(grad);
    float *out = mc_floats(grad_matrices);

    cpu_enter(a->be);
    memset(out, 0, a->plan.m * sizeof *out);
    memcpy(a->back, dy, a->g->P * sizeof *dy);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = a->n_columns; i < a->n_parts; i++)
        if (a->sets[i].use->through)
            multiply(a, &a->sets[i], p, 1, dy, a->back);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < a->n_bands; i++)
        band_grad(a, &a->bands[i], mc_const_floats(theta), dy, out);
}

/* Project one matrix and return its residual. If a number is not finite, the matrix and the
 * residual become NaN. */
static double project(struct mc_soft_perm *a, size_t group, size_t sweeps, float *matrix)
{
    const size_t k = a->s->groups[group].size;
    double *p = a->project + (size_t)omp_get_thread_num() * a->projected;
    struct mc_doubly_stochastic info = {.residual = NAN};
    struct mc_error err = {0};

    for (size_t i = 0; i < k * k; i++)
        p[i] = (double)matrix[i];
    const int rc = mc_doubly_stochastic_project(k, p, sweeps, 0, &info, &err);
    if (rc == MC_ENOMEM)
        cpu_check(a->be, dnnl_out_of_memory);
    for (size_t i = 0; i < k * k; i++)
        matrix[i] = rc ? NAN : (float)p[i];
    return info.residual;
}

void cpu_project(struct mc_soft_perm *a, struct mc_buf *matrices, size_t sweeps,
                 struct mc_buf *residual)
{
    float *p = mc_floats(matrices);
    double *residuals = a->project + a->projectors * a->projected;
    double worst = 0;

    cpu_enter(a->be);
#pragma omp parallel for schedule(dynamic) num_threads((int)a->projectors + !a->projectors)
    for (size_t g = 0; g < a->s->n_groups; g++)
        residuals[g] = project(a, g, sweeps, p + a->plan.offset[g]);
    for (size_t g = 0; g < a->s->n_groups; g++)
        if (!(residuals[g] <= worst) && !isnan(worst))
            worst = residuals[g];
    memcpy(residual->data, &worst, sizeof worst);
}
