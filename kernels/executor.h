/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and running a plan: the part that all backends share. It fills a plan, runs its nodes in
 * order, skips fused nodes and adds up gradients. A backend's run.c includes it once.
 *
 * The backend defines BACKEND(name), its own name for a thing (cpu_##name). Under such names it
 * provides struct node and the functions of, enter, floats, const_floats, conv_free, plan_place
 * (memory and convolutions of a plan whose nodes have their roles), plan_release and tap_moments
 * (adds the joint moments of a tap of two plans). It also provides the static operations below. Its
 * struct mc_plan and struct node have the fields that this file uses.
 *
 *     begin_forward, count_images      before the nodes of a forward pass; after them, in
 *                                      MC_MODE_REESTIMATE
 *     begin_backward, end_backward     before and after the nodes of a backward pass; the first is
 *                                      also `enter`, need not wait for metrics and zeroes dparams
 *     layer_forward                    output from the first input (of a product also the second),
 *                                      parameters and statistics
 *     layer_parameters                 gradients of a layer's parameters (dparams may be NULL), and
 *                                      sums over the batch that its input's gradient needs
 *     layer_backward                   the gradient of input k
 *     add                              y = a + b, n numbers; y may be a
 *     move                             to = from, n numbers; they may be the same
 *     channels                         copies one input's channels to the concatenation's output,
 *                                      from channel `at` on (called in order from 0); or back from
 *                                      its gradient to the input's
 *
 * A batch norm computes an addition and the ReLU after it if its role has them. Its
 * layer_parameters then writes the addition's gradient.
 *
 * If an argument `adds` is set, the gradient already has a value, and the result is added to it. */
#ifndef BACKEND
#error "a backend's run.c includes this file"
#endif

#include "libcommon/base/alloc.h"

#include <assert.h>
#include <stdlib.h>

int BACKEND(plan_new)(struct mc_backend *be, const struct mc_graph *g, const struct mc_plan_opts *o,
                      struct mc_plan **out, struct mc_error *err)
{
    struct mc_plan *p = NULL;
    int rc = mc_new(&p, 1, err);

    if (rc)
        return rc;
    p->be = BACKEND(of)(be);
    BACKEND(enter)(p->be);
    p->g = g;
    p->batch = o->batch;
    p->backward = o->backward;
    p->input_grad = o->backward && o->input_grad;
    p->train_only = o->train_only;
    p->n_taps = o->n_taps;
    if (!(p->roles = mc_roles_new(g, o)))
        rc = mc_no_memory(err);
    if (!rc)
        rc = mc_new(&p->nodes, (size_t)g->n_nodes, err);
    if (!rc)
        rc = mc_new(&p->taps, o->n_taps, err);
    for (size_t t = 0; !rc && t < o->n_taps; t++)
        p->taps[t] = o->taps[t];
    for (int i = 0; !rc && i < g->n_nodes; i++) {
        p->nodes[i].n = &g->nodes[i];
        p->nodes[i].role = &p->roles[i];
    }
    if (!rc)
        rc = BACKEND(plan_place)(p, err);
    if (rc)
        BACKEND(plan_free)(p);
    else
        *out = p;
    return rc;
}

void BACKEND(plan_free)(struct mc_plan *p)
{
    if (!p)
        return;
    BACKEND(enter)(p->be);
    for (int i = 0; p->nodes && i < p->g->n_nodes; i++)
        BACKEND(conv_free)(p->nodes[i].conv);
    BACKEND(plan_release)(p);
    free(p->nodes);
    free(p->roles);
    free(p->taps);
    free(p);
}

/* Return whether the node is a dropout that changes nothing. */
static int is_identity(const struct mc_plan *p, const struct BACKEND(node) * c)
{
    return c->n->op == MC_OP_DROPOUT && (!p->train_only || p->mode == MC_MODE_EVAL);
}

static void add_forward(struct mc_plan *p, struct BACKEND(node) * c)
{
    const void *in[MC_MAX_INPUTS] = {NULL};
    int n = 0;

    for (int other = 0; other < 2; other++) /* an input in the output's memory is first */
        for (int k = 0; k < c->n->n_in; k++)
            if ((p->nodes[c->n->in[k]].out != c->out) == other)
                in[n++] = p->nodes[c->n->in[k]].out;
    add(p, c->size, in[0], in[1], c->out);
    for (int k = 2; k < n; k++)
        add(p, c->size, c->out, in[k], c->out);
}

/* Concatenation, forward or backward: copy the channels of all inputs. */
static void all_channels(struct mc_plan *p, struct BACKEND(node) * c, int backward)
{
    size_t at = 0;

    for (int k = 0; k < c->n->n_in; k++) {
        struct BACKEND(node) *in = &p->nodes[c->n->in[k]];
        if (!backward || in->role->need_grad) {
            channels(p, c, at, in, backward, backward && in->written);
            in->written |= backward;
        }
        at += (size_t)in->n->c;
    }
}

static void node_forward(struct mc_plan *p, struct BACKEND(node) * c, const float *params,
                         float *stats, double *acc)
{
    if (c->role->done)
        return;
    if (c->n->op == MC_OP_ADD)
        add_forward(p, c);
    else if (c->n->op == MC_OP_CONCAT)
        all_channels(p, c, 0);
    else if (is_identity(p, c))
        move(p, c->size, p->nodes[c->n->in[0]].out, 0, c->out);
    else if (c->n->n_in)
        layer_forward(p, c, &p->nodes[c->n->in[0]], params, stats, acc);
}

/* Prepare a forward pass. */
static void start(struct mc_plan *p, enum mc_mode mode, const float *weights,
                  const struct mc_buf *ctl)
{
    BACKEND(enter)(p->be);
    p->mode = mode;
    begin_forward(p, weights, (const struct mc_ctl *)(const void *)ctl->data);
}

void BACKEND(forward)(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                      struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl)
{
    const float *weights = BACKEND(const_floats)(params);
    float *s = stats ? BACKEND(floats)(stats) : NULL;
    double *a = acc ? (double *)(void *)acc->data : NULL;

    assert(mode != MC_MODE_REESTIMATE || a);
    assert(!p->g->S || s || mode == MC_MODE_BATCH || mode == MC_MODE_REESTIMATE);
    start(p, mode, weights, ctl);
    for (int i = 0; i < p->g->n_nodes; i++)
        if (p->nodes[i].role->live)
            node_forward(p, &p->nodes[i], weights, s, a);
    if (mode == MC_MODE_REESTIMATE)
        count_images(p, a + 2 * p->g->S);
}

void BACKEND(moments)(struct mc_plan *const p[2], const struct mc_buf *const params[2],
                      struct mc_buf *const stats[2], const struct mc_buf *ctl,
                      struct mc_buf *const *acc)
{
    const struct mc_graph *g = p[0]->g;

    assert(p[0] != p[1] && p[0]->n_taps == p[1]->n_taps && p[0]->batch == p[1]->batch);
    for (int k = 0; k < 2; k++)
        start(p[k], MC_MODE_EVAL, BACKEND(const_floats)(params[k]), ctl);
    for (int i = 0; i < g->n_nodes; i++) {
        for (int k = 0; k < 2; k++)
            if (p[k]->nodes[i].role->live)
                node_forward(p[k], &p[k]->nodes[i], BACKEND(const_floats)(params[k]),
                             stats[k] ? BACKEND(floats)(stats[k]) : NULL, NULL);
        for (size_t t = 0; t < p[0]->n_taps; t++) {
            const int ready = p[0]->roles[p[0]->taps[t].node].ready;
            assert(p[1]->roles[p[1]->taps[t].node].ready == ready);
            if (ready == i)
                BACKEND(tap_moments)(p[0], p[1], t, acc[t]);
        }
    }
}

/* Pass the gradient of the addition that batch norm c computes to the addition's other input. */
static void share_gradient(struct mc_plan *p, const struct BACKEND(node) * c)
{
    const struct BACKEND(node) *sum = &p->nodes[c->role->sum];
    struct BACKEND(node) *other = &p->nodes[c->role->other];

    if (!other->role->need_grad)
        return;
    if (other->grad != sum->grad)
        move(p, c->size, sum->grad, other->written, other->grad);
    other->written = 1;
}

static void node_backward(struct mc_plan *p, struct BACKEND(node) * c, const float *params,
                          float *dparams)
{
    struct BACKEND(node) *in = &p->nodes[c->n->in[0]];

    if (c->n->op == MC_OP_CONCAT) {
        all_channels(p, c, 1);
        return;
    }
    if (c->role->done)
        return;
    layer_parameters(p, c, in, params, dparams);
    if (c->role->sum >= 0)
        share_gradient(p, c);
    for (int k = 0; k < c->n->n_in; k++) {
        in = &p->nodes[c->n->in[k]];
        if (!in->role->need_grad)
            continue;
        if (c->n->op == MC_OP_ADD || is_identity(p, c))
            move(p, c->size, c->grad, in->written, in->grad);
        else
            layer_backward(p, c, k, in, params, in->written);
        in->written = 1;
    }
}

void BACKEND(backward)(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad)
{
    float *dparams = grad ? BACKEND(floats)(grad) : NULL;

    assert(p->backward);
    begin_backward(p, dparams);
    for (int i = 0; i < p->g->n_nodes; i++)
        p->nodes[i].written = 0;
    for (int i = p->g->n_nodes - 1; i > 0; i--)
        if (p->nodes[i].role->live && p->nodes[i].role->reach)
            node_backward(p, &p->nodes[i], BACKEND(const_floats)(params), dparams);
    end_backward(p, dparams);
}
