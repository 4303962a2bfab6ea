/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. */
#include "kernels/cuda/cuda.h"

/* Positions of the maxima, for the backward pass. */
static void maxpool_place(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m)
{
    const struct mc_window w = mc_window_of(p->nodes[c->n->in[0]].n, c->n);

    if (p->run.backward && c->role->reach)
        c->argmax = cuda_place(m, c->size * cuda_index_size(&w));
}

static void maxpool_forward(const struct cuda_step *s)
{
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    cuda_max_pool(s->be, &s->x, &s->y, &w, s->in->out, s->c->out, s->c->argmax);
}

static void maxpool_backward(const struct cuda_step *s)
{
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    cuda_max_pool_back(s->be, &s->x, &s->y, &w, s->c->grad, s->c->argmax, s->adds, s->in->grad);
}

static void average_forward(const struct cuda_step *s)
{
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    cuda_avg_pool(s->be, &s->x, &s->y, &w, s->in->out, s->c->out);
}

static void average_backward(const struct cuda_step *s)
{
    const struct mc_window w = mc_window_of(s->in->n, s->c->n);

    cuda_avg_pool_back(s->be, &s->x, &s->y, &w, s->c->grad, s->adds, s->in->grad);
}

#define AVERAGE                                                                                    \
    {                                                                                              \
        .forward = average_forward, .backward = average_backward                                   \
    }
const struct cuda_op cuda_op_avgpool = AVERAGE, cuda_op_globalpool = AVERAGE,
                     cuda_op_adaptpool = AVERAGE;
const struct cuda_op cuda_op_maxpool = {
    .forward = maxpool_forward, .backward = maxpool_backward, .place = maxpool_place};
