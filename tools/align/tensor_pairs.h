/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of two networks a and b, in pairs, for weight matching. Several uses can permute one
 * tensor, on both axes or inside one another. */
#ifndef MC_TENSOR_PAIRS_H
#define MC_TENSOR_PAIRS_H

#include "libcommon/graph/uses.h"
#include "libcommon/permutation/permutation.h"
#include "tools/align/view.h"

/* Set the fields up to threads, then open. Release also after an error. */
struct mc_tensor_pairs {
    const struct mc_symmetry *s;
    const struct mc_graph *g;
    const float *a, *b;         /* (P) */
    const struct mc_perm *p;    /* current permutations of b */
    int threads;                /* at least 1 */
    struct mc_placed_use *uses; /* (n_uses) of parameters, in their order in each tensor */
    size_t n_uses;
    size_t *first; /* (n_params + 1): first use of each tensor */
    float *x, *y;  /* rearranged tensors of a and b */
    struct mc_view view;
    struct mc_view_sums *sums; /* (n_params) of a and P b */
};

MC_USE_RESULT int mc_pairs_open(struct mc_tensor_pairs *t, struct mc_error *err);
void mc_pairs_release(struct mc_tensor_pairs *t);

/* Returns 1 for batch norm's statistics. Without a graph, only their names distinguish them from
 * parameters. */
int mc_is_statistic(const struct mc_param *p);
/* Returns 1 if `other` is the group, or a group inside its units. */
int mc_in_group(const struct mc_symmetry *s, size_t group, size_t other);

/* Set *max to n if n is larger. */
void mc_grow(size_t *max, size_t n);
/* The Euclidean norm of n values, summed in float64. */
double mc_vector_norm(const float *x, size_t n);

/* Set x and y to the tensor of `use` in a and b, so that only this use's permutation is left
 * between them. y is b's tensor after all earlier uses. x is a's tensor after the inverses of all
 * later uses. Exceptions: uses of the group `without` (n_groups: none) are left out. Groups inside
 * its units commute, so they are applied to b, in which they move with their unit. layout: the
 * units of the use in this tensor. */
void mc_pairs_rearrange(struct mc_tensor_pairs *t, size_t use, size_t without, const float **x,
                        const float **y, struct mc_unit_layout *layout);

/* Set the sums over a and P b of one tensor, or of all. Those of statistics are 0. */
void mc_pairs_sum(struct mc_tensor_pairs *t, size_t tensor);
void mc_pairs_sum_all(struct mc_tensor_pairs *t);

/* From these sums: the inner product of a and P b, and their Euclidean distance. */
double mc_pairs_objective(const struct mc_tensor_pairs *t);
double mc_pairs_distance(const struct mc_tensor_pairs *t);

#endif
