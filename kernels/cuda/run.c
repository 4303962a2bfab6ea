/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's passes: the hooks of kernels/executor.h, and what several operations use. */
#include "kernels/cuda/cuda.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>

void cuda_move(const struct mc_plan *p, size_t n, const void *from, int adds, void *to)
{
    if (adds || to != from)
        cuda_copy_rows(p->be, p->type, 1, n, (struct cuda_from_rows){from, 0}, adds,
                       (struct cuda_to_rows){to, 0});
}

/* ---- hooks ----------------------------------------------------------------------------------- */

static void begin_forward(struct mc_run *r, const struct mc_buf *ctl)
{
    struct mc_plan *p = cuda_plan_of(r);
    const struct cuda_copies *k = &p->copies;
    const struct mc_ctl *c = (const struct mc_ctl *)ctl->data;

    cuda_enter(p->be);
    if (k->n)
        cuda_copy_weights(p->be, p->type, k->n, r->params, k->param, k->weight, &p->rows, c);
    else
        cuda_begin_forward(p->be, &p->rows, c);
}

static void count_images(struct mc_run *r, double *images)
{
    cuda_count_images(cuda_plan_of(r)->be, cuda_plan_of(r)->rows.batch, images);
}

static void begin_backward(struct mc_run *r)
{
    struct mc_plan *p = cuda_plan_of(r);
    struct cuda_loss_scale *s = p->loss_scale;

    cuda_use(p->be); /* metrics may still run on the side stream */
    if (s) {
        p->scale = r->dparams ? &s->scale : &s->pixels;
        p->pixels_scale = r->dparams ? &s->last : &s->pixels;
    }
    if (r->dparams)
        cuda_fill_zeros(p->be, r->dparams, r->g->P * sizeof *r->dparams);
}

static struct cuda_step step(struct mc_run *r, int i, int input)
{
    struct mc_plan *p = cuda_plan_of(r);
    struct cuda_node *c = &p->nodes[i], *in = &p->nodes[c->n->in[input]];

    return (struct cuda_step){.p = p,
                              .be = p->be,
                              .c = c,
                              .in = in,
                              .x = cuda_node_shape(p, in),
                              .y = cuda_node_shape(p, c),
                              .from = in->out,
                              .to = c->out,
                              .input = input};
}

static void forward(struct mc_run *r, int i)
{
    const struct cuda_step s = step(r, i, 0);

    cuda_ops[s.c->n->op]->forward(&s);
}

static void parameters(struct mc_run *r, int i)
{
    const struct cuda_step s = step(r, i, 0);

    if (cuda_ops[s.c->n->op]->parameters)
        cuda_ops[s.c->n->op]->parameters(&s);
}

static void backward(struct mc_run *r, int i, int input, int adds)
{
    struct cuda_step s = step(r, i, input);

    s.from = s.dy = s.c->grad;
    s.to = s.in->grad;
    s.adds = adds;
    cuda_ops[s.c->n->op]->backward(&s);
}

static void pass_gradient(struct mc_run *r, int from, int to, int adds)
{
    const struct mc_plan *p = cuda_plan_of(r);

    if (p->nodes[from].grad != p->nodes[to].grad)
        cuda_move(p, p->nodes[from].size, p->nodes[from].grad, adds, p->nodes[to].grad);
}

static void end_backward(struct mc_run *r)
{
    const struct mc_plan *p = cuda_plan_of(r);
    const struct cuda_copies *k = &p->copies;

    if (p->be->forked)
        cuda_join(p->be);
    if (r->dparams && k->convs)
        cuda_copy_gradients(p->be, p->type, k->convs, k->grad, k->param, r->dparams);
    if (r->dparams && p->loss_scale && r->g->P)
        cuda_finish_gradients(p->be, r->g->P, r->dparams, p->loss_scale, p->partial.arrived);
}

static const struct mc_runner RUNNER = {begin_forward,  forward,      count_images,
                                        begin_backward, parameters,   backward,
                                        pass_gradient,  end_backward, cuda_tap_moments};

/* ---- plans ----------------------------------------------------------------------------------- */

int cuda_plan_new(struct mc_backend *be, const struct mc_graph *g, const struct mc_plan_opts *o,
                  struct mc_plan **out, struct mc_error *err)
{
    struct mc_plan *p = NULL;
    int rc = mc_new(&p, 1, err);

    if (rc)
        return rc;
    p->be = cuda_of(be);
    cuda_enter(p->be);
    if ((rc = mc_run_init(&p->run, &RUNNER, g, o, err)) ||
        (rc = mc_new(&p->nodes, (size_t)g->n_nodes, err)))
        goto out;
    for (int i = 0; i < g->n_nodes; i++) {
        p->nodes[i].n = &g->nodes[i];
        p->nodes[i].role = &p->run.roles[i];
    }
    rc = cuda_plan_place(p, err);
out:
    if (rc)
        cuda_plan_free(p);
    else
        *out = p;
    return rc;
}

void cuda_plan_free(struct mc_plan *p)
{
    if (!p)
        return;
    cuda_enter(p->be);
    for (int i = 0; p->nodes && i < p->run.g->n_nodes; i++)
        cuda_conv_free(p->nodes[i].conv);
    cuda_release(p->be, p->data);
    free(p->nodes);
    mc_run_release(&p->run);
    free(p);
}
