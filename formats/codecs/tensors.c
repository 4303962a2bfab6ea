/* SPDX-License-Identifier: Apache-2.0
 *
 * Checking announced tensors, and gathering them into memory. */
#include "formats/codecs/tensors.h"
#include "formats/stream/writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

void *mc_aligned_zeros(size_t bytes)
{
    size_t rounded = 0;

    if (__builtin_add_overflow(bytes ? bytes : 1, ALIGNMENT - 1, &rounded))
        return NULL;
    rounded -= rounded % ALIGNMENT;
    void *p = aligned_alloc(ALIGNMENT, rounded);
    if (p)
        memset(p, 0, rounded);
    return p;
}

static int grow(struct mc_sink *s, size_t need, struct mc_error *err)
{
    size_t size = need;

    if (s->data && need <= s->have)
        return 0;
    if (size < s->bytes && s->have <= s->bytes / 2 && size < 2 * s->have)
        size = 2 * s->have;
    else if (size < s->bytes && s->have > s->bytes / 2)
        size = s->bytes;
    void *p = mc_aligned_zeros(size);
    if (!p)
        return mc_fail(err, MC_ENOMEM, "out of memory: %zu bytes", size);
    if (s->data)
        memcpy(p, s->data, s->have);
    free(s->data);
    s->data = p;
    s->have = size;
    return 0;
}

int mc_tensors_read(struct mc_reader *r, const struct mc_place *places, struct mc_sink *sinks,
                    size_t n_sinks, struct mc_error *err)
{
    struct mc_record rec;
    size_t last = 0;
    int rc = 0;

    while ((rc = mc_reader_next(r, &rec, err)) == 1) {
        if (rec.index < last)
            return mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" comes after a later one",
                           mc_reader_name(r), rec.tensor->name);
        last = rec.index;
        struct mc_sink *s = &sinks[places[rec.index].sink];
        size_t row = (size_t)(mc_tensor_row_elems(rec.tensor) * mc_dtype_size(rec.tensor->dtype));
        size_t at = places[rec.index].offset + (size_t)rec.row * row;
        assert(at <= s->bytes && rec.bytes <= s->bytes - at);
        if ((rc = grow(s, at + rec.bytes, err)))
            return rc;
        if (rec.bytes)
            memcpy((char *)s->data + at, rec.data, rec.bytes);
    }
    for (size_t i = 0; i < n_sinks && !rc; i++)
        rc = grow(&sinks[i], sinks[i].bytes, err);
    return rc;
}

void mc_sinks_free(struct mc_sink *sinks, size_t n)
{
    for (size_t i = 0; sinks && i < n; i++) {
        free(sinks[i].data);
        sinks[i].data = NULL;
    }
}

void *mc_sink_detach(struct mc_sink *s)
{
    void *p = s->data;

    s->data = NULL;
    return p;
}

int mc_expect_count(const struct mc_reader *r, size_t n, struct mc_error *err)
{
    if (mc_reader_n_tensors(r) == n)
        return 0;
    return mc_fail(err, MC_EINPUT, "%s: announces %zu tensor%s where its header makes %zu",
                   mc_reader_name(r), mc_reader_n_tensors(r),
                   mc_reader_n_tensors(r) == 1 ? "" : "s", n);
}

/* "float32 (16,3,3,3)" */
static void describe(const struct mc_tensor *t, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s (", mc_dtype_name(t->dtype));

    for (int i = 0; i < t->ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%llu", i ? "," : "",
                                 (unsigned long long)t->shape[i]);
    if (used < size)
        snprintf(out + used, size - used, ")");
}

int mc_expect_tensor(const struct mc_reader *r, size_t i, const struct mc_tensor *want,
                     struct mc_error *err)
{
    const struct mc_tensor *t = mc_reader_tensor(r, i);
    char is[200], should[200];
    int same = t->dtype == want->dtype && t->ndim == want->ndim;

    if (strcmp(t->name, want->name))
        return mc_fail(err, MC_EINPUT, "%s: tensor %zu is \"%s\", not \"%s\"", mc_reader_name(r), i,
                       t->name, want->name);
    for (int d = 0; same && d < t->ndim; d++)
        same = t->shape[d] == want->shape[d];
    if (same)
        return 0;
    describe(t, is, sizeof is);
    describe(want, should, sizeof should);
    return mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" is %s, not %s", mc_reader_name(r), t->name,
                   is, should);
}

static int not_finite(const char *file, const char *name, struct mc_error *err)
{
    return mc_fail(err, MC_EINPUT, "%s%s\"%s\" holds a value that is not finite", file ? file : "",
                   file ? ": " : "", name);
}

int mc_finite_f32(const float *x, size_t n, const char *file, const char *name,
                  struct mc_error *err)
{
    int ok = 1;

    for (size_t i = 0; i < n; i++)
        ok &= isfinite(x[i]) != 0;
    return ok ? 0 : not_finite(file, name, err);
}

int mc_finite_f64(const double *x, size_t n, const char *file, const char *name,
                  struct mc_error *err)
{
    int ok = 1;

    for (size_t i = 0; i < n; i++)
        ok &= isfinite(x[i]) != 0;
    return ok ? 0 : not_finite(file, name, err);
}

int mc_open_kind(struct mc_reader **r, const char *path, const char *kind, struct mc_history *h,
                 struct mc_error *err)
{
    int rc = mc_reader_open(r, path, err);

    if (!rc)
        rc = mc_reader_expect(*r, kind, err);
    if (!rc && h)
        mc_history_input(h, *r);
    return rc;
}

int mc_tensors_read_each(struct mc_reader *r, const struct mc_tensor *want, size_t n, void ***data,
                         struct mc_error *err)
{
    struct mc_sink *sinks = NULL;
    struct mc_place *places = NULL;
    int rc = mc_expect_count(r, n, err);

    *data = NULL;
    if (rc)
        return rc;
    sinks = calloc(n + 1, sizeof *sinks);
    places = calloc(n + 1, sizeof *places);
    void **out = calloc(n + 1, sizeof *out);
    if (!sinks || !places || !out) {
        rc = mc_no_memory(err);
        goto out;
    }
    for (size_t i = 0; i < n && !rc; i++) {
        rc = mc_expect_tensor(r, i, &want[i], err);
        places[i].sink = i;
        sinks[i].bytes = (size_t)mc_tensor_bytes(&want[i]);
    }
    if (rc || (rc = mc_tensors_read(r, places, sinks, n, err)))
        goto out;
    for (size_t i = 0; i < n; i++)
        out[i] = mc_sink_detach(&sinks[i]);
    *data = out;
    out = NULL;
out:
    free(out);
    mc_sinks_free(sinks, n);
    free(sinks);
    free(places);
    return rc;
}

int mc_tensors_write_each(const char *path, const char *kind, const struct mc_pack *meta,
                          const struct mc_tensor *tensors, const void *const *data, size_t n,
                          const struct mc_history *h, struct mc_error *err)
{
    struct mc_writer *w = NULL;
    int rc = mc_writer_open(&w, path, kind, meta, tensors, n, h, err);

    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_writer_tensor(w, i, data[i], err);
    if (rc) {
        mc_writer_abandon(w);
        return rc;
    }
    return mc_writer_close(w, NULL, err);
}
