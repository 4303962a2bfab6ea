/* SPDX-License-Identifier: Apache-2.0
 * Pictures of lines: the contents of their panels. tools/plot/figure_lines.c lays them out and
 * writes them. */
#ifndef MC_LINES_H
#define MC_LINES_H

#include "tools/plot/figure.h"
#include "tools/plot/frame.h"

struct mc_lines {
    size_t panels;           /* 1 or 2 */
    size_t drawn, all;       /* lines per panel; the drawn ones come first */
    struct mc_line *line[2]; /* (all) */
    double *ranks;           /* (series, rows) x of a signature: 1, 2, ...; dots: side by side */
    char *joined;            /* (rows of all series) */
    struct mc_scale y[2];
    double x_from, x_to;
};

/* Choose lines and axes for the first n of `fitted` series. lines must be zeroed; release it also
 * after an error. */
MC_USE_RESULT int mc_lines_init(struct mc_lines *lines, const struct mc_figure *p,
                                const struct mc_series *s, size_t n, size_t fitted,
                                struct mc_error *err);
void mc_lines_release(struct mc_lines *lines);
/* Does row r of a line have a marker? Every layer has one, a path has them at t = 0, 1/2 and 1, and
 * a log at the ends of each stretch. About ten are spread over a line with many rows. */
int mc_lines_marked(const struct mc_figure *p, const struct mc_line *l, size_t r);

#endif
