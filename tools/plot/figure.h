/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures, written as the variables and data blocks that the scripts of tools/plot/ list at their
 * head. */
#ifndef MC_FIGURE_H
#define MC_FIGURE_H

#include "tools/plot/scale.h"
#include "tools/plot/gnuplot.h"
#include "tools/plot/grid.h"
#include "tools/plot/series.h"

enum mc_picture { MC_PICTURE_PATH, MC_PICTURE_SIGNATURE, MC_PICTURE_LOG, MC_PICTURE_PLANE };

struct mc_figure {
    enum mc_picture kind;
    const char *title;    /* or NULL */
    const char *data;     /* the data set's name, or "" */
    int log_loss;         /* path, log: the loss on a logarithmic axis */
    const char *names[3]; /* plane: the networks' names, or NULL for the marks' own */
    double range[2][2];   /* of the panels' axes, or a plane's colours; both 0: chosen */
};

/* For lines.gp: n series, n > 0; the axes fit all `fitted` series, those n first. MC_EUSAGE: the
 * size is too small, or a range unusable. MC_EINPUT: losses that a logarithm does not have. */
MC_USE_RESULT int mc_figure_lines(struct mc_gnuplot *g, const struct mc_figure *p,
                                  const struct mc_series *s, size_t n, size_t fitted,
                                  struct mc_error *err);
/* For plane.gp: grids[0]; the colours fit all `fitted` grids. marks: n, 0 for none. */
MC_USE_RESULT int mc_figure_plane(struct mc_gnuplot *g, const struct mc_figure *p,
                                  const struct mc_grid *grids, size_t fitted,
                                  const struct mc_mark *marks, size_t n, struct mc_error *err);

/* ---- for the two ---- */

/* "NAME = text", or of an array, from 1, "NAME[place] = text"; NULL is "". */
void mc_figure_text(struct mc_gnuplot *g, const char *name, size_t place, const char *value,
                    enum mc_gnuplot_text kind);
/* Likewise, an axis's numbers as gnuplot's tics. */
void mc_figure_numbers(struct mc_gnuplot *g, const char *name, size_t place,
                       const struct mc_scale *a);
/* The data set's name before "loss" or "accuracy": "test robust " of test.robust. out: (size). */
void mc_figure_data_name(const struct mc_figure *p, char *out, size_t size);

#endif
