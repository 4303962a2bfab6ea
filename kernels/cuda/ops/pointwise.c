/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations and dropout. */
#include "kernels/cuda/cuda.h"

static void relu_forward(const struct cuda_step *s)
{
    cuda_relu(s->be, s->p->type, s->c->size, s->in->out, s->c->n->delta, s->c->out);
}

static void relu_backward(const struct cuda_step *s)
{
    cuda_relu_back(s->be, s->p->type, s->c->size, s->in->out, s->c->grad, s->c->n->delta, s->adds,
                   s->in->grad);
}

static void activation(const struct cuda_step *s)
{
    cuda_activation(s->be, s->p->type, s->c->n, s->c->size, s->in->out, s->dy, s->adds, s->to);
}

static void dropout(const struct cuda_step *s)
{
    const uint32_t node = (uint32_t)(s->c - s->p->nodes);

    if (mc_run_keeps_all(&s->p->run))
        cuda_move(s->p, s->c->size, s->from, s->adds, s->to);
    else
        cuda_dropout(s->be, &s->y, &s->p->rows, node, s->c->n->drop, s->from, s->adds, s->to);
}

const struct cuda_op cuda_op_relu = {.forward = relu_forward, .backward = relu_backward};
#define ROW(NAME, name, ...)                                                                       \
    const struct cuda_op cuda_op_##name = {.forward = activation, .backward = activation};
MC_EACH_ACTIVATION(ROW)
const struct cuda_op cuda_op_dropout = {.forward = dropout, .backward = dropout};
