/* SPDX-License-Identifier: Apache-2.0
 *
 * MNIST's idx files, gzipped as published or unpacked: two zero bytes, the type (8: uint8), the
 * number of dimensions, each dimension as four big-endian bytes, then the data. */
#include "formats/datasets/arrays.h"
#include "formats/datasets/image_set.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_EXPANSION 1032 /* DEFLATE's maximum expansion */

/* Read n bytes. If `last`, the file must end after them. The end is checked in the same call as the
 * data: zlib reports a truncated trailer, which has the checksum, only while it inflates. */
static int read_bytes(gzFile f, void *dst, size_t n, int last, struct mc_error *err)
{
    const size_t total = n + (size_t)last;
    size_t got = 0;
    int k = 1, code = 0;

    while (got < total && k > 0) {
        const size_t step = total - got < INT_MAX ? total - got : INT_MAX;
        if ((k = gzread(f, (char *)dst + got, (unsigned)step)) > 0)
            got += (size_t)k;
    }
    const char *message = gzerror(f, &code), *why = strstr(message, ": "); /* "<fd:3>: why" */
    if (code == Z_MEM_ERROR)
        return mc_no_memory(err);
    if (code == Z_ERRNO)
        return mc_fail(err, MC_EFAIL, "cannot read");
    if (got > n)
        return mc_fail(err, MC_EINPUT, "bytes after its data");
    if (code && code != Z_BUF_ERROR)
        return mc_fail(err, MC_EINPUT, "%s", why ? why + 2 : message);
    return code || got < n ? mc_fail(err, MC_EINPUT, "truncated") : 0;
}

/* Read the data of a file of images (3 or 4 dimensions; images is NULL) or of labels. The number of
 * labels must match images unless images has no dimensions. Data that cannot fit in the file is not
 * allocated. The caller frees *out. */
static int read_array(gzFile f, uint64_t bytes, const struct mc_image_source_opts *o,
                      const struct mc_arrays *images, struct mc_arrays *shape, uint8_t **out,
                      struct mc_error *err)
{
    struct mc_dataset_info info = {0};
    unsigned char head[4], size[4];
    const int ndim = images ? 1 : 3;
    uint64_t count = 1;
    int last = 0, rc = read_bytes(f, head, sizeof head, 0, err);

    if (rc)
        return rc;
    if (head[0] || head[1] || !head[2])
        return mc_fail(err, MC_EINPUT, "not an idx file");
    if (head[2] != 8)
        return mc_fail(err, MC_EINPUT, "idx type 0x08, uint8, expected, got 0x%02x", head[2]);
    if (head[3] != ndim && !(ndim == 3 && head[3] == 4))
        return mc_fail(err, MC_EINPUT, "%s (got %d)",
                       ndim == 3 ? "images must have 3 or 4 dimensions; IMAGES precede LABELS"
                                 : "labels must have 1 dimension",
                       head[3]);
    shape->ndim = head[3];
    for (int i = 0; i < shape->ndim; i++) {
        if ((rc = read_bytes(f, size, sizeof size, 0, err)))
            return rc;
        shape->shape[i] =
            (uint64_t)size[0] << 24 | (uint64_t)size[1] << 16 | (uint64_t)size[2] << 8 | size[3];
        if (__builtin_mul_overflow(count, shape->shape[i], &count))
            count = UINT64_MAX;
    }
    if (count > (gzdirect(f) ? bytes : bytes * MAX_EXPANSION))
        return mc_fail(err, MC_EINPUT, "truncated");
    if (!images && (rc = mc_arrays_shape(shape, o, &info, &last, err)))
        return rc;
    if (images && images->ndim && images->shape[0] != count)
        return mc_fail(err, MC_EINPUT, "%llu labels expected, got %llu",
                       (unsigned long long)images->shape[0], (unsigned long long)count);
    rc = mc_new(out, (size_t)count + 1, err);
    return rc ? rc : read_bytes(f, *out, (size_t)count, 1, err);
}

/* A file of images or of labels. */
struct part {
    char *path;
    struct mc_arrays shape;
    uint8_t *bytes;
};

static void release_part(struct part *p)
{
    free(p->path);
    free(p->bytes);
    *p = (struct part){0};
}

