/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/activations.h"

#include "formats/codecs/tensors.h"
#include "formats/stream/writer.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGES ((uint64_t)1 << 40)
#define MAX_BATCH ((uint64_t)1 << 24)
#define MAX_SIDE 65536

static const struct mc_key keys[] = {
    MC_KEY(struct mc_activations_position, images, "images", MC_KEY_COUNT, MAX_IMAGES),
    MC_KEY(struct mc_activations_position, batch, "batch", MC_KEY_COUNT, MAX_BATCH),
};

static uint64_t left(const struct mc_activations_position *t)
{
    uint64_t batch = t->images - t->first < t->batch ? t->images - t->first : t->batch;

    return batch - t->image;
}

static void advance(struct mc_activations_position *t, uint64_t n)
{
    t->image += n;
    if (left(t))
        return;
    t->image = 0;
    if (++t->tap == t->n_taps) {
        t->tap = 0;
        t->first += t->batch < t->images - t->first ? t->batch : t->images - t->first;
    }
}

/* ---- writing ---- */

struct mc_activations_writer {
    struct mc_writer *w;
    struct mc_activations_position position;
};

static struct mc_tensor tap_tensor(const struct mc_taps *t, size_t i, uint64_t images, uint64_t h,
                                   uint64_t w)
{
    struct mc_tensor out =
        mc_tensor_make("", MC_F32, 4, (const uint64_t[]){images, t->taps[i].count, h, w});

    snprintf(out.name, sizeof out.name, "%zu/%.*s", i, MC_MAX_NODE_NAME - 1, t->taps[i].name);
    return out;
}

int mc_activations_create(struct mc_activations_writer **out, const char *path,
                          const struct mc_activations_shape *shape, const struct mc_history *h,
                          struct mc_error *err)
{
    const struct mc_taps *taps = shape->taps;
    const int(*hw)[2] = shape->hw;
    const uint64_t images = shape->images;
    struct mc_activations_writer *a = NULL;
    struct mc_tensor *tensors = NULL;
    struct mc_taps sampled = *taps;
    struct mc_pack meta;
    int rc = mc_new(&sampled.taps, taps->n_taps, err);

    *out = NULL;
    mc_pack_init(&meta);
    if (rc || (rc = mc_new(&a, 1, err)) || (rc = mc_new(&tensors, taps->n_taps, err)))
        goto out;
    for (size_t i = 0; i < taps->n_taps; i++) {
        sampled.taps[i] = taps->taps[i];
        sampled.taps[i].samples = images * (uint64_t)hw[i][0] * (uint64_t)hw[i][1];
        tensors[i] = tap_tensor(taps, i, images, (uint64_t)hw[i][0], (uint64_t)hw[i][1]);
    }
    a->position = (struct mc_activations_position){
        .images = images, .batch = shape->batch, .n_taps = taps->n_taps};
    mc_pack_map(&meta, 5 + mc_conditions_count(&shape->conditions));
    mc_taps_pack(&sampled, &meta);
    mc_keys_pack(&meta, keys, 2, &a->position);
    mc_conditions_pack(&shape->conditions, &meta);
    rc = mc_writer_open(&a->w, path,
                        &(struct mc_header){"activations", &meta, tensors, taps->n_taps}, h, err);
out:
    mc_pack_release(&meta);
    free(sampled.taps);
    free(tensors);
    if (rc)
        return mc_activations_commit(a, rc, err);
    *out = a;
    return 0;
}

int mc_activations_write(struct mc_activations_writer *a, size_t tap, size_t n, const float *data,
                         struct mc_error *err)
{
    if (tap != a->position.tap || n > left(&a->position))
        return mc_fail(err, MC_EUSAGE, "activations must be written tap by tap, batch by batch");
    int rc = mc_writer_rows(a->w, tap, n, data, err);
    if (!rc)
        advance(&a->position, n);
    return rc;
}

int mc_activations_commit(struct mc_activations_writer *a, int rc, struct mc_error *err)
{
    if (!a)
        return rc;
    rc = mc_writer_close(a->w, rc, NULL, err);
    free(a);
    return rc;
}

/* ---- reading ---- */

void mc_activations_close(struct mc_activations_reader *a)
{
    if (!a)
        return;
    mc_reader_close(a->r);
    mc_taps_release(&a->taps);
    free(a);
}

