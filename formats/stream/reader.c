/* SPDX-License-Identifier: Apache-2.0
 *
 * Read a stream: check its records against the header, and its end against the records. */
#include "formats/stream/reader.h"

#include "formats/stream/header.h"
#include "formats/stream/objects.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mc_reader {
    struct mc_objects objects;
    struct mc_origin *origin;
    char *name;

    struct mc_object_copy header_object, history;
    msgpack_unpacked object; /* the current record and its tensor */
    msgpack_unpacked inner;
    struct mc_header_info header;
    uint64_t *rows_read; /* per tensor */

    XXH3_state_t *hash;
    uint64_t n_records;
    char (*inputs)[MC_ID_LEN];
    size_t n_inputs;
    int state; /* 1 between records, 0 after the end, negative after an error */
    struct mc_error failure;
};

static const struct mc_bounds_limits limits_ext = {
    .bytes = MC_RECORD_MAX, .objects = 64, .depth = 2, .ext = 0};

/* ---- records ---- */

/* Check the tensor in a record against the header; fill rec->data, bytes and rows. */
static int parse_tensor(struct mc_reader *r, const msgpack_object *ext, struct mc_record *rec,
                        struct mc_error *err)
{
    const struct mc_tensor *t = rec->tensor;
    const unsigned char *body = (const unsigned char *)ext->via.ext.ptr;
    struct mc_bounds s = {.data = body, .have = ext->via.ext.size};
    const msgpack_object *a = NULL, *shape = NULL;
    size_t len = 0;
    int rc = mc_bounds_check(&s, &limits_ext, &len, err);

    if (!rc && len != s.have)
        rc = mc_fail(err, MC_EINPUT, "trailing bytes after the data");
    if (!rc)
        rc = mc_unpack(body, len, &r->inner, err);
    if (rc)
        return rc;
    a = r->inner.data.via.array.ptr;
    if (r->inner.data.type != MSGPACK_OBJECT_ARRAY || r->inner.data.via.array.size != 3 ||
        a[0].type != MSGPACK_OBJECT_ARRAY || a[1].type != MSGPACK_OBJECT_STR ||
        a[2].type != MSGPACK_OBJECT_BIN)
        return mc_fail(err, MC_EINPUT, "its data are not [shape, dtype, bytes]");
    if (mc_dtype_from_name(a[1].via.str.ptr, a[1].via.str.size) != (int)t->dtype)
        return mc_fail(err, MC_EINPUT, "its dtype is not the declared %s", mc_dtype_name(t->dtype));
    shape = &a[0];
    if (shape->via.array.size != (uint32_t)t->ndim)
        return mc_fail(err, MC_EINPUT, "it does not have the declared %d dimensions", t->ndim);
    for (int i = 0; i < t->ndim; i++) {
        const msgpack_object *d = &shape->via.array.ptr[i];
        if (d->type != MSGPACK_OBJECT_POSITIVE_INTEGER || (i && d->via.u64 != t->shape[i]))
            return mc_fail(err, MC_EINPUT, "its shape is not the declared one");
    }
    rec->rows = t->ndim ? shape->via.array.ptr[0].via.u64 : 1;
    if (!rec->rows || rec->rows > mc_tensor_rows(t) - rec->row)
        return mc_fail(err, MC_EINPUT, "it has %llu rows (from 1 to %llu expected)",
                       (unsigned long long)rec->rows,
                       (unsigned long long)(mc_tensor_rows(t) - rec->row));
    rec->bytes = a[2].via.bin.size;
    rec->data = a[2].via.bin.ptr;
    if (rec->bytes != rec->rows * mc_tensor_row_elems(t) * mc_dtype_size(t->dtype))
        return mc_fail(err, MC_EINPUT, "its %zu bytes do not match its shape", rec->bytes);
    return 0;
}

static int parse_record(struct mc_reader *r, const msgpack_object *o, struct mc_record *rec,
                        struct mc_error *err)
{
    const msgpack_object *data = mc_get_opt(o, "data");
    uint64_t index = 0, sum = 0;
    int rc = 0;

    if ((rc = mc_get_u64(o, "t", UINT64_MAX, &index, err)) ||
        (rc = mc_get_u64(o, "row", UINT64_MAX, &rec->row, err)) ||
        (rc = mc_get_u64(o, "xxh", UINT64_MAX, &sum, err)))
        return rc;
    if (o->via.map.size != 4 || !data || data->type != MSGPACK_OBJECT_EXT)
        return mc_fail(err, MC_EINPUT, "is not {t, row, data, xxh}");
    if (index >= r->header.n_tensors)
        return mc_fail(err, MC_EINPUT, "\"t\" must be below %zu (got %llu)", r->header.n_tensors,
                       (unsigned long long)index);
    rec->index = (size_t)index;
    rec->tensor = &r->header.tensors[index];
    if (!mc_tensor_bytes(rec->tensor))
        rc = mc_fail(err, MC_EINPUT, "an empty tensor must not have records");
    else if (rec->row != r->rows_read[index])
        rc = mc_fail(err, MC_EINPUT, "row %llu expected, got row %llu",
                     (unsigned long long)r->rows_read[index], (unsigned long long)rec->row);
    else
        rc = parse_tensor(r, data, rec, err);
    if (!rc && XXH3_64bits(rec->data, rec->bytes) != sum)
        rc = mc_fail(err, MC_EINPUT, "checksum mismatch");
    if (!rc)
        r->rows_read[index] += rec->rows;
    return mc_fail_in(rc, err, "tensor \"%s\"", rec->tensor->name);
}

