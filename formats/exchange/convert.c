/* SPDX-License-Identifier: Apache-2.0
 *
 * Match a file's tensors to a graph's, and copy them. */
#include "formats/exchange/convert.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/base/narrow.h"
#include "libcommon/graph/group_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20) /* bytes per read; a multiple of every element size */

/* A tensor of the graph, and the index of the file's tensor for it, or -1. */
struct place {
    const struct mc_param *param;
    size_t index; /* among the parameters, then the statistics */
    int is_stat;
    long from;
};

struct places {
    struct place *all; /* sorted by name */
    size_t n;
};

/* ---- matching ---- */

static int by_name(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    return strcmp(a->param->tensor.name, b->param->tensor.name);
}

static int list_places(struct places *p, const struct mc_graph *g, struct mc_error *err)
{
    int rc = 0;

    p->n = g->n_params + g->n_stats;
    if ((rc = mc_new(&p->all, p->n, err)))
        return rc;
    for (size_t i = 0; i < p->n; i++) {
        int is_stat = i >= g->n_params;
        p->all[i].param = is_stat ? &g->stats[i - g->n_params] : &g->params[i];
        p->all[i].index = i;
        p->all[i].is_stat = is_stat;
        p->all[i].from = -1;
    }
    qsort(p->all, p->n, sizeof *p->all, by_name);
    return 0;
}

static int named(const void *name, const void *place)
{
    return strcmp(name, ((const struct place *)place)->param->tensor.name);
}

/* 1 for the batch counter of PyTorch's batch norm, on which nothing depends. */
static int is_count(const struct mc_graph *g, const char *name)
{
    static const char suffix[] = ".num_batches_tracked";
    size_t n = strlen(name), k = sizeof suffix - 1;
    char node[MC_MAX_NODE_NAME];

    if (n <= k || n - k >= sizeof node || strcmp(name + n - k, suffix))
        return 0;
    snprintf(node, sizeof node, "%.*s", (int)(n - k), name);
    int i = mc_graph_find(g, node);
    return i >= 0 && g->nodes[i].op == MC_OP_BATCHNORM;
}

/* A list in a message: "missing a, b, c and 12 more". */
struct list {
    const char *label;
    char text[260];
    size_t n;
};

/* Add a name. Names and shapes are untrusted and may be too long to list three. */
static void list_add(struct list *l, const char *name, const char *detail)
{
    size_t used = strlen(l->text);

    if (++l->n <= MC_CONVERT_NAMED)
        snprintf(l->text + used, sizeof l->text - used, "%s%.50s%s", l->n == 1 ? "" : ", ", name,
                 detail);
}

/* Number of axes, without trailing axes of size 1. */
static int axes_of(int ndim, const uint64_t *shape)
{
    while (ndim && shape[ndim - 1] == 1)
        ndim--;
    return ndim;
}

/* Trailing axes of size 1 are ignored: a linear layer at each pixel is a convolution with kernel 1.
 * For a vector, leading axes of size 1 are ignored too, because its order cannot differ. */
static int shape_fits(const struct mc_tensor *expected, const struct mc_foreign_tensor *got)
{
    const int n = axes_of(got->ndim, got->shape);
    int first = 0;

    while (expected->ndim == 1 && first < n - 1 && got->shape[first] == 1)
        first++;
    return axes_of(expected->ndim, expected->shape) == n - first &&
           !memcmp(expected->shape, got->shape + first,
                   (size_t)(n - first) * sizeof *expected->shape);
}

static int is_float(int type)
{
    return type == MC_F32 || type == MC_F64 || (type >= 0 && mc_is_narrow((enum mc_dtype)type));
}

enum { MISSING, UNEXPECTED, SHAPE, DTYPE, DUPLICATE, N_LISTS };

static void check_tensor(struct list *lists, struct place *p, size_t i,
                         const struct mc_foreign_tensor *t)
{
    const struct mc_tensor *expected = &p->param->tensor;
    char got_shape[MC_DIMS_TEXT], expected_shape[MC_DIMS_TEXT], detail[160];

    if (p->from >= 0) {
        list_add(&lists[DUPLICATE], t->name, "");
        return;
    }
    p->from = (long)i;
    if (!is_float(t->type)) {
        snprintf(detail, sizeof detail, " of %s", t->dtype);
        list_add(&lists[DTYPE], t->name, detail);
    } else if (!shape_fits(expected, t)) {
        mc_dims_text(got_shape, t->ndim, t->shape);
        mc_dims_text(expected_shape, expected->ndim, expected->shape);
        snprintf(detail, sizeof detail, " %s for %s", got_shape, expected_shape);
        list_add(&lists[SHAPE], t->name, detail);
    }
}

