/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the minimisation starts from: two networks, a permutation of the second and the curve's
 * control point; and the curve that it ends with. */
#ifndef MC_PAM_START_H
#define MC_PAM_START_H

#include "formats/codecs/curve.h"

struct mc_pam_start {
    struct mc_weights a, b; /* b: blocks that the permutation moves are where it puts them */
    struct mc_symmetry symmetry;
    struct mc_perm blocks, perm; /* the permutation: blocks, and then perm, within them */
    float *offset;               /* (P) the control point, from the middle of the straight line */
    uint64_t sum;                /* of both, in which two runs that start elsewhere differ */
};

/* Read the permutation of the file perm (NULL: the identity), or permutation and control point of
 * the quadratic Bezier curve in the file init (NULL: the straight line). s holds the networks a and
 * b of one graph, of the files `path`, and else zeros. Release it after an error too. MC_EINPUT:
 * init is not a curve between these. */
MC_USE_RESULT int mc_pam_start_read(struct mc_pam_start *s, const char *const path[2],
                                    const char *perm, const char *init, struct mc_history *h,
                                    struct mc_error *err);
void mc_pam_start_release(struct mc_pam_start *s);
/* Write the curve a, its control point, P b, with the permutation P in it, as s->blocks. */
MC_USE_RESULT int mc_pam_curve_write(struct mc_pam_start *s, const char *path,
                                     const struct mc_history *h, struct mc_error *err);

#endif
