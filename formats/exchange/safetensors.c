/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors files, read with all the checks of the reference implementation (Hugging Face's, in
 * Rust) and written as it writes them:
 *
 *     8 bytes    N, little-endian, at most 100 MB
 *     N bytes    a JSON object {name: {"dtype", "shape", "data_offsets": [begin, end]}, ...,
 *                "__metadata__": {text: text, ...}}, padded with spaces
 *     the rest   the tensors' bytes, without holes or overlaps */
#include "formats/exchange/foreign.h"
#include "formats/exchange/json_object.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_MAX 100000000u
#define CHUNK ((size_t)1 << 20)

/* A tensor has 7 values and a few more dimensions, so this allows some 14,000 tensors. It bounds
 * the memory of JSON to about 100 bytes per value. */
static const struct mc_json_limits LIMITS = {.values = (size_t)1 << 17, .depth = 3};

static const struct {
    const char *name;
    unsigned bits;
    int type;
} dtypes[] = {{"F32", 32, MC_F32}, {"F64", 64, MC_F64}, {"F16", 16, MC_F16}, {"BF16", 16, MC_BF16},
              {"I64", 64, MC_I64}, {"I32", 32, MC_I32}, {"U8", 8, MC_U8},    {"BOOL", 8, -1},
              {"I8", 8, -1},       {"I16", 16, -1},     {"U16", 16, -1},     {"U32", 32, -1},
              {"U64", 64, -1},     {"C64", 64, -1},     {"F8_E4M3", 8, -1},  {"F8_E5M2", 8, -1},
              {"F8_E8M0", 8, -1},  {"F6_E2M3", 6, -1},  {"F6_E3M2", 6, -1},  {"F4", 4, -1}};
#define N_DTYPES (sizeof dtypes / sizeof *dtypes)

struct reader {
    struct mc_foreign f; /* first: a struct mc_foreign * is one of these */
    int fd, seekable;
    uint64_t position; /* place in the data */
    size_t next;       /* on a pipe, the first tensor that is neither read nor kept */
    char **kept;       /* (n) on a pipe: tensors that were skipped, or NULL */
    size_t current;    /* the tensor that is read; kept_at: its bytes read from memory */
    uint64_t kept_at;
};

/* ---- bytes ---- */

/* Read up to n bytes. *got is less than n only at the end. */
static int read_bytes(struct reader *r, void *dst, size_t n, size_t *got, struct mc_error *err)
{
    ssize_t k = mc_file_read_all(r->fd, dst, n);

    if (k < 0)
        return mc_fail(err, MC_EFAIL, "cannot read '%s': %s", r->f.file, strerror(errno));
    *got = (size_t)k;
    return 0;
}

static int read_exactly(struct reader *r, void *dst, size_t n, struct mc_error *err)
{
    size_t got = 0;
    int rc = read_bytes(r, dst, n, &got, err);

    if (!rc && got < n)
        rc = mc_fail(err, MC_EINPUT, "%s: truncated", r->f.file);
    return rc;
}

/* Read n bytes into memory that grows with them: an announced size alone allocates nothing. */
static int read_growing(struct reader *r, char **out, size_t n, struct mc_error *err)
{
    size_t have = 0, room = 0;
    int rc = 0;

    for (; have < n && !rc; have = room) {
        room = have ? 2 * have : CHUNK;
        room = room < n ? room : n;
        char *p = realloc(*out, room);
        if (!p)
            return mc_no_memory(err);
        *out = p;
        rc = read_exactly(r, *out + have, room - have, err);
    }
    return rc;
}

/* Go to byte `to` of a file's data. */
static int go(struct reader *r, uint64_t to, struct mc_error *err)
{
    if (to != r->position && lseek(r->fd, (off_t)to - (off_t)r->position, SEEK_CUR) < 0)
        return mc_fail(err, MC_EFAIL, "cannot read '%s': %s", r->f.file, strerror(errno));
    r->position = to;
    return 0;
}

/* Keep the tensors of a pipe before tensor `to`. */
static int keep(struct reader *r, size_t to, struct mc_error *err)
{
    int rc = 0;

    if (!r->kept && (rc = mc_new(&r->kept, r->f.n, err)))
        return rc;
    for (; r->next < to && !rc; r->next++) {
        const struct mc_foreign_tensor *t = &r->f.tensors[r->next];
        rc = read_growing(r, &r->kept[r->next], (size_t)t->bytes, err);
        r->position += t->bytes;
    }
    return rc;
}

static int seek(struct mc_foreign *f, size_t i, struct mc_error *err)
{
    struct reader *r = (struct reader *)f;
    int rc = r->seekable ? go(r, f->tensors[i].offset, err) : keep(r, i, err);

    r->current = i;
    r->kept_at = 0;
    r->next = r->next > i + 1 ? r->next : i + 1;
    return rc;
}

