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

static void pad_forward(const struct cuda_step *s)
{
    cuda_pad(s->be, s->in->n, s->c->n, &s->x, s->in->out, &s->y, 0, 0, s->c->out);
}

static void pad_backward(const struct cuda_step *s)
{
    cuda_pad(s->be, s->in->n, s->c->n, &s->y, s->c->grad, &s->x, 1, s->adds, s->in->grad);
}

const struct cuda_op cuda_op_flatten = {
    .forward = flatten_forward, .backward = flatten_backward, .make = flatten_make};
const struct cuda_op cuda_op_pad = {.forward = pad_forward, .backward = pad_backward};
