/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/weights.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mc_weights_flat(const struct mc_weights *w, struct mc_flat out[2])
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
        mc_weights_flat(out, flat);
        rc = mc_flat_read(r, flat, 2, NULL, err);
        snprintf(out->id, sizeof out->id, "%s", mc_reader_id(r));
        out->augmented = mc_history_augmented(mc_reader_history(r));
    }
    if (rc)
        mc_weights_release(out);
    mc_stream_close(from, r);
    return rc;
}

/* Start the layout of a stream: its meta and its vectors. */
static void begin(struct mc_layout *l, const struct mc_weights *w, struct mc_flat flat[2])
{
    mc_weights_flat(w, flat);
    mc_layout_meta(l, "weights", 3);
    mc_flat_pack_meta(&l->meta, w->graph, w->dataset);
}

int mc_weights_write(const struct mc_weights *w, const char *path, const struct mc_history *h,
                     struct mc_error *err)
{
    struct mc_flat flat[2];
    struct mc_layout l = {0};

    begin(&l, w, flat);
    return mc_flat_write(&l, path, flat, 2, NULL, h, err);
}

int mc_weights_open(struct mc_writer **w, const struct mc_weights *of, const char *path,
                    const struct mc_history *h, struct mc_error *err)
{
    struct mc_flat flat[2];
    struct mc_layout l = {0};

    begin(&l, of, flat);
    return mc_flat_open(w, &l, path, flat, 2, NULL, h, err);
}
