/* SPDX-License-Identifier: Apache-2.0
 *
 * Attack state that accompanies a loader. */
#include "tools/attack/batches.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>

static struct mc_plan_opts plan_of(size_t batch)
{
    return (struct mc_plan_opts){.batch = batch, .backward = 1, .input_grad = 1};
}

int mc_batch_attack_open(struct mc_batch_attack *a, const struct mc_attack_options *o,
                         uint32_t purpose, const struct mc_loader *f, const struct mc_graph *g,
                         struct mc_error *err)
{
    const size_t B = f->o.batch;
    const struct mc_plan_opts plan = plan_of(B);
    int rc = 0;

    *a = (struct mc_batch_attack){.be = f->be, .classes = g->classes};
    if (!o)
        return 0;
    if ((rc = f->be->plan_new(f->be, g, &plan, &a->plan, err)) ||
        (rc = mc_attack_open(&a->attack, o, purpose, f->be, g, B, err)) || !o->targeted)
        return rc;
    mc_bufs_add(&a->attack.bufs, &a->attack.targets, NULL, B * sizeof *a->host_targets, err);
    return a->attack.bufs.rc ? a->attack.bufs.rc : mc_new(&a->host_targets, B, err);
}

int mc_batch_attack_load(struct mc_batch_attack *a, const struct mc_loader *f, size_t n,
                         struct mc_error *err)
{
    if (a->plan)
        f->be->load(a->plan, &f->source, f->ctl);
    if (!a->attack.targets)
        return 0;
    mc_attack_targets(&a->attack.options, a->classes, n, f->host_labels, a->host_targets);
    return f->be->put(f->be, a->attack.targets, 0, a->host_targets, n * sizeof *a->host_targets,
                      err);
}

void mc_batch_attack_run(struct mc_batch_attack *a, const struct mc_loader *f,
                         const struct mc_model *m, enum mc_mode mode)
{
    if (!a->plan)
        return;
    mc_attack_run(&a->attack, a->plan, &f->source, f->ctl, mode, m->params, m->stats);
    f->be->set_pixels(m->plan, a->attack.examples);
}

void mc_batch_attack_release(struct mc_batch_attack *a)
{
    if (a->plan)
        a->be->plan_free(a->plan);
    mc_attack_release(&a->attack);
    free(a->host_targets);
    *a = (struct mc_batch_attack){0};
}

int mc_batch_attack_bytes(struct mc_backend *be, const struct mc_attack_options *o,
                          const struct mc_graph *g, size_t batch, size_t *bytes,
                          struct mc_error *err)
{
    const struct mc_plan_opts plan = plan_of(batch);

    *bytes = 0;
    if (!o)
        return 0;
    int rc = mc_plan_bytes(be, g, &plan, bytes, err);
    *bytes += mc_attack_bytes(o, g, batch);
    return rc;
}
