/* SPDX-License-Identifier: Apache-2.0
 *
 * Loss heads. */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

static void loss_forward(const struct cpu_step *s)
{
    const struct cpu_node *c = s->c, *in = s->in;
    struct mc_plan *p = s->p;
    const size_t classes = (size_t)in->n->c;
    const int head = mc_is_main(p->run.g, c->n);

    if (head) {
        memset(p->loss, 0, p->run.batch * sizeof *p->loss);
        memset(p->correct, 0, p->run.batch * sizeof *p->correct);
    }
    for (size_t i = 0; i < p->valid; i++) {
        const float *x = in->out + i * in->image;
        const size_t label = (size_t)p->labels[i];
        size_t best = 0;
        double total = 0;
        for (size_t j = 1; j < classes; j++)
            if (x[j] > x[best] || x[j] != x[j]) /* a NaN wins and stays, as in PyTorch */
                best = j;
        for (size_t j = 0; j < classes; j++)
            total += exp((double)x[j] - (double)x[best]);
        const double loss = log(total) + (double)x[best] - (double)x[label];
        p->objective += (double)c->n->loss_weight * loss;
        if (head) {
            p->loss[i] = (float)loss;
            p->correct[i] = best == label && x[best] == x[best] ? 1.0f : 0.0f;
        }
    }
}

static void loss_backward(const struct cpu_step *s)
{
    const struct cpu_node *c = s->c, *in = s->in;
    const struct mc_plan *p = s->p;
    float *dx = s->to;
    const size_t classes = (size_t)in->n->c;

    memset(dx, 0, in->size * sizeof *dx);
    for (size_t i = 0; i < p->valid; i++) {
        const float *x = in->out + i * in->image;
        const double weight = (double)c->n->loss_weight / (double)p->valid;
        double total = 0, top = (double)x[0];
        for (size_t j = 1; j < classes; j++)
            top = (double)x[j] > top ? (double)x[j] : top;
        for (size_t j = 0; j < classes; j++)
            total += exp((double)x[j] - top);
        for (size_t j = 0; j < classes; j++) {
            const double share = exp((double)x[j] - top) / total;
            dx[i * in->image + j] =
                (float)(weight * (share - (j == (size_t)p->labels[i] ? 1.0 : 0.0)));
        }
    }
}

const struct cpu_op cpu_op_loss = {.forward = loss_forward, .backward = loss_backward};
