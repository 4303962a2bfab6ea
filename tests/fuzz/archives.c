/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz files of named tensors. For safetensors, the header's length is usually corrected after
 * damage. An npz is unpacked, one of its files is damaged, and it is packed again with correct
 * checksums. */
#include "tests/fuzz/fuzz.h"

#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* tests/parity/convert_golden.json */
static const struct mc_graph *golden(void)
{
    static struct mc_graph *g;
    size_t n = 0;

    if (!g) {
        uint8_t *text = fuzz_load("tests/parity/convert_golden.json", &n);
        struct mc_error err;
        if (fuzz_put(1, text, n, n, &err) || mc_graph_json_read(&g, fuzz_paths[1], &err))
            exit(1);
        free(text);
    }
    return g;
}

/* Read a source to its end, tensor by tensor. */
static int read_source(struct mc_convert_source *s, struct mc_error *err)
{
    const struct mc_graph *g = s->graph;
    int rc = 0;

    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct mc_param *p = i < g->n_params ? &g->params[i] : &g->stats[i - g->n_params];
        float *x = calloc(p->count + 1, sizeof *x);
        if (!x)
            exit(1);
        if (!(rc = s->read(s, i, x, p->count, err)) &&
            mc_flat_check(p, s->types[i], x, p->count, NULL, NULL))
            rc = mc_fail(err, MC_EFAIL, "took what is not finite");
        free(x);
    }
    return rc ? rc : s->end(s, err);
}

static int import(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    const struct mc_graph *g = golden();
    struct mc_convert_notes notes;
    struct mc_foreign *f = NULL;
    struct mc_convert_source *s = NULL;
    int rc = fuzz_put(0, x, n, n, err);

    if (!rc)
        rc = strcmp(t->name, "npz") ? mc_safetensors_open(&f, fuzz_paths[0], err)
                                    : mc_npz_open(&f, fuzz_paths[0], err);
    if (!rc)
        rc = mc_convert_from_foreign(&s, g, f, NULL, n % 2, &notes, err);
    if (!rc)
        rc = read_source(s, err);
    if (s)
        s->close(s);
    mc_foreign_close(f);
    return rc;
}

static int arrays(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    const struct mc_image_source_opts o = {.dir = fuzz_paths[0], .split = "train"};
    const int rc = fuzz_put(0, x, n, n, err);

    (void)t;
    return rc ? rc : fuzz_take_set("npz", &o, err);
}

static size_t damage_safetensors(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most)
{
    static uint8_t part[FUZZ_MAX];
    uint64_t length = 0;

    for (size_t i = 8; i-- && n >= 8;)
        length = length << 8 | x[i];
    if (n < 8 || length > n - 8 || most > FUZZ_MAX)
        return fuzz_bytes(t, x, n, most);
    const size_t data = n - 8 - (size_t)length;
    memcpy(part, x + 8, (size_t)length);
    const size_t now = fuzz_bytes(t, part, (size_t)length, most - 8 - data);
    memmove(x + 8 + now, x + 8 + length, data);
    memcpy(x + 8, part, now);
    for (size_t i = 0; i < 8; i++)
        x[i] = (uint8_t)(i < 4 ? now >> 8 * i : 0);
    return 8 + now + data;
}

