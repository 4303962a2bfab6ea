/* SPDX-License-Identifier: Apache-2.0
 *
 * A data set's description, and its meta. */
#include "formats/codecs/dataset.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

void mc_dataset_info_release(struct mc_dataset_info *info)
{
    for (int i = 0; info->class_names && i < info->spec.classes; i++)
        free(info->class_names[i]);
    free(info->class_names);
    info->class_names = NULL;
}

int mc_dataset_info_copy(struct mc_dataset_info *out, const struct mc_dataset_info *info,
                         struct mc_error *err)
{
    int rc = 0;

    *out = *info;
    if (!info->class_names)
        return 0;
    rc = mc_new(&out->class_names, (size_t)info->spec.classes, err);
    for (int i = 0; i < info->spec.classes && !rc; i++)
        if (!(out->class_names[i] = strdup(info->class_names[i])))
            rc = mc_no_memory(err);
    if (rc)
        mc_dataset_info_release(out);
    return rc;
}

size_t mc_dataset_image_bytes(const struct mc_dataset_info *info)
{
    return (size_t)info->spec.channels * (size_t)info->spec.height * (size_t)info->spec.width *
           mc_dtype_size(info->pixels);
}

int mc_dataset_is_named(const char *name, size_t n)
{
    static const char *const unnamed[] = {"", "folder", "npz", "idx", "mine"};

    for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++)
        if (strlen(unnamed[i]) == n && !memcmp(name, unnamed[i], n))
            return 0;
    return 1;
}

/* Check limits that ensure that the names fit in a stream's header. */
static int check_class_names(const struct mc_dataset_info *info, struct mc_error *err)
{
    size_t total = 0;

    for (int i = 0; info->class_names && i < info->spec.classes; i++) {
        size_t n = strlen(info->class_names[i]);
        if (n > MC_DATASET_MAX_CLASS_NAME)
            return mc_fail(err, MC_EINPUT, "class name %d has %zu bytes (at most %d)", i, n,
                           MC_DATASET_MAX_CLASS_NAME);
        total += n;
    }
    if (total > MC_DATASET_MAX_CLASS_NAMES)
        return mc_fail(err, MC_EINPUT, "the class names have %zu bytes (at most %d)", total,
                       MC_DATASET_MAX_CLASS_NAMES);
    return 0;
}

int mc_dataset_meta_check(const struct mc_dataset_info *info, struct mc_error *err)
{
    const struct mc_net_spec *s = &info->spec;
    const struct mc_augment *a = &info->augment;

    if (!info->name[0] || !info->split[0])
        return mc_fail(err, MC_EINPUT, "the data set has no name or no split");
    if (info->pixels != MC_U8 && info->pixels != MC_F32)
        return mc_fail(err, MC_EINPUT, "pixels must be uint8 or float32 (got %s)",
                       mc_dtype_name(info->pixels));
    if (info->n < 1 || info->n > MC_DATASET_MAX_IMAGES)
        return mc_fail(err, MC_EINPUT, "a data set must have 1 to %d images (got %llu)",
                       MC_DATASET_MAX_IMAGES, (unsigned long long)info->n);
    if (s->channels < 1 || s->channels > MC_MAX_CHANNELS_IN)
        return mc_fail(err, MC_EINPUT, "an image must have 1 to %d channels (got %d)",
                       MC_MAX_CHANNELS_IN, s->channels);
    if (s->height < 1 || s->height > MC_DATASET_MAX_SIDE || s->width < 1 ||
        s->width > MC_DATASET_MAX_SIDE || mc_dataset_image_bytes(info) > MC_DATASET_MAX_IMAGE)
        return mc_fail(err, MC_EINPUT, "image size %d x %d is out of range", s->height, s->width);
    if (s->classes < 1 || s->classes > MC_DATASET_MAX_CLASSES)
        return mc_fail(err, MC_EINPUT, "a data set must have 1 to %d classes (got %d)",
                       MC_DATASET_MAX_CLASSES, s->classes);
    for (int c = 0; c < s->channels; c++)
        if (!(s->mean[c] >= -1e3f && s->mean[c] <= 1e3f && s->std[c] >= 1e-6f && s->std[c] <= 1e6f))
            return mc_fail(err, MC_EINPUT, "mean %g and std %g are not a valid normalisation",
                           (double)s->mean[c], (double)s->std[c]);
    if (!(a->rotate >= 0 && a->rotate <= 180) || a->pad < 0 || a->pad > MC_DATASET_MAX_SIDE)
        return mc_fail(err, MC_EINPUT, "rotate %g or pad %d is out of range", (double)a->rotate,
                       a->pad);
    if (!(a->turn >= 0 && a->turn <= 180 && a->scale >= 0 && a->scale <= .9f))
        return mc_fail(err, MC_EINPUT, "turn %g or scale %g is out of range", (double)a->turn,
                       (double)a->scale);
    if (!(a->contrast >= 0 && a->contrast <= 1 && a->saturation >= 0 && a->saturation <= 1))
        return mc_fail(err, MC_EINPUT, "contrast %g or saturation %g is out of range",
                       (double)a->contrast, (double)a->saturation);
    if ((a->contrast > 0 || a->saturation > 0) && s->channels != 1 && s->channels != 3)
        return mc_fail(err, MC_EINPUT, "contrast and saturation require 1 or 3 channels (got %d)",
                       s->channels);
    return check_class_names(info, err);
}

