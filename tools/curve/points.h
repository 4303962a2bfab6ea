/* SPDX-License-Identifier: Apache-2.0
 *
 * A path's arithmetic: every point on it is a linear combination of the k points that define it.
 * And what is told of a loss along it. Letters: T points of evaluation, k defining points, P
 * parameters. */
#ifndef MC_CURVE_POINTS_H
#define MC_CURVE_POINTS_H

#include "formats/codecs/curve.h"

/* coef: (k). The weights of the defining points at t in [0,1]; they sum to 1. */
void mc_curve_coefs(enum mc_curve_kind kind, size_t k, double t, double *coef);

/* The straight path from a to b, of one graph, with n_points points, evenly, both ends included. */
MC_USE_RESULT int mc_curve_between(struct mc_curve *out, const struct mc_weights *a,
                                   const struct mc_weights *b, enum mc_curve_kind kind,
                                   size_t n_points, struct mc_error *err);
/* out: (P). The parameters of the point at t, summed in float64. */
void mc_curve_point(const struct mc_curve *c, double t, float *out);

/* gram: (k,k) inner products of the defining points in float64. points: (k)(n). */
void mc_curve_gram(size_t k, const float *const *points, size_t n, double *gram);
/* Length of the chord between two points given by their coefficients. */
double mc_curve_chord(size_t k, const double *gram, const double *c0, const double *c1);

/* T > 1 points at even t from 0 to 1: their t (T) and weights coef (T,k), and the chords between
 * them (T-1). gram: (k,k) of the curve's points. */
void mc_curve_sample(const struct mc_curve *c, const double *gram, size_t T, double *t,
                     double *coef, double *chord);

/* What is reported of a quantity measured at T points t[i] of a path, t ascending from 0 to 1. */
struct mc_curve_summary {
    double first, last; /* at the ends */
    double mean;        /* over the T points, uniformly */
    double arc_mean;    /* by arc length: trapezoids over the chords (the paper's average) */
    double min, min_t;
    double max, max_t;
    double barrier, barrier_t; /* max of value - line between the ends (for losses) */
    double dip, dip_t;         /* max of line - value (for accuracies) */
};
/* chord: (T-1). A path of length 0 has arc_mean = mean. */
void mc_curve_summarise(size_t T, const double *t, const double *value, const double *chord,
                        struct mc_curve_summary *out);

#endif
