/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/curve.h"

#include "formats/codecs/groups.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mc_curve_kinds[] = {"bezier", "chain", NULL};

void mc_curve_flat(const struct mc_curve *c, struct mc_flat out[MC_MAX_POINTS])
{
    const struct mc_graph *g = c->graph;

    for (size_t i = 0; i < c->n_points; i++) {
        out[i] = (struct mc_flat){.params = g->params, .n = g->n_params, .floats = g->P};
        snprintf(out[i].prefix, sizeof out[i].prefix, "%zu/", i);
        out[i].data = &c->points[i];
        out[i].types = c->types ? c->types + i * g->n_params : NULL;
    }
}

int mc_curve_init(struct mc_curve *out, const struct mc_graph *g, enum mc_curve_kind kind,
                  size_t n_points, const char *dataset, struct mc_error *err)
{
    memset(out, 0, sizeof *out);
    if (n_points < 2 || n_points > MC_MAX_POINTS)
        return mc_fail(err, MC_EUSAGE, "a curve must have 2 to %d points (got %zu)", MC_MAX_POINTS,
                       n_points);
    int ok = (out->graph = mc_graph_copy(g)) != NULL;
    out->kind = kind;
    out->n_points = n_points;
    snprintf(out->dataset, sizeof out->dataset, "%s", dataset);
    for (size_t i = 0; i < n_points && ok; i++)
        ok = (out->points[i] = mc_aligned_zeros(g->P * sizeof(float))) != NULL;
    if (ok && !mc_new(&out->types, n_points * g->n_params, err))
        return 0;
    mc_curve_release(out);
    return mc_no_memory(err);
}

void mc_curve_release(struct mc_curve *c)
{
    mc_graph_free(c->graph);
    for (size_t i = 0; i < MC_MAX_POINTS; i++)
        free(c->points[i]);
    free(c->types);
    if (c->perm)
        mc_perm_release(c->perm);
    free(c->perm);
    memset(c, 0, sizeof *c);
}

int mc_curve_meta(struct mc_curve *c, const struct mc_reader *r, int any, struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r);
    char kind[16];
    uint64_t points = 0;
    int rc = mc_flat_unpack_meta(&c->graph, c->dataset, sizeof c->dataset, r, "0/", any, err);

    if (rc)
        return rc;
    if ((rc = mc_get_str(meta, "curve", kind, sizeof kind, err)) ||
        (rc = mc_get_u64(meta, "points", MC_MAX_POINTS, &points, err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    c->kind = strcmp(kind, mc_curve_kinds[MC_CURVE_BEZIER]) ? MC_CURVE_CHAIN : MC_CURVE_BEZIER;
    if (strcmp(kind, mc_curve_kinds[c->kind]))
        return mc_fail(err, MC_EINPUT, "%s: unknown curve \"%s\" (one of: bezier, chain)",
                       mc_reader_name(r), kind);
    if (points < 2)
        return mc_fail(err, MC_EINPUT, "%s: a curve must have at least 2 points (got %d)",
                       mc_reader_name(r), (int)points);
    c->n_points = (size_t)points;
    if ((rc = mc_new(&c->types, c->n_points * c->graph->n_params, err)) ||
        !mc_get_opt(meta, "groups") || (rc = mc_new(&c->perm, 1, err)))
        return rc;
    return mc_fail_in(mc_perm_unpack_groups(c->perm, meta, NULL, err), err, "%s",
                      mc_reader_name(r));
}

int mc_curve_read(struct mc_curve *out, struct mc_stream from, struct mc_history *h,
                  struct mc_error *err)
{
    struct mc_flat flat[MC_MAX_POINTS];
    struct mc_reader *r = NULL;
    int rc = mc_stream_open(&r, from, "curve", h, err);

    memset(out, 0, sizeof *out);
    if (!rc && !(rc = mc_curve_meta(out, r, from.declared, err))) {
        mc_curve_flat(out, flat);
        rc = mc_flat_read(r, flat, out->n_points, out->perm, err);
        snprintf(out->id, sizeof out->id, "%s", mc_reader_id(r));
        out->augmented = mc_history_augmented(mc_reader_history(r));
    }
    if (rc)
        mc_curve_release(out);
    mc_stream_close(from, r);
    return rc;
}

/* Start the layout of a stream: its meta and its points. */
static void begin(struct mc_layout *l, const struct mc_curve *c, struct mc_flat flat[MC_MAX_POINTS])
{
    mc_curve_flat(c, flat);
    mc_layout_meta(l, "curve", c->perm ? 6 : 5);
    mc_flat_pack_meta(&l->meta, c->graph, c->dataset);
    mc_put_str(&l->meta, "curve", mc_curve_kinds[c->kind]);
    mc_put_u64(&l->meta, "points", c->n_points);
    if (c->perm)
        mc_perm_pack_groups(c->perm, NULL, NULL, &l->meta);
}

int mc_curve_write(const struct mc_curve *c, const char *path, const struct mc_history *h,
                   struct mc_error *err)
{
    struct mc_flat flat[MC_MAX_POINTS];
    struct mc_layout l = {0};

    begin(&l, c, flat);
    return mc_flat_write(&l, path, flat, c->n_points, c->perm, h, err);
}

int mc_curve_open(struct mc_writer **w, const struct mc_curve *of, const char *path,
                  const struct mc_history *h, struct mc_error *err)
{
    struct mc_flat flat[MC_MAX_POINTS];
    struct mc_layout l = {0};

    begin(&l, of, flat);
    return mc_flat_open(w, &l, path, flat, of->n_points, of->perm, h, err);
}
