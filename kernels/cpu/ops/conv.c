/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and linear layers. */
#include "kernels/cpu/cpu.h"

#include <string.h>

struct cpu_conv_shape cpu_conv_shape_of(const struct mc_plan *p, const struct cpu_node *c)
{
    const struct cpu_node *in = &p->nodes[c->n->in[0]];
    const struct mc_node *n = c->n;

    return (struct cpu_conv_shape){
        .n = (int)p->run.batch,
        .ic = in->n->c,
        MC_CONV_SIZES(in->n, n),
        .plain_input = in->plain,
        .plain_grad = in->plain_grad,
        .bias = n->has_bias && !c->role->skip_bias,
        .backward_data = p->run.backward && c->role->reach && in->role->need_grad,
        .backward_weights = p->run.backward && c->role->reach,
        .adds = mc_adds_gradient(p->run.g, p->run.roles, (int)(c - p->nodes)),
    };
}

static int conv_place(struct mc_plan *p, struct cpu_node *c, struct mc_error *err)
{
    struct cpu_conv_shape s = cpu_conv_shape_of(p, c);

    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        s.algorithm[pass] = cpu_choose(p->be->k, pass, &s);
    return mc_fail_in(cpu_conv_new(p->be, &s, &c->conv, err), err, "%s", c->n->name);
}

/* The parameters of passes that only read them. */
static float *read_only(const struct cpu_step *s, size_t offset)
{
    return (float *)(uintptr_t)(s->p->run.params + offset);
}

static void conv_forward(const struct cpu_step *s)
{
    const struct cpu_tensors t = {.x = s->in->out,
                                  .weight = read_only(s, s->c->n->weight.offset),
                                  .bias = read_only(s, s->c->n->bias.offset),
                                  .y = s->c->out,
                                  .work = s->p->work};

    cpu_conv_run(s->c->conv, MC_PASS_FORWARD, &t);
}

static void conv_parameters(const struct cpu_step *s)
{
    const struct mc_node *n = s->c->n;
    const struct cpu_shape shape = cpu_node_shape(s->p, s->c);
    float *dparams = s->p->run.dparams;

    if (!dparams)
        return;
    const struct cpu_tensors t = {
        .x = s->in->out, .weight = dparams + n->weight.offset, .y = s->c->grad, .work = s->p->work};
    cpu_conv_run(s->c->conv, MC_PASS_WEIGHTS, &t);
    if (!n->has_bias || s->c->role->skip_bias)
        return;
    s->k->channel_sums(&shape, s->c->grad, s->p->work);
    cpu_totals(s->p, s->c, 0, 1, dparams + n->bias.offset);
}

static void conv_backward(const struct cpu_step *s)
{
    const struct cpu_tensors t = {.x = s->to,
                                  .weight = read_only(s, s->c->n->weight.offset),
                                  .y = s->c->grad,
                                  .work = s->p->work};

    cpu_conv_run(s->c->conv, MC_PASS_DATA, &t);
}

static void linear_forward(const struct cpu_step *s)
{
    const struct mc_plan *p = s->p;
    const struct cpu_node *c = s->c, *in = s->in;
    const float *params = p->run.params;
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;
    const float *bias = c->n->has_bias && !c->role->skip_bias ? params + c->n->bias.offset : NULL;

    cpu_gemm(p->be, (struct mc_product){.size = {p->run.batch, o, k},
                                        .a = {in->out, in->image},
                                        .b = {params + c->n->weight.offset, k, .transposed = 1},
                                        .c = {c->out, c->image}});
    for (size_t i = 0; i < p->run.batch; i++) {
        float *y = c->out + i * c->image;
        for (size_t j = 0; bias && j < o; j++)
            y[j] += bias[j];
        memset(y + o, 0, (c->image - o) * sizeof *y);
    }
}

static void linear_parameters(const struct cpu_step *s)
{
    const struct mc_plan *p = s->p;
    const struct cpu_node *c = s->c, *in = s->in;
    float *dparams = p->run.dparams;
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    if (!dparams)
        return;
    cpu_gemm(p->be, (struct mc_product){.size = {o, k, p->run.batch},
                                        .a = {c->grad, c->image, .transposed = 1},
                                        .b = {in->out, in->image},
                                        .c = {dparams + c->n->weight.offset, k}});
    for (size_t j = 0; c->n->has_bias && !c->role->skip_bias && j < o; j++) {
        double sum = 0;
        for (size_t i = 0; i < p->valid; i++)
            sum += (double)c->grad[i * c->image + j];
        dparams[c->n->bias.offset + j] = (float)sum;
    }
}

static void linear_backward(const struct cpu_step *s)
{
    const struct mc_plan *p = s->p;
    const struct cpu_node *c = s->c, *in = s->in;
    const float *params = p->run.params;
    const size_t o = (size_t)c->n->c, k = (size_t)in->n->c;

    cpu_gemm(p->be, (struct mc_product){.size = {p->run.batch, k, o},
                                        .a = {c->grad, c->image},
                                        .b = {params + c->n->weight.offset, k},
                                        .c = {s->to, in->image}});
    for (size_t i = 0; in->image > k && i < p->run.batch; i++)
        memset(s->to + i * in->image + k, 0, (in->image - k) * sizeof *s->to);
}

const struct cpu_op cpu_op_conv = {.forward = conv_forward,
                                   .parameters = conv_parameters,
                                   .backward = conv_backward,
                                   .place = conv_place};
const struct cpu_op cpu_op_linear = {
    .forward = linear_forward, .parameters = linear_parameters, .backward = linear_backward};
