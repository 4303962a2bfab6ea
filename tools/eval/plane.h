/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes through three points A, B, C of parameter space. x points from A to B; y is orthogonal to
 * it, towards C (Gram-Schmidt). Both are Euclidean distances from A. Points are affine combinations
 * of k vectors: weights sum to 1. See Garipov et al. 2018, figure 1; Tatro et al. 2020, figure
 * 3. */
#ifndef MC_PLANE_H
#define MC_PLANE_H

#include "tools/curve/points.h"

struct mc_plane {
    /* set by the caller */
    size_t k;
    const double *gram;       /* (k,k) of the vectors, from mc_curve_gram */
    const double *three;      /* (3,k) weights of A, B, C */
    const char *const *names; /* (3) names of A, B, C for messages and marks */
    /* set by mc_plane_through */
    double a[MC_MAX_POINTS]; /* weights of A */
    double u[MC_MAX_POINTS]; /* B - A; sums to 0 */
    double v[MC_MAX_POINTS]; /* C - A without its component along u; sums to 0 */
    double b_x, c_x, c_y;    /* coordinates: B (b_x, 0), C (c_x, c_y) */
};

/* Compute the axes. MC_EINPUT: A and B are equal, or C is closer to the line through them than 1e-5
 * of their distance, where float32 does not determine a direction. */
MC_USE_RESULT int mc_plane_through(struct mc_plane *p, struct mc_error *err);
/* Weights coef (k) of the point x = alpha b_x, y = beta c_y. (0,0) and (1,0) are the weights of A
 * and B, bit-identical if A and B are vectors. */
void mc_plane_point(const struct mc_plane *p, double alpha, double beta, double *coef);
/* Coordinates of a point's projection, and its distance from the plane. */
void mc_plane_place(const struct mc_plane *p, const double *coef, double *x, double *y,
                    double *off);

/* A grid of n x n points, n > 1, evenly spaced including both ends. Ranges are in units of b_x and
 * c_y. */
struct mc_plane_grid {
    size_t n;
    double x[2], y[2]; /* from, to */
};
/* Weights coef (n^2,k) and coordinates xy (n^2,2) of the grid's points; x varies fastest. */
void mc_plane_points(const struct mc_plane *p, const struct mc_plane_grid *g, double *coef,
                     double *xy);

/* A mark in a plane: one of its three networks, or a point of a path. */
struct mc_mark {
    const char *kind; /* "network", "path" */
    char name[256];   /* the network's name; t of a path's point */
    double x, y, off; /* off: distance from the plane */
};
/* Marks m (3 + T): the three points with their names, and T points at evenly spaced t of the curve
 * c (may be NULL), whose points are the plane's vectors. */
void mc_plane_marks(const struct mc_plane *p, const struct mc_curve *c, size_t T,
                    struct mc_mark *m);

#endif
