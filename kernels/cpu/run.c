/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of node forward and backward, for kernels/executor.h. */
#include "kernels/cpu/cpu.h"

#include "libcommon/base/rng.h"

#include <string.h>

#define BACKEND(name) cpu_##name

/* ---- layers with parameters ------------------------------------------------------------------ */

static void linear_forward(struct mc_plan *p, const struct cpu_node *c, const struct cpu_node *in,
                           const float *params)
{
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;
    const float *bias = c->n->has_bias && !c->role->skip_bias ? params + c->n->bias.offset : NULL;

    cpu_gemm(p->be, 'N', 'T', p->batch, o, k, in->out, in->image, params + c->n->weight.offset, k,
             0, c->out, c->image);
    for (size_t i = 0; i < p->batch; i++) {
        float *y = c->out + i * c->image;
        for (size_t j = 0; bias && j < o; j++)
            y[j] += bias[j];
        memset(y + o, 0, (c->image - o) * sizeof *y);
    }
}

static void linear_parameters(struct mc_plan *p, const struct cpu_node *c,
                              const struct cpu_node *in, float *dparams)
{
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    cpu_gemm(p->be, 'T', 'N', o, k, p->batch, c->grad, c->image, in->out, in->image, 0,
             dparams + c->n->weight.offset, k);
    for (size_t j = 0; c->n->has_bias && !c->role->skip_bias && j < o; j++) {
        double sum = 0;
        for (size_t i = 0; i < p->valid; i++)
            sum += (double)c->grad[i * c->image + j];
        dparams[c->n->bias.offset + j] = (float)sum;
    }
}

static void linear_backward(struct mc_plan *p, const struct cpu_node *c, const struct cpu_node *in,
                            const float *params, float *dx)
{
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    cpu_gemm(p->be, 'N', 'N', p->batch, k, o, c->grad, c->image, params + c->n->weight.offset, k, 0,
             dx, in->image);
    for (size_t i = 0; in->image > k && i < p->batch; i++)
        memset(dx + i * in->image + k, 0, (in->image - k) * sizeof *dx);
}

/* Sums of every channel over the images, from p->work; see cpu_total. */
static void totals(const struct mc_plan *p, const struct cpu_node *c, size_t index, size_t count,
                   float *sums)
{
    for (size_t j = 0; j < (size_t)c->n->c; j++)
        sums[j] = (float)cpu_total(p, c, p->work, j, index, count);
}

static void conv_parameters(struct mc_plan *p, const struct cpu_node *c, const struct cpu_node *in,
                            float *dparams)
{
    const struct cpu_shape s = cpu_node_shape(p, c);

    cpu_conv_backward_weights(c->conv, in->out, c->grad, dparams + c->n->weight.offset, p->work);
    if (!c->n->has_bias || c->role->skip_bias)
        return;
    p->be->k->channel_sums(&s, c->grad, p->work);
    totals(p, c, 0, 1, dparams + c->n->bias.offset);
}

static void layer_norm_parameters(struct mc_plan *p, const struct cpu_node *c,
                                  const struct cpu_node *in, const float *params, float *dparams)
{
    const struct cpu_shape s = cpu_node_shape(p, c);

    p->be->k->layer_norm_back(&s, (size_t)c->n->c, c->n->eps, in->out, c->grad,
                              params + c->n->weight.offset, p->work, NULL);
    totals(p, c, 0, 2, dparams + c->n->weight.offset);
    totals(p, c, 1, 2, dparams + c->n->bias.offset);
}

static void scale_parameters(struct mc_plan *p, const struct cpu_node *c, const struct cpu_node *in,
                             float *dparams)
{
    const struct cpu_shape s = cpu_node_shape(p, c);

    p->be->k->dots(&s, in->out, c->grad, p->work);
    totals(p, c, 0, 1, dparams + c->n->weight.offset);
}

/* ---- moving channels ------------------------------------------------------------------------- */