static int read_part(struct part *p, enum mc_err absent, const struct mc_image_source_opts *o,
                     const struct mc_arrays *images, struct mc_error *err)
{
    uint64_t bytes = 0;
    int fd = -1, rc = mc_file_open(&fd, &bytes, p->path, absent, err);

    p->shape.pixels = MC_U8;
    if (rc)
        return rc;
    gzFile f = gzdopen(fd, "rb");
    if (!f) {
        close(fd);
        return mc_no_memory(err);
    }
    rc = mc_fail_in(read_array(f, bytes, o, images, &p->shape, &p->bytes, err), err, "%s", p->path);
    gzclose_r(f);
    return rc;
}

static int same_part(const struct part *a, const struct part *b)
{
    size_t n = 1;

    for (int i = 0; i < a->shape.ndim; i++)
        n *= (size_t)a->shape.shape[i];
    return a->shape.ndim == b->shape.ndim &&
           !memcmp(a->shape.shape, b->shape.shape, sizeof a->shape.shape) &&
           !memcmp(a->bytes, b->bytes, n);
}

/* Find the file in dir: under the publisher's name, or with a dot instead of the second dash,
 * unpacked or .gz. If several exist, their data must be equal. If none exists, p->path is the first
 * name. */
static int find_part(struct part *p, const char *dir, int test,
                     const struct mc_image_source_opts *o, const struct mc_arrays *images,
                     struct mc_error *err)
{
    static const char *const names[] = {"-idx", "-idx", ".idx", ".idx"}, *const ends[] = {
                                                                             "", ".gz", "", ".gz"};
    struct stat st;
    int rc = 0;

    for (int i = 0; i < 4 && !rc; i++) {
        struct part other = {0};
        if (asprintf(&other.path, "%s/%s-%s%s%d-ubyte%s", dir, test ? "t10k" : "train",
                     images ? "labels" : "images", names[i], images ? 1 : 3, ends[i]) < 0) {
            other.path = NULL;
            rc = mc_no_memory(err);
        } else if (!stat(other.path, &st)) {
            rc = read_part(&other, MC_EINPUT, o, images, err);
        }
        if (!rc && p->bytes && other.bytes && !same_part(p, &other))
            rc = mc_fail(err, MC_EINPUT, "%s: differs from %s (remove one of them)", other.path,
                         p->path);
        if (!rc && (!p->path || (!p->bytes && other.bytes))) {
            release_part(p);
            *p = other;
            other = (struct part){0};
        }
        release_part(&other);
    }
    return rc;
}

/* Find the largest label of the other split, if it exists: it counts the classes too. */
static int find_max_label(const char *dir, int test, int64_t *max_label, struct mc_error *err)
{
    const struct mc_arrays any = {0};
    struct part labels = {0};
    int rc = find_part(&labels, dir, !test, NULL, &any, err);

    for (uint64_t i = 0; !rc && labels.bytes && i < labels.shape.shape[0]; i++)
        *max_label = labels.bytes[i] > *max_label ? labels.bytes[i] : *max_label;
    release_part(&labels);
    return rc;
}

static int open_part(struct part *p, const char *file, const struct mc_image_source_opts *o,
                     const struct mc_arrays *images, struct mc_error *err)
{
    const enum mc_err absent = o->labels ? MC_EFAIL : MC_EINPUT;
    int rc = 0;

    if (!o->labels)
        rc = find_part(p, o->dir, !strcmp(o->split, "test"), o, images, err);
    else if (!(p->path = strdup(file)))
        rc = mc_no_memory(err);
    return rc || p->bytes ? rc : read_part(p, absent, o, images, err);
}

int mc_idx_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                struct mc_error *err)
{
    struct part images = {0}, labels = {0};
    struct mc_arrays a = {0};
    int rc = o->labels ? 0 : mc_image_source_folder(o->dir, err);

    if (rc || (rc = open_part(&images, o->dir, o, NULL, err)) ||
        (rc = open_part(&labels, o->labels, o, &images.shape, err)))
        goto out;
    a = images.shape;
    if (!o->labels && (rc = find_max_label(o->dir, !strcmp(o->split, "test"), &a.max_label, err)))
        goto out;
    const size_t n = (size_t)labels.shape.shape[0];
    if ((rc = mc_new(&a.labels, n, err)))
        goto out;
    for (size_t i = 0; i < n; i++)
        a.labels[i] = labels.bytes[i];
    a.images = images.bytes;
    images.bytes = NULL;
    rc = mc_fail_in(mc_arrays_open(out, &a, o, err), err, "%s", images.path);
out:
    release_part(&images);
    release_part(&labels);
    return rc;
}
