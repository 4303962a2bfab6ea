/* SPDX-License-Identifier: Apache-2.0
 *
 * A network on a device. */
#include "kernels/model.h"

#include <stdlib.h>

void mc_bufs_add(struct mc_bufs *b, struct mc_buf **out, const void *src, size_t bytes,
                 struct mc_error *err)
{
    struct mc_buf **all = b->rc ? NULL : realloc(b->all, (b->n + 1) * sizeof(struct mc_buf *));

    *out = NULL;
    if (b->rc)
        return;
    if (!all) {
        b->rc = mc_no_memory(err);
        return;
    }
    b->all = all;
    if ((b->rc = b->be->buf_new(b->be, bytes ? bytes : sizeof(float), out, err)))
        return;
    b->all[b->n++] = *out;
    if (src && bytes)
        b->rc = b->be->put(b->be, *out, 0, src, bytes, err);
}

void mc_bufs_release(struct mc_bufs *b)
{
    for (size_t i = 0; i < b->n; i++)
        b->be->buf_free(b->be, b->all[i]);
    free(b->all);
    *b = (struct mc_bufs){0};
}

int mc_model_open(struct mc_model *m, struct mc_backend *be, const struct mc_graph *g,
                  const float *params, const float *stats, const struct mc_plan_opts *o,
                  struct mc_error *err)
{
    int rc = 0;

    *m = (struct mc_model){.be = be, .bufs.be = be};
    if (o && (rc = be->plan_new(be, g, o, &m->plan, err)))
        return rc;
    mc_bufs_add(&m->bufs, &m->params, params, g->P * sizeof(float), err);
    if (stats)
        mc_bufs_add(&m->bufs, &m->stats, stats, g->S * sizeof(float), err);
    return m->bufs.rc;
}

void mc_model_release(struct mc_model *m)
{
    if (m->plan)
        m->be->plan_free(m->plan);
    mc_bufs_release(&m->bufs);
    *m = (struct mc_model){0};
}

void mc_model_forward(const struct mc_model *m, const struct mc_buf *ctl)
{
    m->be->forward(m->plan, MC_MODE_EVAL, m->params, m->stats, NULL, ctl);
}

int mc_plan_bytes(struct mc_backend *be, const struct mc_graph *g, const struct mc_plan_opts *o,
                  size_t *bytes, struct mc_error *err)
{
    struct mc_plan *plan = NULL;
    int rc = be->plan_new(be, g, o, &plan, err);

    if (rc)
        return rc;
    *bytes = be->plan_bytes(plan);
    be->plan_free(plan);
    return 0;
}