static int parse_end(struct mc_reader *r, const msgpack_object *o, struct mc_error *err)
{
    const msgpack_object *id = mc_get_opt(o, "id"), *inputs = NULL;
    char have[MC_ID_LEN];
    uint64_t n = 0;
    int rc = 0;

    if ((rc = mc_get_u64(o, "end", UINT64_MAX, &n, err)) ||
        (rc = mc_get_array(o, "inputs", &inputs, err)))
        return rc;
    if (o->via.map.size != 3 || !id || !mc_is_id(id))
        return mc_fail(err, MC_EINPUT, "is not {end, id, inputs}");
    if (n != r->n_records)
        return mc_fail(err, MC_EINPUT, "announces %llu records, got %llu", (unsigned long long)n,
                       (unsigned long long)r->n_records);
    for (size_t i = 0; i < r->header.n_tensors; i++)
        if (mc_tensor_bytes(&r->header.tensors[i]) &&
            r->rows_read[i] != mc_tensor_rows(&r->header.tensors[i]))
            return mc_fail(err, MC_EINPUT, "tensor \"%s\" has %llu of %llu rows",
                           r->header.tensors[i].name, (unsigned long long)r->rows_read[i],
                           (unsigned long long)mc_tensor_rows(&r->header.tensors[i]));
    mc_hash_id(XXH3_128bits_digest(r->hash), have);
    if (memcmp(have, id->via.str.ptr, MC_ID_LEN - 1))
        return mc_fail(err, MC_EINPUT, "the content id is %s, not the declared %.32s", have,
                       id->via.str.ptr);
    r->n_inputs = inputs->via.array.size;
    if ((rc = mc_new(&r->inputs, r->n_inputs, err)))
        return rc;
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (!mc_is_id(&inputs->via.array.ptr[i]))
            return mc_fail(err, MC_EINPUT, "\"inputs\" is not a list of content ids");
        memcpy(r->inputs[i], inputs->via.array.ptr[i].via.str.ptr, MC_ID_LEN - 1);
    }
    if ((rc = mc_input_finish(r->objects.in, err)))
        return rc;
    memcpy(r->origin->id, have, sizeof have);
    return 0;
}

/* ---- the interface ---- */

/* Prefix an error with the stream's name and the position, and store it. */
static int fail(struct mc_reader *r, const char *where, struct mc_error *now, struct mc_error *err)
{
    if (now->code == MC_EINPUT && where)
        mc_fail_in(now->code, now, "%s", where);
    else if (now->code == MC_EINPUT)
        mc_fail_in(now->code, now, "record %llu, byte %llu", (unsigned long long)(r->n_records + 1),
                   (unsigned long long)mc_reader_bytes(r));
    mc_fail_in(now->code, now, "%s", r->name);
    r->state = now->code;
    r->failure = *now;
    if (err)
        *err = *now;
    return now->code;
}

