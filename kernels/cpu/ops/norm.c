/* SPDX-License-Identifier: Apache-2.0
 *
 * Layer norm and scale. */
#include "kernels/cpu/cpu.h"

static const float *weight(const struct cpu_step *s)
{
    return s->p->run.params + s->c->n->weight.offset;
}

static void layernorm_forward(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);

    s->k->layer_norm(&shape, (size_t)n->c, n->eps, s->in->out, weight(s),
                     s->p->run.params + n->bias.offset, s->c->out);
}

static void layernorm_parameters(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    s->k->layer_norm_back(&shape, (size_t)n->c, n->eps, s->in->out, s->c->grad, weight(s),
                          s->p->work, NULL);
    cpu_totals(s->p, s->c, 0, 2, dparams + n->weight.offset);
    cpu_totals(s->p, s->c, 1, 2, dparams + n->bias.offset);
}

static void layernorm_backward(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);

    s->k->layer_norm_back(&shape, (size_t)n->c, n->eps, s->in->out, s->c->grad, weight(s), NULL,
                          s->to);
}

static void scale(const struct cpu_step *s)
{
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);

    s->k->mul(&shape, s->from, weight(s), 0, 0, s->to);
}

static void scale_parameters(const struct cpu_step *s)
{
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    s->k->dots(&shape, s->in->out, s->c->grad, s->p->work);
    cpu_totals(s->p, s->c, 0, 1, dparams + s->c->n->weight.offset);
}

const struct cpu_op cpu_op_layernorm = {.forward = layernorm_forward,
                                        .parameters = layernorm_parameters,
                                        .backward = layernorm_backward};
const struct cpu_op cpu_op_scale = {
    .forward = scale, .parameters = scale_parameters, .backward = scale};
