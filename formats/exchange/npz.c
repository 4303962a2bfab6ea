/* SPDX-License-Identifier: Apache-2.0
 *
 * npz files: zip archives of .npy files, stored or deflated, read with libzip. */
#include "formats/exchange/npy.h"
#include "formats/stream/input.h"
#include "formats/stream/output.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

struct reader {
    struct mc_foreign f; /* first: a struct mc_foreign * is one of these */
    zip_t *zip;
    zip_file_t *entry;
    const char *name; /* the current tensor's */
    uint64_t left;    /* its remaining bytes */
    char *seen;       /* (n) tensors that were read */
    uint64_t room;    /* bytes of the file not used by earlier entries */
};

/* DEFLATE's maximum expansion: one bit for a length and one for a distance, for 258 bytes. */
#define MAX_EXPANSION 1032

static int fail(const char *file, zip_error_t *e, struct mc_error *err)
{
    int code = zip_error_code_zip(e);
    int system =
        code == ZIP_ER_OPEN || code == ZIP_ER_READ || code == ZIP_ER_SEEK || code == ZIP_ER_WRITE;

    /* libzip drops some error codes: errno is 0 before its first call */
    if (code == ZIP_ER_MEMORY || errno == ENOMEM)
        return mc_fail_in(mc_no_memory(err), err, "%s", file);
    return mc_fail(err, system ? MC_EFAIL : MC_EINPUT, "%s: %s", file, zip_error_strerror(e));
}

/* Prefix an error: x.npz: "conv.weight": ... */
static int in_entry(const struct reader *r, const char *name, int rc, struct mc_error *err)
{
    return mc_fail_in(rc, err, "%.60s: \"%.80s\"", r->f.file, name);
}

/* ---- an entry's bytes ---- */

static int read_bytes(struct reader *r, void *dst, size_t n, struct mc_error *err)
{
    for (size_t got = 0; got < n;) {
        zip_int64_t k = zip_fread(r->entry, (char *)dst + got, n - got);
        if (k < 0)
            return fail("its data", zip_file_get_error(r->entry), err);
        if (!k)
            return mc_fail(err, MC_EINPUT, "truncated");
        got += (size_t)k;
    }
    return 0;
}

/* Read and parse the header. *before is the number of bytes before the data. */
static int read_header(struct reader *r, struct mc_foreign_tensor *t, uint64_t *before,
                       struct mc_error *err)
{
    unsigned char lead[MC_NPY_LEAD] = {0};
    size_t begin = 0, length = 0;
    char *text = NULL;
    int rc = read_bytes(r, lead, 10, err);

    if (!rc && lead[6] > 1)
        rc = read_bytes(r, lead + 10, 2, err);
    if (rc || (rc = mc_npy_lead(lead, &begin, &length, err)))
        return rc;
    *before = begin + length;
    if ((rc = mc_new(&text, length, err)))
        return rc;
    if (!(rc = read_bytes(r, text, length, err)))
        rc = mc_npy_parse(t, text, length, err);
    free(text);
    return rc;
}

/* Open entry i and stop before its data. */
static int open_entry(struct reader *r, uint64_t i, struct mc_foreign_tensor *t, uint64_t *before,
                      struct mc_error *err)
{
    if (r->entry)
        zip_fclose(r->entry);
    if (!(r->entry = zip_fopen_index(r->zip, i, 0)))
        return fail("cannot be opened", zip_get_error(r->zip), err);
    return read_header(r, t, before, err);
}

/* Read to the tensor's end, where libzip verifies the checksum. */
static int finish_entry(struct reader *r, struct mc_error *err)
{
    char discarded[4096];
    zip_int64_t k = 0;

    while ((k = zip_fread(r->entry, discarded, sizeof discarded)) > 0)
        ;
    return k < 0 ? fail("its data", zip_file_get_error(r->entry), err) : 0;
}

/* Tensors that were not read must be complete too. */
static int end(struct mc_foreign *f, struct mc_error *err)
{
    struct reader *r = (struct reader *)f;
    int rc = 0;

    for (size_t i = 0; !rc && i < f->n; i++) {
        struct mc_foreign_tensor again = {0};
        const struct mc_foreign_tensor *t = &f->tensors[i];
        uint64_t before = 0;
        if (!r->seen[i] && !(rc = open_entry(r, t->offset, &again, &before, err)))
            rc = finish_entry(r, err);
        rc = in_entry(r, t->name, rc, err);
    }
    return rc;
}

