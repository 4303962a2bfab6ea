/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/header.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"

#include <string.h>

static int parse_tensor(struct mc_tensor *t, const msgpack_object *o, struct mc_error *err)
{
    const msgpack_object *a = o->via.array.ptr, *shape = NULL;
    int dtype = -1;

    if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size != 3 ||
        a[0].type != MSGPACK_OBJECT_STR || a[1].type != MSGPACK_OBJECT_STR ||
        a[2].type != MSGPACK_OBJECT_ARRAY)
        return mc_fail(err, MC_EINPUT, "a tensor is not announced as [name, dtype, shape]");
    if (a[0].via.str.size >= sizeof t->name)
        return mc_fail(err, MC_EINPUT, "a tensor's name is longer than %zu bytes",
                       sizeof t->name - 1);
    memcpy(t->name, a[0].via.str.ptr, a[0].via.str.size);
    dtype = mc_dtype_from_name(a[1].via.str.ptr, a[1].via.str.size);
    if (dtype < 0)
        return mc_fail(err, MC_EINPUT, "tensor \"%s\": unknown dtype", t->name);
    t->dtype = (enum mc_dtype)dtype;
    shape = &a[2];
    if (shape->via.array.size > MC_MAX_DIMS)
        return mc_fail(err, MC_EINPUT, "tensor \"%s\": more than %d dimensions", t->name,
                       MC_MAX_DIMS);
    t->ndim = (int)shape->via.array.size;
    for (int i = 0; i < t->ndim; i++) {
        if (shape->via.array.ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
            return mc_fail(err, MC_EINPUT, "tensor \"%s\": a dimension is not a number", t->name);
        t->shape[i] = shape->via.array.ptr[i].via.u64;
    }
    if (mc_stream_tensor_check(t))
        return mc_fail(err, MC_EINPUT, "tensor \"%s\": impossible name or size", t->name);
    return 0;
}

uint64_t mc_header_version(const char *kind, const struct mc_tensor *tensors, size_t n)
{
    int narrow = 0;

    if (strcmp(kind, "weights") != 0 && strcmp(kind, "curve") != 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        narrow |= mc_is_narrow(tensors[i].dtype);
    return narrow ? 2 : 1;
}

int mc_header_read(struct mc_header_info *h, const msgpack_object *o, struct mc_error *err)
{
    const msgpack_object *list = NULL;
    const char *twice = NULL;
    uint64_t version = 0, expected = 0;
    int rc = 0;

    if (o->type != MSGPACK_OBJECT_MAP)
        return mc_fail(err, MC_EINPUT, "is not a map");
    if ((rc = mc_get_u64(o, "mcz", UINT64_MAX, &version, err)))
        return rc;
    if (version < 1 || version > MC_FORMAT_VERSION)
        return mc_fail(err, MC_EINPUT, "format version %llu (this program reads 1 to %d)",
                       (unsigned long long)version, MC_FORMAT_VERSION);
    if (o->via.map.size != 4)
        return mc_fail(err, MC_EINPUT, "unknown keys");
    if ((rc = mc_get_str(o, "kind", h->kind, sizeof h->kind, err)) ||
        (rc = mc_get_map(o, "meta", &h->meta, err)) ||
        (rc = mc_get_array(o, "tensors", &list, err)))
        return rc;
    if (!mc_kind_ok(h->kind))
        return mc_fail(err, MC_EINPUT, "\"kind\" is not a name");
    if ((rc = mc_new(&h->tensors, list->via.array.size, err)))
        return rc;
    h->n_tensors = list->via.array.size;
    for (size_t i = 0; i < h->n_tensors; i++)
        if ((rc = parse_tensor(&h->tensors[i], &list->via.array.ptr[i], err)))
            return rc;
    if ((rc = mc_duplicate_name(h->tensors->name, h->n_tensors, sizeof *h->tensors, &twice, err)))
        return rc;
    if (twice)
        return mc_fail(err, MC_EINPUT, "tensor \"%s\" is announced twice", twice);
    expected = mc_header_version(h->kind, h->tensors, h->n_tensors);
    return version == expected
               ? 0
               : mc_fail(err, MC_EINPUT, "format version must be %d for these tensors (got %d)",
                         (int)expected, (int)version);
}
