/* SPDX-License-Identifier: Apache-2.0
 *
 * The codec of curve streams. */
#include "mc_curve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"bezier", "chain"};

#define PREFIX_MAX 24

static void point_prefix(size_t point, char out[PREFIX_MAX])
{
    snprintf(out, PREFIX_MAX, "%zu/", point);
}

int mc_curve_init(struct mc_curve *out, const struct mc_graph *g, enum mc_curve_kind kind,
                  size_t n_points, const char *dataset, struct mc_error *err)
{
    memset(out, 0, sizeof *out);
    if (n_points < 2 || n_points > MC_MAX_POINTS)
        return mc_fail(err, MC_EUSAGE, "a curve has from 2 to %d points, not %zu", MC_MAX_POINTS,
                       n_points);
    int ok = (out->graph = mc_graph_copy(g)) != NULL;
    out->kind = kind;
    out->n_points = n_points;
    snprintf(out->dataset, sizeof out->dataset, "%s", dataset);
    for (size_t i = 0; i < n_points && ok; i++)
        ok = (out->points[i] = mc_aligned_zeros(g->P * sizeof(float))) != NULL;
    if (ok)
        return 0;
    mc_curve_release(out);
    return mc_fail(err, MC_ENOMEM, "out of memory");
}

void mc_curve_release(struct mc_curve *c)
{
    mc_graph_free(c->graph);
    for (size_t i = 0; i < MC_MAX_POINTS; i++)
        free(c->points[i]);
    if (c->perm)
        mc_perm_release(c->perm);
    free(c->perm);
    memset(c, 0, sizeof *c);
}

/* The tensors of point i, then of the permutation. */
static struct mc_tensor *curve_tensors(const struct mc_curve *c, size_t n_groups, size_t *n)
{
    const struct mc_graph *g = c->graph;
    struct mc_tensor *t = NULL;

    *n = c->n_points * g->n_params + n_groups;
    if (!(t = calloc(*n + 1, sizeof *t)))
        return NULL;
    for (size_t i = 0; i < c->n_points; i++) {
        char prefix[PREFIX_MAX];
        point_prefix(i, prefix);
        mc_flat_tensors(g->params, g->n_params, prefix, t + i * g->n_params);
    }
    mc_perm_tensors(c->perm, "permutation/", t + c->n_points * g->n_params);
    return t;
}

