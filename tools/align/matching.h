/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimal assignments for the matrices of all groups. */
#ifndef MC_MATCHING_H
#define MC_MATCHING_H

#include "formats/codecs/matrices.h"
#include "formats/codecs/permutation.h"
#include "libcommon/assign/constrained.h"

/* Check that the matrices c (file path_c) can constrain m (file path): same groups, c from before
 * the ReLU, m from after it. Returns 0 or MC_EINPUT; the message names the difference. */
MC_USE_RESULT int mc_match_check(const struct mc_matrices *m, const struct mc_matrices *c,
                                 const char *path, const char *path_c, struct mc_error *err);
/* Match each group of m. A group whose units contain groups is solved exactly in two levels: first
 * the best assignments inside each pair of units, then the units by the sums of those values.
 * keep: (n_groups) 1 for groups that stay the identity, in value and order of their units.
 * constraint: NULL, or matrices that passed mc_match_check; no value in them may become worse than
 * the identity's. info: (n_groups). constrained: (n_groups), filled only with a constraint.
 * threads: number of groups matched in parallel, 0 for all cores. An error is that of the first
 * failing group. Release out also after an error. */
MC_USE_RESULT int mc_match(struct mc_perm *out, struct mc_assignment *info,
                           struct mc_constrained *constrained, const struct mc_matrices *m,
                           const struct mc_matrices *constraint, const unsigned char *keep,
                           int threads, struct mc_error *err);

#endif