static int read_data(struct mc_foreign *f, void *dst, size_t n, struct mc_error *err)
{
    struct reader *r = (struct reader *)f;
    char *kept = r->kept ? r->kept[r->current] : NULL;

    if (!kept) {
        r->position += n;
        return read_exactly(r, dst, n, err);
    }
    memcpy(dst, kept + r->kept_at, n);
    r->kept_at += n;
    if (r->kept_at == f->tensors[r->current].bytes) {
        free(kept);
        r->kept[r->current] = NULL;
    }
    return 0;
}

static int end(struct mc_foreign *f, struct mc_error *err)
{
    struct reader *r = (struct reader *)f;
    const struct mc_foreign_tensor *last = f->n ? &f->tensors[f->n - 1] : NULL;
    char discarded[4096];
    size_t got = 0;
    int rc = last && r->seekable ? go(r, last->offset + last->bytes, err) : 0;

    while (!rc && last &&
           r->position < last->offset + last->bytes) { /* the last tensors may be unread */
        const uint64_t left = last->offset + last->bytes - r->position;
        const size_t n = left < sizeof discarded ? (size_t)left : sizeof discarded;
        rc = read_exactly(r, discarded, n, err);
        r->position += n;
    }
    if (rc || (rc = read_bytes(r, discarded, 1, &got, err)))
        return rc;
    return got ? mc_fail(err, MC_EINPUT, "%s: bytes after the last tensor", f->file) : 0;
}

static void close_reader(struct mc_foreign *f)
{
    struct reader *r = (struct reader *)f;

    if (r->fd > STDIN_FILENO)
        close(r->fd);
    for (size_t i = 0; r->kept && i < f->n; i++)
        free(r->kept[i]);
    free(r->kept);
    mc_foreign_release(f);
    free(r);
}

/* ---- the header ---- */

static int bad(const struct reader *r, const char *name, const char *problem, struct mc_error *err)
{
    return mc_fail(err, MC_EINPUT, "%s: tensor \"%.*s\": %s", r->f.file, MC_NAME_MAX, name,
                   problem);
}

static int whole(const json_t *v, uint64_t *out)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return -1;
    *out = (uint64_t)json_integer_value(v);
    return 0;
}

static int add_tensor(struct reader *r, const char *name, const json_t *v, struct mc_error *err)
{
    const json_t *dtype = json_object_get(v, "dtype"), *shape = json_object_get(v, "shape");
    const json_t *offsets = json_object_get(v, "data_offsets");
    struct mc_foreign_tensor t = {.type = -1};
    uint64_t to = 0, bytes = 0;
    size_t d = 0;

    if (!json_is_object(v) || json_object_size(v) != 3 || !json_is_string(dtype) ||
        !json_is_array(shape) || !json_is_array(offsets))
        return bad(r, name, "must have exactly a dtype, a shape and data_offsets", err);
    while (d < N_DTYPES && strcmp(dtypes[d].name, json_string_value(dtype)))
        d++;
    if (d == N_DTYPES)
        return bad(r, name, "unknown dtype", err);
    snprintf(t.dtype, sizeof t.dtype, "%s", dtypes[d].name);
    t.type = dtypes[d].type;
    t.whole = strchr("IU", *t.dtype) || !strcmp(t.dtype, "BOOL");
    if (json_array_size(shape) > MC_MAX_DIMS)
        return bad(r, name, "more than 8 dimensions", err);
    t.ndim = (int)json_array_size(shape);
    for (int i = 0; i < t.ndim; i++)
        if (whole(json_array_get(shape, (size_t)i), &t.shape[i]))
            return bad(r, name, "its shape is not a list of whole numbers", err);
    if (json_array_size(offsets) != 2 || whole(json_array_get(offsets, 0), &t.offset) ||
        whole(json_array_get(offsets, 1), &to) || to < t.offset)
        return bad(r, name, "its data_offsets are not a start and an end", err);
    t.bytes = to - t.offset;
    if (mc_foreign_bytes(&t, dtypes[d].bits, &bytes))
        return bad(r, name, "its shape is too large", err);
    if (bytes != t.bytes)
        return bad(r, name, "its shape and data_offsets have different sizes", err);
    if (!(t.name = strdup(name)))
        return mc_no_memory(err);
    return mc_foreign_add(&r->f, &t, err);
}

