/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/weights.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two vectors in a stream's order. */
static void weights_flat(const struct mc_weights *w, struct mc_flat out[2])
{
    const struct mc_graph *g = w->graph;

    out[0] = (struct mc_flat){.params = g->params, .n = g->n_params, .floats = g->P};
    out[1] = (struct mc_flat){.params = g->stats, .n = g->n_stats, .floats = g->S};
    out[0].data = &w->params;
    out[1].data = &w->stats;
    out[0].types = w->types;
    out[1].types = w->types ? w->types + g->n_params : NULL;
}

static int types_alloc(struct mc_weights *w, struct mc_error *err)
{
    return mc_new(&w->types, w->graph->n_params + w->graph->n_stats, err);
}

int mc_weights_init(struct mc_weights *out, const struct mc_graph *g, const char *dataset,
                    struct mc_error *err)
{
    memset(out, 0, sizeof *out);
    out->graph = mc_graph_copy(g);
    out->params = mc_aligned_zeros(g->P * sizeof(float));
    out->stats = mc_aligned_zeros(g->S * sizeof(float));
    snprintf(out->dataset, sizeof out->dataset, "%s", dataset);
    if (out->graph && out->params && out->stats && !types_alloc(out, err))
        return 0;
    mc_weights_release(out);
    return mc_no_memory(err);
}

void mc_weights_widen(struct mc_weights *w)
{
    for (size_t i = 0; i < w->graph->n_params + w->graph->n_stats; i++)
        w->types[i] = MC_F32;
}

void mc_weights_release(struct mc_weights *w)
{
    mc_graph_free(w->graph);
    free(w->params);
    free(w->stats);
    free(w->types);
    memset(w, 0, sizeof *w);
}

int mc_weights_read(struct mc_weights *out, struct mc_stream from, struct mc_history *h,
                    struct mc_error *err)
{
    struct mc_flat flat[2];
    struct mc_reader *r = NULL;
    int rc = mc_stream_open(&r, from, "weights", h, err);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = mc_flat_unpack_meta(&out->graph, out->dataset, sizeof out->dataset, r, "",
                                 from.declared, err);
    if (!rc)
        rc = types_alloc(out, err);
    if (!rc) {
        weights_flat(out, flat);
        rc = mc_flat_read(r, flat, 2, NULL, err);
        snprintf(out->id, sizeof out->id, "%s", mc_reader_id(r));
        out->augmented = mc_history_augmented(mc_reader_history(r));
    }
    if (rc)
        mc_weights_release(out);
    mc_stream_close(from, r);
    return rc;
}

int mc_weights_write(const struct mc_weights *w, const char *path, const struct mc_history *h,
                     struct mc_error *err)
{
    struct mc_flat flat[2];
    struct mc_layout l = {0};

    weights_flat(w, flat);
    mc_layout_meta(&l, "weights", 3);
    mc_flat_pack_meta(&l.meta, w->graph, w->dataset);
    return mc_flat_write(&l, path, flat, 2, NULL, h, err);
}

/* ---- means ------------------------------------------------------------------------------------ */

int mc_weights_sum_open(struct mc_weights_sum *s, struct mc_stream from, struct mc_history *h,
                        struct mc_error *err)
{
    char dataset[sizeof s->first.dataset];

    if (!s->first.graph)
        return mc_weights_read(&s->first, from, h, err);
    s->from = from;
    int rc = mc_stream_open(&s->reader, from, "weights", h, err);
    return rc ? rc
              : mc_flat_unpack_meta(&s->next, dataset, sizeof dataset, s->reader, "", from.declared,
                                    err);
}

static void close_next(struct mc_weights_sum *s)
{
    mc_stream_close(s->from, s->reader);
    mc_graph_free(s->next);
    s->reader = NULL;
    s->next = NULL;
}

/* Turn the vector (n float32) into the sum (n float64) in the same memory. */
static int widen(float **vector, double **sum, size_t n, double weight, struct mc_error *err)
{
    double *wide = realloc(*vector, (n ? n : 1) * sizeof *wide);
    const char *from = (const char *)wide;

    if (!wide)
        return mc_no_memory(err);
    *vector = NULL;
    *sum = wide;
    for (size_t i = n; i-- > 0;) {
        float x = 0;
        memcpy(&x, from + i * sizeof x, sizeof x);
        wide[i] = weight * (double)x;
    }
    return 0;
}