#define INFO(member, key, type, max) MC_KEY(struct mc_dataset_info, member, key, type, max)
static const struct mc_key info_keys[] = {
    INFO(name, "name", MC_KEY_TEXT, 0),
    INFO(split, "split", MC_KEY_TEXT, 0),
    INFO(order, "order", MC_KEY_TEXT, 0),
    INFO(spec.classes, "classes", MC_KEY_COUNT, MC_DATASET_MAX_CLASSES),
};
#define AUGMENT(member, type, max) MC_KEY(struct mc_augment, member, #member, type, max)
#define FIRST 3 /* the first keys, which are required */
static const struct mc_key augment_keys[] = {
    AUGMENT(rotate, MC_KEY_F32, 0),
    AUGMENT(flip, MC_KEY_FLAG, 0),
    AUGMENT(pad, MC_KEY_COUNT, MC_DATASET_MAX_SIDE),
    AUGMENT(turn, MC_KEY_F32, 0),
    AUGMENT(scale, MC_KEY_F32, 0),
    AUGMENT(contrast, MC_KEY_F32, 0),
    AUGMENT(saturation, MC_KEY_F32, 0),
};
#define ALL (sizeof augment_keys / sizeof *augment_keys)

static void pack_channels(struct mc_pack *p, const char *key, const float *v, int channels)
{
    mc_put_array(p, key, (size_t)channels);
    for (int c = 0; c < channels; c++)
        mc_pack_f32(p, v[c]);
}

void mc_dataset_meta_pack(const struct mc_dataset_info *info, struct mc_pack *p)
{
    const struct mc_augment *a = &info->augment;
    const int more = a->turn > 0 || a->scale > 0 || a->contrast > 0 || a->saturation > 0;

    mc_pack_map(p, info->class_names ? 8 : 7);
    mc_keys_pack(p, info_keys, 4, info);
    if (info->class_names)
        mc_put_array(p, "class_names", (size_t)info->spec.classes);
    for (int i = 0; info->class_names && i < info->spec.classes; i++)
        mc_pack_str(p, info->class_names[i]);
    pack_channels(p, "mean", info->spec.mean, info->spec.channels);
    pack_channels(p, "std", info->spec.std, info->spec.channels);
    /* optional keys are left out if unused, which keeps the bytes that older versions wrote */
    mc_pack_str(p, "augment");
    mc_pack_map(p, more ? ALL : FIRST);
    mc_keys_pack(p, augment_keys, more ? ALL : FIRST, a);
}

