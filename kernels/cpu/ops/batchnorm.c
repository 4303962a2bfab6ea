/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's batch norm: statistics by mode, the fused activation, gradients, re-estimation.
 *
 * A bias just before a batch norm is never added to the activation: it only moves the mean, so it
 * is added to the running mean here. Its gradient is 0 if the batch's statistics are used (a
 * constant is subtracted again), otherwise scale * sum dz. */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Vectors of channels, in the node's `extra`. */
enum { MEAN, SCALE, BETA, K1, K2, INVSTD, N_VECTORS };

static float *vector(const struct mc_plan *p, const struct cpu_node *n, int index)
{
    return (float *)n->extra + (size_t)index * n->cb * (size_t)p->be->k->block;
}

/* The bias before the batch norm that its convolution or linear layer skips, or NULL. */
static const float *bias_before(const struct cpu_step *s)
{
    return s->in->role->skip_bias ? s->p->run.params + s->in->n->bias.offset : NULL;
}

/* The input that the batch norm adds before its ReLU, or NULL. */
static const float *added(const struct mc_plan *p, const struct cpu_node *n)
{
    return n->role->sum >= 0 ? p->nodes[n->role->other].out : NULL;
}

static struct cpu_norm norm_args(const struct mc_plan *p, const struct cpu_node *n)
{
    return (struct cpu_norm){.mean = vector(p, n, MEAN),
                             .scale = vector(p, n, SCALE),
                             .beta = vector(p, n, BETA),
                             .k1 = vector(p, n, K1),
                             .k2 = vector(p, n, K2),
                             .delta = n->role->relu >= 0 ? p->nodes[n->role->relu].n->delta : -1};
}

static const float *output_grad(const struct mc_plan *p, const struct cpu_node *n)
{
    return n->role->relu >= 0 ? p->nodes[n->role->relu].grad : n->grad;
}

/* The gradient of the addition that the batch norm computes, or NULL. */
static float *sum_grad(const struct mc_plan *p, const struct cpu_node *n)
{
    return n->role->sum >= 0 ? p->nodes[n->role->sum].grad : NULL;
}

static void forward(const struct cpu_step *step)
{
    const struct mc_plan *p = step->p;
    struct cpu_node *n = step->c;
    const struct cpu_kernels *k = step->k;
    const struct cpu_shape s = cpu_node_shape(p, n);
    const float *params = p->run.params, *x = step->in->out, *bias = bias_before(step);
    float *stats = p->run.stats;
    double *acc = p->run.acc;
    const float *gamma = params + n->n->weight.offset, *beta = params + n->n->bias.offset;
    const size_t C = (size_t)n->n->c, b = (size_t)k->block;
    const double count = (double)(p->valid * n->hw);
    float *part = p->work;

    n->batch_stats = p->run.mode != MC_MODE_EVAL;
    memset(n->extra, 0, N_VECTORS * n->cb * b * sizeof(float));
    if (n->batch_stats)
        k->stats(&s, x, part);
    for (size_t c = 0; c < C; c++) {
        const double lift = bias ? (double)bias[c] : 0;
        double mean, var;
        if (n->batch_stats && p->valid) {
            const double first = (double)x[(c / b) * n->hw * b + c % b];
            const double d = cpu_total(p, n, part, c, 0, 2) / count;
            var = cpu_total(p, n, part, c, 1, 2) / count - d * d;
            var = var < 0 ? 0 : var;
            mean = first + d;
            if (p->run.mode == MC_MODE_TRAIN) {
                float *rm = stats + n->n->running_mean.offset + c;
                float *rv = stats + n->n->running_var.offset + c;
                const double w = (double)n->n->momentum;
                const double unbiased = count > 1 ? var * count / (count - 1) : var;
                *rm = (float)((1 - w) * (double)*rm + w * (mean + lift));
                *rv = (float)((1 - w) * (double)*rv + w * unbiased);
            } else if (p->run.mode == MC_MODE_REESTIMATE) {
                const size_t channel = n->n->running_mean.offset + c;
                acc[channel] += count * (mean + lift);
                acc[p->run.g->S + channel] += count * (var + (mean + lift) * (mean + lift));
            }
        } else if (n->batch_stats) {
            mean = 0;
            var = 1;
        } else {
            mean = (double)stats[n->n->running_mean.offset + c] - lift;
            var = (double)stats[n->n->running_var.offset + c];
        }
        const double inv = 1 / sqrt(var + (double)n->n->eps);
        vector(p, n, MEAN)[c] = (float)mean;
        vector(p, n, INVSTD)[c] = (float)inv;
        vector(p, n, SCALE)[c] = (float)((double)gamma[c] * inv);
        vector(p, n, BETA)[c] = beta[c];
    }
    const struct cpu_norm m = norm_args(p, n);
    const struct cpu_node *pre = n->role->sum >= 0 ? &p->nodes[n->role->sum] : n;
    const struct cpu_node *y = n->role->relu >= 0 ? &p->nodes[n->role->relu] : n;
    if (n->fused[MC_PASS_FORWARD])
        *n->fused[MC_PASS_FORWARD] = (struct cpu_fused){m, x, added(p, n), y->out, NULL, p->valid};
    else
        k->norm(&s, x, added(p, n), &m, y != pre && pre->role->tapped ? pre->out : NULL, y->out);
    if (n->fused[MC_PASS_DATA])
        *n->fused[MC_PASS_DATA] =
            (struct cpu_fused){m, x, added(p, n), sum_grad(p, n), n->part, p->valid};
}

