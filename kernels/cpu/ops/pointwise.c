/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations and dropout. */
#include "kernels/cpu/cpu.h"
#include "libcommon/base/rng.h"

static void relu_forward(const struct cpu_step *s)
{
    s->k->relu(s->c->size, s->in->out, s->c->n->delta, s->c->out);
}

static void relu_backward(const struct cpu_step *s)
{
    s->k->relu_back(s->c->size, s->in->out, s->c->grad, s->c->n->delta, s->to);
}

static void activation_forward(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;

    s->k->activation(n->op, n->factor, s->c->size, s->in->out, NULL, s->c->out);
    cpu_clear_padding(s->p, s->c, s->c->out);
}

static void activation_backward(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;

    s->k->activation(n->op, n->factor, s->c->size, s->in->out, s->c->grad, s->to);
}

/* y = x * mask / (1 - drop); the backward pass draws the same mask again. */
static void dropout(const struct cpu_step *s)
{
    const struct mc_plan *p = s->p;
    const struct cpu_node *c = s->c;
    const float *x = s->from;
    float *y = s->to;
    const float keep = 1 - c->n->drop, scale = 1 / keep;
    /* MC_MAX_NODES and MC_MAX_DROPOUT / 4 fill 32 bits: counters are unique */
    const uint32_t node = (uint32_t)(c->n - p->run.g->nodes) << 20;

    if (mc_run_keeps_all(&p->run)) {
        cpu_move(p, c->size, x, 0, y);
        return;
    }
    cpu_clear_padding(p, c, y);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->run.batch; i++) {
        for (size_t ch = 0; ch < (size_t)c->n->c; ch++) {
            size_t step, offset = cpu_channel_at(p, c, i, ch, &step);
            for (size_t q = 0; q < c->hw; q++) {
                const size_t e = ch * c->hw + q;
                const struct mc_rng4 r = mc_rng(p->ctl.seed, MC_RNG_DROPOUT, p->ctl.epoch,
                                                p->ids[i], node + (uint32_t)(e / 4));
                const float v = x[offset + q * step];
                y[offset + q * step] = mc_rng_unit(r.v[e % 4]) < keep ? v * scale : 0.0f;
            }
        }
    }
}

const struct cpu_op cpu_op_relu = {.forward = relu_forward, .backward = relu_backward};
#define ROW(NAME, name, ...)                                                                       \
    const struct cpu_op cpu_op_##name = {.forward = activation_forward,                            \
                                         .backward = activation_backward};
MC_EACH_ACTIVATION(ROW)
const struct cpu_op cpu_op_dropout = {.forward = dropout, .backward = dropout};