static int check_metadata(const struct reader *r, const json_t *v, struct mc_error *err)
{
    int ok = json_is_object(v);

    for (void *i = ok ? json_object_iter((json_t *)(uintptr_t)v) : NULL; i;
         i = json_object_iter_next((json_t *)(uintptr_t)v, i))
        ok &= json_is_string(json_object_iter_value(i));
    return ok ? 0
              : mc_fail(err, MC_EINPUT, "%s: its __metadata__ must contain only strings",
                        r->f.file);
}

static int by_place(const void *x, const void *y)
{
    const struct mc_foreign_tensor *a = x, *b = y;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* Check that the tensors follow each other from 0. *size is the end of the last. */
static int check_places(struct reader *r, uint64_t *size, struct mc_error *err)
{
    struct mc_foreign *f = &r->f;

    *size = 0;
    if (f->n)
        qsort(f->tensors, f->n, sizeof *f->tensors, by_place);
    for (size_t i = 0; i < f->n; i++) {
        if (f->tensors[i].offset != *size)
            return bad(r, f->tensors[i].name,
                       f->tensors[i].offset < *size ? "its data overlaps another's"
                                                    : "a hole precedes its data",
                       err);
        *size += f->tensors[i].bytes; /* at most two int64_t apart: no overflow */
    }
    return 0;
}

static int parse_header(struct reader *r, const char *text, size_t n, uint64_t *size,
                        struct mc_error *err)
{
    json_t *json = NULL;
    int rc = 0;

    if (!n || *text != '{')
        return mc_fail(err, MC_EINPUT,
                       "%s: not a safetensors file (its header does not start with '{')",
                       r->f.file);
    if ((rc = mc_json_parse(&json, text, n, &LIMITS, err)))
        return mc_fail_in(rc, err, "%s", r->f.file);
    for (void *i = json_object_iter(json); i && !rc; i = json_object_iter_next(json, i)) {
        const char *key = json_object_iter_key(i);
        rc = strcmp(key, "__metadata__") ? add_tensor(r, key, json_object_iter_value(i), err)
                                         : check_metadata(r, json_object_iter_value(i), err);
    }
    json_decref(json);
    return rc ? rc : check_places(r, size, err);
}

/* Get the remaining bytes of the file. Returns 0 if unknown. */
static int remaining(struct reader *r, uint64_t *n)
{
    struct stat st;
    off_t here = lseek(r->fd, 0, SEEK_CUR);

    if (fstat(r->fd, &st) || !S_ISREG(st.st_mode) || here < 0)
        return 0;
    *n = st.st_size > here ? (uint64_t)(st.st_size - here) : 0;
    return 1;
}

static int open_file(struct reader *r, const char *path, struct mc_error *err)
{
    int is_stdin = !strcmp(path, "-");

    if (!(r->f.file = strdup(mc_file_called(path))))
        return mc_no_memory(err);
    r->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (r->fd < 0)
        return mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
    if (isatty(r->fd))
        return mc_fail(err, MC_EUSAGE, "refusing to read a binary file from a terminal");
    return 0;
}

int mc_safetensors_open_file(struct mc_foreign **out, const char *path, struct mc_error *err)
{
    struct reader *r = NULL;
    unsigned char head[8];
    uint64_t n = 0, have = 0, size = 0;
    char *text = NULL;
    int rc = mc_new(&r, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    r->fd = -1;
    r->f.seek = seek;
    r->f.read = read_data;
    r->f.end = end;
    r->f.close = close_reader;
    if ((rc = open_file(r, path, err)))
        goto out;
    r->seekable = remaining(r, &have);
    if ((rc = read_exactly(r, head, sizeof head, err)))
        goto out;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | head[i];
    if (n > HEADER_MAX)
        rc =
            mc_fail(err, MC_EINPUT, "%s: not a safetensors file (its header would have %llu bytes)",
                    r->f.file, (unsigned long long)n);
    else if (r->seekable && n > have - sizeof head)
        rc = mc_fail(err, MC_EINPUT, "%s: truncated: the header needs %llu bytes", r->f.file,
                     (unsigned long long)n);
    if (rc || (rc = read_growing(r, &text, (size_t)n, err)) ||
        (rc = parse_header(r, text, (size_t)n, &size, err)))
        goto out;
    if (r->seekable && size != have - sizeof head - n)
        rc = mc_fail(err, MC_EINPUT, "%s: its tensors need %llu bytes, but %llu follow the header",
                     r->f.file, (unsigned long long)size,
                     (unsigned long long)(have - sizeof head - n));
out:
    free(text);
    if (rc)
        close_reader(&r->f);
    else
        *out = &r->f;
    return rc;
}

const char *mc_safetensors_dtype(enum mc_dtype type)
{
    size_t d = 0;

    while (dtypes[d].type != (int)type)
        d++;
    return dtypes[d].name;
}
