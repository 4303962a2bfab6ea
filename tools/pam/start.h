/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of a minimisation (two networks, a permutation of the second, and the curve's control
 * point) and its result, a curve. */
#ifndef MC_PAM_START_H
#define MC_PAM_START_H

#include "formats/codecs/curve.h"

struct mc_pam_start {
    struct mc_weights a, b; /* b: with s->blocks applied */
    struct mc_symmetry symmetry;
    struct mc_perm blocks, perm; /* the permutation is blocks, then perm within the blocks */
    float *offset;               /* (P) control point relative to the midpoint */
    uint64_t sum;                /* checksum of permutation and offset: differs with the start */
};

/* Read the permutation in the file perm (NULL: the identity), or the permutation and control point
 * of the quadratic Bezier curve in the file init (NULL: the straight line). s must contain the
 * networks a and b of one graph, from the files `path`, and be zero otherwise. Release s also after
 * an error. MC_EINPUT: init is not a curve between these networks. */
MC_USE_RESULT int mc_pam_start_read(struct mc_pam_start *s, const char *const path[2],
                                    const char *perm, const char *init, struct mc_history *h,
                                    struct mc_error *err);
void mc_pam_start_release(struct mc_pam_start *s);
/* Write the curve from a through its control point to P b, with the permutation P. Changes
 * s->blocks to P. */
MC_USE_RESULT int mc_pam_curve_write(struct mc_pam_start *s, const char *path,
                                     const struct mc_history *h, struct mc_error *err);

#endif
