/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes through three points A, B, C of parameter space: x runs from A to B, y at right angles to
 * it towards C (Gram-Schmidt), both Euclidean distances from A. Points are affine combinations of k
 * vectors: their weights sum to 1. Garipov et al. 2018, figure 1; Tatro et al. 2020, figure 3. */
#ifndef MC_PLANE_H
#define MC_PLANE_H

#include "tools/curve/points.h"

struct mc_plane {
    /* the caller's to set */
    size_t k;
    const double *gram;       /* (k,k) of the vectors (mc_curve_gram) */
    const double *three;      /* (3,k) weights of A, B, C */
    const char *const *names; /* (3) of them, for messages and marks */
    /* mc_plane_through's */
    double a[MC_MAX_POINTS]; /* weights of A */
    double u[MC_MAX_POINTS]; /* B - A, */
    double v[MC_MAX_POINTS]; /* and C - A without its part along u: they sum to 0 */
    double b_x, c_x, c_y;    /* B lies at (b_x, 0), C at (c_x, c_y) */
};

/* MC_EINPUT: A and B are the same point, or C lies less than 1e-5 of their distance from the line
 * through them, where float32 leaves no direction. */
MC_USE_RESULT int mc_plane_through(struct mc_plane *p, struct mc_error *err);
/* coef: (k) weights of the point x = alpha b_x, y = beta c_y. (0,0) and (1,0) give A's and B's own,
 * to the bit where these are vectors. */
void mc_plane_point(const struct mc_plane *p, double alpha, double beta, double *coef);
/* Where a point lies: coordinates of its projection, and its distance from the plane. */
void mc_plane_place(const struct mc_plane *p, const double *coef, double *x, double *y,
                    double *off);

/* A grid of n x n points, n > 1, evenly over ranges in shares of b_x and c_y, both ends
 * included. */
struct mc_plane_grid {
    size_t n;
    double x[2], y[2]; /* from, to */
};
/* Weights (n^2,k) and coordinates (n^2,2) of its points; x runs fastest. */
void mc_plane_points(const struct mc_plane *p, const struct mc_plane_grid *g, double *coef,
                     double *xy);

/* What lies in a plane beside its grid: a network that it goes through, or a point of a path. */
struct mc_mark {
    const char *kind; /* "network", "path" */
    char name[256];   /* the network's; t of a path's point */
    double x, y, off; /* off: its distance from the plane */
};
/* The three points (3,k) with their names, and T points at even t of the curve, if there is one,
 * whose points are the plane's vectors. m: (3 + T). */
void mc_plane_marks(const struct mc_plane *p, const struct mc_curve *c, size_t T,
                    struct mc_mark *m);

#endif
