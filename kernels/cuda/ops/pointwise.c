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

/* dy: NULL in the forward pass. */
static void activation(const struct cuda_step *s, const void *dy, void *y)
{
    cuda_activation(s->be, s->p->type, s->c->n, s->c->size, s->in->out, dy, s->adds, y);
}

static void activation_forward(const struct cuda_step *s)
{
    activation(s, NULL, s->c->out);
}

static void activation_backward(const struct cuda_step *s)
{
    activation(s, s->c->grad, s->in->grad);
}

static void dropout(const struct cuda_step *s, const void *x, void *y)
{
    const uint32_t node = (uint32_t)(s->c - s->p->nodes);

    if (mc_run_keeps_all(&s->p->run))
        cuda_move(s->p, s->c->size, x, s->adds, y);
    else
        cuda_dropout(s->be, &s->y, &s->p->rows, node, s->c->n->drop, x, s->adds, y);
}

static void dropout_forward(const struct cuda_step *s)
{
    dropout(s, s->in->out, s->c->out);
}

static void dropout_backward(const struct cuda_step *s)
{
    dropout(s, s->c->grad, s->in->grad);
}

const struct cuda_op cuda_op_relu = {.forward = relu_forward, .backward = relu_backward};
#define ROW(NAME, name, ...)                                                                       \
    const struct cuda_op cuda_op_##name = {.forward = activation_forward,                          \
                                           .backward = activation_backward};
MC_EACH_ACTIVATION(ROW)
const struct cuda_op cuda_op_dropout = {.forward = dropout_forward, .backward = dropout_backward};
