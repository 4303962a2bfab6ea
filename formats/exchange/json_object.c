/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON values, read and printed. */
#include "formats/exchange/json_object.h"
#include "libcommon/base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Jansson takes what it meets, tens of bytes of memory for each byte of "[0,0,0": counted first,
 * by what separates values outside of texts. */
static int within(const char *text, size_t n, const struct mc_json_limits *limits,
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
            return mc_fail(err, MC_EINPUT, "its JSON is nested over %d deep", limits->depth);
        if (values > limits->values)
            return mc_fail(err, MC_EINPUT, "its JSON has over %zu values", limits->values);
    }
    return 0;
}

/* What is wrong at byte `at`. */
static int wrong(const char *text, size_t at, const char *what, struct mc_error *err)
{
    size_t line = 1, begin = 0;

    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    return mc_fail(err, MC_EINPUT, "line %zu, column %zu: %s", line, at - begin, what);
}

/* The value in the n bytes of text from `from` on. */
static int parse(json_t **out, const char *text, size_t from, size_t n,
                 const struct mc_json_limits *limits, struct mc_error *err)
{
    json_error_t e;
    int rc = within(text + from, n, limits, err);

    *out = NULL;
    if (rc)
        return rc;
    errno = 0;
    *out = json_loadb(text + from, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    /* Jansson calls a text without room an invalid token, or leaves letters of it out */
    if (errno == ENOMEM) {
        json_decref(*out);
        *out = NULL;
        return mc_no_memory(err);
    }
    if (*out)
        return 0;
    return wrong(text, from + (size_t)e.position, e.text, err);
}

int mc_json_parse(json_t **out, const char *text, size_t n, const struct mc_json_limits *limits,
                  struct mc_error *err)
{
    return parse(out, text, 0, n, limits, err);
}

/* ---- members ---- */

/* Bytes to what ends a key or a value of an object, outside of texts and brackets; n: nothing does.
 */
static size_t span(const char *text, size_t n)
{
    int depth = 0, quoted = 0;

    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        if (!depth && (c == ':' || c == ',' || c == '}' || c == ']'))
            return i;
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    return n;
}

static size_t blanks(const char *text, size_t n)
{
    size_t i = 0;

    while (i < n && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i;
}

struct members {
    const char *text, *within;
    size_t n;
    const struct mc_json_limits *limits;
    int (*take)(void *ctx, const char *in, const char *key, const json_t *value,
                struct mc_error *err);
    void *ctx;
};

static int object(const struct members *m, const char *in, size_t *at, struct mc_error *err);

/* The value of n bytes at `at`. */
static int member(const struct members *m, const char *in, const char *key, size_t at, size_t n,
                  struct mc_error *err)
{
    size_t begin = at + blanks(m->text + at, n);
    json_t *value = NULL;
    int rc = 0;

    if (!in && m->within && !strcmp(key, m->within) && m->text[begin] == '{') {
        if ((rc = object(m, m->within, &begin, err)))
            return rc;
        begin += blanks(m->text + begin, at + n - begin);
        return begin == at + n ? 0 : wrong(m->text, begin, "',' or '}' expected", err);
    }
    if (!(rc = parse(&value, m->text, at, n, m->limits, err)))
        rc = m->take(m->ctx, in, key, value, err);
    json_decref(value);
    return rc;
}

/* The object that begins at *at, which goes behind it. */
static int object(const struct members *m, const char *in, size_t *at, struct mc_error *err)
{
    size_t begin = *at + 1, end = begin + blanks(m->text + begin, m->n - begin);
    json_t *key = NULL;
    int rc = 0;

    if (end < m->n && m->text[end] == '}') {
        *at = end + 1;
        return 0;
    }
    do {
        end = begin + span(m->text + begin, m->n - begin);
        if (end == m->n || m->text[end] != ':')
            return wrong(m->text, end, "':' expected", err);
        if ((rc = parse(&key, m->text, begin, end - begin, m->limits, err)))
            return rc;
        begin = end + 1;
        end = begin + span(m->text + begin, m->n - begin);
        if (!json_is_string(key))
            rc = wrong(m->text, begin, "a key is no text", err);
        else if (end == m->n || (m->text[end] != ',' && m->text[end] != '}'))
            rc = wrong(m->text, end, "',' or '}' expected", err);
        else
            rc = member(m, in, json_string_value(key), begin, end - begin, err);
        json_decref(key);
        begin = end + 1;
    } while (!rc && m->text[end] == ',');
    *at = begin;
    return rc;
}

int mc_json_members(const char *text, size_t n, const struct mc_json_limits *limits,
                    const char *within,
                    int (*take)(void *ctx, const char *in, const char *key, const json_t *value,
                                struct mc_error *err),
                    void *ctx, struct mc_error *err)
{
    const struct members m = {
        .text = text, .within = within, .n = n, .limits = limits, .take = take, .ctx = ctx};
    size_t at = blanks(text, n);

    if (at == n || text[at] != '{')
        return wrong(text, at, "'{' expected", err);
    int rc = object(&m, NULL, &at, err);
    if (!rc && (at += blanks(text + at, n - at)) < n)
        rc = wrong(text, at, "the end expected", err);
    return rc;
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
    default: /* nil, and bytes that no kind has */
        fputs("null", f);
    }
}
