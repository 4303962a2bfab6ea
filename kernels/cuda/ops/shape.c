/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that move channels or pixels. */
#include "kernels/cuda/cuda.h"

/* An input whose numbers are already ordered as (N,C*H*W) is not copied. */
static int flatten_make(struct mc_plan *p, struct cuda_node *c, struct mc_error *err)
{
    struct cuda_node *in = &p->nodes[c->n->in[0]];

    (void)err;
    if (p->type == CUDA_F32 || in->hw == 1 || in->n->c == 1)
        c->view = in;
    return 0;
}

static void flatten_forward(const struct cuda_step *s)
{
    const struct cuda_shape first = cuda_channels_first(&s->x);

    if (!s->c->view)
        cuda_reorder(s->be, &s->x, s->in->out, &first, 0, s->c->out);
}

static void flatten_backward(const struct cuda_step *s)
{
    const struct cuda_shape first = cuda_channels_first(&s->x);

    cuda_reorder(s->be, &first, s->c->grad, &s->x, s->adds, s->in->grad);
}

/* y is x with zeros around it. */
static void pad_forward(const struct cuda_step *s)
{
    const struct mc_node *x = s->in->n, *y = s->c->n;
    const struct cuda_offset o = {x->c,          x->h,          x->w, -y->before[0],
                                  -y->before[1], -y->before[2], y->w};

    cuda_shift(s->be, &o, &s->x, s->in->out, &s->y, 0, s->c->out);
}

/* x's gradient is a part of y's. */
static void pad_backward(const struct cuda_step *s)
{
    const struct mc_node *x = s->in->n, *y = s->c->n;
    const struct cuda_offset o = {y->c, y->h, y->w, y->before[0], y->before[1], y->before[2], x->w};

    cuda_shift(s->be, &o, &s->y, s->c->grad, &s->x, s->adds, s->in->grad);
}

const struct cuda_op cuda_op_flatten = {
    .forward = flatten_forward, .backward = flatten_backward, .make = flatten_make};
const struct cuda_op cuda_op_pad = {.forward = pad_forward, .backward = pad_backward};
