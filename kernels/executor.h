/* SPDX-License-Identifier: Apache-2.0
 *
 * The node loop, once for all backends: runs a plan's nodes in order, skips those that another node
 * computes, and decides which gradients are written and which are added.
 *
 * A backend's plan begins with a struct mc_run. The backend has one table, with a row for each
 * operation (kernels/cpu/ops, kernels/cuda/ops), and a struct mc_runner whose functions look up the
 * node's row. A row's functions read and write the memory that the backend gave the node:
 *
 *     forward      the output of node i, from its inputs' outputs, r->params and r->stats
 *     parameters   the gradients of its tensors in r->dparams (NULL: not needed), and sums over the
 *                  batch that `backward` needs; it runs first
 *     backward     the gradient of its input k, from its output's. If `adds`, the gradient already
 *                  has a value, to which this one is added
 *
 * A batch norm computes the ReLU after it and the addition between them if its role says so. Its
 * `parameters` then also writes the addition's gradient. These nodes' own functions do not run. */
#ifndef MC_EXECUTOR_H
#define MC_EXECUTOR_H

#include "kernels/buf.h"
#include "kernels/roles.h"

struct mc_run;

struct mc_runner {
    void (*begin_forward)(struct mc_run *r, const struct mc_buf *ctl);
    void (*forward)(struct mc_run *r, int i);
    void (*count_images)(struct mc_run *r, double *images); /* *images += those of the batch */
    /* Zeroes r->dparams unless it is NULL. */
    void (*begin_backward)(struct mc_run *r);
    void (*parameters)(struct mc_run *r, int i);
    void (*backward)(struct mc_run *r, int i, int k, int adds);
    /* Copies node `from`'s gradient to node `to`'s, which may have the same memory, or adds it. */
    void (*pass_gradient)(struct mc_run *r, int from, int to, int adds);
    void (*end_backward)(struct mc_run *r); /* NULL: nothing to do */
    /* Adds the joint moments of tap t of two plans. */
    void (*tap_moments)(struct mc_run *a, struct mc_run *b, size_t t, struct mc_buf *acc);
};

struct mc_run {
    const struct mc_runner *by;
    const struct mc_graph *g;
    size_t batch;
    int backward, input_grad, train_only; /* see struct mc_plan_opts */
    struct mc_role *roles;                /* (n_nodes) */
    unsigned char *written;               /* (n_nodes) the node's gradient has a value */
    struct mc_tap_request *taps;
    size_t n_taps;
    enum mc_mode mode; /* mode of the last forward pass */

    /* the present pass */
    const float *params;
    float *stats, *dparams; /* may be NULL */
    double *acc;            /* in MC_MODE_REESTIMATE */
};

/* g must outlive the run. Call mc_run_release also after an error. */
MC_USE_RESULT int mc_run_init(struct mc_run *r, const struct mc_runner *by,
                              const struct mc_graph *g, const struct mc_plan_opts *o,
                              struct mc_error *err);
void mc_run_release(struct mc_run *r);

/* The passes of struct mc_backend. A plan begins with its struct mc_run. */
void mc_run_forward(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                    struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl);
void mc_run_moments(struct mc_plan *const p[2], const struct mc_buf *const params[2],
                    struct mc_buf *const stats[2], const struct mc_buf *ctl,
                    struct mc_buf *const *acc);
void mc_run_backward(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad);

/* Floats of one image. */
static inline size_t mc_run_image_floats(const struct mc_run *r)
{
    const struct mc_node *n = r->g->nodes;

    return (size_t)n->c * (size_t)n->h * (size_t)n->w;
}

/* Returns whether dropout copies its input in this pass. */
static inline int mc_run_keeps_all(const struct mc_run *r)
{
    return !r->train_only || r->mode == MC_MODE_EVAL;
}

#endif
