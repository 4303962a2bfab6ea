/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a plan: every kind of node forward and backward. */
#include "kernels/cuda/cuda.h"

#include <assert.h>

void *cuda_grad(struct mc_plan *p, int i, int *add)
{
    *add = p->nodes[i].written;
    p->nodes[i].written = 1;
    return p->nodes[i].grad;
}

/* ---- layers with parameters -------------------------------------------------------------------
 */

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
    cuda_sums(p->be, &s, CUDA_SUM_SQUARES, c->grad, NULL, NULL, p->part);
    cuda_sums_to_floats(p->be, &s, p->part, 1 / (double)p->loss_scale, dparams + c->n->bias.offset);
}

/* A layer's weights in the plan's type. */
static const void *weight(const struct cuda_node *c, const float *params)
{
    return c->weight ? c->weight : (const void *)(params + c->n->weight.offset);
}

static void conv_forward(struct mc_plan *p, struct cuda_node *c, const float *params)
{
    cuda_conv_forward(c->conv, p->nodes[c->n->in[0]].out, weight(c, params), c->out, p->work);
    add_bias(p, c, params);
}

static void conv_backward(struct mc_plan *p, struct cuda_node *c, const float *params,
                          float *dparams)
{
    const struct cuda_node *in = &p->nodes[c->n->in[0]];
    int add = 0;

    if (dparams) {
        void *dweight = c->dweight ? c->dweight : (void *)(dparams + c->n->weight.offset);
        cuda_conv_backward_weights(c->conv, in->out, c->grad, dweight, p->work);
        bias_gradient(p, c, dparams);
    }
    if (in->role->need_grad) {
        void *dx = cuda_grad(p, c->n->in[0], &add);
        cuda_conv_backward_data(c->conv, c->grad, weight(c, params), add, dx, p->work);
    }
}

static void linear_forward(struct mc_plan *p, struct cuda_node *c, const float *params)
{
    const size_t o = (size_t)c->n->c, k = (size_t)p->nodes[c->n->in[0]].n->c;

    cuda_product(p->be, p->type, 'N', 'T', p->batch, o, k, 1, p->nodes[c->n->in[0]].out, k,
                 weight(c, params), k, 0, p->type, c->out, o);
    add_bias(p, c, params);
}

static void linear_backward(struct mc_plan *p, struct cuda_node *c, const float *params,
                            float *dparams)
{
    const struct cuda_node *in = &p->nodes[c->n->in[0]];
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;
    int add = 0;

    if (dparams) {
        cuda_product(p->be, p->type, 'T', 'N', o, k, p->batch, 1 / p->loss_scale, c->grad, o,
                     in->out, k, 0, CUDA_F32, dparams + c->n->weight.offset, k);
        bias_gradient(p, c, dparams);
    }
    if (in->role->need_grad) {
        void *dx = cuda_grad(p, c->n->in[0], &add);
        cuda_product(p->be, p->type, 'N', 'N', p->batch, k, o, 1, c->grad, o, weight(c, params), k,
                     add ? 1.0f : 0.0f, p->type, dx, k);
    }
}

void cuda_norm_forward(struct mc_plan *p, struct cuda_node *c, const float *params, float *stats,
                       double *acc)
{
    const struct cuda_shape s = cuda_node_shape(p, c);
    const struct cuda_node *in = &p->nodes[c->n->in[0]];
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

    c->batch_stats = p->mode != MC_MODE_EVAL;
    if (c->batch_stats)
        cuda_sums(p->be, &s, CUDA_SUM_SHIFTED, in->out, NULL, NULL, p->part);
    cuda_norm_prepare(p->be, &s, in->out, p->part, &a, &c->norm);
    if (c->role->relu < 0)
        cuda_norm_apply(p->be, &s, in->out, &c->norm, NULL, c->out);
    else
        cuda_norm_apply(p->be, &s, in->out, &c->norm, c->role->tapped ? c->out : NULL,
                        p->nodes[c->role->relu].out);
}

void cuda_norm_backward(struct mc_plan *p, struct cuda_node *c, float *dparams)
{
    const struct cuda_shape s = cuda_node_shape(p, c);
    const struct cuda_node *in = &p->nodes[c->n->in[0]];
    const void *dy = c->role->relu >= 0 ? p->nodes[c->role->relu].grad : c->grad;
    int add = 0;

    cuda_sums(p->be, &s, CUDA_SUM_BACK, in->out, dy, &c->norm, p->part);
    cuda_norm_back_prepare(p->be, &s, p->part, c->batch_stats, &c->norm, 1 / (double)p->loss_scale,
                           dparams ? dparams + c->n->weight.offset : NULL,
                           dparams ? dparams + c->n->bias.offset : NULL,
                           dparams && in->role->skip_bias ? dparams + in->n->bias.offset : NULL);
    if (in->role->need_grad) {
        void *dx = cuda_grad(p, c->n->in[0], &add);
        cuda_norm_back(p->be, &s, in->out, dy, &c->norm, add, dx);
    }
}

