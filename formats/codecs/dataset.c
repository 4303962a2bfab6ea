/* SPDX-License-Identifier: Apache-2.0
 *
 * Dataset streams, record by record. */
#include "formats/codecs/dataset.h"
#include "formats/codecs/tensors.h"
#include "formats/stream/writer.h"
#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES (4u << 20) /* images per record */
#define MAX_RECORD 4096

/* Check the pixels and labels of n images, starting at image `first`. */
static int check_images(const struct mc_dataset_info *info, uint64_t first, size_t n,
                        const void *images, const int32_t *labels, struct mc_error *err)
{
    size_t elems = mc_dataset_image_bytes(info) / mc_dtype_size(info->pixels);

    for (size_t i = 0; i < n; i++)
        if (labels[i] < 0 || labels[i] >= info->spec.classes)
            return mc_fail(err, MC_EINPUT, "image %llu has label %d of %d classes",
                           (unsigned long long)(first + i), labels[i], info->spec.classes);
    if (info->pixels != MC_F32)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const float *x = (const float *)images + i * elems;
        int ok = 1;
        for (size_t j = 0; j < elems; j++)
            ok &= x[j] >= 0 && x[j] <= 1;
        if (!ok)
            return mc_fail(err, MC_EINPUT, "image %llu has a pixel outside [0, 1]",
                           (unsigned long long)(first + i));
    }
    return 0;
}

/* ---- reading ---- */

struct mc_dataset_reader {
    struct mc_reader *r;
    struct mc_dataset_info info; /* without class names */
    size_t image_bytes;
    size_t images_index; /* index of the tensor "images" */
    void *slab;          /* memory of the lent record */
    size_t slab_size;
    const void *images; /* (have) images of the current record */
    size_t have, used;
    uint64_t n_before; /* images in earlier records */
    int32_t *labels;   /* (n_labels) labels from image `n_before` on */
    size_t n_labels, labels_room;
};

void mc_dataset_close(struct mc_dataset_reader *d)
{
    if (!d)
        return;
    mc_reader_close(d->r);
    mc_dataset_info_release(&d->info);
    free(d->slab);
    free(d->labels);
    free(d);
}

/* Make a reader that owns r, but not after an error. */
static int open_stream(struct mc_dataset_reader **out, struct mc_reader *r, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    int rc = mc_new(&d, 1, err);

    *out = NULL;
    if (rc || (rc = mc_expect_kind(r, "dataset", NULL, err)) ||
        (rc = mc_fail_in(mc_dataset_meta_unpack(&d->info, r, err), err, "%s", mc_reader_name(r))))
        goto out;
    struct mc_tensor labels = mc_tensor_make("labels", MC_I32, 1, &d->info.n);
    d->images_index = (size_t)mc_reader_find(r, "images");
    if ((rc = mc_expect_tensor(r, 1 - d->images_index, &labels, err)))
        goto out;
    d->image_bytes = mc_dataset_image_bytes(&d->info);
    d->r = r;
    *out = d;
    d = NULL;
out:
    mc_dataset_close(d);
    return rc;
}

int mc_dataset_open(struct mc_dataset_reader **out, const char *path, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    *out = NULL;
    if (!rc && (rc = open_stream(out, r, err)))
        mc_reader_close(r);
    return rc;
}

const struct mc_dataset_info *mc_dataset_get_info(const struct mc_dataset_reader *d)
{
    return &d->info;
}

struct mc_reader *mc_dataset_stream(struct mc_dataset_reader *d)
{
    return d->r;
}

static int keep_labels(struct mc_dataset_reader *d, const struct mc_record *rec,
                       struct mc_error *err)
{
    size_t n = d->n_labels + (size_t)rec->rows;

    if (n > MC_DATASET_MAX_LABELS_KEPT)
        return mc_fail(err, MC_EINPUT, "%s: more than %d labels precede their images",
                       mc_reader_name(d->r), MC_DATASET_MAX_LABELS_KEPT);
    if (n > d->labels_room) {
        size_t room = 2 * n < MC_DATASET_MAX_LABELS_KEPT ? 2 * n : MC_DATASET_MAX_LABELS_KEPT;
        int32_t *p = realloc(d->labels, room * sizeof *p);
        if (!p)
            return mc_fail(err, MC_ENOMEM, "out of memory: %zu labels", room);
        d->labels = p;
        d->labels_room = room;
    }
    memcpy(d->labels + d->n_labels, rec->data, rec->bytes);
    d->n_labels = n;
    return 0;
}

/* Read the next record of images, whose labels precede it or follow directly. The stream's
 * end is verified before the last record is lent. */