static int report(const struct list *lists, const struct mc_foreign *f, struct mc_error *err)
{
    char text[480];
    size_t n = 0;

    for (const struct list *l = lists; l < lists + N_LISTS && n < sizeof text; l++) {
        if (!l->n)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s", n ? "; " : "", l->label,
                              l->text);
        if (l->n > MC_CONVERT_NAMED && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, " and %zu more",
                                  l->n - MC_CONVERT_NAMED);
    }
    return n ? mc_fail(err, MC_EINPUT, "%s: tensors do not match the network: %s", f->file, text)
             : 0;
}

static int match(struct places *p, const struct mc_graph *g, const struct mc_foreign *f,
                 const struct mc_rename *map, struct mc_convert_notes *notes, struct mc_error *err)
{
    struct list whole = {0}, lists[N_LISTS] = {{.label = "missing"},
                                               {.label = "unexpected"},
                                               {.label = "wrong shape"},
                                               {.label = "not floating point"},
                                               {.label = "duplicate"}};
    char name[MC_RENAME_NAME];

    for (size_t i = 0; i < f->n; i++) {
        const struct mc_foreign_tensor *t = &f->tensors[i];
        int rc = mc_rename_to_local(map, t->name, name, err);
        if (rc < 0)
            return mc_fail_in(rc, err, "%s", f->file);
        struct place *to = rc ? bsearch(name, p->all, p->n, sizeof *p->all, named) : NULL;
        char dtype[MC_FOREIGN_DTYPE + 4];
        snprintf(dtype, sizeof dtype, " of %s", t->dtype);
        if (to)
            check_tensor(lists, to, i, t);
        else if (!rc || is_count(g, name))
            notes->left_out++;
        else if (g->rows && t->whole)
            list_add(&whole, t->name, dtype);
        else
            list_add(&lists[UNEXPECTED], t->name, "");
    }
    for (size_t i = 0; i < p->n; i++)
        if (p->all[i].from < 0)
            list_add(&lists[MISSING], p->all[i].param->tensor.name, "");
    notes->whole = whole.n;
    snprintf(notes->names, sizeof notes->names, "%s", whole.text);
    return report(lists, f, err);
}

/* ---- copying ---- */

static float element(int type, const unsigned char *at)
{
    double d = 0;
    float f = 0;

    if (type == MC_F64) {
        memcpy(&d, at, sizeof d);
        return (float)d;
    }
    if (type == MC_F32)
        memcpy(&f, at, sizeof f);
    else
        mc_widen((enum mc_dtype)type, at, &f, 1);
    return f;
}

int mc_convert_floats(struct mc_foreign *f, size_t i, float *dst, struct mc_error *err)
{
    const struct mc_foreign_tensor *t = &f->tensors[i];
    size_t size = mc_dtype_size((enum mc_dtype)t->type);
    uint64_t done = 0, n = t->bytes / size;
    unsigned char *buffer = NULL;
    struct mc_foreign_order order;
    int rc = f->seek(f, i, err);

    if (!rc)
        rc = mc_new(&buffer, t->bytes < CHUNK ? (size_t)t->bytes : CHUNK, err);

    mc_foreign_order_begin(&order, t);
    for (size_t step; !rc && done < n; done += step) {
        step = n - done < CHUNK / size ? (size_t)(n - done) : CHUNK / size;
        rc = f->read(f, buffer, step * size, err);
        for (size_t k = 0; !rc && k < step; k++, mc_foreign_order_next(&order))
            dst[order.at] = element(t->type, buffer + k * size);
    }
    free(buffer);
    return rc;
}

static int copy_all(struct mc_weights *w, const struct places *p, struct mc_foreign *f,
                    struct mc_convert_notes *notes, struct mc_error *err)
{
    const struct place **to = NULL; /* for each tensor of the file */
    int rc = mc_new(&to, f->n, err);

    for (size_t i = 0; !rc && i < p->n; i++)
        to[p->all[i].from] = &p->all[i];
    for (size_t i = 0; !rc && i < f->n; i++) {
        if (!to[i])
            continue;
        rc = mc_convert_floats(f, i, (to[i]->is_stat ? w->stats : w->params) + to[i]->param->offset,
                               err);
        const enum mc_dtype type = (enum mc_dtype)f->tensors[i].type;
        if (mc_is_narrow(type))
            w->types[to[i]->index] = type;
        notes->converted[type] += type != MC_F32;
    }
    free(to);
    return rc ? rc : f->end(f, err);
}

int mc_convert_import(struct mc_weights *out, const struct mc_graph *g, const char *dataset,
                      struct mc_foreign *f, const struct mc_rename *map,
                      struct mc_convert_notes *notes, struct mc_error *err)
{
    struct places p = {0};
    int rc = list_places(&p, g, err);

    memset(out, 0, sizeof *out);
    memset(notes, 0, sizeof *notes);
    if (rc || (rc = match(&p, g, f, map, notes, err)) ||
        (rc = mc_weights_init(out, g, dataset, err)) || (rc = copy_all(out, &p, f, notes, err)) ||
        (rc = mc_flat_finite(g->params, g->n_params, out->params, f->file, err)))
        goto out;
    rc = mc_flat_finite(g->stats, g->n_stats, out->stats, f->file, err);
out:
    free(p.all);
    if (rc)
        mc_weights_release(out);
    return rc;
}

