/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of lines: what their panels show. tools/plot/figure_lines.c lays them out and writes
 * them. */
#ifndef MC_LINES_H
#define MC_LINES_H

#include "tools/plot/figure.h"
#include "tools/plot/frame.h"

struct mc_lines {
    size_t panels;           /* 1 or 2 */
    size_t drawn, all;       /* lines of a panel; those that are drawn come first */
    struct mc_line *line[2]; /* (all) */
    double *ranks;           /* a signature's x: 1, 2, ... */
    char *joined;            /* (rows of all series) */
    struct mc_scale y[2];
    double x_from, x_to;
};

/* Choose lines and axes of n of `fitted` series. lines is zeroed before, to be released also after
 * an error. */
MC_USE_RESULT int mc_lines_init(struct mc_lines *lines, const struct mc_figure *p,
                                const struct mc_series *s, size_t n, size_t fitted,
                                struct mc_error *err);
void mc_lines_release(struct mc_lines *lines);
/* Whether row r of a line has a marker: a path's at t = 0, 1/2 and 1, the ends of a stretch of a
 * log, every layer, and among many rows some ten. */
int mc_lines_marked(const struct mc_figure *p, const struct mc_line *l, size_t r);

#endif
