/* SPDX-License-Identifier: Apache-2.0
 *
 * What the scripts of pipelines/ read: variables and data blocks, as the head of each script lists
 * them. */
#ifndef MC_FIGURE_H
#define MC_FIGURE_H

#include "tools/plot/gnuplot.h"
#include "tools/plot/grid.h"
#include "tools/plot/series.h"

struct mc_figure {
    const char *title; /* or NULL */
    const char *data;  /* the data set's name, or "" */
    int log_loss;      /* panels: the loss on a logarithmic axis */
    /* planes: the three networks' names, or NULL for the marks' own; from and to of the colours of
     * loss and accuracy, both 0: of the values */
    const char *names[3];
    double colours[2][2];
};

/* For panels.gp (xlabel t or epoch) and signature.gp (xlabel NULL): n lines. */
void mc_figure_lines(struct mc_gnuplot *g, const struct mc_figure *p, const char *xlabel,
                     const struct mc_series *s, size_t n);
/* For plane.gp. marks: n, 0 for none. */
void mc_figure_plane(struct mc_gnuplot *g, const struct mc_figure *p, const struct mc_grid *grid,
                     const struct mc_mark *marks, size_t n);

#endif
