/* SPDX-License-Identifier: Apache-2.0
 *
 * Write a stream: pack its objects, and compute its content id. */
#include "formats/stream/writer.h"

#include "formats/stream/encoder.h"
#include "formats/stream/frame.h"
#include "formats/stream/header.h"
#include "libcommon/base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are written as stored in memory");

struct mc_writer {
    struct mc_encoder *encoder;
    XXH3_state_t *hash, *sum; /* content id; checksum of the open record */
    const struct mc_history *history;
    struct mc_tensor *tensors;
    uint64_t *rows_written; /* with those of the open record */
    uint64_t left;          /* bytes that the open record lacks; 0: none is open */
    size_t n_tensors;
    uint64_t n_records;
    int failed; /* the code of the first failure; nothing is written after it */
    struct mc_error failure;
};

/* Return the first failure, or 0. */
static int failed(const struct mc_writer *w, struct mc_error *err)
{
    if (w->failed && err)
        *err = w->failure;
    return w->failed;
}

static int emit_hashed(struct mc_writer *w, const void *data, size_t n, struct mc_error *err)
{
    XXH3_128bits_update(w->hash, data, n);
    return mc_encoder_objects(w->encoder, data, n, err);
}

/* Check packed objects against the reader's limits: a stream that is written must be readable. */
static int check_limits(const struct mc_pack *p, const struct mc_bounds_limits *limits,
                        const char *name, struct mc_error *err)
{
    struct mc_bounds s = {.data = (const unsigned char *)p->buf.data, .have = p->buf.size};
    size_t len = 0;
    int rc = 0;

    if (p->failed)
        return mc_no_memory(err);
    rc = mc_bounds_check(&s, limits, &len, err);
    return rc == MC_EINPUT ? mc_fail_in(rc, err, "%s", name) : rc;
}

/* The run's inputs fill the history, most of it the one with the longest history. */
static int check_history(const struct mc_history *h, const struct mc_pack *p, struct mc_error *err)
{
    const char *input = mc_history_longest(h);
    int rc = check_limits(p, &mc_limits_history, "history", err);

    return rc == MC_EINPUT && input
               ? mc_fail(err, rc, "%s: its history has no room for this run (--no-history)", input)
               : rc;
}

static int write_header(struct mc_writer *w, const char *kind, const struct mc_pack *meta,
                        struct mc_error *err)
{
    struct mc_pack header, history;
    int rc = 0;

    mc_pack_init(&header);
    mc_pack_init(&history);
    mc_pack_map(&header, 4);
    mc_put_u64(&header, "mcz", mc_header_version(kind, w->tensors, w->n_tensors));
    mc_put_str(&header, "kind", kind);
    mc_pack_str(&header, "meta");
    if (meta)
        mc_pack_raw(&header, meta);
    else
        mc_pack_map(&header, 0);
    mc_put_array(&header, "tensors", w->n_tensors);
    for (size_t i = 0; i < w->n_tensors; i++) {
        const struct mc_tensor *t = &w->tensors[i];
        mc_pack_array(&header, 3);
        mc_pack_str(&header, t->name);
        mc_pack_str(&header, mc_dtype_name(t->dtype));
        mc_pack_array(&header, (size_t)t->ndim);
        for (int k = 0; k < t->ndim; k++)
            mc_pack_u64(&header, t->shape[k]);
    }
    if ((rc = mc_history_pack(w->history, &history, err)) ||
        (rc = check_limits(&header, &mc_limits_header, "header", err)) ||
        (rc = check_history(w->history, &history, err)) ||
        (rc = emit_hashed(w, header.buf.data, header.buf.size, err)))
        goto out;
    rc = mc_encoder_objects(w->encoder, history.buf.data, history.buf.size, err);
out:
    mc_pack_release(&header);
    mc_pack_release(&history);
    return rc;
}

