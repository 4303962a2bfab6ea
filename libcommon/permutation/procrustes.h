/* SPDX-License-Identifier: Apache-2.0
 *
 * The best map of each group for given matrices, of the kind that the group allows (Procrustes
 * problems: Schönemann 1966). */
#ifndef MC_PROCRUSTES_H
#define MC_PROCRUSTES_H

#include "libcommon/assign/assign.h"
#include "libcommon/permutation/permutation.h"

#define MC_ALL_SLOTS SIZE_MAX

/* The result of a group. */
struct mc_procrustes {
    double value;  /* trace(M^T C), maximal among the maps of the kind */
    size_t n_free; /* directions that C says nothing about */
};

/* The matrices C of groups. */
struct mc_procrustes_values {
    /* (n_groups) matrices over the taps of each group that has any, finite. A group that contains
     * groups may have one: the values of pairs whose units have their maps. */
    const double *const *c;
    /* NULL, or the same for directions that c says nothing about. These are singular values, values
     * of pairs, or rows and columns of at most MC_POLAR_FREE of the largest. If NULL, the map is
     * nearest to the identity there. If given, units that contain groups keep their order in `out`. */
    const double *const *fallback;
    /* NULL, or (K,K) values without signs, for a group that allows signs. Part of the fallback, if
     * that is given, else of c. */
    const double *plain;
};

/* Find the map M of a group that is not nested, and of the groups in its units: the map that
 * maximises trace(M^T C) for its matrix C. It is an assignment; for signs an assignment of |C|; a
 * polar factor, for `centred` in the complement of the ones; or for each pair a rotation, or a
 * sign, in closed form. If groups are nested in units, the value of a pair of units is the sum of
 * the best values inside. The units are assigned by these values, then the inner maps are those of
 * the matched pairs. If slots share no rows, both levels together are optimal; else only with one
 * slot.
 *
 * slot: solve only the groups in this slot of the units, or MC_ALL_SLOTS. out: maps of these groups,
 * which are replaced. info: (n_groups) of assignments; `kept` for matrices. found: (n_groups).
 * MC_EINPUT: a sum, or a value of the fallback, is not finite. */
MC_USE_RESULT int mc_procrustes_group(struct mc_perm *out, struct mc_assignment *info,
                                      struct mc_procrustes *found, const struct mc_nesting *nesting,
                                      const struct mc_procrustes_values *values, size_t group,
                                      size_t slot, struct mc_error *err);
/* The same for all groups; out: the identity. threads: number of groups in parallel, 0 for all
 * cores. An error is that of the first failing group. */
MC_USE_RESULT int mc_procrustes(struct mc_perm *out, struct mc_assignment *info,
                                struct mc_procrustes *found, const struct mc_nesting *nesting,
                                const struct mc_procrustes_values *values, int threads,
                                struct mc_error *err);

#endif