/* Turn the sum into the mean in the first half of its memory. */
static void narrow(double **sum, float **vector, size_t n, double weight)
{
    char *to = (char *)*sum;

    for (size_t i = 0; i < n; i++) {
        const float x = (float)((*sum)[i] / weight);
        memcpy(to + i * sizeof x, &x, sizeof x);
    }
    *vector = (float *)(void *)*sum;
    *sum = NULL;
}

static const struct mc_param *param_of(const struct mc_graph *g, size_t i)
{
    return i < g->n_params ? &g->params[i] : &g->stats[i - g->n_params];
}

/* Expect the first network's tensors, in any type of parameters. */
static int check_tensors(struct mc_weights_sum *s, struct mc_error *err)
{
    const struct mc_graph *g = s->first.graph;
    const size_t n = g->n_params + g->n_stats;
    int rc = mc_expect_count(s->reader, n, err);

    for (size_t i = 0; !rc && i < n; i++) {
        struct mc_tensor expected = param_of(g, i)->tensor;
        const enum mc_dtype dtype = mc_reader_tensor(s->reader, i)->dtype;
        if (mc_is_narrow(dtype))
            expected.dtype = dtype;
        if (s->first.types[i] != expected.dtype)
            s->first.types[i] = MC_F32;
        rc = mc_expect_tensor(s->reader, i, &expected, err);
    }
    return rc;
}

static int add_record(struct mc_weights_sum *s, const struct mc_record *rec, double weight,
                      struct mc_error *err)
{
    const struct mc_graph *g = s->first.graph;
    const enum mc_dtype dtype = rec->tensor->dtype;
    const size_t row = (size_t)mc_tensor_row_elems(rec->tensor);
    struct mc_param piece = *param_of(g, rec->index);
    double *sum = (rec->index < g->n_params ? s->params : s->stats) + piece.offset + rec->row * row;
    const float *x = rec->data;
    float *wide = NULL;
    int rc = 0;

    piece.offset = 0;
    piece.count = (size_t)rec->rows * row;
    if (mc_is_narrow(dtype)) {
        if ((rc = mc_new(&wide, piece.count, err)))
            return rc;
        mc_widen(dtype, rec->data, wide, piece.count);
        x = wide;
    }
    rc = mc_flat_finite(&piece, 1, x, mc_reader_name(s->reader), err);
    /* the first summand is not added to 0, so that -0 remains */
    for (size_t k = 0; !rc && weight > 0 && k < piece.count; k++)
        sum[k] = s->weight > 0 ? sum[k] + weight * (double)x[k] : weight * (double)x[k];
    free(wide);
    return rc;
}

int mc_weights_sum_add(struct mc_weights_sum *s, double weight, struct mc_error *err)
{
    const struct mc_graph *g = s->first.graph;
    struct mc_record rec;
    size_t last = 0;
    int rc = 0;

    if (!s->reader) {
        if (!(rc = widen(&s->first.params, &s->params, g->P, weight, err)))
            rc = widen(&s->first.stats, &s->stats, g->S, weight, err);
        s->weight = weight;
        return rc;
    }
    rc = check_tensors(s, err);
    while (!rc && (rc = mc_reader_next(s->reader, &rec, err)) == 1) {
        rc = rec.index < last ? mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" is out of order",
                                        mc_reader_name(s->reader), rec.tensor->name)
                              : add_record(s, &rec, weight, err);
        last = rec.index;
    }
    s->weight += weight;
    close_next(s);
    return rc;
}

int mc_weights_sum_write(struct mc_weights_sum *s, const char *path, const struct mc_history *h,
                         struct mc_error *err)
{
    struct mc_weights *w = &s->first;

    narrow(&s->params, &w->params, w->graph->P, s->weight);
    narrow(&s->stats, &w->stats, w->graph->S, s->weight);
    return mc_weights_write(w, path, h, err);
}

void mc_weights_sum_release(struct mc_weights_sum *s)
{
    if (s->reader || s->next)
        close_next(s);
    mc_weights_release(&s->first);
    free(s->params);
    free(s->stats);
    memset(s, 0, sizeof *s);
}