static int seek(struct mc_foreign *f, size_t i, struct mc_error *err)
{
    struct reader *r = (struct reader *)f;
    struct mc_foreign_tensor again = {0};
    const struct mc_foreign_tensor *t = &f->tensors[i];
    uint64_t before = 0;
    int rc = open_entry(r, t->offset, &again, &before, err);

    r->seen[i] = 1;
    if (!rc && again.bytes != t->bytes)
        rc = mc_fail(err, MC_EFAIL, "the file changed during reading");
    r->name = t->name;
    r->left = t->bytes;
    return in_entry(r, r->name, rc, err);
}

static int read_data(struct mc_foreign *f, void *dst, size_t n, struct mc_error *err)
{
    struct reader *r = (struct reader *)f;
    int rc = read_bytes(r, dst, n, err);
    char byte;

    r->left -= n;
    if (!rc && !r->left) {
        /* libzip verifies the checksum after the last byte */
        zip_int64_t k = zip_fread(r->entry, &byte, 1);
        if (k < 0)
            rc = fail("its data", zip_file_get_error(r->entry), err);
        else if (k)
            rc = mc_fail(err, MC_EINPUT, "bytes after its data");
    }
    return in_entry(r, r->name, rc, err);
}

static void close_reader(struct mc_foreign *f)
{
    struct reader *r = (struct reader *)f;

    if (r->entry)
        zip_fclose(r->entry);
    if (r->zip)
        zip_discard(r->zip);
    mc_foreign_release(f);
    free(r->seen);
    free(r);
}

/* ---- the directory ---- */

/* Check that path is a file: a pipe is not seekable, and opening one would block. */
static int is_file(const char *path, uint64_t *bytes, struct mc_error *err)
{
    int fd = -1, rc = 0;

    if (!strcmp(path, "-"))
        return mc_fail(err, MC_EUSAGE,
                       "npz cannot be read from standard input: give its file name");
    if (!(rc = mc_file_open(&fd, bytes, path, MC_EFAIL, err)))
        close(fd);
    return rc;
}

/* Check before allocation that the file can hold entry i, an array of t.bytes bytes after `before`
 * others. */
static int check_size(struct reader *r, uint64_t i, const struct mc_foreign_tensor *t,
                      uint64_t before, struct mc_error *err)
{
    const uint64_t needs = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t st;

    if (zip_stat_index(r->zip, i, 0, &st))
        return fail("its size", zip_get_error(r->zip), err);
    if ((st.valid & needs) != needs ||
        (st.comp_method != ZIP_CM_STORE && st.comp_method != ZIP_CM_DEFLATE))
        return mc_fail(err, MC_EINPUT, "neither stored nor deflated");
    if (st.comp_size > r->room ||
        (st.comp_method == ZIP_CM_STORE ? st.size != st.comp_size
                                        : st.size / MAX_EXPANSION > st.comp_size))
        return mc_fail(err, MC_EINPUT, "announces %llu bytes, which the file cannot hold",
                       (unsigned long long)st.size);
    r->room -= st.comp_size;
    if (t->type < 0) /* unknown size, but never allocated */
        return 0;
    if (st.size < before || st.size - before < t->bytes)
        return mc_fail(err, MC_EINPUT, "truncated");
    return st.size - before == t->bytes ? 0 : mc_fail(err, MC_EINPUT, "bytes after its data");
}

/* Add the tensor conv.weight of the entry "conv.weight.npy". */
static int add_entry(struct reader *r, uint64_t i, struct mc_error *err)
{
    const char *name = zip_get_name(r->zip, i, ZIP_FL_ENC_RAW);
    struct mc_foreign_tensor t = {.type = -1};
    size_t n = name ? strlen(name) : 0;
    uint64_t before = 0;
    int rc = 0;

    if (!name)
        return fail(r->f.file, zip_get_error(r->zip), err);
    if (n <= 4 || strcmp(name + n - 4, ".npy"))
        return mc_fail(
            err, MC_EINPUT,
            "%s: \"%.80s\" is not an array (PyTorch pickles cannot be read: " MC_INPUT_FROM_TORCH
            ")",
            r->f.file, name);
    if ((rc = open_entry(r, i, &t, &before, err)) || (rc = check_size(r, i, &t, before, err)))
        return in_entry(r, name, rc, err);
    t.offset = i;
    if (!(t.name = strndup(name, n - 4)))
        return mc_no_memory(err);
    return mc_fail_in(mc_foreign_add(&r->f, &t, err), err, "%s", r->f.file);
}