int mc_reader_open(struct mc_reader **out, const char *path, struct mc_error *err)
{
    struct mc_error now = {0};
    struct mc_reader *r = NULL;
    const char *where = "header";
    int rc = mc_new(&r, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    msgpack_unpacked_init(&r->header_object.object);
    msgpack_unpacked_init(&r->history.object);
    msgpack_unpacked_init(&r->object);
    msgpack_unpacked_init(&r->inner);
    r->name = strdup(mc_file_called(path));
    r->origin = calloc(1, sizeof *r->origin);
    r->hash = XXH3_createState();
    if (r->origin)
        r->origin->refs = 1;
    if (!r->name || !r->origin || !r->hash) {
        rc = mc_no_memory(err);
        goto out;
    }
    snprintf(r->origin->name, sizeof r->origin->name, "%s", r->name);
    XXH3_128bits_reset(r->hash);
    if ((rc = mc_input_open(&r->objects.in, path, err)))
        goto out;
    rc = mc_objects_copy(&r->objects, &mc_limits_header, &r->header_object, &now);
    if (!rc) {
        XXH3_128bits_update(r->hash, r->header_object.bytes, r->header_object.len);
        rc = mc_header_read(&r->header, &r->header_object.object.data, &now);
    }
    if (!rc)
        rc = mc_new(&r->rows_read, r->header.n_tensors, &now);
    if (!rc) {
        where = "history";
        rc = mc_objects_copy(&r->objects, &mc_limits_history, &r->history, &now);
    }
    if (!rc)
        rc = mc_history_check(&r->history.object.data, &now);
    if (rc)
        fail(r, where, &now, err);
    r->state = 1;
out:
    if (rc)
        mc_reader_close(r);
    else
        *out = r;
    return rc;
}

void mc_reader_close(struct mc_reader *r)
{
    if (!r)
        return;
    mc_objects_release(&r->objects);
    mc_origin_drop(r->origin);
    msgpack_unpacked_destroy(&r->header_object.object);
    msgpack_unpacked_destroy(&r->history.object);
    msgpack_unpacked_destroy(&r->object);
    msgpack_unpacked_destroy(&r->inner);
    free(r->header_object.bytes);
    free(r->history.bytes);
    free(r->header.tensors);
    free(r->rows_read);
    free(r->inputs);
    XXH3_freeState(r->hash);
    free(r->name);
    free(r);
}

int mc_reader_next(struct mc_reader *r, struct mc_record *rec, struct mc_error *err)
{
    struct mc_error now = {0};
    const char *where = NULL;
    const void *data = NULL;
    size_t len = 0;
    int rc = 0;

    if (r->state <= 0) {
        if (r->state < 0 && err)
            *err = r->failure;
        return r->state;
    }
    rc = mc_objects_next(&r->objects, &mc_limits_record, &data, &len, &now);
    if (!rc)
        rc = mc_unpack(data, len, &r->object, &now);
    if (!rc && r->object.data.type != MSGPACK_OBJECT_MAP)
        rc = mc_fail(&now, MC_EINPUT, "is not a map");
    if (!rc && mc_get_opt(&r->object.data, "end")) {
        where = "end record";
        rc = parse_end(r, &r->object.data, &now);
        if (!rc)
            return r->state = 0;
    } else if (!rc) {
        struct mc_record found = {0};
        rc = parse_record(r, &r->object.data, &found, &now);
        if (!rc) {
            XXH3_128bits_update(r->hash, data, len);
            r->n_records++;
            found.data = mc_objects_align(&r->objects, found.data, found.bytes);
            *rec = found;
            return 1;
        }
    }
    return fail(r, where, &now, err);
}

void mc_reader_swap(struct mc_reader *r, void **slab, size_t *size)
{
    struct mc_objects *o = &r->objects;
    unsigned char *last = o->slab;
    const size_t capacity = o->capacity;

    o->slab = *slab;
    o->capacity = *size;
    *slab = last;
    *size = capacity;
}

int mc_reader_rest(struct mc_reader *r, void *const *dst, struct mc_error *err)
{
    struct mc_record rec;
    int rc = 0;

    while ((rc = mc_reader_next(r, &rec, err)) > 0) {
        const struct mc_tensor *t = rec.tensor;
        if (dst && dst[rec.index])
            memcpy((char *)dst[rec.index] +
                       rec.row * mc_tensor_row_elems(t) * mc_dtype_size(t->dtype),
                   rec.data, rec.bytes);
    }
    return rc;
}

const char *mc_reader_name(const struct mc_reader *r)
{
    return r->name;
}

const char *mc_reader_kind(const struct mc_reader *r)
{
    return r->header.kind;
}

const msgpack_object *mc_reader_meta(const struct mc_reader *r)
{
    return r->header.meta;
}

const msgpack_object *mc_reader_history(const struct mc_reader *r)
{
    return &r->history.object.data;
}

size_t mc_reader_n_tensors(const struct mc_reader *r)
{
    return r->header.n_tensors;
}

const struct mc_tensor *mc_reader_tensor(const struct mc_reader *r, size_t i)
{
    return &r->header.tensors[i];
}

long mc_reader_find(const struct mc_reader *r, const char *tensor)
{
    for (size_t i = 0; i < r->header.n_tensors; i++)
        if (!strcmp(r->header.tensors[i].name, tensor))
            return (long)i;
    return -1;
}

int mc_reader_expect(const struct mc_reader *r, const char *kind, struct mc_error *err)
{
    const char *got = r->header.kind, *hint = mc_kind_hint(kind, got);

    return strcmp(got, kind) ? mc_fail(err, MC_EINPUT, "%s: %s expected, got %s%s%s", r->name, kind,
                                       got, *hint ? ": " : "", hint)
                             : 0;
}

const char *mc_reader_id(const struct mc_reader *r)
{
    return r->origin->id;
}

size_t mc_reader_n_inputs(const struct mc_reader *r)
{
    return r->state == 0 ? r->n_inputs : 0;
}

const char *mc_reader_input(const struct mc_reader *r, size_t i)
{
    return r->inputs[i];
}

uint64_t mc_reader_records(const struct mc_reader *r)
{
    return r->n_records;
}

uint64_t mc_reader_bytes(const struct mc_reader *r)
{
    return mc_input_bytes(r->objects.in);
}

struct mc_origin *mc_reader_origin(struct mc_reader *r)
{
    return r->origin;
}
