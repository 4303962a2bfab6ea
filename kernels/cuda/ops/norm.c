/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch norm with the ReLU and the addition that it computes, layer norm, group norm and scale. */
#include "kernels/cuda/cuda.h"

/* ---- batch norm ------------------------------------------------------------------------------ */

/* The ReLU that a batch norm computes, or the batch norm. */
static const struct cuda_node *last_of(const struct cuda_step *s)
{
    return s->c->role->relu >= 0 ? &s->p->nodes[s->c->role->relu] : s->c;
}

/* The input that a batch norm adds before its ReLU, or NULL. */
static const void *added(const struct cuda_step *s)
{
    return s->c->role->sum >= 0 ? s->p->nodes[s->c->role->other].out : NULL;
}

static void batchnorm_place(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m)
{
    float **vectors[] = {&c->norm.mean, &c->norm.scale, &c->norm.beta,
                         &c->norm.k1,   &c->norm.k2,    &c->norm.inv};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = cuda_place(m, (size_t)c->n->c * sizeof(float));
    c->norm.delta = c->role->relu >= 0 ? p->nodes[c->role->relu].n->delta : -1.0f;
    cuda_place_partial(p, c, m);
}

static void batchnorm_forward(const struct cuda_step *s)
{
    const struct mc_run *r = &s->p->run;
    struct cuda_node *c = s->c;
    const struct cuda_node *y = last_of(s);
    const struct cuda_node *pre = c->role->sum >= 0 ? &s->p->nodes[c->role->sum] : c;
    const struct cuda_shape d = cuda_node_shape(s->p, y);
    const size_t mean = c->n->running_mean.offset;
    const struct cuda_norm_args a = {
        .mode = r->mode,
        .gamma = r->params + c->n->weight.offset,
        .weight_beta = r->params + c->n->bias.offset,
        .bias = s->in->role->skip_bias ? r->params + s->in->n->bias.offset : NULL,
        .running_mean = r->stats ? r->stats + mean : NULL,
        .running_var = r->stats ? r->stats + c->n->running_var.offset : NULL,
        .acc_sum = r->acc ? r->acc + mean : NULL,
        .acc_sq = r->acc ? r->acc + r->g->S + mean : NULL,
        .eps = c->n->eps,
        .momentum = c->n->momentum,
    };

    c->batch_stats = r->mode != MC_MODE_EVAL;
    cuda_norm_prepare(s->be, &s->x, s->in->out, &a, &c->norm, &s->p->partial);
    cuda_norm_apply(s->be, &s->x, s->in->out, added(s), &c->norm,
                    y != pre && pre->role->tapped ? pre->out : NULL, &d, y->out);
}

static void batchnorm_parameters(const struct cuda_step *s)
{
    const struct cuda_node *c = s->c, *y = last_of(s);
    const struct cuda_shape d = cuda_node_shape(s->p, y);
    float *dparams = s->p->run.dparams;
    const struct cuda_norm_grads g = {
        .batch_stats = c->batch_stats,
        .plus = added(s),
        .dgamma = dparams ? dparams + c->n->weight.offset : NULL,
        .dbeta = dparams ? dparams + c->n->bias.offset : NULL,
        .dbias = dparams && s->in->role->skip_bias ? dparams + s->in->n->bias.offset : NULL,
        .dz = c->role->sum >= 0 ? s->p->nodes[c->role->sum].grad : NULL,
    };

    cuda_norm_back_prepare(s->be, &s->x, s->in->out, &d, y->grad, &c->norm, &g, &s->p->partial);
}

static void batchnorm_backward(const struct cuda_step *s)
{
    const int sum = s->c->role->sum;
    const struct cuda_node *y = sum >= 0 ? &s->p->nodes[sum] : last_of(s);
    const struct cuda_shape d = cuda_node_shape(s->p, y);
    struct cuda_norm m = s->c->norm;

    if (sum >= 0)
        m.delta = -1; /* the ReLU's slope is in the addition's gradient */
    cuda_norm_back(s->be, &s->x, s->in->out, &d, y->grad, &m, s->adds, s->in->grad);
}

