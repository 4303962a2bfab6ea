/* SPDX-License-Identifier: Apache-2.0
 *
 * Soft permutations of the parameter vector, and the gradient of their matrices, as in
 * cpu/soft_permutation.c, but one use at a time. */
#include "kernels/cuda/cuda.h"

#include "libcommon/base/alloc.h"
#include "libcommon/permutation/soft_permutation.h"

#include <stdlib.h>

/* `slices` slices of (K, m), `stride` floats apart. */
struct mc_soft_perm {
    struct cuda *be;
    const struct mc_graph *g;
    const struct mc_symmetry *s;
    struct mc_soft_perm_plan plan;
    void *data;          /* device memory of all pointers below */
    float *mid, *back;   /* (P): parameters after the columns, and their gradient */
    float *left, *right; /* a use's slices side by side */
    struct cuda_projection project;
};

/* Device memory of a soft permutation: vectors, packed slices, the largest matrix in float64. */
static int allocate_memory(struct mc_soft_perm *a, size_t largest, struct mc_error *err)
{
    size_t packed = 1, floats, doubles = largest * largest + 2 * largest + 3;

    for (size_t i = 0; i < a->plan.n_uses; i++) {
        const struct mc_soft_perm_use *u = &a->plan.uses[i];
        packed = u->k * u->slices * u->m > packed ? u->k * u->slices * u->m : packed;
    }
    packed = (packed + 15) / 16 * 16;
    doubles = (doubles + 31) / 32 * 32; /* keeps the memory after them aligned */
    floats = 2 * a->g->P + 2 * packed;
    int rc = cuda_alloc(a->be, doubles * sizeof(double) + floats * sizeof(float),
                        "a soft permutation", &a->data, err);
    if (rc)
        return rc;
    a->project.p = a->data;
    a->project.row = a->project.p + largest * largest;
    a->project.col = a->project.row + largest;
    a->project.total = a->project.col + largest;
    a->mid = (float *)(void *)(a->project.p + doubles);
    a->back = a->mid + a->g->P;
    a->left = a->back + a->g->P;
    a->right = a->left + packed;
    return 0;
}

int cuda_soft_perm_new(struct mc_backend *be, const struct mc_graph *g, const struct mc_symmetry *s,
                       struct mc_soft_perm **out, struct mc_error *err)
{
    struct mc_soft_perm *a = NULL;
    size_t largest = 1;
    int rc = mc_new(&a, 1, err);

    if (rc)
        return rc;
    *a = (struct mc_soft_perm){.be = cuda_of(be), .g = g, .s = s};
    for (size_t k = 0; k < s->n_groups; k++)
        largest = s->groups[k].size > largest ? s->groups[k].size : largest;
    rc = mc_soft_perm_plan(&a->plan, s, g, err);
    if (!rc)
        rc = allocate_memory(a, largest, err);
    if (rc)
        cuda_soft_perm_free(a);
    else
        *out = a;
    return rc;
}

void cuda_soft_perm_free(struct mc_soft_perm *a)
{
    if (!a)
        return;
    cuda_enter(a->be);
    cuda_release(a->be, a->data);
    mc_soft_perm_plan_release(&a->plan);
    free(a);
}

static void copy(struct mc_soft_perm *a, float *to, const float *from)
{
    cuda_check(a->be, cudaMemcpyAsync(to, from, a->g->P * sizeof *to, cudaMemcpyDeviceToDevice,
                                      a->be->stream));
}

/* y = P x, or P^T x. */
static void multiply(const struct mc_soft_perm *a, const struct mc_soft_perm_use *u,
                     const float *matrices, int transposed, const float *x, float *y)
{
    const float *matrix = matrices + a->plan.offset[u->group];
    const struct mc_product columns = {.size = {u->slices, u->k, u->k},
                                       .a = {x + u->base, u->stride},
                                       .b = {matrix, u->k, !transposed},
                                       .c = {y + u->base, u->stride}};
    const struct mc_product rows = {.size = {u->k, u->m, u->k},
                                    .a = {matrix, u->k, transposed},
                                    .b = {x + u->base, u->m},
                                    .c = {y + u->base, u->m}};

    if (u->slices > 1 && u->m == 1) /* columns: the rows of the transpose */
        cuda_gemm(a->be, &columns);
    else
        cuda_gemm_slices(a->be, &rows, u->stride, u->slices);
}

