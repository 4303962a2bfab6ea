/* SPDX-License-Identifier: Apache-2.0
 *
 * Curve streams: a parametrised path of networks between two fixed ends. formats/codecs/curve.md is
 * the specification.
 *
 * meta: net, graph, dataset, curve ("bezier" or "chain"), points (2 or more), groups (only with a
 * permutation). Tensors: "0/layers.0.conv.weight", ... for each point 0..points-1; then
 * "permutation/GROUP" int32. A curve has no statistics: they are re-estimated at each point. */
#ifndef MC_CURVE_H
#define MC_CURVE_H

#include "formats/codecs/weights.h"

#define MC_MAX_POINTS 64

enum mc_curve_kind {
    MC_CURVE_BEZIER, /* sum over i of binomial(n,i) t^i (1-t)^(n-i) point_i */
    MC_CURVE_CHAIN   /* polygonal: equal intervals of t from point to point */
};
extern const char *const mc_curve_kinds[]; /* names, ending in NULL */

struct mc_curve {
    struct mc_graph *graph;
    enum mc_curve_kind kind;
    size_t n_points;              /* ends included: 2 for a line, 3 for a quadratic Bezier */
    float *points[MC_MAX_POINTS]; /* (P) each, 64-byte aligned */
    enum mc_dtype *types;         /* (n_points, n_params) of the tensors in a stream */
    char dataset[64];
    struct mc_perm *perm; /* already applied to the last point; NULL: none recorded */
    char id[MC_ID_LEN];
    int augmented; /* see formats/codecs/weights.h */
};

MC_USE_RESULT int mc_curve_init(struct mc_curve *out, const struct mc_graph *g,
                                enum mc_curve_kind kind, size_t n_points, const char *dataset,
                                struct mc_error *err); /* zeroed points, float32 */
/* Read and check a curve: finite values, a valid permutation. After an error nothing needs
 * release. */
MC_USE_RESULT int mc_curve_read(struct mc_curve *out, struct mc_stream from, struct mc_history *h,
                                struct mc_error *err);
/* If a value is not finite, returns MC_EFAIL and writes nothing. */
MC_USE_RESULT int mc_curve_write(const struct mc_curve *c, const char *path,
                                 const struct mc_history *h, struct mc_error *err);
/* Open a stream of a curve like `of`, whose points are not used: the caller writes all tensors, in
 * their types, and those of the permutation. */
MC_USE_RESULT int mc_curve_open(struct mc_writer **w, const struct mc_curve *of, const char *path,
                                const struct mc_history *h, struct mc_error *err);
/* The points in a stream's order. */
void mc_curve_flat(const struct mc_curve *c, struct mc_flat out[MC_MAX_POINTS]);
/* Read graph, dataset, kind, n_points and the permutation's groups from a header, and make room for
 * the types. any: as in mc_flat_unpack_meta. Release c also after an error. */
MC_USE_RESULT int mc_curve_meta(struct mc_curve *c, const struct mc_reader *r, int any,
                                struct mc_error *err);
void mc_curve_release(struct mc_curve *c);

#endif
