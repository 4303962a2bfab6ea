/* SPDX-License-Identifier: Apache-2.0
 *
 * Soft permutations: a doubly stochastic matrix a group multiplies the parameters. Where each
 * group's matrix lies in one vector of all.
 *
 * One (K,K) row-major float32 matrix a group, in the groups' order, each at a multiple of 16
 * floats; M floats in all, the gaps are 0. A matrix multiplies its group's units from the left,
 * (P x)_i = sum over j of P_ij x_j, so a permutation's matrix has P[i][perm[i]] = 1. Doubly
 * stochastic matrices, non-negative with rows and columns that sum to 1, are the convex hull of the
 * permutations; on them proximal alternating minimisation works (Tatro et al. 2020, appendix E).
 * The products themselves are a backend's (kernels/backend.h). */
#ifndef MC_SOFT_PERMUTATION_H
#define MC_SOFT_PERMUTATION_H

#include "libcommon/graph/permutation.h"

/* Returns M; offset (n_groups; may be NULL): where each group's matrix begins, in floats. */
size_t mc_soft_perm_layout(const struct mc_symmetry *s, size_t *offset);
/* matrices (M, overwritten): those of a permutation of these groups (mc_perm_fits). */
void mc_soft_perm_matrices(const struct mc_symmetry *s, const struct mc_perm *p, float *matrices);

/* A parameter axis that a group's matrix multiplies: `blocks` blocks of (K, m) floats, `stride`
 * apart, the first at `base` of the flat vector. Of a tensor (rows, cols, inner), rows are one
 * block and columns a block a row (of those of one group of a convolution's); what a flatten
 * repeats is part of m. */
struct mc_soft_perm_use {
    size_t group, k;
    int dim;     /* 0: rows, 1: columns */
    int through; /* the tensor's other axis is multiplied too */
    size_t base, blocks, stride, m;
};

/* What a backend multiplies. */
struct mc_soft_perm_plan {
    size_t *offset;                /* (n_groups) of the matrices */
    size_t m;                      /* floats of them all */
    struct mc_soft_perm_use *uses; /* (n_uses) in the groups' order */
    size_t n_uses;
};

/* A group whose units hold others has no use: its units stay where they are. MC_ENOMEM. Release the
 * plan, which is zeroed before, after an error too. */
MC_USE_RESULT int mc_soft_perm_plan(struct mc_soft_perm_plan *out, const struct mc_symmetry *s,
                                    const struct mc_graph *g, struct mc_error *err);
void mc_soft_perm_plan_release(struct mc_soft_perm_plan *p);

#endif