/* Copy `count` channels of `from` at cf to channels of `to` at ct, pixel by pixel. */
static void copy_channels(const struct mc_plan *p, const struct cpu_node *to, float *dst, size_t ct,
                          const struct cpu_node *from, const float *src, size_t cf, size_t count)
{
    const size_t b = (size_t)p->be->k->block;
    const int whole = !to->plain && !from->plain && ct % b == 0 && cf % b == 0;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->batch; i++)
        for (size_t ch = 0; ch < count;) {
            size_t st, sf;
            float *d = dst + cpu_channel_at(p, to, i, ct + ch, &st);
            const float *s = src + cpu_channel_at(p, from, i, cf + ch, &sf);
            if (whole && count - ch >= b) {
                memcpy(d, s, to->hw * b * sizeof *d);
                ch += b;
                continue;
            }
            for (size_t q = 0; q < to->hw; q++)
                d[q * st] = s[q * sf];
            ch++;
        }
}

/* Zero the lanes after the last channel, as in every blocked activation. */
static void clear_padding(const struct mc_plan *p, const struct cpu_node *c, float *x)
{
    const size_t b = (size_t)p->be->k->block, used = (size_t)c->n->c % b;
    for (size_t i = 0; used && i < p->batch; i++) {
        float *last = x + i * c->image + (c->cb - 1) * c->hw * b;
        for (size_t q = 0; q < c->hw; q++)
            memset(last + q * b + used, 0, (b - used) * sizeof *last);
    }
}

/* The memory in which to compute a gradient that may have to be added to another. */
static float *gradient(const struct mc_plan *p, const struct cpu_node *c, int add)
{
    return add ? p->tmp : c->grad;
}

static void add(struct mc_plan *p, size_t n, const float *a, const float *b, float *y)
{
    p->be->k->add(n, a, b, y);
}

static void move(struct mc_plan *p, size_t n, const float *from, int adds, float *to)
{
    if (adds)
        add(p, n, to, from, to);
    else if (to != from)
        memcpy(to, from, n * sizeof *to);
}

static void channels(struct mc_plan *p, struct cpu_node *whole, size_t at, struct cpu_node *part,
                     int backward, int adds)
{
    const size_t count = (size_t)part->n->c;
    float *dx = gradient(p, part, adds);

    if (!backward) {
        if (!at)
            clear_padding(p, whole, whole->out);
        copy_channels(p, whole, whole->out, at, part, part->out, 0, count);
        return;
    }
    clear_padding(p, part, dx);
    copy_channels(p, part, dx, 0, whole, whole->grad, at, count);
    if (adds)
        add(p, part->grad_size, part->grad, dx, part->grad);
}

/* x times the node's other input; for backward, the gradient of input k. */
static void product(const struct mc_plan *p, const struct cpu_node *c, int k, const float *x,
                    float *y)
{
    const struct cpu_node *other = &p->nodes[c->n->in[!k]], *in = &p->nodes[c->n->in[k]];
    const struct cpu_shape s = cpu_node_shape(p, c);

    if (in->hw < c->hw)
        p->be->k->dots(&s, other->out, x, y);
    else
        p->be->k->mul(&s, x, other->out, other->image, other->hw == c->hw, y);
}

/* Copy between a node's (C,H,W) and its row of C*H*W channels. */
static void flatten(struct mc_plan *p, const struct cpu_node *c, const struct cpu_node *in,
                    float *rows, float *image, int forward)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->batch; i++) {
        float *r = rows + i * c->image;
        for (size_t ch = 0; ch < (size_t)in->n->c; ch++) {
            size_t step, at = cpu_channel_at(p, in, i, ch, &step);
            for (size_t q = 0; q < in->hw; q++)
                if (forward)
                    r[ch * in->hw + q] = image[at + q * step];
                else
                    image[at + q * step] = r[ch * in->hw + q];
        }
    }
    if (forward)
        clear_padding(p, c, rows);
    else if (!in->plain)
        clear_padding(p, in, image);
}

