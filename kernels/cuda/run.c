/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of node forward and backward, for kernels/executor.h. */
#include "kernels/cuda/cuda.h"

#define BACKEND(name) cuda_##name

/* ---- layers with parameters ------------------------------------------------------------------ */

static void add_bias(struct mc_plan *p, const struct cuda_node *c, const float *params)
{
    const struct cuda_shape s = cuda_node_shape(p, c);
    if (c->n->has_bias && !c->role->skip_bias)
        cuda_add_bias(p->be, &s, params + c->n->bias.offset, c->out);
}

static void bias_gradient(struct mc_plan *p, const struct cuda_node *c, float *dparams)
{
    const struct cuda_shape s = cuda_node_shape(p, c);
    if (!c->n->has_bias || c->role->skip_bias)
        return;
    cuda_bias_sums(p->be, &s, c->grad, dparams + c->n->bias.offset, &p->partial);
}

/* A layer's weights in the plan's type. */
static const void *weight(const struct cuda_node *c, const float *params)
{
    return c->weight ? c->weight : (const void *)(params + c->n->weight.offset);
}

static void conv_parameters(struct mc_plan *p, const struct cuda_node *c,
                            const struct cuda_node *in, float *dparams)
{
    void *dweight = c->dweight ? c->dweight : (void *)(dparams + c->n->weight.offset);

    cuda_conv_run(c->conv, MC_PASS_WEIGHTS, in->out, dweight, c->grad, p->side_work, 1);
    bias_gradient(p, c, dparams);
}

static void linear_forward(struct mc_plan *p, const struct cuda_node *c, const struct cuda_node *in,
                           const float *params)
{
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    cuda_product(p->be, p->type, 'N', 'T', p->batch, o, k, 1, in->out, k, weight(c, params), k, 0,
                 p->type, c->out, o);
    add_bias(p, c, params);
}

static void linear_parameters(struct mc_plan *p, const struct cuda_node *c,
                              const struct cuda_node *in, float *dparams)
{
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    cuda_product(p->be, p->type, 'T', 'N', o, k, p->batch, 1, c->grad, o, in->out, k, 0, CUDA_F32,
                 dparams + c->n->weight.offset, k);
    bias_gradient(p, c, dparams);
}

static void linear_backward(struct mc_plan *p, const struct cuda_node *c,
                            const struct cuda_node *in, const float *params, int adds)
{
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    cuda_product(p->be, p->type, 'N', 'N', p->batch, k, o, 1, c->grad, o, weight(c, params), k,
                 adds ? 1.0f : 0.0f, p->type, in->grad, k);
}

/* The ReLU that a batch norm computes, or the batch norm. */
static const struct cuda_node *last_of(const struct mc_plan *p, const struct cuda_node *c)
{
    return c->role->relu >= 0 ? &p->nodes[c->role->relu] : c;
}

/* The input that a batch norm adds before its ReLU, or NULL. */
static const void *added(const struct mc_plan *p, const struct cuda_node *c)
{
    return c->role->sum >= 0 ? p->nodes[c->role->other].out : NULL;
}

static void norm_forward(struct mc_plan *p, struct cuda_node *c, const struct cuda_node *in,
                         const float *params, float *stats, double *acc)
{
    const struct cuda_shape s = cuda_node_shape(p, in);
    const size_t mean = c->n->running_mean.offset;
    struct cuda_norm_args a = {
        .mode = p->mode,
        .gamma = params + c->n->weight.offset,
        .weight_beta = params + c->n->bias.offset,
        .bias = in->role->skip_bias ? params + in->n->bias.offset : NULL,
        .running_mean = stats ? stats + mean : NULL,
        .running_var = stats ? stats + c->n->running_var.offset : NULL,
        .acc_sum = acc ? acc + mean : NULL,
        .acc_sq = acc ? acc + p->g->S + mean : NULL,
        .eps = c->n->eps,
        .momentum = c->n->momentum,
    };

    const struct cuda_node *y = last_of(p, c);
    const struct cuda_node *pre = c->role->sum >= 0 ? &p->nodes[c->role->sum] : c;
    const struct cuda_shape d = cuda_node_shape(p, y);
    c->batch_stats = p->mode != MC_MODE_EVAL;
    cuda_norm_prepare(p->be, &s, in->out, &a, &c->norm, &p->partial);
    cuda_norm_apply(p->be, &s, in->out, added(p, c), &c->norm,
                    y != pre && pre->role->tapped ? pre->out : NULL, &d, y->out);
}

