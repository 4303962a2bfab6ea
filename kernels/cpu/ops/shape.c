/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that move channels or pixels. */
#include "kernels/cpu/cpu.h"

#include <string.h>

/* Copy between a node's (C,H,W) and its row of C*H*W channels. */
static void flatten(const struct cpu_step *s, float *rows, float *image, int forward)
{
    const struct mc_plan *p = s->p;
    const struct cpu_node *c = s->c, *in = s->in;

    if (rows == image) /* a view */
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->run.batch; i++) {
        float *r = rows + i * c->image;
        for (size_t ch = 0; ch < (size_t)in->n->c; ch++) {
            size_t step, offset = cpu_channel_at(p, in, i, ch, &step);
            for (size_t q = 0; q < in->hw; q++)
                if (forward)
                    r[ch * in->hw + q] = image[offset + q * step];
                else
                    image[offset + q * step] = r[ch * in->hw + q];
        }
    }
    if (forward)
        cpu_clear_padding(p, c, rows);
    else if (!in->plain)
        cpu_clear_padding(p, in, image);
}

static void flatten_forward(const struct cpu_step *s)
{
    flatten(s, s->c->out, s->in->out, 1);
}

static void flatten_backward(const struct cpu_step *s)
{
    flatten(s, s->c->grad, s->to, 0);
}

/* Copy between a node's padded channels and pixels and its input's. Forward, the rest is 0. */
static void pad(const struct cpu_step *s, float *padded, float *image, int forward)
{
    const struct mc_plan *p = s->p;
    const struct cpu_node *c = s->c, *in = s->in;
    const struct mc_node *n = c->n;
    const size_t w = (size_t)n->w, first = (size_t)n->before[1] * w + (size_t)n->before[2];

    if (!forward)
        cpu_clear_padding(p, in, image);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->run.batch; i++) {
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

static void pad_forward(const struct cpu_step *s)
{
    pad(s, s->c->out, s->in->out, 1);
}

static void pad_backward(const struct cpu_step *s)
{
    pad(s, s->c->grad, s->to, 0);
}

const struct cpu_op cpu_op_flatten = {.forward = flatten_forward, .backward = flatten_backward};
const struct cpu_op cpu_op_pad = {.forward = pad_forward, .backward = pad_backward};
