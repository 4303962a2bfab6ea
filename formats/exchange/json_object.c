/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/exchange/json_object.h"
#include "libcommon/base/json.h"

#include <inttypes.h>
#include <stdlib.h>

/* Check limits before Jansson parses: it allocates tens of bytes for each byte of "[0,0,0". Count
 * what separates values outside strings. */
static int check_limits(const char *text, size_t n, const struct mc_json_limits *limits,
                        struct mc_error *err)
{
    size_t values = 1;
    int depth = 0, quoted = 0;

    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        values += c == ',' || c == ':' || c == '[' || c == '{';
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (depth > limits->depth)
            return mc_fail(err, MC_EINPUT, "JSON must be nested at most %d deep", limits->depth);
        if (values > limits->values)
            return mc_fail(err, MC_EINPUT, "JSON must have at most %zu values", limits->values);
    }
    return 0;
}

/* Set if an allocation failed since it was cleared. Jansson then reports an invalid token, or
 * leaves letters out of a text. */
static _Thread_local int alloc_failed;

static void *take(size_t n)
{
    void *p = malloc(n);

    alloc_failed |= !p;
    return p;
}

int mc_json_parse(json_t **out, const char *text, size_t n, const struct mc_json_limits *limits,
                  struct mc_error *err)
{
    json_error_t e;
    int rc = check_limits(text, n, limits, err);

    *out = NULL;
    if (rc)
        return rc;
    json_set_alloc_funcs(take, free);
    alloc_failed = 0;
    *out = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (alloc_failed) {
        json_decref(*out);
        *out = NULL;
        return mc_no_memory(err);
    }
    if (*out)
        return 0;
    return mc_fail(err, MC_EINPUT, "line %d, column %d: %s", e.line, e.column, e.text);
}

void mc_json_pack(struct mc_pack *p, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        mc_pack_map(p, json_object_size(value));
        for (void *i = json_object_iter((json_t *)(uintptr_t)value); i;
             i = json_object_iter_next((json_t *)(uintptr_t)value, i)) {
            mc_pack_str(p, json_object_iter_key(i));
            mc_json_pack(p, json_object_iter_value(i));
        }
        return;
    case JSON_ARRAY:
        mc_pack_array(p, json_array_size(value));
        for (size_t i = 0; i < json_array_size(value); i++)
            mc_json_pack(p, json_array_get(value, i));
        return;
    case JSON_STRING:
        mc_pack_str(p, json_string_value(value));
        return;
    case JSON_INTEGER:
        mc_pack_i64(p, json_integer_value(value));
        return;
    case JSON_REAL:
        mc_pack_f64(p, json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        mc_pack_bool(p, json_is_true(value));
        return;
    default:
        p->failed |= msgpack_pack_nil(&p->pk) != 0;
    }
}

void mc_json_object(FILE *f, const msgpack_object *o)
{
    switch (o->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        fputs(o->via.boolean ? "true" : "false", f);
        return;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        fprintf(f, "%" PRIu64, o->via.u64);
        return;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        fprintf(f, "%" PRId64, o->via.i64);
        return;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        mc_json_num(f, o->via.f64);
        return;
    case MSGPACK_OBJECT_STR:
        mc_json_text(f, o->via.str.ptr, o->via.str.size);
        return;
    case MSGPACK_OBJECT_ARRAY:
        for (uint32_t i = 0; i < o->via.array.size; i++) {
            putc(i ? ',' : '[', f);
            mc_json_object(f, &o->via.array.ptr[i]);
        }
        fputs(o->via.array.size ? "]" : "[]", f);
        return;
    case MSGPACK_OBJECT_MAP:
        for (uint32_t i = 0; i < o->via.map.size; i++) {
            putc(i ? ',' : '{', f);
            mc_json_object(f, &o->via.map.ptr[i].key);
            putc(':', f);
            mc_json_object(f, &o->via.map.ptr[i].val);
        }
        fputs(o->via.map.size ? "}" : "{}", f);
        return;
    default: /* nil, and bytes, which no kind has */
        fputs("null", f);
    }
}