static void norm_parameters(struct mc_plan *p, struct cuda_node *c, const struct cuda_node *in,
                            float *dparams)
{
    const struct cuda_node *y = last_of(p, c);
    const struct cuda_shape s = cuda_node_shape(p, in), d = cuda_node_shape(p, y);
    const struct cuda_norm_grads g = {
        .batch_stats = c->batch_stats,
        .dgamma = dparams ? dparams + c->n->weight.offset : NULL,
        .dbeta = dparams ? dparams + c->n->bias.offset : NULL,
        .dbias = dparams && in->role->skip_bias ? dparams + in->n->bias.offset : NULL,
    };

    cuda_norm_back_prepare(p->be, &s, in->out, added(p, c), &d, y->grad, &c->norm, &g,
                           c->role->sum >= 0 ? p->nodes[c->role->sum].grad : NULL, &p->partial);
}

static void norm_backward(struct mc_plan *p, const struct cuda_node *c, const struct cuda_node *in,
                          int adds)
{
    const int sum = c->role->sum;
    const struct cuda_node *y = sum >= 0 ? &p->nodes[sum] : last_of(p, c);
    const struct cuda_shape s = cuda_node_shape(p, in), d = cuda_node_shape(p, y);
    struct cuda_norm m = c->norm;

    if (sum >= 0)
        m.delta = -1; /* the ReLU's slope is in the addition's gradient */
    cuda_norm_back(p->be, &s, in->out, &d, y->grad, &m, adds, in->grad);
}

static void layer_norm_parameters(struct mc_plan *p, const struct cuda_node *c,
                                  const struct cuda_node *in, float *dparams)
{
    const struct cuda_shape s = cuda_node_shape(p, c);

    cuda_sums(p->be, &s, CUDA_SUM_LAYER, in->out, c->grad, &c->norm, p->part);
    cuda_sums_to_floats(p->be, &s, p->part, dparams + c->n->bias.offset);
    cuda_sums_to_floats(p->be, &s, p->part + 1, dparams + c->n->weight.offset);
}

static void scale_parameters(struct mc_plan *p, const struct cuda_node *c,
                             const struct cuda_node *in, float *dparams)
{
    const struct cuda_shape s = cuda_node_shape(p, c);

    cuda_sums(p->be, &s, CUDA_SUM_PRODUCT, in->out, c->grad, NULL, p->part);
    cuda_sums_to_floats(p->be, &s, p->part, dparams + c->n->weight.offset);
}

/* ---- layers without parameters --------------------------------------------------------------- */

static void add(struct mc_plan *p, size_t n, const void *a, const void *b, void *y)
{
    cuda_add(p->be, p->type, n, a, b, y);
}

static void move(struct mc_plan *p, size_t n, const void *from, int adds, void *to)
{
    if (adds || to != from)
        cuda_copy_rows(p->be, p->type, 1, n, from, 0, adds, to, 0);
}

/* Copy rows of an image's channels, or of a pixel's. */
static void channels(struct mc_plan *p, struct cuda_node *whole, size_t at, struct cuda_node *part,
                     int backward, int adds)
{
    const size_t each = p->type == CUDA_F32 ? whole->hw : 1, rows = p->batch * (whole->hw / each);
    const size_t count = part->stored * each, row = whole->stored * each;

    if (part->whole) /* already written into the concatenation */
        return;
    if (!backward)
        cuda_copy_rows(p->be, p->type, rows, count, part->out, count, 0,
                       cuda_from_channel(p, whole, whole->out, at), row);
    else
        cuda_copy_rows(p->be, p->type, rows, count, cuda_from_channel(p, whole, whole->grad, at),
                       row, adds, part->grad, count);
}

