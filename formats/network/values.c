/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/network/values.h"

#include "formats/codecs/groups.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Check the tensors against the graph, and set their types. */
static int check_header(struct mc_values *v, struct mc_error *err)
{
    struct mc_layout l = {0};
    struct mc_flat flat[MC_MAX_POINTS];
    int rc = 0;

    if (!strcmp(mc_reader_kind(v->reader), "curve")) {
        mc_curve_flat(&v->curve, flat);
        rc = mc_flat_layout(&l, v->reader, flat, v->curve.n_points, v->curve.perm, err);
        v->n_params = v->curve.graph->n_params;
        v->n = v->curve.n_points * v->n_params;
    } else {
        const struct mc_weights w = {.graph = v->curve.graph, .types = v->curve.types};
        mc_weights_flat(&w, flat);
        rc = mc_flat_layout(&l, v->reader, flat, 2, NULL, err);
        v->n_params = v->n = v->curve.graph->n_params + v->curve.graph->n_stats;
    }
    mc_layout_release(&l);
    return rc;
}

int mc_values_open(struct mc_values *v, const char *kind, struct mc_stream from,
                   struct mc_history *h, struct mc_error *err)
{
    *v = (struct mc_values){.from = from, .record = {.index = SIZE_MAX}};
    int rc = mc_stream_open(&v->reader, from, kind, h, err);

    if (rc)
        return rc;
    v->curve.augmented = mc_history_augmented(mc_reader_history(v->reader));
    if (!strcmp(kind, "curve"))
        rc = mc_curve_meta(&v->curve, v->reader, from.declared, err);
    else if (!(rc = mc_flat_unpack_meta(&v->curve.graph, v->curve.dataset, sizeof v->curve.dataset,
                                        v->reader, "", from.declared, err)))
        rc = mc_new(&v->curve.types, v->curve.graph->n_params + v->curve.graph->n_stats, err);
    return rc ? rc : check_header(v, err);
}

const struct mc_param *mc_values_param(const struct mc_values *v, size_t i)
{
    const struct mc_graph *g = v->curve.graph;

    i %= v->n_params;
    return i < g->n_params ? &g->params[i] : &g->stats[i - g->n_params];
}

enum mc_dtype mc_values_type(const struct mc_values *v, size_t i)
{
    return v->curve.types[i];
}

size_t mc_values_bytes(const struct mc_values *v, size_t i)
{
    return mc_values_param(v, i)->count * mc_dtype_size(v->curve.types[i]);
}

/* Append the record to its tensor in memory, which grows as data arrive. `tensor` is the address of
 * a pointer to any object type. */
static int append(void *tensor, const struct mc_record *r, struct mc_error *err)
{
    const size_t have = r->row * mc_tensor_row_elems(r->tensor) * mc_dtype_size(r->tensor->dtype);
    char *old = NULL;

    memcpy(&old, tensor, sizeof old);
    char *data = realloc(old, have + r->bytes);
    if (!data)
        return mc_no_memory(err);
    memcpy(tensor, &data, sizeof data);
    memcpy(data + have, r->data, r->bytes);
    return 0;
}

/* Check the values of the current record, and keep them if required. */
static int take(struct mc_values *v, struct mc_error *err)
{
    const struct mc_record *r = &v->record;

    if (r->index >= v->n)
        return append(&v->curve.perm->perm[r->index - v->n], r, err);
    int rc =
        mc_flat_check(mc_values_param(v, r->index), r->tensor->dtype, r->data,
                      r->bytes / mc_dtype_size(r->tensor->dtype), mc_reader_name(v->reader), err);
    return rc || !v->held ? rc : append(&v->held[r->index], r, err);
}

/* Get the next record. Returns 1, 0 after the last, or an error. */
static int next(struct mc_values *v, struct mc_error *err)
{
    struct mc_record *r = &v->record;
    int rc = mc_next_in_order(v->reader, r, &v->last, err);

    v->offset = 0;
    if (rc != 1) {
        *r = (struct mc_record){.index = SIZE_MAX};
        return rc;
    }
    rc = take(v, err);
    return rc ? rc : 1;
}

