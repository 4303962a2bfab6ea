/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/bounds.h"
#include "formats/stream/pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mc_pack_init(struct mc_pack *p)
{
    msgpack_sbuffer_init(&p->buf);
    msgpack_packer_init(&p->pk, &p->buf, msgpack_sbuffer_write);
    p->failed = 0;
}

void mc_pack_release(struct mc_pack *p)
{
    msgpack_sbuffer_destroy(&p->buf);
    msgpack_sbuffer_init(&p->buf);
}

void mc_pack_map(struct mc_pack *p, size_t n)
{
    p->failed |= msgpack_pack_map(&p->pk, n) != 0;
}

void mc_pack_array(struct mc_pack *p, size_t n)
{
    p->failed |= msgpack_pack_array(&p->pk, n) != 0;
}

void mc_pack_str(struct mc_pack *p, const char *s)
{
    size_t n = strlen(s);

    p->failed |= msgpack_pack_str(&p->pk, n) != 0;
    p->failed |= msgpack_pack_str_body(&p->pk, s, n) != 0;
}

void mc_pack_u64(struct mc_pack *p, uint64_t v)
{
    p->failed |= msgpack_pack_uint64(&p->pk, v) != 0;
}

void mc_pack_i64(struct mc_pack *p, int64_t v)
{
    p->failed |= msgpack_pack_int64(&p->pk, v) != 0;
}

void mc_pack_f64(struct mc_pack *p, double v)
{
    p->failed |= msgpack_pack_double(&p->pk, v) != 0;
}

void mc_pack_f32(struct mc_pack *p, float v)
{
    char text[32];

    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v)
            break;
    }
    mc_pack_f64(p, strtod(text, NULL));
}

void mc_pack_bool(struct mc_pack *p, int v)
{
    p->failed |= (v ? msgpack_pack_true(&p->pk) : msgpack_pack_false(&p->pk)) != 0;
}

void mc_put_str(struct mc_pack *p, const char *key, const char *value)
{
    mc_pack_str(p, key);
    mc_pack_str(p, value);
}

void mc_put_u64(struct mc_pack *p, const char *key, uint64_t value)
{
    mc_pack_str(p, key);
    mc_pack_u64(p, value);
}

void mc_put_array(struct mc_pack *p, const char *key, size_t n)
{
    mc_pack_str(p, key);
    mc_pack_array(p, n);
}

void mc_pack_raw(struct mc_pack *p, const struct mc_pack *from)
{
    p->failed |= from->failed;
    if (from->buf.size)
        p->failed |= msgpack_sbuffer_write(&p->buf, from->buf.data, from->buf.size) != 0;
}

void mc_pack_object(struct mc_pack *p, const msgpack_object *o)
{
    p->failed |= msgpack_pack_object(&p->pk, *o) != 0;
}

int mc_is_id(const msgpack_object *o)
{
    if (o->type != MSGPACK_OBJECT_STR || o->via.str.size != MC_ID_LEN - 1)
        return 0;
    for (size_t i = 0; i < MC_ID_LEN - 1; i++)
        if (!memchr("0123456789abcdef", o->via.str.ptr[i], 16))
            return 0;
    return 1;
}

int mc_is_str(const msgpack_object *o, const char *text)
{
    const size_t n = strlen(text);

    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == n &&
           !memcmp(o->via.str.ptr, text, n);
}

const msgpack_object *mc_get_opt(const msgpack_object *map, const char *key)
{
    if (map->type != MSGPACK_OBJECT_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->via.map.size; i++)
        if (mc_is_str(&map->via.map.ptr[i].key, key))
            return &map->via.map.ptr[i].val;
    return NULL;
}

static int get(const msgpack_object *map, const char *key, const msgpack_object **out,
               struct mc_error *err)
{
    *out = mc_get_opt(map, key);
    return *out ? 0 : mc_fail(err, MC_EINPUT, "\"%s\" is missing", key);
}

static int get_as(const msgpack_object *map, const char *key, msgpack_object_type type,
                  const char *name, const msgpack_object **out, struct mc_error *err)
{
    int rc = get(map, key, out, err);

    if (!rc && (*out)->type != type)
        rc = mc_fail(err, MC_EINPUT, "\"%s\" is not %s", key, name);
    return rc;
}

int mc_get_map(const msgpack_object *map, const char *key, const msgpack_object **out,
               struct mc_error *err)
{
    return get_as(map, key, MSGPACK_OBJECT_MAP, "a map", out, err);
}

