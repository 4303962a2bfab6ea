/* SPDX-License-Identifier: Apache-2.0
 *
 * MNIST's idx files, as published (gzip) or unpacked: two zero bytes, the type (8: uint8), the
 * number of dimensions, each as four big-endian bytes, and the bytes. */
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

#define MAX_EXPANSION 1032 /* DEFLATE makes no more of a byte */

/* n bytes; last: and then the file's end. That is asked for in one call with the bytes before it:
 * zlib tells of a trailer, with the checksum, that is cut off only where it still inflates. */
static int read_bytes(gzFile f, void *dst, size_t n, int last, struct mc_error *err)
{
    const size_t want = n + (size_t)last;
    size_t got = 0;
    int k = 1, code = 0;

    while (got < want && k > 0) {
        const size_t some = want - got < INT_MAX ? want - got : INT_MAX;
        if ((k = gzread(f, (char *)dst + got, (unsigned)some)) > 0)
            got += (size_t)k;
    }
    const char *told = gzerror(f, &code), *why = strstr(told, ": "); /* "<fd:3>: why" */
    if (code == Z_MEM_ERROR)
        return mc_no_memory(err);
    if (code == Z_ERRNO)
        return mc_fail(err, MC_EFAIL, "cannot read");
    if (got > n)
        return mc_fail(err, MC_EINPUT, "bytes after its data");
    if (code && code != Z_BUF_ERROR)
        return mc_fail(err, MC_EINPUT, "%s", why ? why + 2 : told);
    return code || got < n ? mc_fail(err, MC_EINPUT, "truncated") : 0;
}

/* The data of a file of images (3 or 4 dimensions; images is NULL) or of labels, as many as there
 * are images unless it has no dimensions; to be freed. What does not fit gets no room. */
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
        return mc_fail(err, MC_EINPUT, "is no idx file");
    if (head[2] != 8)
        return mc_fail(err, MC_EINPUT, "its idx type is 0x%02x, not 0x08, uint8", head[2]);
    if (head[3] != ndim && !(ndim == 3 && head[3] == 4))
        return mc_fail(err, MC_EINPUT, "has %d dimensions: %s", head[3],
                       ndim == 3 ? "images have 3 or 4 (IMAGES come before LABELS)"
                                 : "labels have 1");
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
        return mc_fail(err, MC_EINPUT, "has %llu labels for %llu images", (unsigned long long)count,
                       (unsigned long long)images->shape[0]);
    rc = mc_new(out, (size_t)count + 1, err);
    return rc ? rc : read_bytes(f, *out, (size_t)count, 1, err);
}

static int read_file(const char *path, enum mc_err absent, const struct mc_image_source_opts *o,
                     const struct mc_arrays *images, struct mc_arrays *shape, uint8_t **out,
                     struct mc_error *err)
{
    uint64_t bytes = 0;
    int fd = -1, rc = mc_file_open(&fd, &bytes, path, absent, err);

    if (rc)
        return rc;
    gzFile f = gzdopen(fd, "rb");
    if (!f) {
        close(fd);
        return mc_no_memory(err);
    }
    rc = mc_fail_in(read_array(f, bytes, o, images, shape, out, err), err, "%s", path);
    gzclose_r(f);
    return rc;
}

/* *out, to be freed: the publisher's file in dir, unpacked or else .gz. MC_EINPUT if both exist,
 * which may differ. */
static int published(char **out, const char *dir, int test, const char *what, struct mc_error *err)
{
    char *zipped = NULL;
    struct stat st;

    *out = NULL;
    if (asprintf(out, "%s/%s-%s-ubyte", dir, test ? "t10k" : "train", what) < 0) {
        *out = NULL;
        return mc_no_memory(err);
    }
    if (asprintf(&zipped, "%s.gz", *out) < 0)
        return mc_no_memory(err);
    const int plain = !stat(*out, &st), packed = !stat(zipped, &st);
    if (packed && !plain) {
        free(*out);
        *out = zipped;
        return 0;
    }
    free(zipped);
    return plain && packed
               ? mc_fail(err, MC_EINPUT, "%s: exists with and without .gz: remove one", *out)
               : 0;
}

/* The labels of the other split, where they lie in the folder too: they count its classes. */
static int look_at_other(const char *dir, int test, int64_t *most, struct mc_error *err)
{
    struct mc_arrays l = {0}, none = {0};
    char *path = NULL;
    uint8_t *bytes = NULL;
    struct stat st;
    int rc = published(&path, dir, !test, "labels-idx1", err);

    if (!rc && !stat(path, &st))
        rc = read_file(path, MC_EINPUT, NULL, &none, &l, &bytes, err);
    for (uint64_t i = 0; !rc && i < l.shape[0]; i++)
        *most = bytes[i] > *most ? bytes[i] : *most;
    free(bytes);
    free(path);
    return rc;
}

int mc_idx_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                struct mc_error *err)
{
    struct mc_arrays a = {.pixels = MC_U8}, l = {0};
    const int test = !strcmp(o->split, "test"), two = o->labels != NULL;
    const enum mc_err absent = two ? MC_EFAIL : MC_EINPUT;
    char *images = NULL, *labels = NULL;
    uint8_t *pixels = NULL, *bytes = NULL;
    int rc = two ? 0 : mc_image_source_folder(o->dir, err);

    if (rc)
        return rc;
    if (two) {
        images = strdup(o->dir);
        labels = strdup(o->labels);
        rc = images && labels ? 0 : mc_no_memory(err);
    } else if (!(rc = published(&images, o->dir, test, "images-idx3", err)))
        rc = published(&labels, o->dir, test, "labels-idx1", err);
    if (rc)
        goto out;
    rc = read_file(images, absent, o, NULL, &a, &pixels, err);
    a.images = pixels;
    if (rc || (rc = read_file(labels, absent, o, &a, &l, &bytes, err)) ||
        (!two && (rc = look_at_other(o->dir, test, &a.most, err))))
        goto out;
    if ((rc = mc_new(&a.labels, (size_t)l.shape[0], err)))
        goto out;
    for (uint64_t i = 0; i < l.shape[0]; i++)
        a.labels[i] = bytes[i];
    rc = mc_fail_in(mc_arrays_open(out, &a, o, err), err, "%s", images);
    a = (struct mc_arrays){0};
out:
    free(a.images);
    free(a.labels);
    free(bytes);
    free(images);
    free(labels);
    return rc;
}
