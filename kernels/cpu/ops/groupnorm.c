/* SPDX-License-Identifier: Apache-2.0
 *
 * Group norm. Each image is a batch of one for batch norm's kernels, with the statistics of its
 * groups instead of its channels. */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Vectors of channels per image, in the node's `extra`. */
enum { MEAN, INVSTD, SCALE, BETA, K1, K2, N_VECTORS };

/* An image of a step, and where its vectors and partial sums are. */
struct image {
    struct cpu_shape s;
    size_t offset; /* its first float in activations */
    size_t b;      /* channels in a block */
    float *vectors[N_VECTORS], *part;
    struct cpu_norm m;
};

static struct image image_of(const struct cpu_step *s, size_t i)
{
    const size_t b = (size_t)s->k->block, channels = s->c->cb * b;
    struct image m = {
        .s = {1, i < s->p->valid, s->c->cb, s->c->hw}, .offset = i * s->c->image, .b = b};

    for (size_t v = 0; v < N_VECTORS; v++)
        m.vectors[v] = (float *)s->c->extra + (i * N_VECTORS + v) * channels;
    m.part = (float *)s->p->work + i * 2 * channels;
    m.m = (struct cpu_norm){.mean = m.vectors[MEAN],
                            .scale = m.vectors[SCALE],
                            .beta = m.vectors[BETA],
                            .k1 = m.vectors[K1],
                            .k2 = m.vectors[K2],
                            .delta = -1};
    return m;
}

/* Sum `index` of channel c. */
static double sum_of(const struct image *m, size_t c, size_t index)
{
    return (double)m->part[(c / m->b * 2 + index) * m->b + c % m->b];
}

/* Mean and variance of channels [from, to), from sums about each channel's first pixel. */
static void moments(const struct image *m, const float *x, size_t from, size_t to, double *mean,
                    double *var)
{
    const double hw = (double)m->s.hw, n = (double)(to - from);
    double sum = 0, sq = 0;

    for (size_t c = from; c < to; c++)
        sum += (double)x[c / m->b * m->s.hw * m->b + c % m->b] + sum_of(m, c, 0) / hw;
    *mean = sum / n;
    for (size_t c = from; c < to; c++) {
        const double d = sum_of(m, c, 0) / hw;
        const double off = (double)x[c / m->b * m->s.hw * m->b + c % m->b] + d - *mean;
        sq += sum_of(m, c, 1) / hw - d * d + off * off;
    }
    *var = sq > 0 ? sq / n : 0;
}

static void forward(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    const float *gamma = s->p->run.params + n->weight.offset;
    const float *beta = s->p->run.params + n->bias.offset;
    const size_t each = (size_t)(n->c / n->groups);

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->p->run.batch; i++) {
        const struct image m = image_of(s, i);
        const float *x = s->in->out + m.offset;
        memset(m.vectors[0], 0, N_VECTORS * s->c->cb * m.b * sizeof(float));
        s->k->stats(&m.s, x, m.part);
        for (size_t from = 0; m.s.valid && from < (size_t)n->c; from += each) {
            double mean, var;
            moments(&m, x, from, from + each, &mean, &var);
            for (size_t c = from; c < from + each; c++) {
                const double inv = 1 / sqrt(var + (double)n->eps);
                m.vectors[MEAN][c] = (float)mean;
                m.vectors[INVSTD][c] = (float)inv;
                m.vectors[SCALE][c] = (float)((double)gamma[c] * inv);
                m.vectors[BETA][c] = beta[c];
            }
        }
        s->k->norm(&m.s, x, NULL, &m.m, NULL, s->c->out + m.offset);
    }
}

/* Sums of dy and dy (x - mean) per image and channel, and of a group's, weighted by gamma. */
static void sums(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    const float *gamma = s->p->run.params + n->weight.offset;
    const size_t each = (size_t)(n->c / n->groups);
    const double count = (double)(each * s->c->hw);

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->p->valid; i++) {
        const struct image m = image_of(s, i);
        s->k->norm_back_sums(&m.s, s->in->out + m.offset, NULL, s->c->grad + m.offset, &m.m, m.part,
                             NULL);
        for (size_t from = 0; from < (size_t)n->c; from += each) {
            const double inv = (double)m.vectors[INVSTD][from];
            double sum = 0, dot = 0;
            for (size_t c = from; c < from + each; c++) {
                sum += (double)gamma[c] * sum_of(&m, c, 0);
                dot += (double)gamma[c] * sum_of(&m, c, 1);
            }
            for (size_t c = from; c < from + each; c++) {
                m.vectors[K1][c] = (float)(sum / count);
                m.vectors[K2][c] = (float)(dot * inv * inv / count);
            }
        }
    }
}

static void parameters(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    float *dparams = s->p->run.dparams;

    sums(s);
    for (size_t c = 0; dparams && c < (size_t)n->c; c++) {
        double dgamma = 0, dbeta = 0;
        for (size_t i = 0; i < s->p->valid; i++) {
            const struct image m = image_of(s, i);
            dgamma += sum_of(&m, c, 1) * (double)m.vectors[INVSTD][c];
            dbeta += sum_of(&m, c, 0);
        }
        dparams[n->weight.offset + c] = (float)dgamma;
        dparams[n->bias.offset + c] = (float)dbeta;
    }
}

/* dx = (gamma dy - k1 - (x - mean) k2) / sigma */
static void backward(const struct cpu_step *s)
{
    const float *gamma = s->p->run.params + s->c->n->weight.offset;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->p->run.batch; i++) {
        struct image m = image_of(s, i);
        float *dx = s->to + m.offset;
        m.m.scale = m.vectors[INVSTD];
        s->k->mul(&m.s, s->c->grad + m.offset, gamma, 0, 0, dx);
        s->k->norm_back(&m.s, s->in->out + m.offset, dx, &m.m, dx);
    }
}

static int place(struct mc_plan *p, struct cpu_node *c, struct mc_error *err)
{
    const size_t bytes = p->run.batch * N_VECTORS * c->cb * (size_t)p->be->k->block * sizeof(float);

    (void)err;
    c->extra_region = cpu_arena_add(&p->arena, bytes, 0, 2 * (size_t)p->run.g->n_nodes + 1);
    return 0;
}

const struct cpu_op cpu_op_groupnorm = {
    .forward = forward, .parameters = parameters, .backward = backward, .place = place};
