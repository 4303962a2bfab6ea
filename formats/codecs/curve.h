/* SPDX-License-Identifier: Apache-2.0
 *
 * Curve streams: a parametrised path of networks between two fixed ends. formats/codecs/curve.md is
 * the specification.
 *
 * meta: net, graph, dataset, curve ("bezier" or "chain"), points (2 or more), groups (with a
 * permutation only). Tensors: "0/layers.0.conv.weight", ... for each point 0..points-1, float32;
 * then "permutation/GROUP" int32. A curve carries no statistics: they are re-estimated at a
 * point. */
#ifndef MC_CURVE_H
#define MC_CURVE_H

#include "formats/codecs/weights.h"

#define MC_MAX_POINTS 64

enum mc_curve_kind {
    MC_CURVE_BEZIER, /* sum over i of binomial(n,i) t^i (1-t)^(n-i) point_i */
    MC_CURVE_CHAIN   /* polygonal: straight from point to point, equal shares of t */
};
extern const char *const mc_curve_kinds[]; /* their names; ends in NULL */

struct mc_curve {
    struct mc_graph *graph;
    enum mc_curve_kind kind;
    size_t n_points;              /* ends included: a straight line has 2, a quadratic Bezier 3 */
    float *points[MC_MAX_POINTS]; /* (P) each, 64-byte aligned */
    char dataset[64];
    struct mc_perm *perm; /* of b, already applied to the last point; NULL: none recorded */
    char id[MC_ID_LEN];
    int augmented; /* as a network's (formats/codecs/weights.h) */
};

MC_USE_RESULT int mc_curve_init(struct mc_curve *out, const struct mc_graph *g,
                                enum mc_curve_kind kind, size_t n_points, const char *dataset,
                                struct mc_error *err); /* zeroed points */
/* After an error there is nothing to release. Values are finite, the permutation is one. */
MC_USE_RESULT int mc_curve_read(struct mc_curve *out, struct mc_stream from, struct mc_history *h,
                                struct mc_error *err);
/* Values that are not finite are MC_EFAIL, and nothing is written. */
MC_USE_RESULT int mc_curve_write(const struct mc_curve *c, const char *path,
                                 const struct mc_history *h, struct mc_error *err);
void mc_curve_release(struct mc_curve *c);

#endif