/* ---- layer norm ------------------------------------------------------------------------------ */

static void layernorm_place(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m)
{
    c->norm.mean = cuda_place(m, p->run.batch * c->hw * sizeof(float));
    c->norm.inv = cuda_place(m, p->run.batch * c->hw * sizeof(float));
}

static void layernorm_forward(const struct cuda_step *s)
{
    const float *params = s->p->run.params;

    cuda_layer_norm(s->be, &s->y, (double)s->c->n->eps, s->in->out, params + s->c->n->weight.offset,
                    params + s->c->n->bias.offset, &s->c->norm, s->c->out);
}

static void layernorm_parameters(const struct cuda_step *s)
{
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    cuda_sums(s->be, &s->y, CUDA_SUM_LAYER, s->in->out, s->c->grad, &s->c->norm, s->p->part);
    cuda_sums_to_floats(s->be, &s->y, s->p->part, dparams + s->c->n->bias.offset);
    cuda_sums_to_floats(s->be, &s->y, s->p->part + 1, dparams + s->c->n->weight.offset);
}

static void layernorm_backward(const struct cuda_step *s)
{
    cuda_layer_norm_back(s->be, &s->y, s->in->out, s->c->grad,
                         s->p->run.params + s->c->n->weight.offset, &s->c->norm, s->adds,
                         s->in->grad);
}

/* ---- group norm ------------------------------------------------------------------------------ */

static void groupnorm_place(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m)
{
    const size_t units = p->run.batch * (size_t)c->n->groups;

    c->norm.groups = (uint32_t)c->n->groups;
    c->norm.mean = cuda_place(m, units * sizeof(float));
    c->norm.inv = cuda_place(m, units * sizeof(float));
}

static void groupnorm_forward(const struct cuda_step *s)
{
    const struct mc_node *n = s->c->n;
    const float *params = s->p->run.params;

    cuda_group_norm(s->be, &s->y, (double)n->eps, s->in->out, params + n->weight.offset,
                    params + n->bias.offset, &s->c->norm, s->c->out);
}

static void groupnorm_parameters(const struct cuda_step *s)
{
    const struct mc_node *n = s->c->n;
    float *dparams = s->p->run.dparams;

    if (dparams)
        cuda_group_norm_sums(s->be, &s->y, s->in->out, s->c->grad, &s->c->norm,
                             dparams + n->weight.offset, dparams + n->bias.offset);
}

static void groupnorm_backward(const struct cuda_step *s)
{
    cuda_group_norm_back(s->be, &s->y, s->in->out, s->c->grad,
                         s->p->run.params + s->c->n->weight.offset, &s->c->norm, s->adds,
                         s->in->grad);
}

/* ---- scale ----------------------------------------------------------------------------------- */

static void scale(const struct cuda_step *s)
{
    cuda_mul(s->be, &s->y, s->from, &s->y, NULL, s->p->run.params + s->c->n->weight.offset, s->adds,
             s->to);
}

static void scale_parameters(const struct cuda_step *s)
{
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    cuda_sums(s->be, &s->y, CUDA_SUM_PRODUCT, s->in->out, s->c->grad, NULL, s->p->part);
    cuda_sums_to_floats(s->be, &s->y, s->p->part, dparams + s->c->n->weight.offset);
}

const struct cuda_op cuda_op_batchnorm = {.forward = batchnorm_forward,
                                          .parameters = batchnorm_parameters,
                                          .backward = batchnorm_backward,
                                          .place = batchnorm_place};
const struct cuda_op cuda_op_layernorm = {.forward = layernorm_forward,
                                          .parameters = layernorm_parameters,
                                          .backward = layernorm_backward,
                                          .place = layernorm_place};
const struct cuda_op cuda_op_groupnorm = {.forward = groupnorm_forward,
                                          .parameters = groupnorm_parameters,
                                          .backward = groupnorm_backward,
                                          .place = groupnorm_place};
const struct cuda_op cuda_op_scale = {
    .forward = scale, .parameters = scale_parameters, .backward = scale};
