/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks on the batches of a feed. */
#include "tools/attack/batch.h"

#include <stdlib.h>

static int new_plan(struct mc_backend *be, const struct mc_graph *g, size_t batch,
                    struct mc_plan **out, struct mc_error *err)
{
    const struct mc_plan_opts o = {.batch = batch, .backward = 1, .input_grad = 1};

    return be->plan_new(be, g, &o, out, err);
}

int mc_batch_attack_open(struct mc_batch_attack *a, const struct mc_attack_options *o,
                         uint32_t purpose, struct mc_loader *f, const struct mc_graph *g,
                         struct mc_error *err)
{
    const size_t bytes = f->batch * sizeof *a->host_targets;

    *a = (struct mc_batch_attack){.loader = f, .classes = g->classes};
    int rc = new_plan(f->be, g, f->batch, &a->plan, err);
    if (!rc)
        rc = mc_attack_open(&a->attack, o, purpose, f->be, g, f->batch, err);
    if (rc || !o->targeted)
        return rc;
    if (!(a->host_targets = calloc(f->batch, sizeof *a->host_targets)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    return f->be->buf_new(f->be, bytes, &a->targets, err);
}

int mc_batch_attack_next(struct mc_batch_attack *a, size_t n, struct mc_error *err)
{
    if (!a->targets)
        return 0;
    mc_attack_targets(&a->attack.options, a->classes, n, a->loader->host_labels, a->host_targets);
    return a->loader->be->put(a->loader->be, a->targets, 0, a->host_targets,
                              n * sizeof *a->host_targets, err);
}

void mc_batch_attack_run(struct mc_batch_attack *a, struct mc_plan *plan, enum mc_mode mode,
                         const struct mc_buf *params, struct mc_buf *stats)
{
    mc_attack_run(&a->attack, a->plan, &a->loader->source, a->targets, a->loader->ctl, mode, params,
                  stats);
    a->loader->be->set_pixels(plan, a->attack.examples);
}

void mc_batch_attack_undo(struct mc_batch_attack *a, struct mc_plan *plan)
{
    a->loader->be->load(plan, &a->loader->source, a->loader->ctl);
}

void mc_batch_attack_release(struct mc_batch_attack *a)
{
    if (!a->loader)
        return;
    if (a->plan)
        a->loader->be->plan_free(a->plan);
    mc_attack_release(&a->attack);
    a->loader->be->buf_free(a->loader->be, a->targets);
    free(a->host_targets);
    *a = (struct mc_batch_attack){0};
}

int mc_batch_attack_bytes(struct mc_backend *be, const struct mc_attack_options *o,
                          const struct mc_graph *g, size_t batch, size_t *bytes,
                          struct mc_error *err)
{
    struct mc_plan *plan = NULL;
    int rc = new_plan(be, g, batch, &plan, err);

    if (rc)
        return rc;
    *bytes = be->plan_bytes(plan) + mc_attack_bytes(o, g, batch);
    be->plan_free(plan);
    return 0;
}
