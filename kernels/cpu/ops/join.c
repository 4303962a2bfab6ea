/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on several inputs. */
#include "kernels/cpu/cpu.h"

#include <string.h>

/* An input in the output's memory comes first. */
static void add_forward(const struct cpu_step *s)
{
    const float *in[MC_MAX_INPUTS] = {NULL};
    float *y = s->c->out;
    int n = 0;

    for (int other = 0; other < 2; other++)
        for (int k = 0; k < s->c->n->n_in; k++)
            if ((s->p->nodes[s->c->n->in[k]].out != y) == other)
                in[n++] = s->p->nodes[s->c->n->in[k]].out;
    s->k->add(s->c->size, in[0], in[1], y);
    for (int k = 2; k < n; k++)
        s->k->add(s->c->size, y, in[k], y);
}

static void add_backward(const struct cpu_step *s)
{
    cpu_move(s->p, s->c->size, s->c->grad, s->adds, s->to);
}

/* `from` times the node's other input. */
static void mul(const struct cpu_step *s)
{
    const struct cpu_node *other = &s->p->nodes[s->c->n->in[!s->input]];
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);

    if (s->in->hw < s->c->hw)
        s->k->dots(&shape, other->out, s->from, s->to);
    else
        s->k->mul(&shape, s->from, other->out, other->image, other->hw == s->c->hw, s->to);
}

/* Copy `count` channels of `from` at cf to channels of `to` at ct, pixel by pixel. */
static void copy_channels(const struct mc_plan *p, const struct cpu_node *to, float *dst, size_t ct,
                          const struct cpu_node *from, const float *src, size_t cf, size_t count)
{
    const size_t b = (size_t)p->be->k->block;
    const int whole = !to->plain && !from->plain && ct % b == 0 && cf % b == 0;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->run.batch; i++)
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

static void concat_forward(const struct cpu_step *s)
{
    size_t channel = 0;

    cpu_clear_padding(s->p, s->c, s->c->out);
    for (int k = 0; k < s->c->n->n_in; k++) {
        const struct cpu_node *in = &s->p->nodes[s->c->n->in[k]];
        copy_channels(s->p, s->c, s->c->out, channel, in, in->out, 0, (size_t)in->n->c);
        channel += (size_t)in->n->c;
    }
}

static void concat_backward(const struct cpu_step *s)
{
    size_t channel = 0;

    for (int k = 0; k < s->input; k++)
        channel += (size_t)s->p->nodes[s->c->n->in[k]].n->c;
    cpu_clear_padding(s->p, s->in, s->to);
    copy_channels(s->p, s->in, s->to, 0, s->c, s->c->grad, channel, (size_t)s->in->n->c);
}

const struct cpu_op cpu_op_add = {.forward = add_forward, .backward = add_backward, .adds = 1};
const struct cpu_op cpu_op_mul = {.forward = mul, .backward = mul};
const struct cpu_op cpu_op_concat = {.forward = concat_forward, .backward = concat_backward};
