/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/objects.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Make room for size bytes at slab + pad. Capacity doubles, so it is at most twice the bytes that
 * have arrived. */
static int reserve(struct mc_objects *o, size_t size, struct mc_error *err)
{
    size_t capacity = o->capacity ? o->capacity : 65536;
    unsigned char *p = NULL;

    if (size + MC_OBJECT_ALIGN <= o->capacity)
        return 0;
    while (capacity < size + MC_OBJECT_ALIGN)
        capacity *= 2;
    if (!(p = aligned_alloc(MC_OBJECT_ALIGN, capacity)))
        return mc_no_memory(err);
    if (o->slab)
        memcpy(p, o->slab, o->capacity);
    free(o->slab);
    o->slab = p;
    o->capacity = capacity;
    return 0;
}

static int more(struct mc_bounds *s, size_t need, struct mc_error *err)
{
    struct mc_objects *o = s->ctx;
    int rc = 0;

    while (s->have < need && !rc) {
        size_t step = need - s->have;
        if (step > s->have + 65536)
            step = s->have + 65536;
        if ((rc = reserve(o, s->have + step, err)))
            break;
        s->data = o->slab + o->pad;
        rc = mc_input_read(o->in, o->slab + o->pad + s->have, step, err);
        if (!rc)
            s->have += step;
    }
    return rc;
}

int mc_objects_next(struct mc_objects *o, const struct mc_bounds_limits *limits, const void **data,
                    size_t *len, struct mc_error *err)
{
    struct mc_bounds s = {.more = more, .ctx = o};
    int rc = reserve(o, 1, err);

    if (rc)
        return rc;
    s.data = o->slab + o->pad;
    rc = mc_bounds_check(&s, limits, len, err);
    *data = s.data;
    return rc;
}

int mc_unpack(const void *data, size_t len, msgpack_unpacked *out, struct mc_error *err)
{
    size_t offset = 0;
    msgpack_unpack_return rc = msgpack_unpack_next(out, data, len, &offset);

    if (rc == MSGPACK_UNPACK_NOMEM_ERROR)
        return mc_no_memory(err);
    if (rc != MSGPACK_UNPACK_SUCCESS || offset != len)
        return mc_fail(err, MC_EINPUT, "cannot be unpacked");
    return 0;
}

int mc_objects_copy(struct mc_objects *o, const struct mc_bounds_limits *limits,
                    struct mc_object_copy *k, struct mc_error *err)
{
    const void *data = NULL;
    int rc = mc_objects_next(o, limits, &data, &k->len, err);

    if (rc || (rc = mc_new(&k->bytes, k->len, err)))
        return rc;
    memcpy(k->bytes, data, k->len);
    return mc_unpack(k->bytes, k->len, &k->object, err);
}

const void *mc_objects_align(struct mc_objects *o, const void *data, size_t bytes)
{
    size_t offset = (size_t)((const unsigned char *)data - o->slab),
           shift = offset % MC_OBJECT_ALIGN;

    if (!shift)
        return data;
    memmove(o->slab + offset - shift, o->slab + offset, bytes);
    o->pad = (o->pad + MC_OBJECT_ALIGN - shift) % MC_OBJECT_ALIGN;
    return o->slab + offset - shift;
}

void mc_objects_release(struct mc_objects *o)
{
    mc_input_close(o->in);
    free(o->slab);
}
