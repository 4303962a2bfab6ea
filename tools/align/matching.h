/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation of greatest value from matrices, group by group. */
#ifndef MC_MATCHING_H
#define MC_MATCHING_H

#include "formats/codecs/matrices.h"
#include "formats/codecs/permutation.h"
#include "libcommon/assign/constrained.h"

/* Are the matrices of c, of the file path_c, a constraint for those of m, of the file path: of the
 * same groups, and before the ReLU what m is after it? MC_EINPUT with what differs. */
MC_USE_RESULT int mc_match_check(const struct mc_matrices *m, const struct mc_matrices *c,
                                 const char *path, const char *path_c, struct mc_error *err);
/* Match each group of m. Groups in units of others and these together: for each pair of units the
 * best assignments inside and their values, then the units over the sums of these, exactly.
 * constraint: NULL, or matrices that mc_match_check finds right, in which
 * nothing may be worse than the identity. info: (n_groups). constrained: (n_groups), of a
 * constraint only. threads: groups at a time, 0: all cores. Errors are of the first group that
 * fails. out is to be released also after an error. */
MC_USE_RESULT int mc_match(struct mc_perm *out, struct mc_assignment *info,
                           struct mc_constrained *constrained, const struct mc_matrices *m,
                           const struct mc_matrices *constraint, int threads, struct mc_error *err);

#endif
