/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutations of a network's groups: their algebra, and applying them to the flat vectors. */
#ifndef MC_GRAPH_PERMUTATION_H
#define MC_GRAPH_PERMUTATION_H

#include "libcommon/graph/symmetry.h"

/* One permutation a group; perm[i] is the unit of the old network that goes to place i. */
struct mc_perm {
    size_t n_groups;
    struct mc_group *groups;
    int32_t **perm;
    /* content ids of the two networks that it was found between, where that is known, or "" */
    char of[2][MC_ID_LEN];
};

/* The identity of these groups. */
MC_USE_RESULT int mc_perm_identity(struct mc_perm *p, const struct mc_group *groups, size_t n,
                                   struct mc_error *err);
MC_USE_RESULT int mc_perm_init(struct mc_perm *p, const struct mc_symmetry *s,
                               struct mc_error *err);
/* Room for groups and permutations, all zero; after an error there is nothing to release. */
MC_USE_RESULT int mc_perm_alloc(struct mc_perm *p, size_t n_groups, struct mc_error *err);
void mc_perm_release(struct mc_perm *p);
/* Uniform random permutations keyed by seed (MC_RNG_PERMUTE) and the group's index. */
void mc_perm_random(struct mc_perm *p, uint64_t seed);
MC_USE_RESULT int mc_perm_inverse(struct mc_perm *p, struct mc_error *err); /* in place */
/* p := first p, then q: applying the result equals applying p and then q. Same groups, or
 * MC_EINPUT. */
MC_USE_RESULT int mc_perm_compose(struct mc_perm *p, const struct mc_perm *q, struct mc_error *err);
size_t mc_perm_moved(const struct mc_perm *p, size_t group); /* units not at their own place */
void mc_perm_copy(struct mc_perm *to, const struct mc_perm *from); /* of the same groups */
/* Is it known that it was found between other networks than these, of content ids? "": any. */
int mc_perm_found_elsewhere(const struct mc_perm *p, const char *a, const char *b);
/* Every entry in range and once; MC_EINPUT names the group. */
MC_USE_RESULT int mc_perm_check(const struct mc_perm *p, struct mc_error *err);

/* Group g has this one's name and size, or MC_EINPUT. */
MC_USE_RESULT int mc_perm_has_group(const struct mc_perm *p, size_t g, const struct mc_group *is,
                                    struct mc_error *err);
/* The permutation is one of this network's groups: same names, sizes, order and, where it says that
 * any lie within units, the same of these. MC_EINPUT if not. */
MC_USE_RESULT int mc_perm_fits(const struct mc_perm *p, const struct mc_symmetry *s,
                               struct mc_error *err);

/* Take over which groups lie within which, of the groups that it is for; one that knows no groups
 * within others may lack those that hold them, whose units it then leaves in place. After
 * MC_EINPUT, as of mc_perm_fits, p is as before. */
MC_USE_RESULT int mc_perm_fit(struct mc_perm *p, const struct mc_symmetry *s, struct mc_error *err);

/* Index vectors of the permuted network: out[i] = in[index[i]] for the parameter (P entries) and
 * the statistics vector (S entries); gaps map to themselves. */
MC_USE_RESULT int mc_perm_gather(const struct mc_perm *p, const struct mc_symmetry *s,
                                 const struct mc_graph *g, uint32_t *params, uint32_t *stats,
                                 struct mc_error *err);
/* Apply on the host: out may not overlap in. stats may be NULL (curves have none). */
MC_USE_RESULT int mc_perm_apply(const struct mc_perm *p, const struct mc_symmetry *s,
                                const struct mc_graph *g, const float *params_in,
                                const float *stats_in, float *params_out, float *stats_out,
                                struct mc_error *err);

#endif