/* ---- networks without a graph ---- */

static int by_tensor_name(const void *x, const void *y)
{
    return strcmp(((const struct mc_tensor *)x)->name, ((const struct mc_tensor *)y)->name);
}

static int list_tensors(const struct mc_foreign *f, const struct mc_rename *map,
                        struct mc_tensor *tensors, size_t *n, struct mc_error *err)
{
    char name[MC_RENAME_NAME];

    for (size_t i = 0; i < f->n; i++) {
        const struct mc_foreign_tensor *t = &f->tensors[i];
        int rc = mc_rename_to_local(map, t->name, name, err);
        if (rc > 0 && is_float(t->type)) {
            if (strlen(name) >= MC_MAX_DECLARED_NAME)
                rc = mc_fail(err, MC_EINPUT, "\"%.100s\": a name must have at most %d bytes", name,
                             MC_MAX_DECLARED_NAME - 1);
            else
                tensors[(*n)++] = mc_tensor_make(name, MC_F32, t->ndim, t->shape);
        } else if (rc > 0 && !t->whole) {
            rc = mc_fail(err, MC_EINPUT,
                         "\"%.100s\" has dtype %s, which cannot be converted (make it float32, or "
                         "leave it out with --map)",
                         t->name, t->dtype);
        }
        if (rc < 0)
            return mc_fail_in(rc, err, "%s", f->file);
    }
    if (*n)
        qsort(tensors, *n, sizeof *tensors, by_tensor_name);
    for (size_t i = 1; i < *n; i++)
        if (!strcmp(tensors[i - 1].name, tensors[i].name))
            return mc_fail(err, MC_EINPUT, "%s: the map names more than one tensor \"%s\"", f->file,
                           tensors[i].name);
    return 0;
}

int mc_convert_declare(struct mc_graph **out, const struct mc_foreign *f,
                       const struct mc_rename *map, const char *rows, struct mc_error *err)
{
    struct mc_tensor *tensors = NULL;
    char *text = NULL;
    size_t n = 0, bytes = 0;
    int rc = mc_new(&tensors, f->n, err);

    *out = NULL;
    if (rc || (rc = list_tensors(f, map, tensors, &n, err)) ||
        (rc = mc_file_text(&text, &bytes, MC_MAX_ROWS_TEXT, rows, MC_EFAIL, err)))
        goto out;
    /* a constant name, so that the content id depends only on tensors and rows */
    rc = mc_fail_in(mc_graph_declare(out, "groups", tensors, n, text, bytes, err), err, "%s", rows);
out:
    free(text);
    free(tensors);
    return rc;
}

/* ---- exporting ---- */

/* A tensor to write, in its type: its values themselves, or a copy at *narrow, which moves past
 * it. */
static struct mc_foreign_out to_write(const struct mc_param *p, enum mc_dtype type,
                                      const float *flat, uint16_t **narrow)
{
    struct mc_foreign_out out = {.tensor = p->tensor, .data = flat + p->offset};

    if (mc_is_narrow(type)) {
        out.tensor.dtype = type;
        out.data = *narrow;
        mc_narrow(type, flat + p->offset, *narrow, p->count);
        *narrow += p->count;
    }
    return out;
}

int mc_convert_export(const struct mc_weights *w, enum mc_convert_format format, const char *path,
                      const struct mc_rename *map, struct mc_error *err)
{
    const struct mc_graph *g = w->graph;
    struct mc_foreign_out *out = NULL;
    uint16_t *narrow = NULL, *at = NULL;
    size_t n = 0, p = 0, s = 0, count = 0;
    int rc = mc_new(&out, g->n_params + g->n_stats, err);

    for (size_t i = 0; i < g->n_params + g->n_stats; i++)
        if (mc_is_narrow(w->types[i]))
            count += i < g->n_params ? g->params[i].count : g->stats[i - g->n_params].count;
    if (!rc)
        rc = mc_new(&narrow, count, err);
    at = narrow;
    for (int node = g->rows ? -1 : 0; !rc && node < g->n_nodes; node++) {
        for (; p < g->n_params && g->params[p].node == node; p++)
            out[n++] = to_write(&g->params[p], w->types[p], w->params, &at);
        for (; s < g->n_stats && g->stats[s].node == node; s++)
            out[n++] = to_write(&g->stats[s], w->types[g->n_params + s], w->stats, &at);
    }
    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_rename_to_foreign(map, out[i].tensor.name, out[i].name, err);
    if (!rc)
        rc = format == MC_CONVERT_NPZ ? mc_npz_write(path, out, n, err)
                                      : mc_safetensors_write(path, out, n, err);
    free(narrow);
    free(out);
    return rc;
}
