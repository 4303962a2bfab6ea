/* SPDX-License-Identifier: Apache-2.0
 *
 * Write the tensors of a source as a stream or a foreign file. */
#include "formats/exchange/convert.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

#define CHUNK ((size_t)1 << 17) /* values */

/* ---- weights as a source ---- */

struct values_source {
    struct mc_convert_source source; /* first: a struct mc_convert_source * is one of these */
    struct mc_values *v;
};

static int read_values(struct mc_convert_source *source, size_t i, void *x, size_t n,
                       struct mc_error *err)
{
    struct mc_values *v = ((struct values_source *)source)->v;
    const enum mc_dtype type = source->types[i];

    return type == MC_F32 ? mc_values_floats(v, i, x, n, err)
                          : mc_values_read(v, i, x, n * mc_dtype_size(type), err);
}

static int end_values(struct mc_convert_source *source, struct mc_error *err)
{
    return mc_values_end(((struct values_source *)source)->v, err);
}

static void close_values(struct mc_convert_source *source)
{
    free(source->types);
    free(source);
}

int mc_convert_from_values(struct mc_convert_source **out, struct mc_values *v, int f32,
                           struct mc_error *err)
{
    struct values_source *s = NULL;
    int rc = mc_new(&s, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    s->v = v;
    s->source = (struct mc_convert_source){.graph = v->curve.graph,
                                           .n = v->n,
                                           .read = read_values,
                                           .end = end_values,
                                           .close = close_values};
    if ((rc = mc_new(&s->source.types, v->n, err))) {
        free(s);
        return rc;
    }
    for (size_t i = 0; i < v->n; i++)
        s->source.types[i] = f32 ? MC_F32 : mc_values_type(v, i);
    *out = &s->source;
    return 0;
}

/* ---- writing ---- */

static const struct mc_param *param_of(const struct mc_graph *g, size_t i)
{
    return i < g->n_params ? &g->params[i] : &g->stats[i - g->n_params];
}

/* List the tensors in the order of a PyTorch state_dict. place[i] is where tensor i of the stream
 * goes. */
static int list_out(const struct mc_convert_source *s, const struct mc_rename *map,
                    struct mc_foreign_out *out, size_t *place, struct mc_error *err)
{
    const struct mc_graph *g = s->graph;
    size_t n = 0, p = 0, q = 0;
    int rc = 0;

    for (int node = g->rows ? -1 : 0; node < g->n_nodes; node++) {
        for (; p < g->n_params && g->params[p].node == node; p++)
            place[p] = n++;
        for (; q < g->n_stats && g->stats[q].node == node; q++)
            place[g->n_params + q] = n++;
    }
    for (size_t i = 0; i < s->n && !rc; i++) {
        struct mc_foreign_out *o = &out[place[i]];
        o->tensor = param_of(g, i)->tensor;
        o->tensor.dtype = s->types[i];
        rc = mc_rename_to_foreign(map, o->tensor.name, o->name, err);
    }
    return rc;
}

/* The place of the bytes: the writer of a stream, or of a safetensors file. */
struct sink {
    struct mc_writer *stream;
    struct mc_safetensors_writer *file;
    const size_t *place;
};

/* Copy all tensors piece by piece, and verify the source's end. */
static int copy_all(struct mc_convert_source *s, const struct sink *to, struct mc_error *err)
{
    float *x = NULL;
    int rc = mc_new(&x, CHUNK, err);

    for (size_t i = 0; i < s->n && !rc; i++) {
        const size_t count = param_of(s->graph, i)->count, size = mc_dtype_size(s->types[i]);
        for (size_t first = 0, n = 0; first < count && !rc; first += n) {
            n = count - first < CHUNK ? count - first : CHUNK;
            if ((rc = s->read(s, i, x, n, err)))
                break;
            rc = to->stream ? mc_writer_bytes(to->stream, i, x, n * size, err)
                            : mc_safetensors_write(to->file, to->place[i], x, n * size, err);
        }
    }
    free(x);
    return rc ? rc : s->end(s, err);
}

static int write_stream(struct mc_convert_source *s, const char *dataset, const char *path,
                        const struct mc_history *h, struct mc_error *err)
{
    struct mc_weights like = {.graph = (struct mc_graph *)(uintptr_t)s->graph, .types = s->types};
    struct sink to = {0};
    int rc = 0;

    snprintf(like.dataset, sizeof like.dataset, "%s", dataset);
    if (!(rc = mc_weights_open(&to.stream, &like, path, h, err)))
        rc = copy_all(s, &to, err);
    return mc_writer_close(to.stream, rc, NULL, err);
}

static int write_safetensors(struct mc_convert_source *s, const char *path,
                             const struct mc_foreign_out *out, const size_t *place,
                             struct mc_error *err)
{
    struct sink to = {.place = place};
    int rc = mc_safetensors_create(&to.file, path, out, s->n, err);

    if (!rc)
        rc = copy_all(s, &to, err);
    return mc_safetensors_close(to.file, rc, err);
}

static int write_npz(struct mc_convert_source *s, const char *path, struct mc_foreign_out *out,
                     const size_t *place, struct mc_error *err)
{
    float **data = NULL;
    int rc = mc_new(&data, s->n, err);

    for (size_t i = 0; i < s->n && !rc; i++) {
        const size_t count = param_of(s->graph, i)->count;
        if (!(rc = mc_new(&data[i], count, err)) && count)
            rc = s->read(s, i, data[i], count, err);
        out[place[i]].data = data[i];
    }
    if (!rc && !(rc = s->end(s, err)))
        rc = mc_npz_write(path, out, s->n, err);
    for (size_t i = 0; data && i < s->n; i++)
        free(data[i]);
    free(data);
    return rc;
}

int mc_convert_write(struct mc_convert_source *s, enum mc_convert_format format, const char *path,
                     const char *dataset, const struct mc_rename *map, const struct mc_history *h,
                     struct mc_error *err)
{
    struct mc_foreign_out *out = NULL;
    size_t *place = NULL;
    int rc = 0;

    if (format == MC_CONVERT_MCZ)
        return write_stream(s, dataset, path, h, err);
    if ((rc = mc_new(&out, s->n, err)) || (rc = mc_new(&place, s->n, err)) ||
        (rc = list_out(s, map, out, place, err)))
        goto out;
    rc = format == MC_CONVERT_NPZ ? write_npz(s, path, out, place, err)
                                  : write_safetensors(s, path, out, place, err);
out:
    free(out);
    free(place);
    return rc;
}
