/* SPDX-License-Identifier: Apache-2.0
 *
 * Match a file's tensors to a graph's, and copy them. */
#include "formats/exchange/convert.h"

#include "formats/stream/frame.h"
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
        p->all[i].param = i < g->n_params ? &g->params[i] : &g->stats[i - g->n_params];
        p->all[i].index = i;
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

static float element(int type, const unsigned char *bytes)
{
    double d = 0;
    float f = 0;

    if (type == MC_F64) {
        memcpy(&d, bytes, sizeof d);
        return (float)d;
    }
    if (type == MC_F32)
        memcpy(&f, bytes, sizeof f);
    else
        mc_widen((enum mc_dtype)type, bytes, &f, 1);
    return f;
}

int mc_convert_floats(struct mc_foreign *f, size_t i, float *dst, struct mc_error *err)
{
    const struct mc_foreign_tensor *t = &f->tensors[i];
    size_t size = mc_dtype_size((enum mc_dtype)t->type);
    uint64_t first = 0, n = t->bytes / size;
    unsigned char *buffer = NULL;
    struct mc_foreign_order order;
    int rc = f->seek(f, i, err);

    if (!rc)
        rc = mc_new(&buffer, t->bytes < CHUNK ? (size_t)t->bytes : CHUNK, err);

    mc_foreign_order_begin(&order, t);
    for (size_t step; !rc && first < n; first += step) {
        step = n - first < CHUNK / size ? (size_t)(n - first) : CHUNK / size;
        rc = f->read(f, buffer, step * size, err);
        for (size_t k = 0; !rc && k < step; k++, mc_foreign_order_next(&order))
            dst[order.element] = element(t->type, buffer + k * size);
    }
    free(buffer);
    return rc;
}

static int by_index(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* Tensors of a file as a source. */
struct foreign_source {
    struct mc_convert_source source; /* first: a struct mc_convert_source * is one of these */
    struct mc_foreign *f;
    struct place *places; /* (n) in the stream's order */
    size_t current;       /* the tensor that is read; n_read: its values so far */
    size_t n_read;
    float *whole; /* the current tensor if it is in Fortran order, else NULL */
    unsigned char raw[CHUNK];
};

/* Go to tensor i. Tensors in Fortran order are read whole. */
static int go_to(struct foreign_source *s, size_t i, struct mc_error *err)
{
    const size_t from = (size_t)s->places[i].from;
    int rc = 0;

    s->current = i;
    s->n_read = 0;
    free(s->whole);
    s->whole = NULL;
    if (!s->f->tensors[from].fortran || s->f->tensors[from].ndim < 2)
        return s->f->seek(s->f, from, err);
    rc = mc_new(&s->whole, s->places[i].param->count, err);
    return rc ? rc : mc_convert_floats(s->f, from, s->whole, err);
}

/* Read at most CHUNK / 8 values of the current tensor in its type of the stream. */
static int read_part(struct foreign_source *s, void *x, size_t n, struct mc_error *err)
{
    const struct mc_foreign_tensor *t = &s->f->tensors[s->places[s->current].from];
    const enum mc_dtype type = s->source.types[s->current];
    const size_t size = mc_dtype_size((enum mc_dtype)t->type);
    float *wide = x;
    int rc = 0;

    if (s->whole) { /* values of a narrow type return unchanged */
        if (mc_is_narrow(type))
            mc_narrow(type, s->whole + s->n_read, x, n);
        else
            memcpy(x, s->whole + s->n_read, n * sizeof(float));
    } else if ((int)type == t->type) {
        rc = s->f->read(s->f, x, n * size, err);
    } else if (!(rc = s->f->read(s->f, s->raw, n * size, err))) {
        for (size_t k = 0; k < n; k++)
            wide[k] = element(t->type, s->raw + k * size);
    }
    s->n_read += n;
    return rc ? rc : mc_flat_check(s->places[s->current].param, type, x, n, s->f->file, err);
}

static int read_foreign(struct mc_convert_source *source, size_t i, void *x, size_t n,
                        struct mc_error *err)
{
    struct foreign_source *s = (struct foreign_source *)source;
    const size_t size = mc_dtype_size(source->types[i]), most = CHUNK / sizeof(double);
    int rc = i == s->current ? 0 : go_to(s, i, err);

    for (size_t first = 0, k = 0; first < n && !rc; first += k) {
        k = n - first < most ? n - first : most;
        rc = read_part(s, (char *)x + first * size, k, err);
    }
    return rc;
}

static int end_foreign(struct mc_convert_source *source, struct mc_error *err)
{
    struct foreign_source *s = (struct foreign_source *)source;

    return s->f->end(s->f, err);
}

static void close_foreign(struct mc_convert_source *source)
{
    struct foreign_source *s = (struct foreign_source *)source;

    free(source->types);
    free(s->places);
    free(s->whole);
    free(s);
}

int mc_convert_from_foreign(struct mc_convert_source **out, const struct mc_graph *g,
                            struct mc_foreign *f, const struct mc_rename *map, int f32,
                            struct mc_convert_notes *notes, struct mc_error *err)
{
    struct foreign_source *s = NULL;
    struct places p = {0};
    int rc = list_places(&p, g, err);

    *out = NULL;
    memset(notes, 0, sizeof *notes);
    if (rc || (rc = match(&p, g, f, map, notes, err)) || (rc = mc_new(&s, 1, err)))
        goto out;
    s->source = (struct mc_convert_source){
        .graph = g, .n = p.n, .read = read_foreign, .end = end_foreign, .close = close_foreign};
    s->f = f;
    s->current = SIZE_MAX;
    if ((rc = mc_new(&s->source.types, p.n, err)))
        goto out;
    qsort(p.all, p.n, sizeof *p.all, by_index);
    for (size_t i = 0; i < p.n; i++) {
        const enum mc_dtype type = (enum mc_dtype)f->tensors[p.all[i].from].type;
        s->source.types[i] = mc_is_narrow(type) && !f32 ? type : MC_F32;
        notes->converted[type] += type != MC_F32;
    }
    s->places = p.all;
    p.all = NULL;
    *out = &s->source;
    s = NULL;
out:
    free(p.all);
    free(s);
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
            struct mc_tensor *made = &tensors[(*n)++];
            *made = mc_tensor_make(name, MC_F32, t->ndim, t->shape);
            if (strlen(name) >= MC_MAX_DECLARED_NAME)
                rc = mc_fail(err, MC_EINPUT, "\"%.100s\": a name must have at most %d bytes", name,
                             MC_MAX_DECLARED_NAME - 1);
            else if (mc_stream_tensor_check(made))
                rc =
                    mc_fail(err, MC_EINPUT,
                            "\"%s\": a stream holds names without control characters, and tensors "
                            "of at most 2^48 bytes, with rows of at most %d MiB (leave it out with "
                            "--map)",
                            name, (int)(MC_CUT >> 20));
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
        (rc = mc_file_text(&text, &bytes, MC_MAX_ROWS_TEXT, rows, err)))
        goto out;
    /* a constant name, so that the content id depends only on tensors and rows */
    rc = mc_fail_in(mc_graph_declare(out, "groups", tensors, n, text, bytes, err), err, "%s", rows);
out:
    free(text);
    free(tensors);
    return rc;
}
