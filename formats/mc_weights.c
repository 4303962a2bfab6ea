/* SPDX-License-Identifier: Apache-2.0
 *
 * The codec of weights streams, and of flat vectors in other kinds. */
#include "mc_weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- flat vectors ---- */

void mc_flat_tensors(const struct mc_param *params, size_t n, const char *prefix,
                     struct mc_tensor *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = params[i].tensor;
        /* a node's name leaves room for the longest prefix */
        size_t used = (size_t)snprintf(out[i].name, sizeof out[i].name, "%s", prefix);
        if (used < sizeof out[i].name)
            snprintf(out[i].name + used, sizeof out[i].name - used, "%s", params[i].tensor.name);
    }
}

int mc_flat_write(struct mc_writer *w, size_t first, const struct mc_param *params, size_t n,
                  const float *flat, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_writer_tensor(w, first + i, flat + params[i].offset, err);
    return rc;
}

int mc_flat_expect(const struct mc_reader *r, size_t first, const struct mc_param *params, size_t n,
                   const char *prefix, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        struct mc_tensor want;
        mc_flat_tensors(params + i, 1, prefix, &want);
        rc = mc_expect_tensor(r, first + i, &want, err);
    }
    return rc;
}

void mc_flat_places(const struct mc_param *params, size_t n, size_t sink, struct mc_place *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i].sink = sink;
        out[i].offset = params[i].offset * sizeof(float);
    }
}

static int is_variance(const char *name)
{
    static const char suffix[] = ".running_var";
    size_t n = strlen(name), k = sizeof suffix - 1;

    return n >= k && !strcmp(name + n - k, suffix);
}

int mc_flat_finite(const struct mc_param *params, size_t n, const float *flat, const char *file,
                   struct mc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = params[i].tensor.name;
        const float *x = flat + params[i].offset;
        int rc = mc_finite_f32(x, params[i].count, file, name, err);
        if (rc)
            return rc;
        for (size_t j = 0; is_variance(name) && j < params[i].count; j++)
            if (x[j] < 0)
                return mc_fail(err, MC_EINPUT, "%s%s\"%s\" holds a variance below 0",
                               file ? file : "", file ? ": " : "", name);
    }
    return 0;
}

void mc_flat_pack_meta(struct mc_pack *p, const struct mc_graph *g, const char *dataset)
{
    mc_pack_str(p, "net");
    mc_pack_str(p, g->net);
    mc_pack_str(p, "dataset");
    mc_pack_str(p, dataset);
    mc_pack_str(p, "graph");
    mc_graph_pack(g, p);
}

int mc_flat_unpack_meta(struct mc_graph **g, char *dataset, size_t size, const struct mc_reader *r,
                        struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r), *map = NULL;
    char net[sizeof(*g)->net];
    int rc = 0;

    *g = NULL;
    if ((rc = mc_get_str(meta, "net", net, sizeof net, err)) ||
        (rc = mc_get_str(meta, "dataset", dataset, size, err)) ||
        (rc = mc_get_map(meta, "graph", &map, err)) || (rc = mc_graph_unpack(g, map, err)))
        return mc_in_stream(r, rc, err);
    memcpy((*g)->net, net, sizeof net);
    return 0;
}

/* ---- weights ---- */

int mc_weights_init(struct mc_weights *out, const struct mc_graph *g, const char *dataset,
                    struct mc_error *err)
{
    memset(out, 0, sizeof *out);
    out->graph = mc_graph_copy(g);
    out->params = mc_aligned_zeros(g->P * sizeof(float));
    out->stats = mc_aligned_zeros(g->S * sizeof(float));
    snprintf(out->dataset, sizeof out->dataset, "%s", dataset);
    if (out->graph && out->params && out->stats)
        return 0;
    mc_weights_release(out);
    return mc_fail(err, MC_ENOMEM, "out of memory");
}

void mc_weights_release(struct mc_weights *w)
{
    mc_graph_free(w->graph);
    free(w->params);
    free(w->stats);
    memset(w, 0, sizeof *w);
}

int mc_weights_read_stream(struct mc_weights *out, struct mc_reader *r, struct mc_history *h,
                           struct mc_error *err)
{
    struct mc_sink sinks[2] = {{0}};
    struct mc_place *places = NULL;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if ((rc = mc_reader_expect(r, "weights", err)))
        goto out;
    if (h)
        mc_history_input(h, r);
    if ((rc = mc_flat_unpack_meta(&out->graph, out->dataset, sizeof out->dataset, r, err)))
        goto out;
    const struct mc_graph *g = out->graph;
    if ((rc = mc_expect_count(r, g->n_params + g->n_stats, err)) ||
        (rc = mc_flat_expect(r, 0, g->params, g->n_params, "", err)) ||
        (rc = mc_flat_expect(r, g->n_params, g->stats, g->n_stats, "", err)))
        goto out;
    if (!(places = calloc(g->n_params + g->n_stats + 1, sizeof *places))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    mc_flat_places(g->params, g->n_params, 0, places);
    mc_flat_places(g->stats, g->n_stats, 1, places + g->n_params);
    sinks[0].bytes = g->P * sizeof(float);
    sinks[1].bytes = g->S * sizeof(float);
    if ((rc = mc_gather(r, places, sinks, 2, err)))
        goto out;
    out->params = mc_sink_take(&sinks[0]);
    out->stats = mc_sink_take(&sinks[1]);
    if ((rc = mc_flat_finite(g->params, g->n_params, out->params, mc_reader_name(r), err)) ||
        (rc = mc_flat_finite(g->stats, g->n_stats, out->stats, mc_reader_name(r), err)))
        goto out;
    snprintf(out->id, sizeof out->id, "%s", mc_reader_id(r));
out:
    mc_sinks_free(sinks, 2);
    free(places);
    if (rc)
        mc_weights_release(out);
    return rc;
}

int mc_weights_read(struct mc_weights *out, const char *path, struct mc_history *h,
                    struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = mc_weights_read_stream(out, r, h, err);
    mc_reader_close(r);
    return rc;
}

int mc_weights_write(const struct mc_weights *w, const char *path, const struct mc_history *h,
                     struct mc_error *err)
{
    const struct mc_graph *g = w->graph;
    struct mc_tensor *tensors = NULL;
    struct mc_writer *out = NULL;
    struct mc_pack meta;
    int rc = 0;

    mc_pack_init(&meta);
    if (mc_flat_finite(g->params, g->n_params, w->params, NULL, err) ||
        mc_flat_finite(g->stats, g->n_stats, w->stats, NULL, err)) {
        rc = MC_EFAIL;
        if (err)
            err->code = rc;
        goto out;
    }
    if (!(tensors = calloc(g->n_params + g->n_stats + 1, sizeof *tensors))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    mc_flat_tensors(g->params, g->n_params, "", tensors);
    mc_flat_tensors(g->stats, g->n_stats, "", tensors + g->n_params);
    mc_pack_map(&meta, 3);
    mc_flat_pack_meta(&meta, g, w->dataset);
    if ((rc = mc_writer_open(&out, path, "weights", &meta, tensors, g->n_params + g->n_stats, h,
                             err)) ||
        (rc = mc_flat_write(out, 0, g->params, g->n_params, w->params, err)) ||
        (rc = mc_flat_write(out, g->n_params, g->stats, g->n_stats, w->stats, err)))
        goto out;
    rc = mc_writer_close(out, NULL, err);
    out = NULL;
out:
    mc_writer_abandon(out);
    mc_pack_release(&meta);
    free(tensors);
    return rc;
}
