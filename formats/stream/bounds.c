/* SPDX-License-Identifier: Apache-2.0
 *
 * The bounded walk over one MessagePack object. */
#include "formats/stream/bounds.h"

#include <stdint.h>
#include <stdlib.h>
#include <xxhash.h>

#define MAX_KEYS 1024

struct walk {
    struct mc_bounds *s;
    const struct mc_bounds_limits *limits;
    size_t at;      /* bytes walked */
    size_t objects; /* counted when announced, not when seen */
    struct mc_error *err;
};

/* The next n bytes become available at data + at. */
static int need(struct walk *w, uint64_t n)
{
    if (n > w->limits->bytes || w->at > w->limits->bytes - n)
        return mc_fail(w->err, MC_EINPUT, "an object is over its limit of %zu bytes",
                       w->limits->bytes);
    if (n <= w->s->have - w->at)
        return 0;
    if (!w->s->more)
        return mc_fail(w->err, MC_EINPUT, "an object ends too early");
    return w->s->more(w->s, w->at + (size_t)n, w->err);
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
        *out = *out << 8 | w->s->data[w->at++];
    return 0;
}

int mc_is_text(const unsigned char *s, size_t len)
{
    size_t i = 0;

    while (i < len) {
        unsigned c = s[i++];
        unsigned tail = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1, low = 0x80, high = 0xbf;
        if (!c)
            return 0;
        if (c < 0x80)
            continue;
        if (c < 0xc2 || c > 0xf4 || len - i < tail)
            return 0;
        /* overlong forms, surrogates and what is past U+10FFFF show in the second byte */
        if (c == 0xe0)
            low = 0xa0;
        else if (c == 0xed)
            high = 0x9f;
        else if (c == 0xf0)
            low = 0x90;
        else if (c == 0xf4)
            high = 0x8f;
        for (; tail; tail--, low = 0x80, high = 0xbf)
            if (s[i] < low || s[i++] > high)
                return 0;
    }
    return 1;
}

static int body(struct walk *w, uint64_t len, int text)
{
    int rc = need(w, len);

    if (rc)
        return rc;
    if (text && !mc_is_text(w->s->data + w->at, (size_t)len))
        return mc_fail(w->err, MC_EINPUT, "a string is not UTF-8 text without NUL");
    w->at += (size_t)len;
    return 0;
}

static int ext(struct walk *w, uint64_t len)
{
    int rc = need(w, 1);

    if (rc)
        return rc;
    if (!w->limits->ext || w->s->data[w->at] != 1)
        return mc_fail(w->err, MC_EINPUT, "an ext object of type %d is out of place",
                       (int8_t)w->s->data[w->at]);
    w->at++;
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
    if (n && !(keys = malloc(n * sizeof *keys)))
        return mc_no_memory(w->err);
    for (uint64_t i = 0; i < n && !rc; i++) {
        size_t from = w->at;
        if ((rc = need(w, 1)))
            break;
        if (!is_str(w->s->data[w->at])) {
            rc = mc_fail(w->err, MC_EINPUT, "a map's key is not a string");
            break;
        }
        if ((rc = object(w, depth + 1)))
            break;
        /* equal keys may hide in different encodings of the length: hash the text alone */
        unsigned char c = w->s->data[from];
        from += c <= 0xbf ? 1 : c == 0xd9 ? 2 : c == 0xda ? 3 : 5;
        keys[i] = XXH3_64bits(w->s->data + from, w->at - from);
        rc = object(w, depth + 1);
    }
    if (!rc && n) {
        qsort(keys, n, sizeof *keys, by_value);
        for (uint64_t i = 1; i < n && !rc; i++)
            if (keys[i] == keys[i - 1])
                rc = mc_fail(w->err, MC_EINPUT, "a map has the same key twice");
    }
    free(keys);
    return rc;
}

static int object(struct walk *w, int depth)
{
    uint64_t n = 0;
    int rc = need(w, 1);

    if (rc)
        return rc;
    unsigned char c = w->s->data[w->at++];
    if (c <= 0x7f || c >= 0xe0) /* small integers */
        return 0;
    if (c <= 0x8f)
        return map(w, c & 0x0f, depth);
    if (c <= 0x9f)
        return array(w, c & 0x0f, depth);
    if (c <= 0xbf)
        return body(w, c & 0x1f, 1);
    switch (c) {
    case 0xc0: /* nil, false, true */
    case 0xc2:
    case 0xc3:
        return 0;
    case 0xc4: /* bin */
    case 0xc5:
    case 0xc6:
        rc = number(w, 1 << (c - 0xc4), &n);
        return rc ? rc : body(w, n, 0);
    case 0xc7: /* ext */
    case 0xc8:
    case 0xc9:
        rc = number(w, 1 << (c - 0xc7), &n);
        return rc ? rc : ext(w, n);
    case 0xca: /* float32, float64 */
    case 0xcb:
        return body(w, c == 0xca ? 4 : 8, 0);
    case 0xcc: /* unsigned */
    case 0xcd:
    case 0xce:
    case 0xcf:
        return body(w, (uint64_t)1 << (c - 0xcc), 0);
    case 0xd0: /* signed */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return body(w, (uint64_t)1 << (c - 0xd0), 0);
    case 0xd4: /* fixext */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return ext(w, (uint64_t)1 << (c - 0xd4));
    case 0xd9: /* str */
    case 0xda:
    case 0xdb:
        rc = number(w, 1 << (c - 0xd9), &n);
        return rc ? rc : body(w, n, 1);
    case 0xdc: /* array */
    case 0xdd:
        rc = number(w, c == 0xdc ? 2 : 4, &n);
        return rc ? rc : array(w, n, depth);
    case 0xde: /* map */
    case 0xdf:
        rc = number(w, c == 0xde ? 2 : 4, &n);
        return rc ? rc : map(w, n, depth);
    default:
        return mc_fail(w->err, MC_EINPUT, "byte 0xc1 is no MessagePack");
    }
}

int mc_bounds_check(struct mc_bounds *s, const struct mc_bounds_limits *limits, size_t *len,
                    struct mc_error *err)
{
    struct walk w = {.s = s, .limits = limits, .objects = 0, .err = err};
    int rc = announce(&w, 1);

    if (!rc)
        rc = object(&w, 0);
    if (!rc)
        *len = w.at;
    return rc;
}
