/* SPDX-License-Identifier: Apache-2.0
 *
 * Alignment from weights alone with the maps that groups allow: permutations, signs, rotations. Each
 * step finds the map of one group, and of the groups in its units, that maximises the inner product
 * of the parameters of a and M b while the other groups' maps stay fixed. Groups of the same unit
 * that act on the same entries are solved in turn, so their maps are only a local maximum. */
#ifndef MC_WEIGHT_MAPS_H
#define MC_WEIGHT_MAPS_H

#include "libcommon/permutation/procrustes.h"
#include "tools/align/weight_matching.h"

/* Estimate of the bytes that the search needs in addition to the networks. */
double mc_weight_maps_bytes(const struct mc_symmetry *s, const struct mc_graph *g);

/* a, b: (P). p: the initial maps of these groups, replaced by the result. info, found: (n_groups),
 * as mc_procrustes_group sets them; with `data`, initially those of p. Sweeps visit the groups in
 * their order until the objective rises by at most 1e-7 |a| |b|. A sweep that lowers the objective
 * is undone. Options:
 *
 * forward: in a first sweep, only tensors whose other groups have their map count, and groups that
 *     have such tensors come first
 * keep: a group is kept with those in its units
 * data: units that contain groups keep their order; the sweeps end at a rise of 1e-9 |a| |b|
 * swept: `changed` is the number of groups if a sweep raised the objective, else 0
 *
 * The seed is unused. Returns 0, MC_EINPUT (groups nested twice), MC_ENOMEM or an error of
 * mc_procrustes_group. */
MC_USE_RESULT int mc_weight_maps(struct mc_perm *p, struct mc_assignment *info,
                                 struct mc_procrustes *found, const struct mc_symmetry *s,
                                 const struct mc_graph *g, const float *a, const float *b,
                                 const struct mc_weight_match_opts *opts, struct mc_error *err);

#endif