/* Check the declared tensor of tap i against the meta. Its height and width are free. */
static int check_tap(const struct mc_activations_reader *a, size_t i, struct mc_error *err)
{
    const struct mc_tensor *t = mc_reader_tensor(a->r, i);
    const struct mc_tap_info *tap = &a->taps.taps[i];

    if (t->ndim != 4 || !t->shape[2] || !t->shape[3] || t->shape[2] > MAX_SIDE ||
        t->shape[3] > MAX_SIDE)
        return mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" is not (images, K, H, W)",
                       mc_reader_name(a->r), t->name);
    struct mc_tensor expected =
        tap_tensor(&a->taps, i, a->position.images, t->shape[2], t->shape[3]);
    int rc = mc_expect_tensor(a->r, i, &expected, err);
    uint64_t pixels = t->shape[2] * t->shape[3];
    if (!rc && (tap->samples % pixels || tap->samples / pixels != a->position.images))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: \"%s\" has %llu samples, not those of %llu images of %llu pixels",
                     mc_reader_name(a->r), tap->name, (unsigned long long)tap->samples,
                     (unsigned long long)a->position.images, (unsigned long long)pixels);
    return rc;
}

/* Make a reader that owns r, but not after an error. */
static int open_stream(struct mc_activations_reader **out, struct mc_reader *r,
                       struct mc_error *err)
{
    struct mc_activations_reader *a = NULL;
    int rc = mc_new(&a, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    a->r = r;
    if (!(rc = mc_reader_expect(r, "activations", err)) &&
        ((rc = mc_taps_unpack(&a->taps, mc_reader_meta(r), err)) ||
         (rc = mc_keys_unpack(mc_reader_meta(r), keys, 2, &a->position, err)) ||
         (rc = mc_conditions_unpack(&a->conditions, mc_reader_meta(r), err))))
        mc_fail_in(rc, err, "%s", mc_reader_name(r));
    else if (!rc && (!a->position.images || !a->position.batch))
        rc = mc_fail(err, MC_EINPUT, "%s: has no images or no batches", mc_reader_name(r));
    else if (!rc)
        rc = mc_expect_count(r, a->taps.n_taps, err);
    a->position.n_taps = a->taps.n_taps;
    for (size_t i = 0; i < a->taps.n_taps && !rc; i++)
        rc = check_tap(a, i, err);
    if (rc) {
        a->r = NULL;
        mc_activations_close(a);
    } else {
        *out = a;
    }
    return rc;
}

int mc_activations_open_stream(struct mc_activations_reader **out, struct mc_reader *r,
                               struct mc_error *err)
{
    int rc = open_stream(out, r, err);

    if (rc)
        mc_reader_close(r);
    return rc;
}

int mc_activations_open(struct mc_activations_reader **out, const char *path, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    *out = NULL;
    return rc ? rc : mc_activations_open_stream(out, r, err);
}

int mc_activations_next(struct mc_activations_reader *a, size_t *tap, size_t *n, const float **data,
                        size_t *hw, struct mc_error *err)
{
    struct mc_record rec;
    int rc = mc_reader_next(a->r, &rec, err);

    if (rc != 1)
        return rc;
    if (rec.index != a->position.tap || rec.rows > left(&a->position))
        return mc_fail(err, MC_EINPUT, "%s: tensor \"%s\" expected, got \"%s\"",
                       mc_reader_name(a->r), mc_reader_tensor(a->r, a->position.tap)->name,
                       rec.tensor->name);
    if ((rc = mc_finite(MC_F32, rec.data, rec.bytes / sizeof(float), mc_reader_name(a->r),
                        rec.tensor->name, err)))
        return rc;
    advance(&a->position, rec.rows);
    *tap = rec.index;
    *n = (size_t)rec.rows;
    *data = rec.data;
    *hw = (size_t)(rec.tensor->shape[2] * rec.tensor->shape[3]);
    return 1;
}

int mc_activations_check(struct mc_reader *r, struct mc_error *err)
{
    struct mc_activations_reader *a = NULL;
    const float *data = NULL;
    size_t tap = 0, n = 0, hw = 0;
    int rc = open_stream(&a, r, err);

    if (!rc)
        while ((rc = mc_activations_next(a, &tap, &n, &data, &hw, err)) > 0)
            continue;
    if (a)
        a->r = NULL;
    mc_activations_close(a);
    return rc;
}
