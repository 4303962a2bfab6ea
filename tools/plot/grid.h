/* SPDX-License-Identifier: Apache-2.0
 *
 * What the picture of a plane is drawn from: mc-eval --plane's table, a loss and an accuracy at
 * each point of a rectangular grid, and the marks in it. Checked before anything is drawn. */
#ifndef MC_GRID_H
#define MC_GRID_H

#include "tools/eval/plane.h"
#include "tools/plot/table.h"

struct mc_grid {
    size_t nx, ny;    /* > 1 */
    double *x, *y;    /* (nx), (ny), growing; all lie behind x */
    double *value[2]; /* (ny,nx): loss; accuracy in percent */
};

/* Read the columns x, y, DATA.loss and DATA.accuracy; data "": set to test, or to the table's
 * first. g is zeroed before, to be released also after an error. MC_EINPUT: not a whole grid, x
 * running fastest. */
MC_USE_RESULT int mc_grid_read(struct mc_grid *g, const char *path, char *data, size_t size,
                               struct mc_error *err);
void mc_grid_release(struct mc_grid *g);
/* Value q between the grid's points, `fine` steps to each of the grid's, point (i,j) of
 * (fine (ny - 1) + 1, fine (nx - 1) + 1): bilinear. */
double mc_grid_between(const struct mc_grid *g, int q, size_t fine, size_t i, size_t j, double *x,
                       double *y);

/* Read mc-eval's marks: three networks, then the path's points in order, if there is one. *out:
 * (*n), free it. */
MC_USE_RESULT int mc_marks_read(struct mc_mark **out, size_t *n, const char *path,
                                struct mc_error *err);

#endif
