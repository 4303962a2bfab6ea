/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutations of a network's groups: their algebra, and applying them to the flat vectors.
 *
 * A permutation belongs to groups, not to a network: it has their names, sizes and order. Call
 * mc_perm_set_nesting before you use one that was read from a stream, because it may be another
 * network's. Entries are read as "from": unit perm[i] of the old network moves to position i. So
 * after mc_perm_compose(p, q), applying p is the same as applying the old p and then q.
 *
 *     struct mc_perm p = {0};
 *
 *     if (!(rc = mc_perm_init(&p, &symmetry, err))) { // the identity
 *         mc_perm_random(&p, seed);
 *         rc = mc_perm_apply(&p, &symmetry, g, params, stats, new_params, new_stats, err);
 *     }
 *     mc_perm_release(&p); */
#ifndef MC_PERM_H
#define MC_PERM_H

#include "libcommon/graph/symmetry.h"

/* One permutation per group; perm[i] is the unit of the old network that moves to position i. */
struct mc_perm {
    size_t n_groups;
    struct mc_group *groups;
    int32_t **perm;
    /* content ids of the two networks that it was computed for, or "" if unknown */
    char ids[2][MC_ID_LEN];
};

/* Set p to the identity of these groups. */
MC_USE_RESULT int mc_perm_identity(struct mc_perm *p, const struct mc_group *groups, size_t n,
                                   struct mc_error *err);
MC_USE_RESULT int mc_perm_init(struct mc_perm *p, const struct mc_symmetry *s,
                               struct mc_error *err);
/* Allocate zeroed groups and permutations. After an error there is nothing to release. */
MC_USE_RESULT int mc_perm_alloc(struct mc_perm *p, size_t n_groups, struct mc_error *err);
void mc_perm_release(struct mc_perm *p);
/* Uniform random permutations from the seed (MC_RNG_PERMUTE) and the group's index. */
void mc_perm_random(struct mc_perm *p, uint64_t seed);
MC_USE_RESULT int mc_perm_inverse(struct mc_perm *p, struct mc_error *err); /* in place */
/* Set p to p followed by q. MC_EINPUT if their groups differ. */
MC_USE_RESULT int mc_perm_compose(struct mc_perm *p, const struct mc_perm *q, struct mc_error *err);
size_t mc_perm_moved(const struct mc_perm *p, size_t group); /* number of i with perm[i] != i */
void mc_perm_reset(struct mc_perm *p);                       /* to the identity */
void mc_perm_copy(struct mc_perm *to, const struct mc_perm *from); /* both have the same groups */
/* 1 if p records the networks that it was computed for, and they are not those with content ids a
 * and b. "" matches any network. */
int mc_perm_found_elsewhere(const struct mc_perm *p, const char *a, const char *b);
/* Check that every entry is in range and occurs once. MC_EINPUT names the group. */
MC_USE_RESULT int mc_perm_check(const struct mc_perm *p, struct mc_error *err);

/* MC_EINPUT if group g of p has another name or size than `expected`. */
MC_USE_RESULT int mc_perm_has_group(const struct mc_perm *p, size_t g,
                                    const struct mc_group *expected, struct mc_error *err);
/* MC_EINPUT if p does not fit the network's groups: names, sizes, order and, if p has nested
 * groups, nesting. */
MC_USE_RESULT int mc_perm_check_groups(const struct mc_perm *p, const struct mc_symmetry *s,
                                       struct mc_error *err);

/* Check that p fits, and set its nesting from the network's groups. If p has no nested groups, the
 * outer groups may be missing; their units then stay in place. After MC_EINPUT, as in mc_perm_check_groups,
 * p is unchanged. */
MC_USE_RESULT int mc_perm_set_nesting(struct mc_perm *p, const struct mc_symmetry *s,
                                      struct mc_error *err);

/* Index vectors of the permuted network: out[i] = in[index[i]] for the parameter vector (P entries)
 * and the statistics vector (S entries). Gaps map to themselves. */
MC_USE_RESULT int mc_perm_gather(const struct mc_perm *p, const struct mc_symmetry *s,
                                 const struct mc_graph *g, uint32_t *params, uint32_t *stats,
                                 struct mc_error *err);
/* Apply on the host. out must not overlap in. stats may be NULL (curves have none). */
MC_USE_RESULT int mc_perm_apply(const struct mc_perm *p, const struct mc_symmetry *s,
                                const struct mc_graph *g, const float *params_in,
                                const float *stats_in, float *params_out, float *stats_out,
                                struct mc_error *err);

#endif
