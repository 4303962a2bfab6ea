/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of curves, whose points are linear combinations of k defining points, and summaries of
 * a loss along them. Letters: T points of evaluation, k defining points, P parameters. */
#ifndef MC_CURVE_POINTS_H
#define MC_CURVE_POINTS_H

#include "formats/codecs/curve.h"

/* Weights coef (k) of the defining points at t in [0,1]; they sum to 1. */
void mc_curve_coefs(enum mc_curve_kind kind, size_t k, double t, double *coef);

/* The straight path from a to b (same graph), with n_points evenly spaced points including both
 * ends. The ends have the types of a and b, the other points are float32. */
MC_USE_RESULT int mc_curve_between(struct mc_curve *out, const struct mc_weights *a,
                                   const struct mc_weights *b, enum mc_curve_kind kind,
                                   size_t n_points, struct mc_error *err);
/* Parameters out->params of the point at t, summed in float64 and rounded once to their type: that of
 * both ends, float32 if they differ. */
void mc_curve_point(const struct mc_curve *c, double t, struct mc_weights *out);

/* Inner products gram (k,k) of the points (k)(n), in float64. */
void mc_curve_gram(size_t k, const float *const *points, size_t n, double *gram);
/* Length of the chord between the points with coefficients c0 and c1 (k). */
double mc_curve_chord(size_t k, const double *gram, const double *c0, const double *c1);

/* T > 1 points at evenly spaced t from 0 to 1: t (T), weights coef (T,k), chords between neighbours
 * (T-1). gram: (k,k) of the curve's points. */
void mc_curve_sample(const struct mc_curve *c, const double *gram, size_t T, double *t,
                     double *coef, double *chord);

/* Summary of a quantity at T points of a path; t ascends from 0 to 1. */
struct mc_curve_summary {
    double first, last; /* at the ends */
    double mean;        /* uniform over the T points */
    double arc_mean;    /* by arc length, trapezoids over the chords (the paper's average) */
    double min, min_t;
    double max, max_t;
    double barrier, barrier_t; /* max of value - line between the ends, for losses */
    double dip, dip_t;         /* max of line - value, for accuracies */
};
/* chord: (T-1). For a path of length 0, arc_mean is mean. */
void mc_curve_summarise(size_t T, const double *t, const double *value, const double *chord,
                        struct mc_curve_summary *out);

#endif