static int get_channels(const msgpack_object *meta, const char *key, int channels, float *out,
                        struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(meta, key, &a, err);

    if (rc)
        return rc;
    if (a->via.array.size != (uint32_t)channels)
        return mc_fail(err, MC_EINPUT, "\"%s\" must have %d entries (got %u)", key, channels,
                       a->via.array.size);
    for (int c = 0; c < channels; c++) {
        const msgpack_object *v = &a->via.array.ptr[c];
        if (v->type == MSGPACK_OBJECT_FLOAT32 || v->type == MSGPACK_OBJECT_FLOAT64)
            out[c] = (float)v->via.f64;
        else if (v->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
            out[c] = (float)v->via.u64;
        else if (v->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
            out[c] = (float)v->via.i64;
        else
            return mc_fail(err, MC_EINPUT, "\"%s\" holds a value that is not a number", key);
    }
    return 0;
}

static int get_class_names(const msgpack_object *meta, struct mc_dataset_info *info,
                           struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = 0, n = info->spec.classes;

    if (!mc_get_opt(meta, "class_names"))
        return 0;
    if ((rc = mc_get_array(meta, "class_names", &a, err)))
        return rc;
    if (a->via.array.size != (uint32_t)n)
        return mc_fail(err, MC_EINPUT, "%d class names expected, got %u", n, a->via.array.size);
    if ((rc = mc_new(&info->class_names, (size_t)n, err)))
        return rc;
    for (int i = 0; i < n; i++) {
        const msgpack_object *s = &a->via.array.ptr[i];
        if (s->type != MSGPACK_OBJECT_STR)
            return mc_fail(err, MC_EINPUT, "class name %d is not a string", i);
        if (!(info->class_names[i] = strndup(s->via.str.ptr, s->via.str.size)))
            return mc_no_memory(err);
    }
    return 0;
}

static int unpack_augment(const msgpack_object *meta, struct mc_augment *a, struct mc_error *err)
{
    const msgpack_object *augment = NULL;
    int rc = mc_get_map(meta, "augment", &augment, err);

    if (!rc)
        rc = mc_keys_unpack(augment, augment_keys, FIRST, a, err);
    for (size_t i = FIRST; i < ALL && !rc; i++)
        if (mc_get_opt(augment, augment_keys[i].key))
            rc = mc_keys_unpack(augment, &augment_keys[i], 1, a, err);
    return rc;
}

int mc_dataset_meta_unpack(struct mc_dataset_info *info, const struct mc_reader *r,
                           struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r);
    int rc = 0;

    if ((rc = mc_keys_unpack(meta, info_keys, 4, info, err)) ||
        (rc = unpack_augment(meta, &info->augment, err)))
        return rc;

    long images = mc_reader_find(r, "images");
    const struct mc_tensor *t = images < 0 ? NULL : mc_reader_tensor(r, (size_t)images);
    if (mc_reader_n_tensors(r) != 2 || !t || t->ndim != 4)
        return mc_fail(err, MC_EINPUT, "tensors \"images\" (N,C,H,W) and \"labels\" (N) expected");
    info->n = t->shape[0];
    info->pixels = t->dtype;
    for (int d = 1; d < 4; d++)
        if (t->shape[d] > MC_DATASET_MAX_SIDE)
            return mc_fail(err, MC_EINPUT, "an image side must be at most %d (got %llu)",
                           MC_DATASET_MAX_SIDE, (unsigned long long)t->shape[d]);
    info->spec.channels = (int)t->shape[1];
    info->spec.height = (int)t->shape[2];
    info->spec.width = (int)t->shape[3];
    /* the number of channels bounds the arrays that are filled next */
    if (info->spec.channels < 1 || info->spec.channels > MC_MAX_CHANNELS_IN)
        return mc_fail(err, MC_EINPUT, "an image must have 1 to %d channels (got %d)",
                       MC_MAX_CHANNELS_IN, info->spec.channels);
    if ((rc = get_channels(meta, "mean", info->spec.channels, info->spec.mean, err)) ||
        (rc = get_channels(meta, "std", info->spec.channels, info->spec.std, err)) ||
        (rc = get_class_names(meta, info, err)))
        return rc;
    return mc_dataset_meta_check(info, err);
}
