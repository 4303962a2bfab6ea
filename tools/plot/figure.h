/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures, written as the variables and data blocks that the scripts in tools/plot/ list at their
 * start. */
#ifndef MC_FIGURE_H
#define MC_FIGURE_H

#include "tools/plot/scale.h"
#include "tools/plot/gnuplot.h"
#include "tools/plot/grid.h"
#include "tools/plot/series.h"

enum mc_picture {
    MC_PICTURE_PATH,
    MC_PICTURE_SIGNATURE,
    MC_PICTURE_LOG,
    MC_PICTURE_DOTS,
    MC_PICTURE_PLANE
};

struct mc_figure {
    enum mc_picture kind;
    const char *title;    /* may be NULL */
    const char *data;     /* name of the data set, or "" */
    int log_loss;         /* path, log: logarithmic axis for the loss */
    const char *names[3]; /* plane: names of the networks; NULL uses the marks' names */
    const char *rows;     /* dots: columns "A,B" that name a row; NULL: the first */
    const char *y_name;   /* dots: may be NULL */
    double range[2][2];   /* panels' axes or plane's colours; both 0: automatic */
};

/* Write n > 0 series for lines.gp. The axes fit all `fitted` series, of which the first n are
 * drawn. MC_EUSAGE: the size is too small, or a range is unusable. MC_EINPUT: losses without a
 * logarithm. */
MC_USE_RESULT int mc_figure_lines(struct mc_gnuplot *g, const struct mc_figure *p,
                                  const struct mc_series *s, size_t n, size_t fitted,
                                  struct mc_error *err);
/* Write grids[0] for plane.gp. The colours fit all `fitted` grids. n marks; may be 0. */
MC_USE_RESULT int mc_figure_plane(struct mc_gnuplot *g, const struct mc_figure *p,
                                  const struct mc_grid *grids, size_t fitted,
                                  const struct mc_mark *marks, size_t n, struct mc_error *err);

/* ---- shared by both ---- */

/* Write "NAME = text" or, for place > 0, the array element "NAME[place] = text". NULL is "". */
void mc_figure_text(struct mc_gnuplot *g, const char *name, size_t place, const char *value,
                    enum mc_gnuplot_text kind);
/* The same for an axis's numbers, as gnuplot tics. */
void mc_figure_numbers(struct mc_gnuplot *g, const char *name, size_t place,
                       const struct mc_scale *a);
/* Prefix of "loss" or "accuracy" for the data set: "test robust " for test.robust. out: (size). */
void mc_figure_data_name(const struct mc_figure *p, char *out, size_t size);

#endif
