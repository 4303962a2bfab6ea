/* SPDX-License-Identifier: Apache-2.0
 *
 * Soft permutations: the parameters are multiplied by one doubly stochastic matrix per group. This
 * header defines the layout of all matrices in one vector.
 *
 * Each group has a (K,K) row-major float32 matrix, in the groups' order, at a multiple of 16
 * floats. The vector has M floats; gaps are 0. A matrix multiplies its group's units from the left,
 * (P x)_i = sum over j of P_ij x_j. So a permutation's matrix has P[i][perm[i]] = 1. Doubly
 * stochastic matrices (nonnegative, rows and columns sum to 1) are the convex hull of the
 * permutations. Proximal alternating minimisation works on them (Tatro et al. 2020, appendix E).
 * Backends compute the products (kernels/backend.h). */
#ifndef MC_SOFT_PERMUTATION_H
#define MC_SOFT_PERMUTATION_H

#include "libcommon/permutation/permutation.h"

/* Returns M. offset (n_groups; may be NULL): the start of each group's matrix, in floats. */
size_t mc_soft_perm_layout(const struct mc_symmetry *s, size_t *offset);
/* Set matrices (M) to those of a permutation of these groups (mc_perm_check_groups). */
void mc_soft_perm_matrices(const struct mc_symmetry *s, const struct mc_perm *p, float *matrices);

/* A parameter axis that a group's matrix multiplies: `slices` slices of (K, m) floats, `stride`
 * apart, the first at `base` in the flat vector. For a tensor (rows, cols, inner), the rows are one
 * slice. The columns are one slice per row (per row of one group of a convolution). m includes the
 * repeats of a flatten. */
struct mc_soft_perm_use {
    size_t group, k;
    int dim;     /* 0: rows, 1: columns */
    int through; /* the tensor's other axis is also multiplied */
    size_t base, slices, stride, m;
};

/* All multiplications of a backend. */
struct mc_soft_perm_plan {
    size_t *offset;                /* (n_groups) start of each matrix */
    size_t m;                      /* floats in all matrices */
    struct mc_soft_perm_use *uses; /* (n_uses) in the groups' order */
    size_t n_uses;
};

/* Fill a zeroed plan. Groups whose units contain groups have no uses: their units stay in place.
 * Release the plan, also after an error. MC_ENOMEM. */
MC_USE_RESULT int mc_soft_perm_plan(struct mc_soft_perm_plan *out, const struct mc_symmetry *s,
                                    const struct mc_graph *g, struct mc_error *err);
void mc_soft_perm_plan_release(struct mc_soft_perm_plan *p);

#endif
