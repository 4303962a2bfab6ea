/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/bounds.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <xxhash.h>

#define MAX_KEYS 1024

struct walk {
    struct mc_bounds *s;
    const struct mc_bounds_limits *limits;
    size_t position; /* bytes walked */
    size_t objects;  /* counted when announced, before they are read */
    struct mc_error *err;
};

/* Make the next n bytes available at data + at. */
static int need(struct walk *w, uint64_t n)
{
    if (n > w->limits->bytes || w->position > w->limits->bytes - n)
        return mc_fail(w->err, MC_EINPUT, "an object is over its limit of %zu bytes",
                       w->limits->bytes);
    if (n <= w->s->have - w->position)
        return 0;
    if (!w->s->more)
        return mc_fail(w->err, MC_EINPUT, "an object ends too early");
    return w->s->more(w->s, w->position + (size_t)n, w->err);
}

static int announce(struct walk *w, uint64_t n)
{
    if (n > w->limits->objects - w->objects)
        return mc_fail(w->err, MC_EINPUT, "more than %zu objects in one", w->limits->objects);
    w->objects += (size_t)n;
    return 0;
}

/* A big-endian number of 1, 2, 4 or 8 bytes. */
static int number(struct walk *w, int width, uint64_t *out)
{
    int rc = need(w, (uint64_t)width);

    if (rc)
        return rc;
    *out = 0;
    for (int i = 0; i < width; i++)
        *out = *out << 8 | w->s->data[w->position++];
    return 0;
}

int mc_is_text(const unsigned char *s, size_t len)
{
    uint32_t c;

    for (size_t i = 0; i < len;) {
        i += mc_character((const char *)s + i, len - i, &c);
        if (!c || c == MC_NO_CHARACTER)
            return 0;
    }
    return 1;
}

static int body(struct walk *w, uint64_t len, int text)
{
    int rc = need(w, len);

    if (rc)
        return rc;
    if (text && !mc_is_text(w->s->data + w->position, (size_t)len))
        return mc_fail(w->err, MC_EINPUT, "a string is not UTF-8 text without NUL");
    w->position += (size_t)len;
    return 0;
}

static int ext(struct walk *w, uint64_t len)
{
    int rc = need(w, 1);

    if (rc)
        return rc;
    if (!w->limits->ext || w->s->data[w->position] != 1)
        return mc_fail(w->err, MC_EINPUT, "an ext object of type %d is out of place",
                       (int8_t)w->s->data[w->position]);
    w->position++;
    return body(w, len, 0);
}

static int object(struct walk *w, int depth);

static int array(struct walk *w, uint64_t n, int depth)
{
    int rc = announce(w, n);

    if (!rc && depth >= w->limits->depth)
        rc = mc_fail(w->err, MC_EINPUT, "nested deeper than %d", w->limits->depth);
    for (uint64_t i = 0; i < n && !rc; i++)
        rc = object(w, depth + 1);
    return rc;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int is_str(unsigned char c)
{
    return (c >= 0xa0 && c <= 0xbf) || (c >= 0xd9 && c <= 0xdb);
}

static int map(struct walk *w, uint64_t n, int depth)
{
    uint64_t *keys = NULL;
    int rc = 0;

    if (n > MAX_KEYS)
        return mc_fail(w->err, MC_EINPUT, "more than %d keys in a map", MAX_KEYS);
    if ((rc = announce(w, 2 * n)))
        return rc;
    if (depth >= w->limits->depth)
        return mc_fail(w->err, MC_EINPUT, "nested deeper than %d", w->limits->depth);
    if ((rc = mc_new(&keys, n, w->err)))
        return rc;
    for (uint64_t i = 0; i < n && !rc; i++) {
        size_t from = w->position;
        if ((rc = need(w, 1)))
            break;
        if (!is_str(w->s->data[w->position])) {
            rc = mc_fail(w->err, MC_EINPUT, "a map's key is not a string");
            break;
        }
        if ((rc = object(w, depth + 1)))
            break;
        /* equal keys may encode their length differently: hash the text alone */
        unsigned char c = w->s->data[from];
        from += c <= 0xbf ? 1 : c == 0xd9 ? 2 : c == 0xda ? 3 : 5;
        keys[i] = XXH3_64bits(w->s->data + from, w->position - from);
        rc = object(w, depth + 1);
    }
    qsort(keys, rc ? 0 : n, sizeof *keys, by_value);
    for (uint64_t i = 1; i < n && !rc; i++)
        if (keys[i] == keys[i - 1])
            rc = mc_fail(w->err, MC_EINPUT, "a map has the same key twice");
    free(keys);
    return rc;
}

/* Form of each first byte from c0 to df, and a number of bytes: the size of a value, of the length
 * field that follows, or (FIXEXT) of the body. */
enum {
    VALUE,
    NOTHING = 0x20,
    BIN = 0x40,
    EXT = 0x60,
    FIXEXT = 0x80,
    STR = 0xa0,
    ARRAY = 0xc0,
    MAP = 0xe0
};
#define FORM 0xe0
static const unsigned char forms[32] = {
    VALUE,       NOTHING,   VALUE,     VALUE,     BIN + 1,    BIN + 2,    BIN + 4,    EXT + 1,
    EXT + 2,     EXT + 4,   VALUE + 4, VALUE + 8, VALUE + 1,  VALUE + 2,  VALUE + 4,  VALUE + 8,
    VALUE + 1,   VALUE + 2, VALUE + 4, VALUE + 8, FIXEXT + 1, FIXEXT + 2, FIXEXT + 4, FIXEXT + 8,
    FIXEXT + 16, STR + 1,   STR + 2,   STR + 4,   ARRAY + 2,  ARRAY + 4,  MAP + 2,    MAP + 4};

static int object(struct walk *w, int depth)
{
    uint64_t n = 0;
    int rc = need(w, 1);

    if (rc)
        return rc;
    unsigned char c = w->s->data[w->position++];
    if (c <= 0x7f || c >= 0xe0) /* small integers */
        return 0;
    if (c <= 0x8f)
        return map(w, c & 0x0f, depth);
    if (c <= 0x9f)
        return array(w, c & 0x0f, depth);
    if (c <= 0xbf)
        return body(w, c & 0x1f, 1);
    const unsigned form = forms[c - 0xc0] & FORM, bytes = forms[c - 0xc0] & 0x1f;
    if (form == NOTHING)
        return mc_fail(w->err, MC_EINPUT, "byte 0xc1 is not MessagePack");
    if (form == VALUE)
        return body(w, bytes, 0);
    if (form == FIXEXT)
        return ext(w, bytes);
    if ((rc = number(w, (int)bytes, &n)))
        return rc;
    if (form == EXT)
        return ext(w, n);
    if (form == ARRAY)
        return array(w, n, depth);
    return form == MAP ? map(w, n, depth) : body(w, n, form == STR);
}

int mc_bounds_check(struct mc_bounds *s, const struct mc_bounds_limits *limits, size_t *len,
                    struct mc_error *err)
{
    struct walk w = {.s = s, .limits = limits, .objects = 0, .err = err};
    int rc = announce(&w, 1);

    if (!rc)
        rc = object(&w, 0);
    if (!rc)
        *len = w.position;
    return rc;
}
