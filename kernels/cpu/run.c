/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's passes: the hooks of kernels/executor.h, and what several operations use. */
#include "kernels/cpu/cpu.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

void cpu_move(const struct mc_plan *p, size_t n, const float *from, int adds, float *to)
{
    if (adds)
        p->be->k->add(n, to, from, to);
    else if (to != from)
        memcpy(to, from, n * sizeof *to);
}

void cpu_clear_padding(const struct mc_plan *p, const struct cpu_node *c, float *x)
{
    const size_t b = (size_t)p->be->k->block, used = (size_t)c->n->c % b;
    for (size_t i = 0; used && i < p->run.batch; i++) {
        float *last = x + i * c->image + (c->cb - 1) * c->hw * b;
        for (size_t q = 0; q < c->hw; q++)
            memset(last + q * b + used, 0, (b - used) * sizeof *last);
    }
}

double cpu_total(const struct mc_plan *p, const struct cpu_node *n, const float *part, size_t c,
                 size_t index, size_t count)
{
    const size_t b = (size_t)p->be->k->block;
    double sum = 0;
    for (size_t i = 0; i < p->valid; i++)
        sum += (double)part[((i * n->cb + c / b) * count + index) * b + c % b];
    return sum;
}

void cpu_totals(const struct mc_plan *p, const struct cpu_node *c, size_t index, size_t count,
                float *sums)
{
    for (size_t j = 0; j < (size_t)c->n->c; j++)
        sums[j] = (float)cpu_total(p, c, p->work, j, index, count);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

static void begin_forward(struct mc_run *r, const struct mc_buf *ctl)
{
    struct mc_plan *p = cpu_plan_of(r);

    cpu_enter(p->be);
    memcpy(&p->ctl, ctl->data, sizeof p->ctl);
    p->objective = 0;
}

static void count_images(struct mc_run *r, double *images)
{
    *images += (double)cpu_plan_of(r)->valid;
}

static void begin_backward(struct mc_run *r)
{
    cpu_enter(cpu_plan_of(r)->be);
    if (r->dparams)
        memset(r->dparams, 0, r->g->P * sizeof *r->dparams);
}

static struct cpu_step step(struct mc_run *r, int i, int input)
{
    struct mc_plan *p = cpu_plan_of(r);
    struct cpu_node *c = &p->nodes[i], *in = &p->nodes[c->n->in[input]];

    return (struct cpu_step){
        .p = p, .k = p->be->k, .c = c, .in = in, .input = input, .from = in->out, .to = c->out};
}

static void forward(struct mc_run *r, int i)
{
    const struct cpu_step s = step(r, i, 0);

    cpu_ops[s.c->n->op]->forward(&s);
}

static void parameters(struct mc_run *r, int i)
{
    const struct cpu_step s = step(r, i, 0);

    if (cpu_ops[s.c->n->op]->parameters)
        cpu_ops[s.c->n->op]->parameters(&s);
}

static void backward(struct mc_run *r, int i, int input, int adds)
{
    struct cpu_step s = step(r, i, input);
    const int apart = adds && !s.c->adds;

    s.from = s.c->grad;
    s.to = apart ? s.p->tmp : s.in->grad;
    s.adds = adds && !apart;
    cpu_ops[s.c->n->op]->backward(&s);
    if (apart)
        cpu_move(s.p, s.in->grad_size, s.to, 1, s.in->grad);
}

static void pass_gradient(struct mc_run *r, int from, int to, int adds)
{
    const struct mc_plan *p = cpu_plan_of(r);

    if (p->nodes[from].grad != p->nodes[to].grad)
        cpu_move(p, p->nodes[from].size, p->nodes[from].grad, adds, p->nodes[to].grad);
}

static const struct mc_runner RUNNER = {.begin_forward = begin_forward,
                                        .forward = forward,
                                        .count_images = count_images,
                                        .begin_backward = begin_backward,
                                        .parameters = parameters,
                                        .backward = backward,
                                        .pass_gradient = pass_gradient,
                                        .tap_moments = cpu_tap_moments};

/* ---- plans ----------------------------------------------------------------------------------- */

int cpu_plan_new(struct mc_backend *be, const struct mc_graph *g, const struct mc_plan_opts *o,
                 struct mc_plan **out, struct mc_error *err)
{
    struct mc_plan *p = NULL;
    int rc = mc_new(&p, 1, err);

    if (rc)
        return rc;
    p->be = cpu_of(be);
    cpu_enter(p->be);
    if ((rc = mc_run_init(&p->run, &RUNNER, g, o, err)) ||
        (rc = mc_new(&p->nodes, (size_t)g->n_nodes, err)))
        goto out;
    for (int i = 0; i < g->n_nodes; i++) {
        p->nodes[i].n = &g->nodes[i];
        p->nodes[i].role = &p->run.roles[i];
    }
    rc = cpu_plan_place(p, err);
out:
    if (rc)
        cpu_plan_free(p);
    else
        *out = p;
    return rc;
}

void cpu_plan_free(struct mc_plan *p)
{
    if (!p)
        return;
    cpu_enter(p->be);
    for (int i = 0; p->nodes && i < p->run.g->n_nodes; i++)
        cpu_conv_free(p->nodes[i].conv);
    cpu_arena_release(&p->arena);
    free(p->nodes);
    mc_run_release(&p->run);
    free(p);
}