/* Lend the next bytes of tensor i: at least one, at most `max`, valid until the next call. */
static int lend(struct mc_values *v, size_t i, size_t max, const void **data, size_t *bytes,
                struct mc_error *err)
{
    struct mc_record *r = &v->record;
    int rc = 1;

    if (v->held && r->index != i) {
        *r = (struct mc_record){.index = i, .data = v->held[i], .bytes = mc_values_bytes(v, i)};
        v->offset = 0;
    }
    while (r->index != i || v->offset == r->bytes) {
        if ((rc = next(v, err)) == 1 && v->last <= i)
            continue;
        while (rc == 1) /* the tensor is not complete: the rest says why */
            rc = next(v, err);
        return rc ? rc
                  : mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" is not complete",
                            mc_reader_name(v->reader), mc_reader_tensor(v->reader, i)->name);
    }
    *data = (const char *)r->data + v->offset;
    *bytes = r->bytes - v->offset < max ? r->bytes - v->offset : max;
    v->offset += *bytes;
    return 0;
}

int mc_values_read(struct mc_values *v, size_t i, void *to, size_t bytes, struct mc_error *err)
{
    const void *data = NULL;
    char *cursor = to;
    int rc = 0;

    for (size_t n = 0; bytes && !(rc = lend(v, i, bytes, &data, &n, err)); bytes -= n) {
        memcpy(cursor, data, n);
        cursor += n;
    }
    return rc;
}

int mc_values_copy(struct mc_values *v, size_t i, struct mc_writer *w, size_t to,
                   struct mc_error *err)
{
    const void *data = NULL;
    size_t left = mc_values_bytes(v, i);
    int rc = 0;

    for (size_t n = 0; left && !rc; left -= n)
        if (!(rc = lend(v, i, left, &data, &n, err)))
            rc = mc_writer_bytes(w, to, data, n, err);
    return rc;
}

int mc_values_floats(struct mc_values *v, size_t i, float *to, size_t n, struct mc_error *err)
{
    const enum mc_dtype type = mc_values_type(v, i);
    int rc = mc_values_read(v, i, to, n * mc_dtype_size(type), err);

    if (!rc && mc_is_narrow(type))
        mc_widen(type, to, to, n);
    return rc;
}

int mc_values_end(struct mc_values *v, struct mc_error *err)
{
    const struct mc_perm *perm = v->curve.perm;
    int rc = 0;

    while ((rc = next(v, err)) == 1)
        ;
    if (!rc && perm)
        rc = mc_fail_in(mc_perm_check(perm, err), err, "%s", mc_reader_name(v->reader));
    if (!rc)
        memcpy(v->id, mc_reader_id(v->reader), sizeof v->id);
    return rc;
}

int mc_values_hold(struct mc_values *v, struct mc_error *err)
{
    int rc = mc_new(&v->held, v->n, err);

    return rc ? rc : mc_values_end(v, err);
}

void mc_values_close(struct mc_values *v)
{
    mc_stream_close(v->from, v->reader);
    for (size_t i = 0; v->held && i < v->n; i++)
        free(v->held[i]);
    free(v->held);
    mc_curve_release(&v->curve);
    *v = (struct mc_values){0};
}

int mc_values_rereadable(const char *path)
{
    struct stat st;

    /* if stat fails, so does opening, with the reason */
    return strcmp(path, "-") != 0 && (stat(path, &st) || S_ISREG(st.st_mode));
}

int mc_values_id(char id[MC_ID_LEN], struct mc_stream from, struct mc_error *err)
{
    struct mc_values v;
    int rc = mc_values_open(&v, "weights", from, NULL, err);

    if (!rc && !(rc = mc_values_end(&v, err)))
        memcpy(id, v.id, sizeof v.id);
    mc_values_close(&v);
    return rc;
}