int mc_get_array(const msgpack_object *map, const char *key, const msgpack_object **out,
                 struct mc_error *err)
{
    return get_as(map, key, MSGPACK_OBJECT_ARRAY, "an array", out, err);
}

int mc_get_str(const msgpack_object *map, const char *key, char *out, size_t size,
               struct mc_error *err)
{
    const msgpack_object *o = NULL;
    int rc = get_as(map, key, MSGPACK_OBJECT_STR, "a string", &o, err);

    if (rc)
        return rc;
    if (o->via.str.size >= size)
        return mc_fail(err, MC_EINPUT, "\"%s\" is longer than %zu bytes", key, size - 1);
    if (!mc_is_text((const unsigned char *)o->via.str.ptr, o->via.str.size))
        return mc_fail(err, MC_EINPUT, "\"%s\" is not UTF-8 text without NUL", key);
    memcpy(out, o->via.str.ptr, o->via.str.size);
    out[o->via.str.size] = 0;
    return 0;
}

int mc_get_u64(const msgpack_object *map, const char *key, uint64_t max, uint64_t *out,
               struct mc_error *err)
{
    const msgpack_object *o = NULL;
    int rc = get_as(map, key, MSGPACK_OBJECT_POSITIVE_INTEGER, "an integer of 0 or more", &o, err);

    if (!rc && o->via.u64 > max)
        rc = mc_fail(err, MC_EINPUT, "\"%s\" must be at most %llu", key, (unsigned long long)max);
    if (!rc)
        *out = o->via.u64;
    return rc;
}

int mc_get_f64(const msgpack_object *map, const char *key, double *out, struct mc_error *err)
{
    const msgpack_object *o = NULL;
    double v = NAN;
    int rc = get(map, key, &o, err);

    if (rc)
        return rc;
    if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        v = o->via.f64;
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        v = (double)o->via.u64;
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        v = (double)o->via.i64;
    if (!isfinite(v))
        return mc_fail(err, MC_EINPUT, "\"%s\" is not a finite number", key);
    *out = v;
    return 0;
}

/* ---- tables of keys ---- */

void mc_keys_pack(struct mc_pack *p, const struct mc_key *keys, size_t n, const void *base)
{
    for (const struct mc_key *k = keys; k < keys + n; k++) {
        const void *member = (const char *)base + k->offset;
        mc_pack_str(p, k->key);
        switch (k->type) {
        case MC_KEY_TEXT:
            mc_pack_str(p, member);
            break;
        case MC_KEY_COUNT:
            mc_pack_u64(p, k->size == 4 ? *(const uint32_t *)member : *(const uint64_t *)member);
            break;
        case MC_KEY_FLAG:
            mc_pack_bool(p, *(const int *)member);
            break;
        case MC_KEY_F32:
            mc_pack_f32(p, *(const float *)member);
            break;
        case MC_KEY_F64:
            mc_pack_f64(p, *(const double *)member);
        }
    }
}

static int get_member(const msgpack_object *map, const struct mc_key *k, void *member,
                      struct mc_error *err)
{
    const msgpack_object *o = NULL;
    uint64_t count = 0;
    double v = 0;
    int rc = 0;

    switch (k->type) {
    case MC_KEY_TEXT:
        return mc_get_str(map, k->key, member, k->max ? k->max : k->size, err);
    case MC_KEY_FLAG:
        if (!(rc = get_as(map, k->key, MSGPACK_OBJECT_BOOLEAN, "a truth value", &o, err)))
            *(int *)member = o->via.boolean;
        return rc;
    case MC_KEY_F64:
        return mc_get_f64(map, k->key, member, err);
    case MC_KEY_COUNT:
        if (!(rc = mc_get_u64(map, k->key, k->max, &count, err)) && k->size == 4)
            *(uint32_t *)member = (uint32_t)count;
        else if (!rc)
            *(uint64_t *)member = count;
        return rc;
    case MC_KEY_F32:
        if (!(rc = mc_get_f64(map, k->key, &v, err)))
            *(float *)member = (float)v;
    }
    return rc;
}

int mc_keys_unpack(const msgpack_object *map, const struct mc_key *keys, size_t n, void *base,
                   struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = get_member(map, &keys[i], (char *)base + keys[i].offset, err);
    return rc;
}