static int curve_meta(struct mc_curve *c, const struct mc_reader *r, struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r);
    char kind[16];
    uint64_t points = 0;
    int rc = mc_flat_unpack_meta(&c->graph, c->dataset, sizeof c->dataset, r, err);

    if (rc)
        return rc;
    if ((rc = mc_get_str(meta, "curve", kind, sizeof kind, err)) ||
        (rc = mc_get_u64(meta, "points", MC_MAX_POINTS, &points, err)))
        return mc_in_stream(r, rc, err);
    if (!strcmp(kind, kinds[MC_CURVE_BEZIER]))
        c->kind = MC_CURVE_BEZIER;
    else if (!strcmp(kind, kinds[MC_CURVE_CHAIN]))
        c->kind = MC_CURVE_CHAIN;
    else
        return mc_fail(err, MC_EINPUT, "%s: there is no curve \"%s\" (there are: bezier, chain)",
                       mc_reader_name(r), kind);
    if (points < 2)
        return mc_fail(err, MC_EINPUT, "%s: a curve of %d points", mc_reader_name(r), (int)points);
    c->n_points = (size_t)points;
    if (!mc_get_opt(meta, "groups"))
        return 0;
    if (!(c->perm = calloc(1, sizeof *c->perm)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    return mc_in_stream(r, mc_perm_unpack_groups(c->perm, meta, err), err);
}

int mc_curve_read_stream(struct mc_curve *out, struct mc_reader *r, struct mc_history *h,
                         struct mc_error *err)
{
    struct mc_tensor *want = NULL;
    struct mc_sink *sinks = NULL;
    struct mc_place *places = NULL;
    size_t n = 0, n_sinks = 0;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if ((rc = mc_reader_expect(r, "curve", err)))
        goto out;
    if (h)
        mc_history_input(h, r);
    if ((rc = curve_meta(out, r, err)))
        goto out;
    const struct mc_graph *g = out->graph;
    size_t n_groups = out->perm ? out->perm->n_groups : 0;
    if ((rc = mc_expect_count(r, out->n_points * g->n_params + n_groups, err)))
        goto out;
    n_sinks = out->n_points + n_groups;
    want = curve_tensors(out, n_groups, &n);
    sinks = calloc(n_sinks, sizeof *sinks);
    places = calloc(n + 1, sizeof *places);
    if (!want || !sinks || !places) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_expect_tensor(r, i, &want[i], err);
    if (rc)
        goto out;
    for (size_t i = 0; i < out->n_points; i++) {
        mc_flat_places(g->params, g->n_params, i, places + i * g->n_params);
        sinks[i].bytes = g->P * sizeof(float);
    }
    for (size_t k = 0; k < n_groups; k++) {
        places[out->n_points * g->n_params + k].sink = out->n_points + k;
        sinks[out->n_points + k].bytes = out->perm->sizes[k] * sizeof(int32_t);
    }
    if ((rc = mc_gather(r, places, sinks, n_sinks, err)))
        goto out;
    for (size_t i = 0; i < out->n_points; i++)
        out->points[i] = mc_sink_take(&sinks[i]);
    for (size_t k = 0; k < n_groups; k++)
        out->perm->perm[k] = mc_sink_take(&sinks[out->n_points + k]);
    for (size_t i = 0; i < out->n_points && !rc; i++)
        rc = mc_flat_finite(g->params, g->n_params, out->points[i], mc_reader_name(r), err);
    if (!rc && out->perm)
        rc = mc_in_stream(r, mc_perm_check(out->perm, err), err);
    snprintf(out->id, sizeof out->id, "%s", mc_reader_id(r));
out:
    mc_sinks_free(sinks, n_sinks);
    free(sinks);
    free(places);
    free(want);
    if (rc)
        mc_curve_release(out);
    return rc;
}

int mc_curve_read(struct mc_curve *out, const char *path, struct mc_history *h,
                  struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = mc_curve_read_stream(out, r, h, err);
    mc_reader_close(r);
    return rc;
}

int mc_curve_write(const struct mc_curve *c, const char *path, const struct mc_history *h,
                   struct mc_error *err)
{
    const struct mc_graph *g = c->graph;
    struct mc_tensor *tensors = NULL;
    struct mc_writer *out = NULL;
    struct mc_pack meta;
    size_t n = 0, n_groups = c->perm ? c->perm->n_groups : 0;
    int rc = 0;

    mc_pack_init(&meta);
    for (size_t i = 0; i < c->n_points; i++)
        if (mc_flat_finite(g->params, g->n_params, c->points[i], NULL, err)) {
            rc = MC_EFAIL;
            if (err)
                err->code = rc;
            goto out;
        }
    if (!(tensors = curve_tensors(c, n_groups, &n))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    mc_pack_map(&meta, c->perm ? 6 : 5);
    mc_flat_pack_meta(&meta, g, c->dataset);
    mc_pack_str(&meta, "curve");
    mc_pack_str(&meta, kinds[c->kind]);
    mc_pack_str(&meta, "points");
    mc_pack_u64(&meta, c->n_points);
    if (c->perm) {
        mc_pack_str(&meta, "groups");
        mc_perm_pack_groups(c->perm, NULL, &meta);
    }
    if ((rc = mc_writer_open(&out, path, "curve", &meta, tensors, n, h, err)))
        goto out;
    for (size_t i = 0; i < c->n_points && !rc; i++)
        rc = mc_flat_write(out, i * g->n_params, g->params, g->n_params, c->points[i], err);
    for (size_t k = 0; k < n_groups && !rc; k++)
        rc = mc_writer_tensor(out, c->n_points * g->n_params + k, c->perm->perm[k], err);
    if (rc)
        goto out;
    rc = mc_writer_close(out, NULL, err);
    out = NULL;
out:
    mc_writer_abandon(out);
    mc_pack_release(&meta);
    free(tensors);
    return rc;
}