/* x times the node's other input; for backward, the gradient of input k. */
static void product(struct mc_plan *p, const struct cuda_node *c, int k, const void *x, int adds,
                    void *y)
{
    const struct cuda_node *other = &p->nodes[c->n->in[!k]], *in = &p->nodes[c->n->in[k]];
    const struct cuda_shape s = cuda_node_shape(p, c), o = cuda_node_shape(p, other);
    const struct cuda_shape d = cuda_node_shape(p, in);

    if (in->hw < c->hw)
        cuda_dots(p->be, &s, other->out, x, &d, adds, y);
    else
        cuda_mul(p->be, &s, x, &o, other->out, NULL, adds, y);
}

/* ---- forward and backward -------------------------------------------------------------------- */

static void begin_forward(struct mc_plan *p, const float *params, const struct mc_ctl *ctl)
{
    if (p->copies.n)
        cuda_copy_weights(p->be, p->type, p->copies.n, params, p->copies.param, p->copies.weight,
                          &p->rows, ctl);
    else
        cuda_begin_forward(p->be, &p->rows, ctl);
}

static void count_images(const struct mc_plan *p, double *images)
{
    cuda_count_images(p->be, p->rows.batch, images);
}

static void layer_forward(struct mc_plan *p, struct cuda_node *c, const struct cuda_node *in,
                          const float *params, float *stats, double *acc)
{
    const struct mc_window w = mc_window_of(in->n, c->n);
    const struct cuda_shape d = cuda_node_shape(p, c), s = cuda_node_shape(p, in);
    const struct cuda_shape first = cuda_channels_first(&s);

    switch (c->n->op) {
    case MC_OP_CONV:
        cuda_conv_run(c->conv, MC_PASS_FORWARD, in->out, weight(c, params), c->out, p->work, 0);
        add_bias(p, c, params);
        break;
    case MC_OP_LINEAR:
        linear_forward(p, c, in, params);
        break;
    case MC_OP_BATCHNORM:
        norm_forward(p, c, in, params, stats, acc);
        break;
    case MC_OP_RELU:
        cuda_relu(p->be, p->type, c->size, in->out, c->n->delta, c->out);
        break;
    case MC_OP_LAYERNORM:
        cuda_layer_norm(p->be, &d, (double)c->n->eps, in->out, params + c->n->weight.offset,
                        params + c->n->bias.offset, &c->norm, c->out);
        break;
    case MC_OP_SCALE:
        cuda_mul(p->be, &d, in->out, &d, NULL, params + c->n->weight.offset, 0, c->out);
        break;
    case MC_OP_MUL:
        product(p, c, 0, in->out, 0, c->out);
        break;
    case MC_OP_MAXPOOL:
        cuda_max_pool(p->be, &s, &d, &w, in->out, c->out, c->argmax);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
    case MC_OP_GLOBALPOOL:
        cuda_avg_pool(p->be, &s, &d, &w, in->out, c->out);
        break;
    case MC_OP_FLATTEN: /* to (N,C*H*W) */
        if (c->out != in->out)
            cuda_reorder(p->be, &s, in->out, &first, 0, c->out);
        break;
    case MC_OP_PAD:
        cuda_pad(p->be, in->n, c->n, &s, in->out, &d, 0, 0, c->out);
        break;
    case MC_OP_DROPOUT:
        cuda_dropout(p->be, &d, &p->rows, (uint32_t)(c->n - p->g->nodes), c->n->drop, in->out, 0,
                     c->out);
        break;
    case MC_OP_LOSS:
        cuda_loss(p->be, p->type, p->batch, (size_t)in->n->c, in->out, &p->rows,
                  mc_is_main(p->g, c->n), (double)c->n->loss_weight, p->partial.arrived);
        break;
    default:
        if (mc_is_activation(c->n->op))
            cuda_activation(p->be, p->type, c->n->op, c->n->slope, c->size, in->out, NULL, 0,
                            c->out);
        break;
    }
}

static void begin_backward(struct mc_plan *p, float *dparams)
{
    struct cuda_loss_scale *s = p->loss_scale;

    cuda_use(p->be); /* metrics may still run on the side stream */
    if (s) {
        p->scale = dparams ? &s->scale : &s->pixels;
        p->pixels_scale = dparams ? &s->last : &s->pixels;
    }
    if (dparams)
        cuda_fill_zeros(p->be, dparams, p->g->P * sizeof *dparams);
}

