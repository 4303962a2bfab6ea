/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. */
#include "kernels/cpu/cpu.h"

static void max_forward(const struct cpu_step *s)
{
    const struct cpu_shape shape = cpu_node_shape(s->p, s->in);
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    s->k->max_pool(&shape, &w, s->in->out, s->c->out, s->c->extra);
}

static void max_backward(const struct cpu_step *s)
{
    const struct cpu_shape shape = cpu_node_shape(s->p, s->in);
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    s->k->max_pool_back(&shape, &w, s->c->grad, s->c->extra, s->to);
}

/* The input pixel of each maximum, for the backward pass. */
static int max_place(struct mc_plan *p, struct cpu_node *c, struct mc_error *err)
{
    const size_t i = (size_t)(c - p->nodes), end = 2 * (size_t)p->run.g->n_nodes;

    (void)err;
    if (p->run.backward && c->role->reach)
        c->extra_region = cpu_arena_add(&p->arena, c->size * sizeof(int32_t), i, end - i);
    return 0;
}

static void average_forward(const struct cpu_step *s)
{
    const struct cpu_shape shape = cpu_node_shape(s->p, s->in);
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    s->k->avg_pool(&shape, &w, s->in->out, s->c->out);
}

static void average_backward(const struct cpu_step *s)
{
    const struct cpu_shape shape = cpu_node_shape(s->p, s->in);
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    s->k->avg_pool_back(&shape, &w, s->c->grad, s->to);
}

#define AVERAGE                                                                                    \
    {                                                                                              \
        .forward = average_forward, .backward = average_backward                                   \
    }
const struct cpu_op cpu_op_maxpool = {
    .forward = max_forward, .backward = max_backward, .place = max_place};
const struct cpu_op cpu_op_avgpool = AVERAGE;
const struct cpu_op cpu_op_globalpool = AVERAGE;
const struct cpu_op cpu_op_adaptpool = AVERAGE;