/* ---- layers without ---------------------------------------------------------------------------
 */

static void add_forward(struct mc_plan *p, struct cuda_node *c)
{
    cuda_add(p->be, p->type, c->all, p->nodes[c->n->in[0]].out, p->nodes[c->n->in[1]].out, c->out);
    for (int k = 2; k < c->n->n_in; k++)
        cuda_add(p->be, p->type, c->all, c->out, p->nodes[c->n->in[k]].out, c->out);
}

static void add_backward(struct mc_plan *p, struct cuda_node *c)
{
    int add = 0;

    for (int k = 0; k < c->n->n_in; k++)
        if (p->nodes[c->n->in[k]].role->need_grad) {
            void *dx = cuda_grad(p, c->n->in[k], &add);
            cuda_copy_rows(p->be, p->type, 1, c->all, c->grad, 0, add, dx, 0);
        }
}

/* Rows of an image's channels, or of a pixel's. */
static void concat(struct mc_plan *p, struct cuda_node *c, int backward)
{
    const size_t each = p->type == CUDA_F32 ? c->hw : 1, rows = p->batch * (c->hw / each);
    size_t at = 0;

    for (int k = 0; k < c->n->n_in; k++) {
        const struct cuda_node *in = &p->nodes[c->n->in[k]];
        const size_t count = in->stored * each, whole = c->stored * each;
        int add = 0;
        if (!backward) {
            cuda_copy_rows(p->be, p->type, rows, count, in->out, count, 0,
                           cuda_from_channel(p, c, c->out, at), whole);
        } else if (in->role->need_grad) {
            void *dx = cuda_grad(p, c->n->in[k], &add);
            cuda_copy_rows(p->be, p->type, rows, count, cuda_from_channel(p, c, c->grad, at), whole,
                           add, dx, count);
        }
        at += in->stored;
    }
}

/* Of a node's output or of its gradient. */
static void dropout(struct mc_plan *p, const struct cuda_node *c, const void *x, int add, void *y)
{
    const struct cuda_shape s = cuda_node_shape(p, c);

    if (!p->train_only || p->mode == MC_MODE_EVAL)
        cuda_copy_rows(p->be, p->type, 1, c->all, x, 0, add, y, 0);
    else
        cuda_dropout(p->be, &s, &p->rows, (uint32_t)(c->n - p->g->nodes), c->n->drop, x, add, y);
}

/* ---- forward and backward ---------------------------------------------------------------------
 */

static void forward_node(struct mc_plan *p, struct cuda_node *c, const float *params, float *stats,
                         double *acc)
{
    const struct cuda_node *in = c->n->n_in ? &p->nodes[c->n->in[0]] : NULL;
    const struct mc_window w = in ? mc_window_of(in->n, c->n) : (struct mc_window){0};
    const struct cuda_shape d = cuda_node_shape(p, c), s = cuda_node_shape(p, in ? in : c);
    const struct cuda_shape first = cuda_channels_first(&s);

    switch (c->n->op) {
    case MC_OP_CONV:
        conv_forward(p, c, params);
        break;
    case MC_OP_LINEAR:
        linear_forward(p, c, params);
        break;
    case MC_OP_BATCHNORM:
        cuda_norm_forward(p, c, params, stats, acc);
        break;
    case MC_OP_RELU:
        if (!c->role->done)
            cuda_relu(p->be, p->type, c->all, in->out, c->n->delta, c->out);
        break;
    case MC_OP_ADD:
        add_forward(p, c);
        break;
    case MC_OP_CONCAT:
        concat(p, c, 0);
        break;
    case MC_OP_MAXPOOL:
        cuda_max_pool(p->be, &s, &d, &w, in->out, c->out, c->where);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
        cuda_avg_pool(p->be, &s, &d, &w, in->out, c->out);
        break;
    case MC_OP_GLOBALPOOL:
        cuda_global_pool(p->be, &s, in->out, c->out);
        break;
    case MC_OP_DROPOUT:
        dropout(p, c, in->out, 0, c->out);
        break;
    case MC_OP_LOSS:
        cuda_loss(p->be, p->type, p->batch, (size_t)in->n->c, in->out, &p->rows,
                  mc_is_main(p->g, c->n), (double)c->n->loss_weight);
        break;
    case MC_OP_FLATTEN: /* to (N,C*H*W) */
        if (c->out != in->out)
            cuda_reorder(p->be, &s, in->out, &first, 0, c->out);
        break;
    case MC_OP_NORMALISE:
    case MC_N_OPS:
        break;
    }
}

