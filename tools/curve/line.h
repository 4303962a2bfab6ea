/* SPDX-License-Identifier: Apache-2.0
 *
 * Straight lines between two networks, and points of curves, from and to files: without the networks
 * in memory. */
#ifndef MC_CURVE_LINE_H
#define MC_CURVE_LINE_H

#include "formats/network/values.h"

struct mc_line {
    struct mc_values ends[2]; /* open weights of one architecture */
    enum mc_curve_kind kind;
    struct mc_perm *perm; /* applied to the second end and stored in the curve, or NULL */
    const struct mc_symmetry *symmetry; /* the groups of perm */
};

/* Write the line as a curve of two points, and read both ends to their verified end. */
MC_USE_RESULT int mc_line_write(struct mc_line *line, const char *path, const struct mc_history *h,
                                struct mc_error *err);

/* Write the point at t of a curve in a file, whose network has no batch-norm statistics. `first` is
 * that file, just opened: it is read once for each defining point that counts at t, and once to its
 * verified end. */
MC_USE_RESULT int mc_point_write(struct mc_values *first, const char *curve, double t,
                                 const char *path, struct mc_history *h, struct mc_error *err);

#endif
