/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/tensors.h"
#include "formats/stream/writer.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

/* Round up to the alignment, at least once. Return 0 after an overflow. */
static size_t round_up(size_t bytes)
{
    size_t sum = 0;

    return __builtin_add_overflow(bytes ? bytes : 1, ALIGNMENT - 1, &sum) ? 0
                                                                          : sum - sum % ALIGNMENT;
}

void *mc_aligned_zeros(size_t bytes)
{
    const size_t rounded = round_up(bytes);
    void *p = rounded ? aligned_alloc(ALIGNMENT, rounded) : NULL;

    if (p)
        memset(p, 0, rounded);
    return p;
}

/* Resize aligned memory that keeps its first `have` bytes; zero the others. A large slab keeps its
 * pages, so it is never in memory twice. Frees `old` in any case. */
static void *resize(void *old, size_t have, size_t bytes)
{
    const size_t rounded = round_up(bytes);
    unsigned char *moved = rounded ? realloc(old, rounded) : NULL, *p = moved;

    if (!moved)
        free(old);
    if ((uintptr_t)moved % ALIGNMENT) {
        p = aligned_alloc(ALIGNMENT, rounded);
        if (p)
            memcpy(p, moved, have);
        free(moved);
    }
    if (p)
        memset(p + have, 0, rounded - have);
    return p;
}

void mc_tensor_prefix(struct mc_tensor *t, const char *prefix, const char *name)
{
    size_t used = (size_t)snprintf(t->name, sizeof t->name, "%s", prefix);

    if (used < sizeof t->name)
        snprintf(t->name + used, sizeof t->name - used, "%s", name);
}

void mc_layout_meta(struct mc_layout *l, const char *kind, size_t keys)
{
    l->kind = kind;
    mc_pack_init(&l->meta);
    mc_pack_map(&l->meta, keys);
}

void mc_layout_slab(struct mc_layout *l, const void *pointer, size_t bytes)
{
    l->failed |= mc_list_room(&l->slabs, l->n_slabs, NULL);
    if (!l->failed)
        l->slabs[l->n_slabs++] = (struct mc_slab){.pointer = pointer, .bytes = bytes};
}

void mc_layout_tensor(struct mc_layout *l, const struct mc_tensor *t, size_t offset)
{
    l->failed |= mc_list_room(&l->tensors, l->n, NULL) | mc_list_room(&l->places, l->n, NULL);
    if (l->failed)
        return;
    l->tensors[l->n] = *t;
    l->places[l->n++] = (struct mc_place){.slab = l->n_slabs - 1, .offset = offset};
}

void mc_layout_floats(struct mc_layout *l, const struct mc_tensor *t, size_t offset)
{
    mc_layout_tensor(l, t, offset);
    if (!l->failed)
        l->places[l->n - 1].wide = 1;
}

void mc_layout_add(struct mc_layout *l, const struct mc_tensor *t, const void *pointer)
{
    mc_layout_slab(l, pointer, (size_t)mc_tensor_bytes(t));
    mc_layout_tensor(l, t, 0);
}

void mc_layout_release(struct mc_layout *l)
{
    for (size_t i = 0; i < l->n_slabs; i++)
        free(l->slabs[i].data);
    mc_pack_release(&l->meta);
    free(l->slabs);
    free(l->places);
    free(l->tensors);
    *l = (struct mc_layout){0};
}

static int grow(struct mc_slab *s, size_t need, struct mc_error *err)
{
    size_t size = need;

    if (s->data && need <= s->have)
        return 0;
    if (size < s->bytes && s->have <= s->bytes / 2 && size < 2 * s->have)
        size = 2 * s->have;
    else if (size < s->bytes && s->have > s->bytes / 2)
        size = s->bytes;
    s->data = s->data ? resize(s->data, s->have, size) : mc_aligned_zeros(size);
    s->have = s->data ? size : 0;
    return s->data ? 0 : mc_fail(err, MC_ENOMEM, "out of memory: %zu bytes", size);
}

static int gather(struct mc_layout *l, struct mc_reader *r, struct mc_error *err)
{
    struct mc_record rec;
    size_t last = 0;
    int rc = 0;

    while ((rc = mc_next_in_order(r, &rec, &last, err)) == 1) {
        struct mc_slab *s = &l->slabs[l->places[rec.index].slab];
        size_t row = (size_t)(mc_tensor_row_elems(rec.tensor) * mc_dtype_size(rec.tensor->dtype));
        size_t offset = l->places[rec.index].offset + (size_t)rec.row * row;
        assert(offset <= s->bytes && rec.bytes <= s->bytes - offset);
        if ((rc = grow(s, offset + rec.bytes, err)))
            return rc;
        if (rec.bytes)
            memcpy((char *)s->data + offset, rec.data, rec.bytes);
    }
    for (size_t i = 0; i < l->n_slabs && !rc; i++)
        rc = grow(&l->slabs[i], l->slabs[i].bytes, err);
    return rc;
}

static size_t elements(const struct mc_tensor *t)
{
    return (size_t)(mc_tensor_bytes(t) / mc_dtype_size(t->dtype));
}

/* Convert narrow tensors where they are. */
static void widen(struct mc_layout *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct mc_tensor *t = &l->tensors[i];
        char *values = (char *)l->slabs[l->places[i].slab].data + l->places[i].offset;
        if (l->places[i].wide && mc_is_narrow(t->dtype))
            mc_widen(t->dtype, values, (float *)(void *)values, elements(t));
    }
}

int mc_layout_expect(const struct mc_layout *l, const struct mc_reader *r, struct mc_error *err)
{
    int rc = l->failed ? mc_no_memory(err) : mc_expect_count(r, l->n, err);

    for (size_t i = 0; i < l->n && !rc; i++)
        rc = mc_expect_tensor(r, i, &l->tensors[i], err);
    return rc;
}