/* Copy between a node's padded channels and pixels and its input's. Forward, the rest is 0. */
static void pad(const struct mc_plan *p, const struct cpu_node *c, const struct cpu_node *in,
                float *padded, float *image, int forward)
{
    const struct mc_node *n = c->n;
    const size_t w = (size_t)n->w, first = (size_t)n->before[1] * w + (size_t)n->before[2];

    if (!forward)
        clear_padding(p, in, image);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->batch; i++) {
        if (forward)
            memset(padded + i * c->image, 0, c->image * sizeof *padded);
        for (size_t ch = 0; ch < (size_t)in->n->c; ch++) {
            size_t so, si;
            float *outer = padded + cpu_channel_at(p, c, i, (size_t)n->before[0] + ch, &so);
            float *inner = image + cpu_channel_at(p, in, i, ch, &si);
            for (size_t q = 0; q < in->hw; q++) {
                float *a = outer + (first + q / (size_t)in->n->w * w + q % (size_t)in->n->w) * so;
                float *b = inner + q * si;
                if (forward)
                    *a = *b;
                else
                    *b = *a;
            }
        }
    }
}

/* y = x * mask / (1 - drop); the backward pass draws the same mask again. */
static void dropout(const struct mc_plan *p, const struct cpu_node *c, const float *x, float *y)
{
    const float keep = 1 - c->n->drop, scale = keep > 0 ? 1 / keep : 0;
    /* MC_MAX_NODES and MC_MAX_DROPOUT / 4 fill 32 bits: counters are unique */
    const uint32_t node = (uint32_t)(c->n - p->g->nodes) << 20;

    clear_padding(p, c, y);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->batch; i++) {
        for (size_t ch = 0; ch < (size_t)c->n->c; ch++) {
            size_t step, at = cpu_channel_at(p, c, i, ch, &step);
            for (size_t q = 0; q < c->hw; q++) {
                const size_t e = ch * c->hw + q;
                const struct mc_rng4 r = mc_rng(p->ctl.seed, MC_RNG_DROPOUT, p->ctl.epoch,
                                                p->ids[i], node + (uint32_t)(e / 4));
                const float v = x[at + q * step];
                y[at + q * step] = mc_rng_unit(r.v[e % 4]) < keep ? v * scale : 0.0f;
            }
        }
    }
}

/* ---- forward and backward -------------------------------------------------------------------- */

static void begin_forward(struct mc_plan *p, const float *params, const struct mc_ctl *ctl)
{
    (void)params;
    p->ctl = *ctl;
    p->objective = 0;
}

static void count_images(const struct mc_plan *p, double *images)
{
    *images += (double)p->valid;
}

static void layer_forward(struct mc_plan *p, struct cpu_node *c, const struct cpu_node *in,
                          const float *params, float *stats, double *acc)
{
    const struct cpu_kernels *k = p->be->k;
    const struct cpu_shape s = cpu_node_shape(p, in);
    const struct mc_window w = mc_window_of(in->n, c->n);

    switch (c->n->op) {
    case MC_OP_CONV:
        cpu_conv_forward(c->conv, in->out, params + c->n->weight.offset, params + c->n->bias.offset,
                         c->out, p->work);
        break;
    case MC_OP_LINEAR:
        linear_forward(p, c, in, params);
        break;
    case MC_OP_BATCHNORM:
        cpu_norm_forward(p, c, params, stats, acc);
        break;
    case MC_OP_RELU:
        k->relu(c->size, in->out, c->n->delta, c->out);
        break;
    case MC_OP_LAYERNORM:
        k->layer_norm(&s, (size_t)c->n->c, c->n->eps, in->out, params + c->n->weight.offset,
                      params + c->n->bias.offset, c->out);
        break;
    case MC_OP_SCALE:
        k->mul(&s, in->out, params + c->n->weight.offset, 0, 0, c->out);
        break;
    case MC_OP_MUL:
        product(p, c, 0, in->out, c->out);
        break;
    case MC_OP_MAXPOOL:
        k->max_pool(&s, &w, in->out, c->out, c->argmax);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
    case MC_OP_GLOBALPOOL:
        k->avg_pool(&s, &w, in->out, c->out);
        break;
    case MC_OP_FLATTEN:
        if (c->out != in->out)
            flatten(p, c, in, c->out, in->out, 1);
        break;
    case MC_OP_PAD:
        pad(p, c, in, c->out, in->out, 1);
        break;
    case MC_OP_DROPOUT:
        dropout(p, c, in->out, c->out);
        break;
    case MC_OP_LOSS:
        cpu_loss_forward(p, c);
        break;
    default:
        if (mc_is_activation(c->n->op)) {
            k->activation(c->n->op, c->n->slope, c->size, in->out, NULL, c->out);
            clear_padding(p, c, c->out);
        }
        break;
    }
}