int mc_npz_open(struct mc_foreign **out, const char *path, struct mc_error *err)
{
    struct reader *r = NULL;
    zip_error_t e;
    int rc = mc_new(&r, 1, err), code = 0;

    *out = NULL;
    if (rc)
        return rc;
    if (!(r->f.file = strdup(path))) {
        free(r);
        return mc_no_memory(err);
    }
    r->f.seek = seek;
    r->f.read = read_data;
    r->f.end = end;
    r->f.close = close_reader;
    if ((rc = is_file(path, &r->room, err)))
        goto out;
    errno = 0;
    if (!(r->zip = zip_open(path, ZIP_RDONLY, &code))) {
        zip_error_init_with_code(&e, code);
        rc = fail(path, &e, err);
        zip_error_fini(&e);
        goto out;
    }
    for (zip_int64_t i = 0, n = zip_get_num_entries(r->zip, 0); i < n && !rc; i++)
        rc = add_entry(r, (uint64_t)i, err);
    if (!rc)
        rc = mc_foreign_expect_once(&r->f, err);
    if (!rc)
        rc = mc_new(&r->seen, r->f.n, err);
out:
    if (rc)
        close_reader(&r->f);
    else
        *out = &r->f;
    return rc;
}

/* ---- writing ---- */

/* Add an entry, stored as numpy.savez does, dated 1980 so that equal weights give equal bytes. head
 * must live until the archive is closed. */
static int put(zip_t *zip, const struct mc_foreign_out *t, char head[MC_NPY_WRITTEN])
{
    zip_buffer_fragment_t sets[2] = {
        {(zip_uint8_t *)head, mc_npy_header(head, &t->tensor)},
        {(zip_uint8_t *)(uintptr_t)t->data, mc_tensor_bytes(&t->tensor)}};
    zip_source_t *s = zip_source_buffer_fragment(zip, sets, 2, 0);
    char name[sizeof t->name + 4];
    zip_int64_t i = 0;

    snprintf(name, sizeof name, "%s.npy", t->name);
    if (!s || (i = zip_file_add(zip, name, s, ZIP_FL_ENC_UTF_8)) < 0) {
        zip_source_free(s);
        return -1;
    }
    return zip_set_file_compression(zip, (zip_uint64_t)i, ZIP_CM_STORE, 0) ||
                   zip_file_set_dostime(zip, (zip_uint64_t)i, 0, 1 << 5 | 1, 0)
               ? -1
               : 0;
}

static int copy_out(zip_source_t *s, const char *path, struct mc_error *err)
{
    struct mc_output *o = NULL;
    char set[65536];
    zip_int64_t n = 0;
    int rc = mc_output_open(&o, path, MC_OUTPUT_BINARY, err);

    if (rc)
        return rc;
    if (zip_source_open(s))
        rc = fail("npz", zip_source_error(s), err);
    while (!rc && (n = zip_source_read(s, set, sizeof set)) > 0)
        rc = mc_output_write(o, set, (size_t)n, err);
    if (!rc && n < 0)
        rc = fail("npz", zip_source_error(s), err);
    return mc_output_close(o, rc, err);
}

int mc_npz_write(const char *path, const struct mc_foreign_out *tensors, size_t n,
                 struct mc_error *err)
{
    char(*heads)[MC_NPY_WRITTEN] = calloc(n + 1, sizeof *heads);
    zip_source_t *s = NULL;
    zip_t *zip = NULL;
    zip_error_t e;
    int rc = 0;

    errno = 0;
    zip_error_init(&e);
    if (!heads || !(s = zip_source_buffer_create(NULL, 0, 0, &e))) {
        rc = mc_no_memory(err);
        goto out;
    }
    zip_source_keep(s); /* otherwise closing the archive would free it */
    if (!(zip = zip_open_from_source(s, ZIP_CREATE | ZIP_TRUNCATE, &e))) {
        zip_source_free(s);
        rc = fail("npz", &e, err);
        goto out;
    }
    for (size_t i = 0; i < n && !rc; i++)
        if (put(zip, &tensors[i], heads[i]))
            rc = fail("npz", zip_get_error(zip), err);
    if (!rc && zip_close(zip))
        rc = fail("npz", zip_get_error(zip), err);
    else if (!rc) {
        zip = NULL;
        rc = copy_out(s, path, err);
    }
out:
    if (zip)
        zip_discard(zip);
    zip_source_free(s);
    zip_error_fini(&e);
    free(heads);
    return rc;
}
