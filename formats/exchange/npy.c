/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/exchange/npy.h"

#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"

int mc_npy_lead(const unsigned char *lead, size_t *begin, size_t *length, struct mc_error *err)
{
    if (memcmp(lead, MAGIC, 6))
        return mc_fail(err, MC_EINPUT, "not a NumPy array");
    if (lead[6] < 1 || lead[6] > 3)
        return mc_fail(err, MC_EINPUT, ".npy version must be 1 to 3 (got %d.%d)", lead[6], lead[7]);
    *begin = lead[6] == 1 ? 10 : 12;
    *length = lead[8] | (size_t)lead[9] << 8;
    if (lead[6] > 1)
        *length |= (size_t)lead[10] << 16 | (size_t)lead[11] << 24;
    if (*length > MC_NPY_HEADER)
        return mc_fail(err, MC_EINPUT, "its header is too large (%zu bytes)", *length);
    return 0;
}

/* ---- a subset of Python ---- */

struct text {
    const char *cursor, *end;
};

static void blanks(struct text *t)
{
    while (t->cursor < t->end && (*t->cursor == ' ' || *t->cursor == '\n' || *t->cursor == '\t'))
        t->cursor++;
}

/* Consume this word if it is next. */
static int next_is(struct text *t, const char *w)
{
    size_t n = strlen(w);

    blanks(t);
    if ((size_t)(t->end - t->cursor) < n || memcmp(t->cursor, w, n))
        return 0;
    t->cursor += n;
    return 1;
}

/* 'text' or "text", without escapes. */
static int quoted(struct text *t, char *out, size_t size)
{
    const char *mark = next_is(t, "'") ? "'" : "\"";
    size_t n = 0;

    if (*mark == '"' && !next_is(t, mark))
        return -1;
    for (; t->cursor < t->end && *t->cursor != *mark; t->cursor++) {
        if (*t->cursor == '\\' || n + 1 == size)
            return -1;
        out[n++] = *t->cursor;
    }
    out[n] = 0;
    return next_is(t, mark) ? 0 : -1;
}

static int number(struct text *t, uint64_t *out)
{
    int digits = 0;

    blanks(t);
    for (*out = 0; t->cursor < t->end && *t->cursor >= '0' && *t->cursor <= '9';
         t->cursor++, digits++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*t->cursor - '0'), out))
            return -1;
    return digits ? 0 : -1;
}

/* (), (3,), (3, 4) */
static int tuple(struct text *t, struct mc_foreign_tensor *out)
{
    int comma = 0;

    out->ndim = 0;
    if (!next_is(t, "("))
        return -1;
    for (; !next_is(t, ")"); out->ndim++) {
        if (out->ndim == MC_MAX_DIMS || (out->ndim && !comma) || number(t, &out->shape[out->ndim]))
            return -1;
        comma = next_is(t, ",");
    }
    return out->ndim == 1 && !comma ? -1 : 0; /* (3) is a number */
}

/* NumPy has no bfloat16: ml_dtypes writes two bytes without a type. */
static const struct {
    const char *descr;
    enum mc_dtype type;
} known[] = {{"<f4", MC_F32},  {"<f8", MC_F64}, {"<f2", MC_F16}, {"<V2", MC_BF16},
             {"|V2", MC_BF16}, {"<i8", MC_I64}, {"<i4", MC_I32}, {"|u1", MC_U8}};

static int type_of(const char *descr)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].descr, descr))
            return (int)known[i].type;
    return -1;
}

/* Parse the value of a key, which must not be repeated. */
static int value(struct text *t, const char *key, struct mc_foreign_tensor *out, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned i = 0;

    while (i < 3 && strcmp(key, keys[i]))
        i++;
    if (i == 3 || *seen & 1u << i)
        return -1;
    *seen |= 1u << i;
    if (i == 0)
        return quoted(t, out->dtype, sizeof out->dtype); /* a record's is a list */
    if (i == 2)
        return tuple(t, out);
    out->fortran = next_is(t, "True");
    return out->fortran || next_is(t, "False") ? 0 : -1;
}

static int dict(struct text *t, struct mc_foreign_tensor *out)
{
    unsigned seen = 0;
    int comma = 1;

    if (!next_is(t, "{"))
        return -1;
    while (!next_is(t, "}")) {
        char key[32];
        if (!comma || quoted(t, key, sizeof key) || !next_is(t, ":") || value(t, key, out, &seen))
            return -1;
        comma = next_is(t, ",");
    }
    blanks(t);
    return t->cursor == t->end && seen == 7 ? 0 : -1;
}

int mc_npy_parse(struct mc_foreign_tensor *t, const char *text, size_t n, struct mc_error *err)
{
    struct text header = {text, text + n};
    uint64_t count = 1;

    if (dict(&header, t))
        return mc_fail(err, MC_EINPUT,
                       "its header is not the dtype, order and shape of a plain array");
    t->type = type_of(t->dtype);
    t->whole = *t->dtype && strspn(t->dtype + 1, "biu") > 0;
    for (int i = 0; i < t->ndim; i++)
        if (__builtin_mul_overflow(count, t->shape[i], &count))
            return mc_fail(err, MC_EINPUT, "its shape is too large");
    if (t->type >= 0 &&
        __builtin_mul_overflow(count, mc_dtype_size((enum mc_dtype)t->type), &t->bytes))
        return mc_fail(err, MC_EINPUT, "its shape is too large");
    return 0;
}

/* ---- writing ---- */

size_t mc_npy_header(char out[MC_NPY_WRITTEN], const struct mc_tensor *t)
{
    size_t n = 10, type = 0;

    while (known[type].type != t->dtype)
        type++;
    memcpy(out, MAGIC "\x01\x00", 8);
    n += (size_t)snprintf(out + n, MC_NPY_WRITTEN - n,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (", known[type].descr);
    for (int i = 0; i < t->ndim; i++)
        n += (size_t)snprintf(out + n, MC_NPY_WRITTEN - n, "%s%llu%s", i ? ", " : "",
                              (unsigned long long)t->shape[i], t->ndim == 1 ? "," : "");
    n += (size_t)snprintf(out + n, MC_NPY_WRITTEN - n, "), }");
    while ((n + 1) % 64)
        out[n++] = ' ';
    out[n++] = '\n';
    out[8] = (char)((n - 10) & 0xff);
    out[9] = (char)((n - 10) >> 8);
    return n;
}