static void begin_backward(struct mc_plan *p, float *dparams)
{
    cpu_enter(p->be);
    p->parameters = dparams != NULL;
    if (dparams)
        memset(dparams, 0, p->g->P * sizeof *dparams);
}

static void layer_parameters(struct mc_plan *p, struct cpu_node *c, const struct cpu_node *in,
                             const float *params, float *dparams)
{
    if (c->n->op == MC_OP_BATCHNORM)
        cpu_norm_parameters(p, c, dparams);
    else if (dparams && c->n->op == MC_OP_CONV)
        conv_parameters(p, c, in, dparams);
    else if (dparams && c->n->op == MC_OP_LINEAR)
        linear_parameters(p, c, in, dparams);
    else if (dparams && c->n->op == MC_OP_LAYERNORM)
        layer_norm_parameters(p, c, in, params, dparams);
    else if (dparams && c->n->op == MC_OP_SCALE)
        scale_parameters(p, c, in, dparams);
}

static void layer_backward(struct mc_plan *p, struct cpu_node *c, int i, const struct cpu_node *in,
                           const float *params, int adds)
{
    const struct cpu_kernels *k = p->be->k;
    const struct cpu_shape s = cpu_node_shape(p, in);
    const struct mc_window w = mc_window_of(in->n, c->n);

    if (c->conv && cpu_conv_adds(c->conv))
        adds = 0;
    float *dx = gradient(p, in, adds);
    switch (c->n->op) {
    case MC_OP_CONV:
        cpu_conv_backward_data(c->conv, c->grad, params + c->n->weight.offset, dx, p->work);
        break;
    case MC_OP_LINEAR:
        linear_backward(p, c, in, params, dx);
        break;
    case MC_OP_BATCHNORM:
        cpu_norm_backward(p, c, dx);
        break;
    case MC_OP_RELU:
        k->relu_back(c->size, in->out, c->grad, c->n->delta, dx);
        break;
    case MC_OP_LAYERNORM:
        k->layer_norm_back(&s, (size_t)c->n->c, c->n->eps, in->out, c->grad,
                           params + c->n->weight.offset, NULL, dx);
        break;
    case MC_OP_SCALE:
        k->mul(&s, c->grad, params + c->n->weight.offset, 0, 0, dx);
        break;
    case MC_OP_MUL:
        product(p, c, i, c->grad, dx);
        break;
    case MC_OP_MAXPOOL:
        k->max_pool_back(&s, &w, c->grad, c->argmax, dx);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
    case MC_OP_GLOBALPOOL:
        k->avg_pool_back(&s, &w, c->grad, dx);
        break;
    case MC_OP_FLATTEN:
        if (dx != c->grad)
            flatten(p, c, in, c->grad, dx, 0);
        break;
    case MC_OP_PAD:
        pad(p, c, in, c->grad, dx, 0);
        break;
    case MC_OP_DROPOUT:
        dropout(p, c, c->grad, dx);
        break;
    case MC_OP_LOSS:
        cpu_loss_backward(p, c, dx);
        break;
    default:
        if (mc_is_activation(c->n->op))
            k->activation(c->n->op, c->n->slope, c->size, in->out, c->grad, dx);
        break;
    }
    if (adds)
        add(p, in->grad_size, in->grad, dx, in->grad);
}

static void end_backward(struct mc_plan *p, float *dparams)
{
    (void)p;
    (void)dparams;
}

#include "kernels/executor.h"