int mc_writer_open(struct mc_writer **out, const char *path, const struct mc_header *header,
                   const struct mc_history *history, struct mc_error *err)
{
    const struct mc_tensor *tensors = header->tensors;
    const size_t n_tensors = header->n_tensors;
    struct mc_writer *w = NULL;
    const char *twice = NULL;
    int rc = mc_new(&w, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    w->history = history;
    w->n_tensors = n_tensors;
    w->hash = XXH3_createState();
    w->sum = XXH3_createState();
    if (mc_new(&w->tensors, n_tensors, err) || mc_new(&w->rows_written, n_tensors, err) ||
        !w->hash || !w->sum) {
        rc = mc_no_memory(err);
        goto out;
    }
    XXH3_128bits_reset(w->hash);
    if (!mc_kind_ok(header->kind)) {
        rc = mc_fail(err, MC_EUSAGE, "'%s' is not a valid kind of stream", header->kind);
        goto out;
    }
    for (size_t i = 0; i < n_tensors; i++) {
        w->tensors[i] = tensors[i];
        if (mc_stream_tensor_check(&tensors[i])) {
            rc = mc_fail(err, MC_EINPUT, "tensor \"%.*s\" cannot be in a stream", MC_NAME_MAX - 1,
                         tensors[i].name);
            goto out;
        }
    }
    if ((rc = mc_duplicate_name(w->tensors->name, n_tensors, sizeof *w->tensors, &twice, err)))
        goto out;
    if (twice) {
        rc = mc_fail(err, MC_EINPUT, "two tensors are named \"%s\"", twice);
        goto out;
    }
    if ((rc = mc_encoder_open(&w->encoder, path, header->kind, err)))
        goto out;
    rc = write_header(w, header->kind, header->meta, err);
out:
    if (rc)
        return mc_writer_close(w, rc, NULL, err);
    *out = w;
    return 0;
}

/* Write the bytes of a record of tensor i before its data, of `bytes` bytes. */
static int begin_record(struct mc_writer *w, size_t i, uint64_t rows, uint64_t bytes,
                        struct mc_error *err)
{
    const struct mc_tensor *t = &w->tensors[i];
    struct mc_pack inner, head;
    int rc = 0;

    mc_pack_init(&inner);
    mc_pack_init(&head);
    mc_pack_array(&inner, 3);
    mc_pack_array(&inner, (size_t)t->ndim);
    for (int k = 0; k < t->ndim; k++)
        mc_pack_u64(&inner, k ? t->shape[k] : rows);
    mc_pack_str(&inner, mc_dtype_name(t->dtype));
    inner.failed |= msgpack_pack_bin(&inner.pk, bytes) != 0;

    mc_pack_map(&head, 4);
    mc_put_u64(&head, "t", i);
    mc_put_u64(&head, "row", w->rows_written[i]);
    mc_pack_str(&head, "data");
    head.failed |= msgpack_pack_ext(&head.pk, inner.buf.size + bytes, 1) != 0;
    mc_pack_raw(&head, &inner);
    rc = head.failed ? mc_no_memory(err) : emit_hashed(w, head.buf.data, head.buf.size, err);
    if (!rc)
        rc = mc_encoder_width(w->encoder, mc_dtype_size(t->dtype), err);
    if (!rc) {
        w->rows_written[i] += rows;
        w->left = bytes;
        XXH3_64bits_reset(w->sum);
    }
    mc_pack_release(&inner);
    mc_pack_release(&head);
    return rc;
}

/* Write the next bytes of the open record's data, which are never copied, and after the last the
 * record's end. */
static int add_data(struct mc_writer *w, const void *data, size_t bytes, struct mc_error *err)
{
    struct mc_pack tail;
    int rc = mc_encoder_values(w->encoder, data, bytes, bytes == w->left, err);

    XXH3_128bits_update(w->hash, data, bytes);
    XXH3_64bits_update(w->sum, data, bytes);
    w->left -= bytes;
    if (rc || w->left)
        return rc;
    mc_pack_init(&tail);
    mc_put_u64(&tail, "xxh", XXH3_64bits_digest(w->sum));
    rc = tail.failed ? mc_no_memory(err) : emit_hashed(w, tail.buf.data, tail.buf.size, err);
    mc_pack_release(&tail);
    w->n_records++;
    return rc;
}

static uint64_t row_bytes_of(const struct mc_writer *w, size_t i)
{
    return i < w->n_tensors
               ? mc_tensor_row_elems(&w->tensors[i]) * mc_dtype_size(w->tensors[i].dtype)
               : 1;
}

static uint64_t rows_left(const struct mc_writer *w, size_t i)
{
    return i < w->n_tensors ? mc_tensor_rows(&w->tensors[i]) - w->rows_written[i] : 0;
}

/* Write bytes of tensor i: the open record's rest, then records of up to `rows` rows in all. */
static int write_rows(struct mc_writer *w, size_t i, uint64_t rows, const void *data, size_t bytes,
                      struct mc_error *err)
{
    const uint64_t row = row_bytes_of(w, i);
    const char *p = data;

    if (!w->failed && bytes > w->left + rows * row)
        w->failed = mc_fail(&w->failure, MC_EUSAGE, "more rows than announced");
    for (size_t part = 0; bytes && !w->failed; p += part, bytes -= part) {
        if (!w->left) {
            const uint64_t n = MC_CUT / row < rows ? MC_CUT / row : rows;
            w->failed = begin_record(w, i, n, n * row, &w->failure);
            rows -= n;
        }
        part = bytes < w->left ? bytes : (size_t)w->left;
        if (!w->failed)
            w->failed = add_data(w, p, part, &w->failure);
    }
    return failed(w, err);
}

int mc_writer_bytes(struct mc_writer *w, size_t i, const void *data, size_t bytes,
                    struct mc_error *err)
{
    return write_rows(w, i, rows_left(w, i), data, bytes, err);
}

int mc_writer_rows(struct mc_writer *w, size_t i, uint64_t rows, const void *data,
                   struct mc_error *err)
{
    const uint64_t left = rows_left(w, i);

    assert(!w->left || w->failed);
    return write_rows(w, i, left < rows ? left : rows, data, (size_t)(rows * row_bytes_of(w, i)),
                      err);
}

int mc_writer_tensor(struct mc_writer *w, size_t i, const void *data, struct mc_error *err)
{
    return mc_writer_rows(w, i, i < w->n_tensors ? mc_tensor_rows(&w->tensors[i]) : 1, data, err);
}

static int write_end(struct mc_writer *w, char *id, struct mc_error *err)
{
    struct mc_pack end;
    int rc = 0;

    for (size_t i = 0; i < w->n_tensors; i++)
        if (mc_tensor_bytes(&w->tensors[i]) && (w->left || rows_left(w, i)))
            return mc_fail(err, MC_EUSAGE, "tensor \"%s\" is not complete", w->tensors[i].name);
    mc_hash_id(XXH3_128bits_digest(w->hash), id);
    mc_pack_init(&end);
    mc_pack_map(&end, 3);
    mc_put_u64(&end, "end", w->n_records);
    mc_put_str(&end, "id", id);
    mc_pack_str(&end, "inputs");
    if ((rc = mc_history_pack_inputs(w->history, &end, err)) ||
        (rc = check_limits(&end, &mc_limits_record, "end record", err)))
        goto out;
    rc = mc_encoder_objects(w->encoder, end.buf.data, end.buf.size, err);
out:
    mc_pack_release(&end);
    return rc;
}

int mc_writer_close(struct mc_writer *w, int rc, char *id, struct mc_error *err)
{
    char content_id[MC_ID_LEN] = "";

    if (!w)
        return rc;
    if (!rc)
        rc = failed(w, err);
    if (!rc)
        rc = write_end(w, content_id, err);
    rc = mc_encoder_close(w->encoder, rc, err);
    if (!rc && id)
        memcpy(id, content_id, sizeof content_id);
    XXH3_freeState(w->hash);
    XXH3_freeState(w->sum);
    free(w->tensors);
    free(w->rows_written);
    free(w);
    return rc;
}
