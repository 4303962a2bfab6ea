/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a plan: every kind of node forward and backward. */
#include "kernels/cpu/cpu.h"

#include "libcommon/base/rng.h"

#include <assert.h>
#include <string.h>

float *cpu_grad_begin(struct mc_plan *p, int i)
{
    return p->nodes[i].written ? p->tmp : p->nodes[i].grad;
}

void cpu_grad_end(struct mc_plan *p, int i)
{
    struct cpu_node *c = &p->nodes[i];
    if (c->written)
        p->be->k->add(c->grad_floats, c->grad, p->tmp, c->grad);
    c->written = 1;
}

/* ---- linear ------------------------------------------------------------------------------------
 */

static void linear_forward(struct mc_plan *p, struct cpu_node *c, const float *params)
{
    const struct cpu_node *in = &p->nodes[c->n->in[0]];
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

static void linear_backward(struct mc_plan *p, struct cpu_node *c, const float *params,
                            float *dparams)
{
    const struct cpu_node *in = &p->nodes[c->n->in[0]];
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    if (dparams) {
        cpu_gemm(p->be, 'T', 'N', o, k, p->batch, c->grad, c->image, in->out, in->image, 0,
                 dparams + c->n->weight.offset, k);
        for (size_t j = 0; c->n->has_bias && !c->role->skip_bias && j < o; j++) {
            double sum = 0;
            for (size_t i = 0; i < p->valid; i++)
                sum += (double)c->grad[i * c->image + j];
            dparams[c->n->bias.offset + j] = (float)sum;
        }
    }
    if (in->role->need_grad) {
        float *dx = cpu_grad_begin(p, c->n->in[0]);
        cpu_gemm(p->be, 'N', 'N', p->batch, k, o, c->grad, c->image, params + c->n->weight.offset,
                 k, 0, dx, in->image);
        for (size_t i = 0; in->image > k && i < p->batch; i++)
            memset(dx + i * in->image + k, 0, (in->image - k) * sizeof *dx);
        cpu_grad_end(p, c->n->in[0]);
    }
}

static void conv_backward(struct mc_plan *p, struct cpu_node *c, const float *params,
                          float *dparams)
{
    const struct cpu_node *in = &p->nodes[c->n->in[0]];
    const size_t b = (size_t)p->be->k->block;

    if (dparams)
        cpu_conv_backward_weights(c->conv, in->out, c->grad, dparams + c->n->weight.offset,
                                  p->work);
    if (dparams && c->n->has_bias && !c->role->skip_bias) {
        const struct cpu_shape s = cpu_node_shape(p, c);
        float *part = p->work;
        p->be->k->channel_sums(&s, c->grad, part);
        for (size_t j = 0; j < (size_t)c->n->c; j++) {
            double sum = 0;
            for (size_t i = 0; i < p->valid; i++)
                sum += (double)part[(i * c->cb + j / b) * b + j % b];
            dparams[c->n->bias.offset + j] = (float)sum;
        }
    }
    if (in->role->need_grad) {
        cpu_conv_backward_data(c->conv, c->grad, params + c->n->weight.offset,
                               cpu_grad_begin(p, c->n->in[0]), p->work);
        cpu_grad_end(p, c->n->in[0]);
    }
}

/* ---- moving channels ---------------------------------------------------------------------------
 */

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

/* The lanes behind the last channel are 0 in every blocked activation. */
static void clear_padding(const struct mc_plan *p, const struct cpu_node *c, float *x)
{
    const size_t b = (size_t)p->be->k->block, used = (size_t)c->n->c % b;
    for (size_t i = 0; used && i < p->batch; i++) {
        float *last = x + i * c->image + (c->cb - 1) * c->hw * b;
        for (size_t q = 0; q < c->hw; q++)
            memset(last + q * b + used, 0, (b - used) * sizeof *last);
    }
}

static void concat(struct mc_plan *p, struct cpu_node *c, int backward)
{
    size_t at = 0;
    if (!backward)
        clear_padding(p, c, c->out);
    for (int k = 0; k < c->n->n_in; k++) {
        const struct cpu_node *in = &p->nodes[c->n->in[k]];
        if (!backward) {
            copy_channels(p, c, c->out, at, in, in->out, 0, (size_t)in->n->c);
        } else if (in->role->need_grad) {
            float *dx = cpu_grad_begin(p, c->n->in[k]);
            clear_padding(p, in, dx);
            copy_channels(p, in, dx, 0, c, c->grad, at, (size_t)in->n->c);
            cpu_grad_end(p, c->n->in[k]);
        }
        at += (size_t)in->n->c;
    }
}

/* Between a node's (C,H,W) and the row of C*H*W channels that a flatten makes of it. */
static void flatten(struct mc_plan *p, const struct cpu_node *c, float *rows, float *image,
                    int forward)
{
    const struct cpu_node *in = &p->nodes[c->n->in[0]];
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

static void add_forward(struct mc_plan *p, struct cpu_node *c)
{
    const float *in[MC_MAX_INPUTS] = {NULL};
    int n = 0;
    for (int k = 0; k < c->n->n_in; k++) /* what lies in the output's own memory goes first */
        if (p->nodes[c->n->in[k]].out == c->out)
            in[n++] = c->out;
    for (int k = 0; k < c->n->n_in; k++)
        if (p->nodes[c->n->in[k]].out != c->out)
            in[n++] = p->nodes[c->n->in[k]].out;
    p->be->k->add(c->floats, in[0], in[1], c->out);
    for (int k = 2; k < n; k++)
        p->be->k->add(c->floats, c->out, in[k], c->out);
}

static void add_backward(struct mc_plan *p, struct cpu_node *c)
{
    for (int k = 0; k < c->n->n_in; k++) {
        struct cpu_node *in = &p->nodes[c->n->in[k]];
        if (!in->role->need_grad)
            continue;
        if (in->written)
            p->be->k->add(c->floats, in->grad, c->grad, in->grad);
        else if (in->grad != c->grad)
            memcpy(in->grad, c->grad, c->floats * sizeof *c->grad);
        in->written = 1;
    }
}

/* y = x * mask / (1 - drop); the mask is drawn again in the backward pass. */
static void dropout(const struct mc_plan *p, const struct cpu_node *c, const float *x, float *y)
{
    const float keep = 1 - c->n->drop, scale = keep > 0 ? 1 / keep : 0;
    /* MC_MAX_NODES and MC_MAX_DROPOUT / 4 are 32 bits together: no counter comes twice */
    const uint32_t node = (uint32_t)(c->n - p->g->nodes) << 20;

    if (!p->train_only || p->mode == MC_MODE_EVAL) {
        if (y != x)
            memcpy(y, x, c->floats * sizeof *y);
        return;
    }
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

/* ---- forward and backward ----------------------------------------------------------------------
 */

static void forward_node(struct mc_plan *p, struct cpu_node *c, const float *params, float *stats,
                         double *acc)
{
    const struct cpu_kernels *k = p->be->k;
    const struct cpu_node *in = c->n->n_in ? &p->nodes[c->n->in[0]] : NULL;
    const struct cpu_shape s = in ? cpu_node_shape(p, in) : cpu_node_shape(p, c);
    const struct mc_window w = in ? mc_window_of(in->n, c->n) : (struct mc_window){0};

    switch (c->n->op) {
    case MC_OP_CONV:
        cpu_conv_forward(c->conv, in->out, params + c->n->weight.offset, params + c->n->bias.offset,
                         c->out, p->work);
        break;
    case MC_OP_LINEAR:
        linear_forward(p, c, params);
        break;
    case MC_OP_BATCHNORM:
        cpu_norm_forward(p, c, params, stats, acc);
        break;
    case MC_OP_RELU:
        if (!c->role->done)
            k->relu(c->floats, in->out, c->n->delta, c->out);
        break;
    case MC_OP_ADD:
        add_forward(p, c);
        break;
    case MC_OP_CONCAT:
        concat(p, c, 0);
        break;
    case MC_OP_MAXPOOL:
        k->max_pool(&s, &w, in->out, c->out, c->where);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
        k->avg_pool(&s, &w, in->out, c->out);
        break;
    case MC_OP_GLOBALPOOL:
        k->global_pool(&s, in->out, c->out);
        break;
    case MC_OP_FLATTEN:
        if (c->out != in->out)
            flatten(p, c, c->out, in->out, 1);
        break;
    case MC_OP_DROPOUT:
        dropout(p, c, in->out, c->out);
        break;
    case MC_OP_LOSS:
        cpu_loss_forward(p, c);
        break;
    case MC_OP_NORMALISE:
    case MC_N_OPS:
        break;
    }
}

void cpu_forward(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                 struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl)
{
    double *a = acc ? cpu_doubles(acc) : NULL;

    assert(mode != MC_MODE_REESTIMATE || a);
    assert(!p->g->S || stats || mode == MC_MODE_BATCH || mode == MC_MODE_REESTIMATE);
    cpu_enter(p->be);
    memcpy(&p->ctl, ctl->data, sizeof p->ctl);
    p->mode = mode;
    p->objective = 0;
    for (int i = 0; i < p->g->n_nodes; i++)
        if (p->nodes[i].role->live)
            forward_node(p, &p->nodes[i], cpu_const_floats(params),
                         stats ? cpu_floats(stats) : NULL, a);
    if (mode == MC_MODE_REESTIMATE)
        a[2 * p->g->S] += (double)p->valid;
}

static void backward_node(struct mc_plan *p, struct cpu_node *c, const float *params,
                          float *dparams)
{
    const struct cpu_kernels *k = p->be->k;
    const int i0 = c->n->n_in ? c->n->in[0] : 0;
    const struct cpu_node *in = &p->nodes[i0];
    const struct cpu_shape s = cpu_node_shape(p, in);
    const struct mc_window w = mc_window_of(in->n, c->n);
    float *dx = NULL;

    switch (c->n->op) {
    case MC_OP_CONV:
        conv_backward(p, c, params, dparams);
        return;
    case MC_OP_LINEAR:
        linear_backward(p, c, params, dparams);
        return;
    case MC_OP_BATCHNORM:
        cpu_norm_backward(p, c, dparams);
        return;
    case MC_OP_ADD:
        add_backward(p, c);
        return;
    case MC_OP_CONCAT:
        concat(p, c, 1);
        return;
    case MC_OP_LOSS:
        cpu_loss_backward(p, c);
        return;
    default:
        break;
    }
    if (c->role->done || !in->role->need_grad)
        return;
    dx = cpu_grad_begin(p, i0);
    switch (c->n->op) {
    case MC_OP_RELU:
        k->relu_back(c->floats, in->out, c->grad, c->n->delta, dx);
        break;
    case MC_OP_MAXPOOL:
        k->max_pool_back(&s, &w, c->grad, c->where, dx);
        break;
    case MC_OP_AVGPOOL:
    case MC_OP_ADAPTPOOL:
        k->avg_pool_back(&s, &w, c->grad, dx);
        break;
    case MC_OP_GLOBALPOOL:
        k->global_pool_back(&s, c->grad, dx);
        break;
    case MC_OP_FLATTEN:
        if (dx != c->grad)
            flatten(p, c, c->grad, dx, 0);
        break;
    case MC_OP_DROPOUT:
        dropout(p, c, c->grad, dx);
        break;
    default:
        break;
    }
    cpu_grad_end(p, i0);
}

void cpu_backward(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad)
{
    float *dparams = grad ? cpu_floats(grad) : NULL;

    assert(p->backward);
    cpu_enter(p->be);
    if (dparams)
        memset(dparams, 0, p->g->P * sizeof *dparams);
    for (int i = 0; i < p->g->n_nodes; i++)
        p->nodes[i].written = 0;
    for (int i = p->g->n_nodes - 1; i > 0; i--)
        if (p->nodes[i].role->live && p->nodes[i].role->reach)
            backward_node(p, &p->nodes[i], cpu_const_floats(params), dparams);
}
