/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/losses.h"

#include "formats/codecs/tensors.h"
#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS (1u << 20)
#define MAX_DATA 16

static const struct mc_key data_keys[] = {
    MC_KEY(struct mc_losses_data, name, "name", MC_KEY_TEXT, 0),
    MC_KEY(struct mc_losses_data, id, "id", MC_KEY_TEXT, 0),
    MC_KEY(struct mc_losses_data, images, "images", MC_KEY_COUNT, MC_LOSSES_MAX_IMAGES),
};
static const struct mc_key keys[] = {
    MC_KEY(struct mc_losses, T, "points", MC_KEY_COUNT, MAX_POINTS),
};

void mc_losses_release(struct mc_losses *l)
{
    for (size_t k = 0; l->data && k < l->n_data; k++) {
        free(l->data[k].loss);
        free(l->data[k].correct);
    }
    free(l->data);
    free(l->t);
    free(l->chord);
    memset(l, 0, sizeof *l);
}

static int check_meta(const struct mc_losses *l, struct mc_error *err)
{
    if (l->T < 2)
        return mc_fail(err, MC_EINPUT, "a path must have at least 2 points (got %zu)", l->T);
    for (size_t k = 0; k < l->n_data; k++) {
        const struct mc_losses_data *d = &l->data[k];
        if (!*d->name || !d->images)
            return mc_fail(err, MC_EINPUT, "a data set has no name or no images");
        if (d->images > MC_LOSSES_MAX_IMAGES)
            return mc_fail(err, MC_EINPUT, "a data set has more than %u images",
                           MC_LOSSES_MAX_IMAGES);
    }
    const char *twice = NULL;
    int rc = mc_duplicate_name(l->data, l->n_data, sizeof *l->data, &twice, err);
    return rc || !twice ? rc : mc_fail(err, MC_EINPUT, "two data sets are named \"%s\"", twice);
}

static int get_meta(struct mc_losses *l, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *data = NULL;
    int rc = 0;

    if ((rc = mc_keys_unpack(meta, keys, 1, l, err)) ||
        (rc = mc_get_array(meta, "data", &data, err)))
        return rc;
    const size_t n = data->via.array.size;
    if (!n || n > MAX_DATA)
        return mc_fail(err, MC_EINPUT, "1 to %d data sets expected, got %zu", MAX_DATA, n);
    if ((rc = mc_new(&l->data, n, err)))
        return rc;
    l->n_data = n;
    for (size_t k = 0; k < n && !rc; k++)
        rc = mc_keys_unpack(&data->via.array.ptr[k], data_keys, 3, &l->data[k], err);
    return rc ? rc : check_meta(l, err);
}

static void add(struct mc_layout *to, const char *prefix, const char *name, enum mc_dtype dtype,
                const uint64_t shape[2], const void *pointer)
{
    struct mc_tensor t = mc_tensor_make(name, dtype, shape[1] ? 2 : 1, shape);

    if (prefix)
        mc_tensor_prefix(&t, prefix, name);
    mc_layout_add(to, &t, pointer);
}

static void lay_out(struct mc_layout *to, const struct mc_losses *l)
{
    add(to, NULL, "t", MC_F64, (const uint64_t[]){l->T, 0}, &l->t);
    add(to, NULL, "chord", MC_F64, (const uint64_t[]){l->T - 1, 0}, &l->chord);
    for (size_t k = 0; k < l->n_data; k++) {
        const struct mc_losses_data *d = &l->data[k];
        const uint64_t shape[] = {l->T, d->images};
        char prefix[sizeof d->name + 1];

        snprintf(prefix, sizeof prefix, "%s/", d->name);
        add(to, prefix, "loss", MC_F32, shape, &d->loss);
        add(to, prefix, "correct", MC_U8, shape, &d->correct);
    }
}

static int check_values(const struct mc_losses *l, const char *file, struct mc_error *err)
{
    const char *const in = file ? file : "losses";

    for (size_t i = 0; i < l->T; i++) {
        const int last = i + 1 == l->T;
        if (!(i ? l->t[i] > l->t[i - 1] : l->t[0] == 0) || (last && l->t[i] != 1))
            return mc_fail(err, MC_EINPUT, "%s: \"t\" does not ascend from 0 to 1", in);
        if (!last && !(isfinite(l->chord[i]) && l->chord[i] >= 0))
            return mc_fail(err, MC_EINPUT, "%s: \"chord\" holds a value that is not a distance",
                           in);
    }
    for (size_t k = 0; k < l->n_data; k++) {
        const struct mc_losses_data *d = &l->data[k];
        const size_t n = l->T * (size_t)d->images;
        int rc = mc_finite(MC_F32, d->loss, n, file, d->name, err);
        for (size_t i = 0; !rc && i < n; i++)
            if (d->correct[i] > 1)
                rc = mc_fail(err, MC_EINPUT, "%s: \"%s/correct\" must hold 0 or 1 (got %d)", in,
                             d->name, d->correct[i]);
        if (rc)
            return rc;
    }
    return 0;
}

int mc_losses_begin(struct mc_losses *out, struct mc_reader *r, struct mc_history *h,
                    struct mc_error *err)
{
    int rc = 0;

    memset(out, 0, sizeof *out);
    if ((rc = mc_expect_kind(r, "losses", h, err)) ||
        (rc = mc_fail_in(get_meta(out, mc_reader_meta(r), err), err, "%s", mc_reader_name(r))))
        mc_losses_release(out);
    return rc;
}

int mc_losses_rest(struct mc_losses *out, struct mc_reader *r, struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = 0;

    lay_out(&l, out);
    if ((rc = mc_layout_read(&l, r, err)) || (rc = check_values(out, mc_reader_name(r), err)))
        mc_losses_release(out);
    return rc;
}

int mc_losses_read_stream(struct mc_losses *out, struct mc_reader *r, struct mc_history *h,
                          struct mc_error *err)
{
    int rc = mc_losses_begin(out, r, h, err);

    return rc ? rc : mc_losses_rest(out, r, err);
}

int mc_losses_write(const struct mc_losses *m, const char *path, const struct mc_history *h,
                    struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = check_meta(m, err);

    if ((rc = mc_not_input(rc ? rc : check_values(m, NULL, err), err)))
        return rc;
    mc_layout_meta(&l, "losses", 2);
    mc_keys_pack(&l.meta, keys, 1, m);
    mc_put_array(&l.meta, "data", m->n_data);
    for (size_t k = 0; k < m->n_data; k++) {
        mc_pack_map(&l.meta, 3);
        mc_keys_pack(&l.meta, data_keys, 3, &m->data[k]);
    }
    lay_out(&l, m);
    return mc_layout_write(&l, path, h, err);
}