static void layer_parameters(struct mc_plan *p, struct cuda_node *c, const struct cuda_node *in,
                             const float *params, float *dparams)
{
    (void)params;
    if (c->n->op == MC_OP_BATCHNORM)
        norm_parameters(p, c, in, dparams);
    else if (dparams && c->n->op == MC_OP_CONV)
        conv_parameters(p, c, in, dparams);
    else if (dparams && c->n->op == MC_OP_LINEAR)
        linear_parameters(p, c, in, dparams);
    else if (dparams && c->n->op == MC_OP_LAYERNORM)
        layer_norm_parameters(p, c, in, dparams);
    else if (dparams && c->n->op == MC_OP_SCALE)
        scale_parameters(p, c, in, dparams);
}

static void layer_backward(struct mc_plan *p, struct cuda_node *c, int i,
                           const struct cuda_node *in, const float *params, int adds)
{
    const struct mc_window w = mc_window_of(in->n, c->n);
    const struct cuda_shape d = cuda_node_shape(p, c), s = cuda_node_shape(p, in);
    const struct cuda_shape first = cuda_channels_first(&s);
    void *dx = in->grad;

    switch (c->n->op) {
    case MC_OP_CONV:
        cuda_conv_run(c->conv, adds ? CUDA_PASS_ADD : MC_PASS_DATA, dx, weight(c, params), c->grad,
                      p->work, 0);
        break;
    case MC_OP_LINEAR:
        linear_backward(p, c, in, params, adds);
        break;
    case MC_OP_BATCHNORM:
        norm_backward(p, c, in, adds);
        break;
    case MC_OP_RELU:
        cuda_relu_back(p->be, p->type, c->size, in->out, c->grad, c->n->delta, adds, dx);
        break;
    case MC_OP_LAYERNORM:
        cuda_layer_norm_back(p->be, &d, in->out, c->grad, params + c->n->weight.offset, &c->norm,
                             adds, dx);
        break;
    case MC_OP_SCALE:
        cuda_mul(p->be, &d, c->grad, &d, NULL, params + c->n->weight.offset, adds, dx);
        break;
    case MC_OP_MUL:
        product(p, c, i, c->grad, adds, dx);
        break;
    case MC_OP_MAXPOOL:
        cuda_max_pool_back(p->be, &s, &d, &w, c->grad, c->argmax, adds, dx);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
    case MC_OP_GLOBALPOOL:
        cuda_avg_pool_back(p->be, &s, &d, &w, c->grad, adds, dx);
        break;
    case MC_OP_FLATTEN:
        cuda_reorder(p->be, &first, c->grad, &s, adds, dx);
        break;
    case MC_OP_PAD:
        cuda_pad(p->be, in->n, c->n, &d, c->grad, &s, 1, adds, dx);
        break;
    case MC_OP_DROPOUT:
        cuda_dropout(p->be, &d, &p->rows, (uint32_t)(c->n - p->g->nodes), c->n->drop, c->grad, adds,
                     dx);
        break;
    case MC_OP_LOSS:
        cuda_loss_back(p->be, p->type, p->batch, (size_t)in->n->c, in->out, &p->rows,
                       (double)c->n->loss_weight, p->scale, adds, dx);
        break;
    default:
        if (mc_is_activation(c->n->op))
            cuda_activation(p->be, p->type, c->n->op, c->n->slope, c->size, in->out, c->grad, adds,
                            dx);
        break;
    }
}

static void end_backward(struct mc_plan *p, float *dparams)
{
    if (p->be->forked)
        cuda_join(p->be);
    if (dparams && p->copies.convs)
        cuda_copy_gradients(p->be, p->type, p->copies.convs, p->copies.grad, p->copies.param,
                            dparams);
    if (dparams && p->loss_scale && p->g->P)
        cuda_finish_gradients(p->be, p->g->P, dparams, p->loss_scale, p->partial.arrived);
}

#include "kernels/executor.h"