static void parameters(const struct cpu_step *step)
{
    const struct mc_plan *p = step->p;
    const struct cpu_node *n = step->c, *in = step->in;
    const struct cpu_shape s = cpu_node_shape(p, n);
    float *dparams = p->run.dparams;
    const struct cpu_norm m = norm_args(p, n);
    const double count = (double)(p->valid * n->hw);
    float *part = n->fused[MC_PASS_DATA] ? n->part : p->work;

    if (!n->fused[MC_PASS_DATA])
        p->be->k->norm_back_sums(&s, in->out, added(p, n), output_grad(p, n), &m, part,
                                 sum_grad(p, n));
    for (size_t c = 0; c < (size_t)n->n->c; c++) {
        const double sum = cpu_total(p, n, part, c, 0, 2), dot = cpu_total(p, n, part, c, 1, 2);
        const double inv = (double)vector(p, n, INVSTD)[c];
        if (dparams) {
            dparams[n->n->weight.offset + c] = (float)(dot * inv);
            dparams[n->n->bias.offset + c] = (float)sum;
            if (in->role->skip_bias)
                dparams[in->n->bias.offset + c] =
                    n->batch_stats ? 0.0f : (float)(sum * (double)vector(p, n, SCALE)[c]);
        }
        vector(p, n, K1)[c] = n->batch_stats && p->valid ? (float)(sum / count) : 0.0f;
        vector(p, n, K2)[c] = n->batch_stats && p->valid ? (float)(dot * inv * inv / count) : 0.0f;
    }
}

static void backward(const struct cpu_step *step)
{
    const struct mc_plan *p = step->p;
    const struct cpu_node *n = step->c;
    const struct cpu_shape s = cpu_node_shape(p, n);
    const float *x = step->in->out;
    float *dx = step->to;
    const float *sum = sum_grad(p, n), *dy = sum ? sum : output_grad(p, n);
    struct cpu_norm m = norm_args(p, n);

    if (sum)
        m.delta = -1; /* the ReLU's slope is in the addition's gradient */
    if (p->run.dparams && n->fused[MC_PASS_WEIGHTS])
        *n->fused[MC_PASS_WEIGHTS] = (struct cpu_fused){m, x, dy, dx, NULL, p->valid};
    else
        p->be->k->norm_back(&s, x, dy, &m, dx);
}

static int place(struct mc_plan *p, struct cpu_node *n, struct mc_error *err)
{
    const size_t bytes = N_VECTORS * n->cb * (size_t)p->be->k->block * sizeof(float);

    (void)err;
    n->extra_region = cpu_arena_add(&p->arena, bytes, 0, 2 * (size_t)p->run.g->n_nodes + 1);
    return 0;
}

const struct cpu_op cpu_op_batchnorm = {
    .forward = forward, .parameters = parameters, .backward = backward, .place = place};

void cpu_reestimate(struct mc_backend *be, const struct mc_graph *g, const struct mc_buf *acc,
                    struct mc_buf *stats)
{
    const double *a = (const double *)acc->data;
    float *s = mc_floats(stats);
    const double images = a[2 * g->S];

    (void)be;
    if (!(images > 0))
        return;
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        if (n->op != MC_OP_BATCHNORM)
            continue;
        const double count = images * n->h * n->w;
        for (size_t c = 0; c < n->running_mean.count; c++) {
            const size_t channel = n->running_mean.offset + c;
            const double mean = a[channel] / count;
            const double var = a[g->S + channel] / count - mean * mean;
            s[channel] = (float)mean;
            s[n->running_var.offset + c] =
                (float)((var > 0 ? var : 0) * (count > 1 ? count / (count - 1) : 1));
        }
    }
}