int mc_layout_read(struct mc_layout *l, struct mc_reader *r, struct mc_error *err)
{
    int rc = mc_layout_expect(l, r, err);

    if (!rc)
        rc = gather(l, r, err);
    if (!rc)
        widen(l);
    for (size_t i = 0; i < l->n_slabs && !rc; i++) {
        struct mc_slab *s = &l->slabs[i];
        memcpy((void *)(uintptr_t)s->pointer, &s->data, sizeof s->data);
        s->data = NULL;
    }
    mc_layout_release(l);
    return rc;
}

static int write_narrow(struct mc_writer *w, size_t i, const struct mc_tensor *t, const float *x,
                        struct mc_error *err)
{
    const size_t n = elements(t);
    uint16_t *narrow = NULL;
    int rc = mc_new(&narrow, n, err);

    if (rc)
        return rc;
    mc_narrow(t->dtype, x, narrow, n);
    rc = mc_all_finite(t->dtype, narrow, n)
             ? mc_writer_tensor(w, i, narrow, err)
             : mc_fail(err, MC_EFAIL, "\"%s\" holds a value that is too large for %s", t->name,
                       mc_dtype_name(t->dtype));
    free(narrow);
    return rc;
}

int mc_layout_open(struct mc_writer **w, const struct mc_layout *l, const char *path,
                   const struct mc_history *h, struct mc_error *err)
{
    return l->failed
               ? mc_no_memory(err)
               : mc_writer_open(w, path, &(struct mc_header){l->kind, &l->meta, l->tensors, l->n},
                                h, err);
}

int mc_layout_write(struct mc_layout *l, const char *path, const struct mc_history *h,
                    struct mc_error *err)
{
    struct mc_writer *w = NULL;
    int rc = mc_layout_open(&w, l, path, h, err);

    for (size_t i = 0; i < l->n && !rc; i++) {
        const char *data = NULL;
        memcpy(&data, l->slabs[l->places[i].slab].pointer, sizeof data);
        data += l->places[i].offset;
        rc = l->places[i].wide && mc_is_narrow(l->tensors[i].dtype)
                 ? write_narrow(w, i, &l->tensors[i], (const float *)(const void *)data, err)
                 : mc_writer_tensor(w, i, data, err);
    }
    mc_layout_release(l);
    return mc_writer_close(w, rc, NULL, err);
}

int mc_next_in_order(struct mc_reader *r, struct mc_record *rec, size_t *last, struct mc_error *err)
{
    int rc = mc_reader_next(r, rec, err);

    if (rc == 1 && rec->index < *last)
        return mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" is out of order", mc_reader_name(r),
                       rec->tensor->name);
    *last = rc == 1 ? rec->index : *last;
    return rc;
}

int mc_expect_count(const struct mc_reader *r, size_t n, struct mc_error *err)
{
    if (mc_reader_n_tensors(r) == n)
        return 0;
    return mc_fail(err, MC_EINPUT, "%s: %zu tensor%s expected, got %zu", mc_reader_name(r), n,
                   n == 1 ? "" : "s", mc_reader_n_tensors(r));
}

int mc_expect_tensor(const struct mc_reader *r, size_t i, const struct mc_tensor *expected,
                     struct mc_error *err)
{
    const struct mc_tensor *t = mc_reader_tensor(r, i);
    char got_shape[MC_DIMS_TEXT], expected_shape[MC_DIMS_TEXT];
    int same = t->dtype == expected->dtype && t->ndim == expected->ndim;

    if (strcmp(t->name, expected->name))
        return mc_fail(err, MC_EINPUT, "%s: tensor %zu must be \"%s\" (got \"%s\")",
                       mc_reader_name(r), i, expected->name, t->name);
    for (int d = 0; same && d < t->ndim; d++)
        same = t->shape[d] == expected->shape[d];
    if (same)
        return 0;
    mc_dims_text(got_shape, t->ndim, t->shape);
    mc_dims_text(expected_shape, expected->ndim, expected->shape);
    return mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" must be %s %s (got %s %s)", mc_reader_name(r),
                   t->name, mc_dtype_name(expected->dtype), expected_shape, mc_dtype_name(t->dtype),
                   got_shape);
}

int mc_finite(enum mc_dtype dtype, const void *x, size_t n, const char *file, const char *name,
              struct mc_error *err)
{
    return mc_all_finite(dtype, x, n)
               ? 0
               : mc_fail(err, MC_EINPUT, "%s%s\"%s\" holds a value that is not finite",
                         file ? file : "", file ? ": " : "", name);
}

int mc_not_input(int rc, struct mc_error *err)
{
    if (rc == MC_EINPUT && err)
        err->code = MC_EFAIL;
    return rc == MC_EINPUT ? MC_EFAIL : rc;
}

int mc_expect_kind(struct mc_reader *r, const char *kind, struct mc_history *h,
                   struct mc_error *err)
{
    int rc = mc_reader_expect(r, kind, err);

    if (!rc && h)
        mc_history_input(h, r);
    return rc;
}

int mc_stream_open(struct mc_reader **out, struct mc_stream from, const char *kind,
                   struct mc_history *h, struct mc_error *err)
{
    int rc = 0;

    *out = from.reader;
    if (from.path)
        rc = mc_reader_open(out, from.path, err);
    return rc || !kind ? rc : mc_expect_kind(*out, kind, h, err);
}

void mc_stream_close(struct mc_stream from, struct mc_reader *r)
{
    if (from.path)
        mc_reader_close(r);
}
