/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of a panel, and the range of values that it shows. */
#ifndef MC_FRAME_H
#define MC_FRAME_H

#include "tools/plot/scale.h"

/* Lines that a panel's axis is chosen for, at most. */
#define MC_MAX_LINES 128

struct mc_line {
    const double *x, *y; /* (rows) */
    const double *sd;    /* (rows), 0 for one table */
    const char *joined;  /* (rows), whether a line joins a row to the one before */
    size_t rows;
    size_t series; /* its label and style */
    int before;    /* dashed: a signature before the alignment */
};

/* How a panel's axis is chosen. */
struct mc_frame {
    double least, most; /* values that can occur */
    double given[2];    /* the user's range; both 0: none */
    double include[2];  /* values to show in any case; NaN: none */
    int logarithmic;
    int apart; /* lines of far greater extent may leave the frame so that the others are told
                * apart */
};

/* Choose the axis of n lines, 1 to MC_MAX_LINES, some of which may not be drawn. A logarithmic one
 * needs a value above 0. */
void mc_frame_choose(struct mc_scale *a, const struct mc_frame *f, const struct mc_line *lines,
                     size_t n);

/* 1 for a value above an axis, -1 for one below, else 0. */
int mc_frame_side(const struct mc_scale *a, double y);
/* How far a line goes outside an axis: its greatest value above, its least below, else NaN. */
void mc_frame_outside(const struct mc_scale *a, const struct mc_line *l, double *above,
                      double *below);

#endif
