/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps of a group's units that are not permutations: orthogonal matrices M (K,K), row-major. Unit i
 * becomes the sum over j of M[i,j] times the old unit j. */
#ifndef MC_MAPS_H
#define MC_MAPS_H

#include "libcommon/graph/uses.h"

#define MC_MAP_TOLERANCE 1e-4 /* entries of M M^T - 1 and M 1 - 1 */

/* 1 if every map of this kind is one of the allowed kind. */
int mc_map_is_kind_of(enum mc_allows kind, enum mc_allows allowed);
/* Check the matrix of a group by its kind, g->allows. MC_EINPUT names the group. */
MC_USE_RESULT int mc_map_check(const struct mc_group *g, const float *m, struct mc_error *err);
void mc_map_transpose(size_t K, float *m);
/* Set m (K,K) to H m H in place. The reflection H swaps the first axis and the unit vector along
 * the ones, so the rest of H m H, without row and column 0, acts in the complement of the ones. */
void mc_map_reflect(size_t K, double *m);
/* Expand m from a matrix (K-1,K-1) of the complement of the ones to (K,K), which fixes the ones. */
void mc_map_from_complement(size_t K, double *m);

/* Number of values that mc_units_map needs. */
size_t mc_units_map_scratch(const struct mc_unit_layout *layout);
/* Map the units of one use by m (K,K) in x, a flat vector. */
void mc_units_map(const struct mc_unit_layout *layout, const double *m, double *x, double *scratch);

#endif
