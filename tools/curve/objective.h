/* SPDX-License-Identifier: Apache-2.0
 *
 * Training objectives whose point is a linear combination of vectors: a network or a curve. */
#ifndef MC_CURVE_OBJECTIVE_H
#define MC_CURVE_OBJECTIVE_H

#include "tools/curve/points.h"
#include "tools/train/train.h"

/* A linear combination of k vectors, some of them trained. Its weights are known before each epoch.
 * A network has k = 1. */
struct mc_curve_objective {
    struct mc_objective objective; /* must be first */
    size_t k;
    float *host[MC_MAX_POINTS]; /* (P) */
    int is_free[MC_MAX_POINTS];
    enum mc_curve_kind kind;
    float *host_stats; /* (S), or NULL */
    struct mc_buf *p[MC_MAX_POINTS], *m[MC_MAX_POINTS], *coefs, *point;
};

/* Train a network's parameters and statistics in place. */
void mc_curve_objective_network(struct mc_curve_objective *l, struct mc_weights *w);
/* Train a curve's inner points in place, with one t ~ U[0,1] per batch. Weight decay acts on the
 * point. */
void mc_curve_objective_curve(struct mc_curve_objective *l, struct mc_curve *c);

#endif
