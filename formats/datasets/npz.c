/* SPDX-License-Identifier: Apache-2.0
 *
 * Images and labels in NumPy's npz, found by the arrays' names. */
#include "formats/datasets/arrays.h"
#include "formats/exchange/convert.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Pairs of names in any case; the first pair that exists is used. % is the split. A pair without %
 * belongs to the train split alone, so that no test uses training images. */
static const char *const names[][2] = {
    {"%_images", "%_labels"}, {"images_%", "labels_%"}, {"x_%", "y_%"}, {"%_x", "%_y"},
    {"images", "labels"},     {"data", "labels"},       {"x", "y"},     {"data", "target"},
    {"image", "label"},       {"arr_0", "arr_1"}};
#define N_NAMES (sizeof names / sizeof *names)

/* Find an array: a name of names[] with % replaced by the split, or, if split is NULL, this exact
 * name. Returns its index or -1. */
static long find(const struct mc_foreign *f, const char *name, size_t n, const char *split)
{
    char expected[256];
    const char *mark = split ? memchr(name, '%', n) : NULL;
    int before = (int)(mark ? (size_t)(mark - name) : n);

    snprintf(expected, sizeof expected, "%.*s%s%.*s", before, name, mark ? split : "",
             mark ? (int)n - before - 1 : 0, mark ? mark + 1 : "");
    for (size_t i = 0; i < f->n; i++)
        if (!(split ? strcasecmp(f->tensors[i].name, expected)
                    : strcmp(f->tensors[i].name, expected)))
            return (long)i;
    return -1;
}

/* Check that a name is unique in any case: "Images" and "images" are ambiguous. */
static int expect_one(const struct mc_foreign *f, size_t index, struct mc_error *err)
{
    for (size_t i = 0; i < f->n; i++)
        if (i != index && !strcasecmp(f->tensors[i].name, f->tensors[index].name))
            return mc_fail(err, MC_EINPUT,
                           "%s: holds \"%.60s\" and \"%.60s\": choose with --arrays IMAGES,LABELS",
                           f->file, f->tensors[index].name, f->tensors[i].name);
    return 0;
}

enum { IMAGES, LABELS, OTHER, N_ARRAYS }; /* OTHER: labels of the other split */

/* Set at[] to the arrays' indices; at[OTHER] is f->n if there is none. */
static int find_all(const struct mc_foreign *f, const struct mc_image_source_opts *o,
                    size_t index[N_ARRAYS], struct mc_error *err)
{
    const char *comma = o->arrays ? strchr(o->arrays, ',') : NULL;
    const int test = !strcmp(o->split, "test");
    char list[160] = "";
    long found[2] = {-1, -1}, other = -1;

    if (comma) {
        found[0] = find(f, o->arrays, (size_t)(comma - o->arrays), NULL);
        found[1] = find(f, comma + 1, strlen(comma + 1), NULL);
    }
    for (size_t i = 0; !o->arrays && (found[0] < 0 || found[1] < 0) && i < N_NAMES; i++) {
        if (test && !strchr(names[i][1], '%'))
            continue;
        for (int k = 0; k < 2; k++)
            found[k] = find(f, names[i][k], strlen(names[i][k]), o->split);
        if (strchr(names[i][1], '%'))
            other = find(f, names[i][1], strlen(names[i][1]), test ? "train" : "test");
        else
            other = -1;
    }
    if (found[0] >= 0 && found[1] >= 0 && found[0] != found[1]) {
        index[IMAGES] = (size_t)found[0];
        index[LABELS] = (size_t)found[1];
        index[OTHER] = other < 0 ? f->n : (size_t)other;
        if (o->arrays)
            return 0;
        int rc = 0;
        for (int k = 0; k < N_ARRAYS && !rc; k++)
            rc = index[k] < f->n ? expect_one(f, index[k], err) : 0;
        return rc;
    }
    for (size_t i = 0; i < f->n; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.60s", i ? ", " : "", f->tensors[i].name);
    }
    if (!o->arrays)
        return mc_fail(err, MC_EINPUT,
                       "%s: no arrays for the %s split, such as %s_images and %s_labels: name them "
                       "with --arrays IMAGES,LABELS (the file has: %s)",
                       f->file, o->split, o->split, o->split, list);
    if (!comma || (found[0] >= 0 && found[1] >= 0))
        return mc_fail(
            err, MC_EINPUT,
            "%s: --arrays %s: two different arrays IMAGES,LABELS expected (the file has: "
            "%s)",
            f->file, o->arrays, list);
    return mc_fail(err, MC_EINPUT, "%s: array \"%.*s\" is missing (the file has: %s)", f->file,
                   found[0] < 0 ? (int)(comma - o->arrays) : 80,
                   found[0] < 0 ? o->arrays : comma + 1, list);
}

/* Check headers before memory is allocated. */
static int check_images(const struct mc_foreign_tensor *t, const struct mc_image_source_opts *o,
                        struct mc_arrays *a, size_t *bytes, struct mc_error *err)
{
    struct mc_dataset_info info = {0};
    int rc = 0, last = 0;

