/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing the kinds that hold a graph and flat vectors. */
#include "formats/codecs/flat.h"
#include "formats/stream/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void flat_tensors(const struct mc_param *params, size_t n, const char *prefix,
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
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    memcpy((*g)->net, net, sizeof net);
    return 0;
}

/* The tensors of the vectors, then of the permutation (may be NULL). */
static struct mc_tensor *all_tensors(const struct mc_flat *f, size_t n_flat,
                                     const struct mc_perm *perm, size_t *n)
{
    struct mc_tensor *t = NULL;
    size_t at = 0;

    *n = perm ? perm->n_groups : 0;
    for (size_t i = 0; i < n_flat; i++)
        *n += f[i].n;
    if (!(t = calloc(*n + 1, sizeof *t)))
        return NULL;
    for (size_t i = 0; i < n_flat; at += f[i++].n)
        flat_tensors(f[i].params, f[i].n, f[i].prefix, t + at);
    mc_perm_tensors(perm, "permutation/", t + at);
    return t;
}

static int check_values(const struct mc_flat *f, size_t n_flat, const char *file,
                        struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n_flat && !rc; i++)
        rc = mc_flat_finite(f[i].params, f[i].n, f[i].data, file, err);
    return rc;
}

int mc_flat_read(struct mc_reader *r, struct mc_flat *f, size_t n_flat, struct mc_perm *perm,
                 struct mc_error *err)
{
    const size_t n_groups = perm ? perm->n_groups : 0, n_sinks = n_flat + n_groups;
    struct mc_sink *sinks = calloc(n_sinks + 1, sizeof *sinks);
    struct mc_tensor *want = NULL;
    struct mc_place *places = NULL;
    size_t n = 0, at = 0;
    int rc = 0;

    for (size_t i = 0; i < n_flat; i++)
        n += f[i].n;
    if ((rc = mc_expect_count(r, n + n_groups, err)))
        goto out;
    want = all_tensors(f, n_flat, perm, &n);
    places = calloc(n + 1, sizeof *places);
    if (!want || !sinks || !places) {
        rc = mc_no_memory(err);
        goto out;
    }
    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_expect_tensor(r, i, &want[i], err);
    if (rc)
        goto out;
    for (size_t i = 0; i < n_flat; i++) {
        sinks[i].bytes = f[i].floats * sizeof(float);
        for (size_t j = 0; j < f[i].n; j++)
            places[at++] =
                (struct mc_place){.sink = i, .offset = f[i].params[j].offset * sizeof(float)};
    }
    for (size_t k = 0; k < n_groups; k++) {
        sinks[n_flat + k].bytes = perm->sizes[k] * sizeof(int32_t);
        places[at++].sink = n_flat + k;
    }
    if ((rc = mc_tensors_read(r, places, sinks, n_sinks, err)))
        goto out;
    for (size_t i = 0; i < n_flat; i++)
        f[i].data = mc_sink_detach(&sinks[i]);
    for (size_t k = 0; k < n_groups; k++)
        perm->perm[k] = mc_sink_detach(&sinks[n_flat + k]);
    rc = check_values(f, n_flat, mc_reader_name(r), err);
    if (!rc && perm)
        rc = mc_fail_in(mc_perm_check(perm, err), err, "%s", mc_reader_name(r));
out:
    mc_sinks_free(sinks, n_sinks);
    free(sinks);
    free(places);
    free(want);
    return rc;
}

int mc_flat_write(const char *path, const char *kind, const struct mc_pack *meta,
                  const struct mc_flat *f, size_t n_flat, const struct mc_perm *perm,
                  const struct mc_history *h, struct mc_error *err)
{
    struct mc_tensor *tensors = NULL;
    struct mc_writer *out = NULL;
    size_t n = 0, at = 0;
    int rc = 0;

    if (check_values(f, n_flat, NULL, err)) {
        rc = MC_EFAIL; /* not an input's fault */
        if (err)
            err->code = rc;
        goto out;
    }
    if (!(tensors = all_tensors(f, n_flat, perm, &n))) {
        rc = mc_no_memory(err);
        goto out;
    }
    if ((rc = mc_writer_open(&out, path, kind, meta, tensors, n, h, err)))
        goto out;
    for (size_t i = 0; i < n_flat; i++)
        for (size_t j = 0; j < f[i].n && !rc; j++)
            rc = mc_writer_tensor(out, at++, f[i].data + f[i].params[j].offset, err);
    for (size_t k = 0; perm && k < perm->n_groups && !rc; k++)
        rc = mc_writer_tensor(out, at++, perm->perm[k], err);
    if (rc)
        goto out;
    rc = mc_writer_close(out, NULL, err);
    out = NULL;
out:
    mc_writer_abandon(out);
    free(tensors);
    return rc;
}
