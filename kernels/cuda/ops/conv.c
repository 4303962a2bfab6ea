/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions by cuDNN and linear layers by cuBLAS. */
#include "kernels/cuda/cuda.h"

/* The weights in the plan's type. */
static const void *weight(const struct cuda_step *s)
{
    return s->c->weight ? s->c->weight : (const void *)(s->p->run.params + s->c->n->weight.offset);
}

static int has_bias(const struct cuda_node *c)
{
    return c->n->has_bias && !c->role->skip_bias;
}

static void add_bias(const struct cuda_step *s)
{
    if (has_bias(s->c))
        cuda_add_bias(s->be, &s->y, s->p->run.params + s->c->n->bias.offset, s->c->out);
}

static void bias_gradient(const struct cuda_step *s)
{
    if (has_bias(s->c))
        cuda_bias_sums(s->be, &s->y, s->c->grad, s->p->run.dparams + s->c->n->bias.offset,
                       &s->p->partial);
}

static int conv_make(struct mc_plan *p, struct cuda_node *c, struct mc_error *err)
{
    const struct mc_node *n = c->n;
    const struct cuda_node *in = &p->nodes[n->in[0]];
    const int back = p->run.backward && c->role->reach, data = back && in->role->need_grad;
    const int adds = mc_adds_gradient(p->run.g, p->run.roles, (int)(c - p->nodes));
    const struct cuda_conv_shape s = {
        .node = n->name,
        .type = p->type,
        .n = (int)p->run.batch,
        .ic = (int)in->stored,
        MC_CONV_SIZES(in->n, n),
        .needed = {[MC_PASS_FORWARD] = 1,
                   [MC_PASS_DATA] = data && !adds,
                   [CUDA_PASS_ADD] = data && adds,
                   [MC_PASS_WEIGHTS] = back},
    };
    return cuda_conv_new(p->be, &s, &c->conv, err);
}

static void place(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m)
{
    if (c->n->has_bias)
        cuda_place_partial(p, c, m);
    if (!c->conv)
        return;
    cuda_raise(&m->work, cuda_conv_work(c->conv, 0));
    cuda_raise(&m->side_work, cuda_conv_work(c->conv, 1));
}

/* (O,I,H,W) -> (O,H,W,I), with padding channels after the network's. */
static size_t conv_copy(const struct mc_plan *p, const struct cuda_node *c, uint32_t *param)
{
    const struct cuda_node *in = &p->nodes[c->n->in[0]];
    const size_t out = (size_t)c->n->c, h = (size_t)c->n->kernel[0], w = (size_t)c->n->kernel[1];
    const size_t channels = (size_t)(in->n->c / c->n->groups),
                 all = in->stored / (size_t)c->n->groups;

    for (size_t o = 0; param && o < out; o++)
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++)
                for (size_t i = 0; i < channels; i++)
                    param[((o * h + y) * w + x) * all + i] =
                        (uint32_t)(c->n->weight.offset + ((o * channels + i) * h + y) * w + x);
    return out * h * w * all;
}

static void conv_forward(const struct cuda_step *s)
{
    cuda_conv_run(s->c->conv, MC_PASS_FORWARD, s->in->out, weight(s), s->c->out, s->p->work, 0);
    add_bias(s);
}

static void conv_parameters(const struct cuda_step *s)
{
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    cuda_conv_run(s->c->conv, MC_PASS_WEIGHTS, s->in->out,
                  s->c->dweight ? s->c->dweight : (void *)(dparams + s->c->n->weight.offset),
                  s->c->grad, s->p->side_work, 1);
    bias_gradient(s);
}

static void conv_backward(const struct cuda_step *s)
{
    cuda_conv_run(s->c->conv, s->adds ? CUDA_PASS_ADD : MC_PASS_DATA, s->in->grad, weight(s),
                  s->c->grad, s->p->work, 0);
}

static size_t linear_copy(const struct mc_plan *p, const struct cuda_node *c, uint32_t *param)
{
    (void)p;
    for (size_t i = 0; param && i < c->n->weight.count; i++)
        param[i] = (uint32_t)(c->n->weight.offset + i);
    return c->n->weight.count;
}

static void linear_forward(const struct cuda_step *s)
{
    const size_t o = (size_t)s->c->n->c, k = (size_t)s->in->n->c;
    const struct mc_product product = {.size = {s->p->run.batch, o, k},
                                       .a = {s->in->out, k},
                                       .b = {weight(s), k, .transposed = 1},
                                       .c = {s->c->out, o}};

    cuda_layer_product(s->be, &product, s->p->type, s->p->type);
    add_bias(s);
}

static void linear_parameters(const struct cuda_step *s)
{
    const size_t o = (size_t)s->c->n->c, k = (size_t)s->in->n->c;
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    const struct mc_product product = {.size = {o, k, s->p->run.batch},
                                       .a = {s->c->grad, o, .transposed = 1},
                                       .b = {s->in->out, k},
                                       .c = {dparams + s->c->n->weight.offset, k}};
    cuda_layer_product(s->be, &product, s->p->type, CUDA_F32);
    bias_gradient(s);
}

static void linear_backward(const struct cuda_step *s)
{
    const size_t o = (size_t)s->c->n->c, k = (size_t)s->in->n->c;
    const struct mc_product product = {.size = {s->p->run.batch, k, o},
                                       .a = {s->c->grad, o},
                                       .b = {weight(s), k},
                                       .beta = s->adds ? 1.0f : 0.0f,
                                       .c = {s->in->grad, k}};

    cuda_layer_product(s->be, &product, s->p->type, s->p->type);
}

const struct cuda_op cuda_op_conv = {.forward = conv_forward,
                                     .parameters = conv_parameters,
                                     .backward = conv_backward,
                                     .make = conv_make,
                                     .place = place,
                                     .copy = conv_copy};
const struct cuda_op cuda_op_linear = {.forward = linear_forward,
                                       .parameters = linear_parameters,
                                       .backward = linear_backward,
                                       .place = place,
                                       .copy = linear_copy};
