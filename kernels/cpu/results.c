/* SPDX-License-Identifier: Apache-2.0
 *
 * The results that a plan offers: metrics, outputs, joint moments. */
#include "kernels/cpu/cpu.h"

#include <assert.h>
#include <string.h>

void cpu_metrics(struct mc_plan *p, struct mc_buf *acc)
{
    double *a = mc_doubles(acc);

    a[MC_METRIC_IMAGES] += (double)p->valid;
    a[MC_METRIC_OBJECTIVE] += p->objective;
    for (size_t i = 0; i < p->valid; i++) {
        a[MC_METRIC_LOSS] += (double)p->loss[i];
        a[MC_METRIC_LOSS_SQ] += (double)p->loss[i] * (double)p->loss[i];
        a[MC_METRIC_CORRECT] += (double)p->correct[i];
    }
}

/* Copy channels [first, first + count) of a node's output to (B, count, H, W); masked images are
 * 0. */
static void copy_out(const struct mc_plan *p, const struct cpu_node *c, size_t first, size_t count,
                     float *out)
{
    memset(out, 0, p->run.batch * count * c->hw * sizeof *out);
    for (size_t i = 0; i < p->valid; i++)
        for (size_t k = 0; k < count; k++) {
            size_t step;
            const float *from = c->out + cpu_channel_at(p, c, i, first + k, &step);
            float *to = out + (i * count + k) * c->hw;
            for (size_t q = 0; q < c->hw; q++)
                to[q] = from[q * step];
        }
}

void cpu_output(struct mc_plan *p, enum mc_output kind, size_t index, struct mc_buf *out)
{
    float *to = mc_floats(out);
    const struct cpu_node *logits = &p->nodes[p->run.g->logits];

    switch (kind) {
    case MC_OUT_LOGITS:
        copy_out(p, logits, 0, (size_t)logits->n->c, to);
        break;
    case MC_OUT_LOSS:
    case MC_OUT_CORRECT:
        memcpy(to, kind == MC_OUT_LOSS ? p->loss : p->correct, p->run.batch * sizeof *to);
        break;
    case MC_OUT_TAP:
        copy_out(p, &p->nodes[p->run.taps[index].node], p->run.taps[index].offset,
                 p->run.taps[index].count, to);
        break;
    }
}

void cpu_tap_moments(struct mc_run *first, struct mc_run *second, size_t t, struct mc_buf *acc)
{
    const struct mc_plan *a = cpu_plan_of(first), *b = cpu_plan_of(second);
    const struct mc_tap_request *tap = &a->run.taps[t], *other = &b->run.taps[t];
    const struct cpu_node *x = &a->nodes[tap->node], *y = &b->nodes[other->node];
    const struct cpu_moments m = {cpu_node_shape(a, x), x->out,     y->out,         tap->offset,
                                  tap->count,           a->moments, mc_doubles(acc)};

    assert(tap->offset == other->offset && tap->count == other->count && a->valid == b->valid);
    assert(x->n->c == y->n->c && x->hw == y->hw);
    assert(acc->bytes >= MC_MOMENTS_SIZE(tap->count) * sizeof(double));
    a->be->k->moments(&m);
}

#define MOMENTS_FLOATS                                                                             \
    ((size_t)16 << 20) /* floats of a network that are converted to blocks at
                          once */

/* Convert (n, k, hw) to blocks of b channels; `to` is zeroed. */
static void into_blocks(const struct cpu_shape *s, size_t k, size_t b, const float *x, float *to)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n; i++)
        for (size_t c = 0; c < k; c++)
            for (size_t q = 0; q < s->hw; q++)
                to[((i * s->cb + c / b) * s->hw + q) * b + c % b] = x[(i * k + c) * s->hw + q];
}

int cpu_moments_of(struct mc_backend *base, size_t n, size_t k, size_t hw, const struct mc_buf *a,
                   const struct mc_buf *b, struct mc_buf *acc, struct mc_error *err)
{
    const struct cpu *be = (const struct cpu *)base;
    const size_t block = (size_t)be->k->block, cb = (k + block - 1) / block;
    const size_t image = cb * block * hw;
    size_t step = n; /* images at a time; layers of few channels are padded to whole blocks */
    while (step > 1 && step * image > MOMENTS_FLOATS)
        step = (step + 1) / 2;
    const size_t floats = step * image, doubles = (cpu_moments_work(k, step * hw) + 7) / 8 * 8;
    struct mc_buf *room;
    int rc = cpu_buf_new(base, doubles * sizeof(double) + 2 * floats * sizeof(float), &room, err);

    if (rc)
        return rc;
    double *work = mc_doubles(room);
    float *x = (float *)(void *)(work + doubles), *y = x + floats;
    assert(a->bytes >= n * k * hw * sizeof *x && b->bytes >= n * k * hw * sizeof *y);
    assert(acc->bytes >= MC_MOMENTS_SIZE(k) * sizeof(double));
    cpu_enter(be);
    for (size_t first = 0; first < n; first += step) {
        const size_t now = n - first < step ? n - first : step;
        const struct cpu_moments m = {
            {.n = now, .valid = now, .cb = cb, .hw = hw}, x, y, 0, k, work, mc_doubles(acc)};
        into_blocks(&m.s, k, block, mc_const_floats(a) + first * k * hw, x);
        into_blocks(&m.s, k, block, mc_const_floats(b) + first * k * hw, y);
        be->k->moments(&m);
    }
    cpu_buf_free(base, room);
    return 0;
}