void cuda_forward(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                  struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl)
{
    double *a = acc ? (double *)acc->data : NULL;

    assert(mode != MC_MODE_REESTIMATE || a);
    assert(!p->g->S || stats || mode == MC_MODE_BATCH || mode == MC_MODE_REESTIMATE);
    cuda_enter(p->be);
    p->mode = mode;
    cuda_begin_forward(p->be, &p->rows, (const struct mc_ctl *)ctl->data);
    if (p->copies.n)
        cuda_copy_weights(p->be, p->type, p->copies.n, cuda_const_floats(params), p->copies.param,
                          p->copies.weight);
    for (int i = 0; i < p->g->n_nodes; i++)
        if (p->nodes[i].role->live)
            forward_node(p, &p->nodes[i], cuda_const_floats(params),
                         stats ? cuda_floats(stats) : NULL, a);
    if (mode == MC_MODE_REESTIMATE)
        cuda_count_images(p->be, p->rows.batch, a + 2 * p->g->S);
}

/* Of the nodes that have one input and no parameters. */
static void backward_simple(struct mc_plan *p, struct cuda_node *c, int add, float *dx)
{
    const struct cuda_node *in = &p->nodes[c->n->in[0]];
    const struct mc_window w = mc_window_of(in->n, c->n);
    const struct cuda_shape d = cuda_node_shape(p, c), s = cuda_node_shape(p, in);
    const struct cuda_shape first = cuda_channels_first(&s);

    switch (c->n->op) {
    case MC_OP_RELU:
        cuda_relu_back(p->be, p->type, c->all, in->out, c->grad, c->n->delta, add, dx);
        break;
    case MC_OP_MAXPOOL:
        cuda_max_pool_back(p->be, &s, &d, &w, c->grad, c->where, add, dx);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
        cuda_avg_pool_back(p->be, &s, &d, &w, c->grad, add, dx);
        break;
    case MC_OP_GLOBALPOOL:
        cuda_global_pool_back(p->be, &s, c->grad, add, dx);
        break;
    case MC_OP_FLATTEN:
        cuda_reorder(p->be, &first, c->grad, &s, add, dx);
        break;
    case MC_OP_DROPOUT:
        dropout(p, c, c->grad, add, dx);
        break;
    case MC_OP_LOSS:
        cuda_loss_back(p->be, p->type, p->batch, (size_t)in->n->c, in->out, &p->rows,
                       (double)c->n->loss_weight * (double)p->loss_scale, add, dx);
        break;
    default:
        break;
    }
}

static void backward_node(struct mc_plan *p, struct cuda_node *c, const float *params,
                          float *dparams)
{
    int add = 0;

    switch (c->n->op) {
    case MC_OP_CONV:
        conv_backward(p, c, params, dparams);
        return;
    case MC_OP_LINEAR:
        linear_backward(p, c, params, dparams);
        return;
    case MC_OP_BATCHNORM:
        cuda_norm_backward(p, c, dparams);
        return;
    case MC_OP_ADD:
        add_backward(p, c);
        return;
    case MC_OP_CONCAT:
        concat(p, c, 1);
        return;
    default:
        break;
    }
    if (c->role->done || !p->nodes[c->n->in[0]].role->need_grad)
        return;
    void *dx = cuda_grad(p, c->n->in[0], &add);
    backward_simple(p, c, add, dx);
}

void cuda_backward(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad)
{
    float *dparams = grad ? cuda_floats(grad) : NULL;

    assert(p->backward);
    cuda_enter(p->be);
    if (dparams)
        cuda_check(p->be, cudaMemsetAsync(dparams, 0, p->g->P * sizeof *dparams, p->be->stream));
    for (int i = 0; i < p->g->n_nodes; i++)
        p->nodes[i].written = 0;
    for (int i = p->g->n_nodes - 1; i > 0; i--)
        if (p->nodes[i].role->live && p->nodes[i].role->reach)
            backward_node(p, &p->nodes[i], cuda_const_floats(params), dparams);
    if (dparams && p->copies.convs)
        cuda_copy_gradients(p->be, p->type, p->copies.convs, p->copies.grad, p->copies.param,
                            1 / p->loss_scale, dparams);
}
