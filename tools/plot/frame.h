/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a panel, and the range of values that it shows. */
#ifndef MC_FRAME_H
#define MC_FRAME_H

#include "tools/plot/scale.h"

/* Maximum number of lines that an axis is chosen for. */
#define MC_MAX_LINES 128

struct mc_line {
    const double *x, *y; /* (rows) */
    const double *sd;    /* (rows), 0 for a single table */
    const char *joined;  /* (rows) 1 if a line joins the row to the previous one */
    size_t rows;
    size_t series; /* selects label and style */
    int before;    /* dashed: a signature before alignment */
};

/* Rules for choosing a panel's axis. */
struct mc_frame {
    double min, max;   /* possible values */
    double range[2];   /* the user's range; both 0: automatic */
    double include[2]; /* values that must be visible; NaN: none */
    int logarithmic;
    int separate; /* lines of far larger extent may leave the frame to separate the others */
};

/* Choose an axis for 1 to MC_MAX_LINES lines, which need not all be drawn. A logarithmic axis
 * requires a value above 0. */
void mc_frame_choose(struct mc_scale *a, const struct mc_frame *f, const struct mc_line *lines,
                     size_t n);

/* Returns 1 for a value above the axis's range, -1 below, else 0. */
int mc_frame_side(const struct mc_scale *a, double y);
/* The line's maximum above the range and minimum below it; NaN if it does not leave it there. */
void mc_frame_outside(const struct mc_scale *a, const struct mc_line *l, double *above,
                      double *below);

#endif