/* d += dy x^T of the use. */
static void outer(const struct mc_soft_perm *a, const struct mc_soft_perm_use *u, const float *dy,
                  const float *x, float *d)
{
    const size_t n = u->slices * u->m;
    const struct mc_product product = {.size = {u->k, u->k, n},
                                       .a = {a->left, n},
                                       .b = {a->right, n, .transposed = 1},
                                       .beta = 1,
                                       .c = {d, u->k}};

    cuda_pack_slices(a->be, u->k, u->m, u->slices, u->stride, dy + u->base, a->left);
    cuda_pack_slices(a->be, u->k, u->m, u->slices, u->stride, x + u->base, a->right);
    cuda_gemm(a->be, &product);
}

void cuda_soft_permute(struct mc_soft_perm *a, const struct mc_buf *matrices,
                       const struct mc_buf *theta, struct mc_buf *out)
{
    const float *p = mc_const_floats(matrices), *from = mc_const_floats(theta);
    float *to = mc_floats(out);

    cuda_enter(a->be);
    copy(a, a->mid, from);
    for (size_t i = 0; i < a->plan.n_uses; i++)
        if (a->plan.uses[i].dim)
            multiply(a, &a->plan.uses[i], p, 0, from, a->mid);
    copy(a, to, a->mid);
    for (size_t i = 0; i < a->plan.n_uses; i++)
        if (!a->plan.uses[i].dim)
            multiply(a, &a->plan.uses[i], p, 0, a->mid, to);
}

void cuda_soft_permute_grad(struct mc_soft_perm *a, const struct mc_buf *matrices,
                            const struct mc_buf *theta, const struct mc_buf *grad,
                            struct mc_buf *grad_matrices)
{
    const float *p = mc_const_floats(matrices), *dy = mc_const_floats(grad);
    float *out = mc_floats(grad_matrices);

    cuda_enter(a->be);
    cuda_check(a->be, cudaMemsetAsync(out, 0, a->plan.m * sizeof *out, a->be->stream));
    copy(a, a->back, dy);
    for (size_t i = 0; i < a->plan.n_uses; i++)
        if (!a->plan.uses[i].dim && a->plan.uses[i].through)
            multiply(a, &a->plan.uses[i], p, 1, dy, a->back);
    for (size_t i = 0; i < a->plan.n_uses; i++) {
        const struct mc_soft_perm_use *u = &a->plan.uses[i];
        if (u->dim)
            outer(a, u, u->through ? a->back : dy, mc_const_floats(theta),
                  out + a->plan.offset[u->group]);
        else
            outer(a, u, dy, a->mid, out + a->plan.offset[u->group]);
    }
}

void cuda_project(struct mc_soft_perm *a, struct mc_buf *matrices, size_t sweeps,
                  struct mc_buf *residual)
{
    float *p = mc_floats(matrices);

    cuda_enter(a->be);
    if (!a->s->n_groups)
        cuda_check(a->be, cudaMemsetAsync(residual->data, 0, sizeof(double), a->be->stream));
    for (size_t g = 0; g < a->s->n_groups; g++) {
        struct cuda_projection one = a->project;
        one.k = a->s->groups[g].size;
        cuda_project_begin(a->be, &one, p + a->plan.offset[g]);
        for (size_t i = 0; i <= sweeps; i++)
            cuda_project_sweep(a->be, &one, i == sweeps);
        cuda_project_end(a->be, &one, g == 0, p + a->plan.offset[g], mc_doubles(residual));
    }
}
