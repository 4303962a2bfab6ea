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

/* One permutation per group; perm[i] is the unit of the old network that moves to position i. A group
 * may have a matrix instead (libcommon/permutation/maps.h). Only mc-permute and programs that find
 * matrices accept such maps: the functions below that mention no matrix expect none. */
struct mc_perm {
    size_t n_groups;
    struct mc_group *groups; /* `allows` is the kind of each group's map */
    int32_t **perm;          /* (n_groups) NULL if the group has a matrix */
    float **map;             /* NULL, or (n_groups) the matrices (K,K), NULL for permutations */
    /* content ids of the two networks that it was computed for, or "" if unknown */
    char ids[2][MC_ID_LEN];
};

/* The matrix of group g, or NULL. */
static inline const float *mc_perm_map(const struct mc_perm *p, size_t g)
{
    return p->map ? p->map[g] : NULL;
}
/* The first group with a matrix, or n_groups. */
static inline size_t mc_perm_first_map(const struct mc_perm *p)
{
    size_t g = 0;

    while (g < p->n_groups && !mc_perm_map(p, g))
        g++;
    return g;
}

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
/* Invert in place, matrices too. */
MC_USE_RESULT int mc_perm_inverse(struct mc_perm *p, struct mc_error *err);
/* Set p to p followed by q, matrices too. MC_EINPUT if their groups differ. */
MC_USE_RESULT int mc_perm_compose(struct mc_perm *p, const struct mc_perm *q, struct mc_error *err);
/* Number of units that the map of the group, perhaps a matrix, changes. */
size_t mc_perm_moved(const struct mc_perm *p, size_t group);
/* 1 if no map, perhaps a matrix, changes a unit. */
int mc_perm_is_identity(const struct mc_perm *p);
void mc_perm_reset(struct mc_perm *p);                             /* to the identity */
void mc_perm_copy(struct mc_perm *to, const struct mc_perm *from); /* both have the same groups */
/* 1 if p records the networks that it was computed for, and they are not those with content ids a
 * and b. "" matches any network. */
int mc_perm_found_elsewhere(const struct mc_perm *p, const char *a, const char *b);
/* The map of group g as a matrix (K,K). */
void mc_perm_matrix(const struct mc_perm *p, size_t g, double *m);
/* Replace the map of group g by a matrix of this kind: m (K,K), rounded to float32. */
MC_USE_RESULT int mc_perm_set_matrix(struct mc_perm *p, size_t g, enum mc_allows kind,
                                     const double *m, struct mc_error *err);
/* Replace the random permutations of groups that allow more by random maps of the kind that they
 * allow: uniform, from the seed (MC_RNG_MAP) and the group's index. groups: as p's. */
MC_USE_RESULT int mc_perm_random_maps(struct mc_perm *p, const struct mc_group *groups,
                                      uint64_t seed, struct mc_error *err);
/* Check that every entry is in range and occurs once, and that matrices are of their kind. MC_EINPUT
 * names the group. */
MC_USE_RESULT int mc_perm_check(const struct mc_perm *p, struct mc_error *err);

/* MC_EINPUT if p does not fit the network's groups: names, sizes, order, the maps that they allow and,
 * if p has nested groups, nesting. */
MC_USE_RESULT int mc_perm_check_groups(const struct mc_perm *p, const struct mc_symmetry *s,
                                       struct mc_error *err);

/* Check that p fits, and set its nesting from the network's groups. If p has no nested groups, the
 * outer groups may be missing; their units then stay in place. After MC_EINPUT, as in mc_perm_check_groups,
 * p is unchanged. */
MC_USE_RESULT int mc_perm_set_nesting(struct mc_perm *p, const struct mc_symmetry *s,
                                      struct mc_error *err);

struct mc_placed_use;
/* Memory of mc_perm_apply_use. Zero at first; freed with mc_apply_release. */
struct mc_apply {
    void *copy, *matrix;
    size_t copy_bytes, matrix_bytes;
};
void mc_apply_release(struct mc_apply *m);
/* Apply the map of one use to a tensor that starts at `offset` of its flat vector. Its values have
 * `size` bytes; a matrix requires float64. */
MC_USE_RESULT int mc_perm_apply_use(const struct mc_perm *p, const struct mc_placed_use *u,
                                    size_t offset, size_t size, void *tensor, struct mc_apply *m,
                                    struct mc_error *err);
/* Set `to` to a copy of p. After an error there is nothing to release. */
MC_USE_RESULT int mc_perm_clone(struct mc_perm *to, const struct mc_perm *p, struct mc_error *err);

/* Index vectors of the permuted network: out[i] = in[index[i]] for the parameter vector (P entries)
 * and the statistics vector (S entries). Gaps map to themselves. */
MC_USE_RESULT int mc_perm_gather(const struct mc_perm *p, const struct mc_symmetry *s,
                                 const struct mc_graph *g, uint32_t *params, uint32_t *stats,
                                 struct mc_error *err);
/* Apply on the host. params_out may be params_in, and stats_out may be stats_in; otherwise out must
 * not overlap in. stats may be NULL (curves have none). After an error, `out` may be permuted in
 * part. */
MC_USE_RESULT int mc_perm_apply(const struct mc_perm *p, const struct mc_symmetry *s,
                                const struct mc_graph *g, const float *params_in,
                                const float *stats_in, float *params_out, float *stats_out,
                                struct mc_error *err);

#endif
