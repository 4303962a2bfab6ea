/* SPDX-License-Identifier: Apache-2.0
 *
 * Data on a device: buffers that are released together, and a network (a plan of its graph,
 * parameters, statistics). Letters: P parameters, S statistics. */
#ifndef MC_MODEL_H
#define MC_MODEL_H

#include "kernels/backend.h"

struct mc_bufs {
    struct mc_backend *be;
    int rc; /* error of the first mc_bufs_add that failed: check it once after several calls */
    struct mc_buf **all;
    size_t n;
};

/* Makes a new buffer *out in b, with a copy of the `bytes` bytes at src, or with zeros if src is
 * NULL. A buffer of 0 bytes can be passed on but not read. *out is NULL once b->rc is an error. */
void mc_bufs_add(struct mc_bufs *b, struct mc_buf **out, const void *src, size_t bytes,
                 struct mc_error *err);
void mc_bufs_release(struct mc_bufs *b);

struct mc_model {
    struct mc_backend *be;
    struct mc_plan *plan;
    struct mc_buf *params, *stats; /* (P), (S) */
    struct mc_bufs bufs;           /* owns params and stats */
};

/* Copies params (P) and stats (S; NULL: none) to the device and makes a plan of g (o NULL: no
 * plan). g must outlive it. Release m, also after an error. */
MC_USE_RESULT int mc_model_open(struct mc_model *m, struct mc_backend *be, const struct mc_graph *g,
                                const float *params, const float *stats,
                                const struct mc_plan_opts *o, struct mc_error *err);
void mc_model_release(struct mc_model *m);

/* Runs the loaded batch forward with the model's statistics. */
void mc_model_forward(const struct mc_model *m, const struct mc_buf *ctl);

/* Makes a plan of g to measure its device memory, and releases it. */
MC_USE_RESULT int mc_plan_bytes(struct mc_backend *be, const struct mc_graph *g,
                                const struct mc_plan_opts *o, size_t *bytes, struct mc_error *err);

#endif