/* Returns the new size, or 0 if it is not an archive or cannot be packed again. */
static size_t damage_zip(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most)
{
    zip_error_t e;
    zip_source_t *from = zip_source_buffer_create(x, n, 0, &e), *to = NULL;
    zip_t *in = from ? zip_open_from_source(from, ZIP_RDONLY, &e) : NULL, *out = NULL;
    zip_int64_t files = in ? zip_get_num_entries(in, 0) : 0;
    uint8_t *data = NULL;
    size_t made = 0;

    if (!in)
        zip_source_free(from);
    if (files < 1 || files > 16 || !(data = malloc((size_t)files * FUZZ_MAX)) ||
        !(to = zip_source_buffer_create(NULL, 0, 0, &e)))
        goto out;
    zip_source_keep(to);
    if (!(out = zip_open_from_source(to, ZIP_TRUNCATE, &e))) {
        zip_source_free(to);
        goto out;
    }
    const size_t which = fuzz_below((size_t)files), deed = fuzz_below(8);
    for (size_t i = 0; i < (size_t)files; i++) {
        uint8_t *at = data + i * FUZZ_MAX, name[64];
        zip_file_t *f = zip_fopen_index(in, i, 0);
        zip_int64_t size = f ? zip_fread(f, at, FUZZ_MAX) : -1;
        if (f)
            zip_fclose(f);
        snprintf((char *)name, sizeof name, "%s", zip_get_name(in, i, ZIP_FL_ENC_RAW));
        if (size < 0 || (i == which && !deed))
            continue; /* omit the file */
        if (i == which && deed == 1)
            name[fuzz_bytes(t, name, strlen((char *)name), sizeof name - 1)] = 0;
        else if (i == which) /* mostly the header */
            size = fuzz_below(4) || size < 128
                       ? (zip_int64_t)fuzz_bytes(t, at, (size_t)size, FUZZ_MAX)
                       : (zip_int64_t)fuzz_bytes(t, at, 128, 128) + (size - 128);
        zip_source_t *s = zip_source_buffer(out, at, (zip_uint64_t)size, 0);
        zip_int64_t entry = s ? zip_file_add(out, (char *)name, s, ZIP_FL_ENC_GUESS) : -1;
        if (s && entry < 0)
            zip_source_free(s);
        else if (s &&
                 zip_set_file_compression(out, (zip_uint64_t)entry,
                                          fuzz_below(8) ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 1) == 0)
            zip_file_set_mtime(out, (zip_uint64_t)entry, 315532800, 0); /* a fixed date */
    }
    if (zip_close(out)) {
        zip_discard(out);
    } else if (!zip_source_open(to)) {
        zip_int64_t size = zip_source_read(to, x, most);
        char byte;
        made = size > 0 && zip_source_read(to, &byte, 1) <= 0 ? (size_t)size : 0;
        zip_source_close(to);
    }
out:
    if (to)
        zip_source_free(to);
    if (in)
        zip_discard(in);
    free(data);
    return made;
}

static size_t damage_npz(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most)
{
    static uint8_t copy[FUZZ_MAX];

    if (n > sizeof copy)
        return fuzz_bytes(t, x, n, most);
    memcpy(copy, x, n);
    const size_t made = damage_zip(t, copy, n, most < sizeof copy ? most : sizeof copy);
    if (!made)
        return fuzz_bytes(t, x, n, most);
    memcpy(x, copy, made);
    return made;
}

static const char *const json[] = {"{",
                                   "}",
                                   "[",
                                   "]",
                                   "\"",
                                   ",",
                                   ":",
                                   "0",
                                   "1",
                                   "2",
                                   "-",
                                   ".5",
                                   "e9",
                                   "\\",
                                   "\n",
                                   "*",
                                   "F32",
                                   "F64",
                                   "BF16",
                                   "F16",
                                   "I64",
                                   "U8",
                                   " ",
                                   "\\u",
                                   "F6_E2M3",
                                   "9007199254740993",
                                   "18446744073709551616",
                                   "\"__metadata__\":{}",
                                   "null",
                                   "true",
                                   NULL};
static const char *const npy[] = {
    "{",     "}",          "(",     ")",     "'",       ",",       ":",
    "0",     "1",          "2",     "True",  "False",   "'<f4'",   "'<f8'",
    "'>f4'", "'|u1'",      "'|b1'", "'<i8'", "'descr'", "'shape'", "'fortran_order'",
    "'<f2'", "4294967296", "'|O'",  " ",     "\n",      NULL};

const struct fuzz_target fuzz_archives[] = {{"safetensors", json, import, damage_safetensors, NULL},
                                            {"npz", npy, import, damage_npz, NULL},
                                            {"arrays", npy, arrays, damage_npz, NULL},
                                            {0}};
