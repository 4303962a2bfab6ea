/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/executor.h"

#include "libcommon/base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int mc_run_init(struct mc_run *r, const struct mc_runner *by, const struct mc_graph *g,
                const struct mc_plan_opts *o, struct mc_error *err)
{
    int rc;

    *r = (struct mc_run){.by = by,
                         .g = g,
                         .batch = o->batch,
                         .backward = o->backward,
                         .input_grad = o->backward && o->input_grad,
                         .train_only = o->train_only,
                         .n_taps = o->n_taps};
    if ((rc = mc_new(&r->written, (size_t)g->n_nodes, err)) ||
        (rc = mc_new(&r->taps, o->n_taps, err)))
        return rc;
    for (size_t t = 0; t < o->n_taps; t++)
        r->taps[t] = o->taps[t];
    r->roles = mc_roles_new(g, o);
    return r->roles ? 0 : mc_no_memory(err);
}

void mc_run_release(struct mc_run *r)
{
    free(r->roles);
    free(r->written);
    free(r->taps);
}

static struct mc_run *run_of(struct mc_plan *p)
{
    return (struct mc_run *)p;
}

static void start(struct mc_run *r, enum mc_mode mode, const struct mc_buf *params,
                  struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl)
{
    r->mode = mode;
    r->params = mc_const_floats(params);
    r->stats = mc_floats(stats);
    r->acc = mc_doubles(acc);
    r->by->begin_forward(r, ctl);
}

static void node_forward(struct mc_run *r, int i)
{
    if (r->roles[i].live && !r->roles[i].norm)
        r->by->forward(r, i);
}

void mc_run_forward(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                    struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl)
{
    struct mc_run *r = run_of(p);

    assert(mode != MC_MODE_REESTIMATE || acc);
    assert(!r->g->S || stats || mode == MC_MODE_BATCH || mode == MC_MODE_REESTIMATE);
    start(r, mode, params, stats, acc, ctl);
    for (int i = 1; i < r->g->n_nodes; i++) /* node 0 is loaded */
        node_forward(r, i);
    if (mode == MC_MODE_REESTIMATE)
        r->by->count_images(r, r->acc + 2 * r->g->S);
}

void mc_run_moments(struct mc_plan *const p[2], const struct mc_buf *const params[2],
                    struct mc_buf *const stats[2], const struct mc_buf *ctl,
                    struct mc_buf *const *acc)
{
    struct mc_run *const r[2] = {run_of(p[0]), run_of(p[1])};

    assert(r[0] != r[1] && r[0]->n_taps == r[1]->n_taps && r[0]->batch == r[1]->batch);
    for (int k = 0; k < 2; k++)
        start(r[k], MC_MODE_EVAL, params[k], stats[k], NULL, ctl);
    for (int i = 0; i < r[0]->g->n_nodes; i++) {
        for (int k = 0; i > 0 && k < 2; k++)
            node_forward(r[k], i);
        for (size_t t = 0; t < r[0]->n_taps; t++) {
            const int ready = r[0]->roles[r[0]->taps[t].node].ready;
            assert(r[1]->roles[r[1]->taps[t].node].ready == ready);
            if (ready == i)
                r[0]->by->tap_moments(r[0], r[1], t, acc[t]);
        }
    }
}

static void pass_gradient(struct mc_run *r, int from, int to)
{
    if (!r->roles[to].need_grad)
        return;
    r->by->pass_gradient(r, from, to, r->written[to]);
    r->written[to] = 1;
}

static void node_backward(struct mc_run *r, int i)
{
    const struct mc_node *n = &r->g->nodes[i];
    const struct mc_role *role = &r->roles[i];

    r->by->parameters(r, i);
    if (role->sum >= 0) /* the addition's other input */
        pass_gradient(r, role->sum, role->other);
    for (int k = 0; k < n->n_in; k++) {
        const int in = n->in[k];
        if (!r->roles[in].need_grad)
            continue;
        r->by->backward(r, i, k, r->written[in]);
        r->written[in] = 1;
    }
}

void mc_run_backward(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad)
{
    struct mc_run *r = run_of(p);

    assert(r->backward);
    r->params = mc_const_floats(params);
    r->dparams = mc_floats(grad);
    r->by->begin_backward(r);
    memset(r->written, 0, (size_t)r->g->n_nodes);
    for (int i = r->g->n_nodes - 1; i > 0; i--)
        if (r->roles[i].live && r->roles[i].reach && !r->roles[i].norm)
            node_backward(r, i);
    if (r->by->end_backward)
        r->by->end_backward(r);
}
