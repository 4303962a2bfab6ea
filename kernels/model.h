/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies on a device: buffers that are released together; and a network, which is a plan of its
 * graph, its parameters and its statistics. Letters: P parameters, S statistics. */
#ifndef MC_MODEL_H
#define MC_MODEL_H

#include "kernels/backend.h"

struct mc_bufs {
    struct mc_backend *be;
    int rc; /* of the first mc_bufs_add that failed: after several of them, look here once */
    struct mc_buf **all;
    size_t n;
};

/* *out: one more buffer, of the `bytes` bytes that the host has at src, or of zeros where src is
 * NULL; of no bytes, one that can be passed on and not read. NULL once b->rc is an error. */
void mc_bufs_add(struct mc_bufs *b, struct mc_buf **out, const void *src, size_t bytes,
                 struct mc_error *err);
void mc_bufs_release(struct mc_bufs *b);

struct mc_model {
    struct mc_backend *be;
    struct mc_plan *plan;
    struct mc_buf *params, *stats; /* (P), (S) */
    struct mc_bufs bufs;           /* these */
};

/* Copies params (P) and stats (S; NULL: none) to the device and makes a plan of g, which must
 * outlive it; o NULL: no plan. Release, also after an error. */
MC_USE_RESULT int mc_model_open(struct mc_model *m, struct mc_backend *be, const struct mc_graph *g,
                                const float *params, const float *stats,
                                const struct mc_plan_opts *o, struct mc_error *err);
void mc_model_release(struct mc_model *m);

/* The batch that is loaded, forward with the model's statistics. */
void mc_model_forward(const struct mc_model *m, const struct mc_buf *ctl);

/* Device memory of a plan. */
MC_USE_RESULT int mc_plan_bytes(struct mc_backend *be, const struct mc_graph *g,
                                const struct mc_plan_opts *o, size_t *bytes, struct mc_error *err);

#endif