static int next_record(struct mc_dataset_reader *d, struct mc_error *err)
{
    struct mc_record rec;
    size_t rows = 0;
    int rc = 0;

    if (d->have) {
        memmove(d->labels, d->labels + d->have, (d->n_labels - d->have) * sizeof *d->labels);
        d->n_labels -= d->have;
    }
    d->n_before += d->have;
    d->have = d->used = 0;
    if (d->n_before == d->info.n)
        return 0;
    while (!rows || d->n_labels < rows) {
        if ((rc = mc_reader_next(d->r, &rec, err)) < 0)
            return rc;
        if (rc == 0 || (rows && rec.index == d->images_index))
            return mc_fail(err, MC_EINPUT, "%s: images precede their labels", mc_reader_name(d->r));
        if (rec.index == d->images_index) {
            rows = (size_t)rec.rows;
            d->images = rec.data;
            mc_reader_swap(d->r, &d->slab, &d->slab_size);
        } else if ((rc = keep_labels(d, &rec, err))) {
            return rc;
        }
    }
    if ((rc = check_images(&d->info, d->n_before, rows, d->images, d->labels, err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(d->r));
    if (d->n_before + rows == d->info.n && (rc = mc_reader_next(d->r, &rec, err)) != 0)
        return rc < 0
                   ? rc
                   : mc_fail(err, MC_EINPUT, "%s: data after the last image", mc_reader_name(d->r));
    d->have = rows;
    return 0;
}

int mc_dataset_lend(struct mc_dataset_reader *d, size_t max, const void **images,
                    const int32_t **labels, size_t *n, struct mc_error *err)
{
    int rc = d->used == d->have ? next_record(d, err) : 0;
    const size_t left = d->have - d->used;

    *n = rc ? 0 : left < max ? left : max;
    *images = *n ? (const char *)d->images + d->used * d->image_bytes : NULL;
    *labels = *n ? d->labels + d->used : NULL;
    d->used += *n;
    return rc;
}

int mc_dataset_check(struct mc_reader *r, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    const int32_t *labels = NULL;
    const void *images = NULL;
    size_t n = 1;
    int rc = open_stream(&d, r, err);

    while (!rc && n)
        rc = mc_dataset_lend(d, SIZE_MAX, &images, &labels, &n, err);
    if (d)
        d->r = NULL;
    mc_dataset_close(d);
    return rc;
}

/* ---- writing ---- */

struct mc_dataset_writer {
    struct mc_writer *w;
    struct mc_dataset_info info; /* without class names */
    size_t image_bytes;
    char *images;        /* (record) */
    int32_t *labels;     /* (record) */
    size_t record, have; /* images per record, and in memory */
    uint64_t n_before;
};

int mc_dataset_create(struct mc_dataset_writer **out, const char *path,
                      const struct mc_dataset_info *info, const struct mc_history *h,
                      struct mc_error *err)
{
    struct mc_dataset_writer *d = NULL;
    const struct mc_net_spec *s = &info->spec;
    struct mc_tensor tensors[2];
    struct mc_pack meta;
    int rc = mc_new(&d, 1, err);

    *out = NULL;
    mc_pack_init(&meta);
    if (rc || (rc = mc_dataset_meta_check(info, err)))
        goto out;
    d->info = *info;
    d->info.class_names = NULL;
    d->image_bytes = mc_dataset_image_bytes(info);
    d->record = RECORD_BYTES / d->image_bytes;
    d->record = d->record < 1 ? 1 : d->record > MAX_RECORD ? MAX_RECORD : d->record;
    if ((rc = mc_new(&d->images, d->record * d->image_bytes, err)) ||
        (rc = mc_new(&d->labels, d->record, err)))
        goto out;
    tensors[0] = mc_tensor_make("images", info->pixels, 4,
                                (const uint64_t[]){info->n, (uint64_t)s->channels,
                                                   (uint64_t)s->height, (uint64_t)s->width});
    tensors[1] = mc_tensor_make("labels", MC_I32, 1, &info->n);
    mc_dataset_meta_pack(info, &meta);
    rc = mc_writer_open(&d->w, path, &(struct mc_header){"dataset", &meta, tensors, 2}, h, err);
out:
    mc_pack_release(&meta);
    if (rc)
        return mc_dataset_commit(d, rc, NULL, err);
    *out = d;
    return 0;
}

static int flush_record(struct mc_dataset_writer *d, struct mc_error *err)
{
    int rc = 0;

    if (!d->have)
        return 0;
    if ((rc = check_images(&d->info, d->n_before, d->have, d->images, d->labels, err)) ||
        (rc = mc_writer_rows(d->w, 0, d->have, d->images, err)) ||
        (rc = mc_writer_rows(d->w, 1, d->have, d->labels, err)))
        return rc;
    d->n_before += d->have;
    d->have = 0;
    return 0;
}

int mc_dataset_write(struct mc_dataset_writer *d, size_t n, const void *images,
                     const int32_t *labels, struct mc_error *err)
{
    const char *from = images;

    while (n) {
        size_t count = d->record - d->have < n ? d->record - d->have : n;
        memcpy(d->images + d->have * d->image_bytes, from, count * d->image_bytes);
        memcpy(d->labels + d->have, labels, count * sizeof *labels);
        from += count * d->image_bytes;
        labels += count;
        n -= count;
        d->have += count;
        if (d->have == d->record) {
            int rc = flush_record(d, err);
            if (rc)
                return rc;
        }
    }
    return 0;
}

int mc_dataset_commit(struct mc_dataset_writer *d, int rc, char *id, struct mc_error *err)
{
    if (!d)
        return rc;
    if (!rc)
        rc = flush_record(d, err);
    rc = mc_writer_close(d->w, rc, id, err);
    free(d->images);
    free(d->labels);
    free(d);
    return rc;
}