    if (t->type != MC_U8 && t->type != MC_F32 && t->type != MC_F64 && t->type != MC_F16)
        return mc_fail(err, MC_EINPUT, "images must be uint8, or float from 0 to 1 (got %s)",
                       t->dtype);
    a->pixels = t->type == MC_U8 ? MC_U8 : MC_F32;
    a->ndim = t->ndim;
    memcpy(a->shape, t->shape, sizeof a->shape);
    if ((rc = mc_arrays_shape(a, o, &info, &last, err)))
        return rc;
    *bytes = (size_t)info.n * mc_dataset_image_bytes(&info);
    return 0;
}

static int check_labels(const struct mc_foreign_tensor *t, uint64_t images, struct mc_error *err)
{
    if (t->type != MC_U8 && t->type != MC_I32 && t->type != MC_I64)
        return mc_fail(err, MC_EINPUT, "labels must be uint8, int32 or int64 (got %s)", t->dtype);
    if (t->ndim != 1 && !(t->ndim == 2 && t->shape[1] == 1))
        return mc_fail(err, MC_EINPUT, "labels must be one number per image, (N) or (N,1)");
    if (t->shape[0] != images)
        return mc_fail(err, MC_EINPUT, "%llu labels expected, got %llu", (unsigned long long)images,
                       (unsigned long long)t->shape[0]);
    return 0;
}

/* Read bytes in Fortran order into a row-major array. */
static int read_transposed(struct mc_foreign *f, size_t i, uint8_t *dst, size_t bytes,
                           struct mc_error *err)
{
    struct mc_foreign_order order;
    uint8_t buffer[65536];
    int rc = 0;

    mc_foreign_order_begin(&order, &f->tensors[i]);
    for (size_t step; bytes && !rc; bytes -= step) {
        step = bytes < sizeof buffer ? bytes : sizeof buffer;
        rc = f->read(f, buffer, step, err);
        for (size_t k = 0; k < step && !rc; k++, mc_foreign_order_next(&order))
            dst[order.element] = buffer[k];
    }
    return rc;
}

static int read_images(struct mc_foreign *f, size_t i, struct mc_arrays *a, size_t bytes,
                       struct mc_error *err)
{
    int rc = mc_new_items(&a->images, bytes, 1, err);

    if (!rc && a->pixels == MC_F32)
        return mc_convert_floats(f, i, a->images, err);
    if (rc || (rc = f->seek(f, i, err)))
        return rc;
    return f->tensors[i].fortran ? read_transposed(f, i, a->images, bytes, err)
                                 : f->read(f, a->images, bytes, err);
}

static int read_labels(struct mc_foreign *f, size_t i, int64_t **out, struct mc_error *err)
{
    const struct mc_foreign_tensor *t = &f->tensors[i];
    unsigned char *raw = NULL;
    int rc = f->seek(f, i, err);

    if (rc || (rc = mc_new(&raw, (size_t)t->bytes, err)) ||
        (rc = mc_new(out, (size_t)t->shape[0], err)) ||
        (rc = f->read(f, raw, (size_t)t->bytes, err)))
        goto out;
    for (size_t k = 0; k < t->shape[0]; k++) {
        int32_t narrow = 0;
        if (t->type == MC_U8)
            (*out)[k] = raw[k];
        else if (t->type == MC_I64)
            memcpy(&(*out)[k], raw + 8 * k, 8);
        else {
            memcpy(&narrow, raw + 4 * k, 4);
            (*out)[k] = narrow;
        }
    }
out:
    free(raw);
    return rc;
}

int mc_npz_set_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                    struct mc_error *err)
{
    struct mc_arrays a = {0};
    struct mc_foreign *f = NULL;
    size_t index[N_ARRAYS] = {0}, bytes = 0;
    int64_t *other = NULL;
    int rc = mc_npz_open(&f, o->dir, err);

    if (rc || (rc = find_all(f, o, index, err)))
        goto out;
    for (int k = 0; k < N_ARRAYS && !rc; k++) {
        const struct mc_foreign_tensor *t = &f->tensors[index[k]];
        if (index[k] == f->n)
            continue;
        if (k == OTHER) {
            if (check_labels(t, t->shape[0], NULL)) /* only a hint: ignore one-hot labels */
                index[k] = f->n;
            continue;
        }
        rc = k == IMAGES ? check_images(t, o, &a, &bytes, err) : check_labels(t, a.shape[0], err);
        rc = mc_fail_in(rc, err, "%.60s: \"%.80s\"", f->file, t->name);
    }
    /* tensors must be read in the file's order */
    for (size_t i = 0; i < f->n && !rc; i++) {
        if (i == index[IMAGES])
            rc = read_images(f, i, &a, bytes, err);
        else if (i == index[LABELS] || i == index[OTHER])
            rc = read_labels(f, i, i == index[LABELS] ? &a.labels : &other, err);
    }
    if (rc || (rc = f->end(f, err)))
        goto out;
    for (uint64_t i = 0; other && i < f->tensors[index[OTHER]].shape[0]; i++)
        a.max_label = other[i] > a.max_label ? other[i] : a.max_label;
    rc = mc_fail_in(mc_arrays_open(out, &a, o, err), err, "%s", f->file);
    a = (struct mc_arrays){0};
    if (!rc && f->tensors[index[IMAGES]].type == MC_F64)
        snprintf((*out)->note, sizeof(*out)->note, "\"%.80s\" is rounded from float64 to float32",
                 f->tensors[index[IMAGES]].name);
out:
    free(a.images);
    free(a.labels);
    free(other);
    mc_foreign_close(f);
    return rc;
}
