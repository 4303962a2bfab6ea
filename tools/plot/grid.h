/* SPDX-License-Identifier: Apache-2.0
 *
 * Data of a plane's picture: mc-eval --plane's table, with a loss and an accuracy at each point of
 * a rectangular grid, and the marks in it. All is checked before drawing. */
#ifndef MC_GRID_H
#define MC_GRID_H

#include "tools/eval/plane.h"
#include "tools/plot/table.h"

struct mc_grid {
    size_t nx, ny;    /* at least 2 */
    double *x, *y;    /* (nx), (ny), ascending; x owns the memory of all four arrays */
    double *value[2]; /* (ny,nx): loss; accuracy in percent */
};

/* Read the columns x, y, DATA.loss and DATA.accuracy. If data is "", it is set to test or else to
 * the table's first. g must be zeroed; release it also after an error. MC_EINPUT: not a complete
 * grid with x varying fastest. */
MC_USE_RESULT int mc_grid_read(struct mc_grid *g, const char *path, char *data, size_t size,
                               struct mc_error *err);
void mc_grid_release(struct mc_grid *g);
/* Bilinear interpolation of value q between the grid's points, with `fine` steps per interval:
 * point (i,j) of (fine (ny - 1) + 1, fine (nx - 1) + 1). */
double mc_grid_between(const struct mc_grid *g, int q, size_t fine, size_t i, size_t j, double *x,
                       double *y);

/* Read mc-eval's marks *out (*n): three networks, then the path's points in order, if any. The
 * caller frees it. */
MC_USE_RESULT int mc_marks_read(struct mc_mark **out, size_t *n, const char *path,
                                struct mc_error *err);

#endif
