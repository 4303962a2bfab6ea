/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of arrays: the meaning of their shape, their normalisation, and one image at a time. */
#include "formats/datasets/arrays.h"
#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct set {
    struct mc_image_source source; /* first: close() frees the whole set */
    struct mc_arrays arrays;
    int channels_last;
};

int mc_arrays_shape(const struct mc_arrays *a, const struct mc_image_source_opts *o,
                    struct mc_dataset_info *info, int *channels_last, struct mc_error *err)
{
    const uint64_t *s = a->shape;
    const int first = a->ndim == 4 && s[1] >= 1 && s[1] <= MC_MAX_CHANNELS_IN,
              last = a->ndim == 4 && s[3] >= 1 && s[3] <= MC_MAX_CHANNELS_IN;
    uint64_t c = 1, h = s[1], w = s[2];

    if (a->ndim != 3 && a->ndim != 4)
        return mc_fail(err, MC_EINPUT,
                       "images must be N,H,W or N,C,H,W or N,H,W,C (got %d dimensions)", a->ndim);
    if (a->ndim == 3 && o->layout)
        return mc_fail(err, MC_EINPUT, "--layout requires images with channels (4 dimensions)");
    if (first && last && !o->layout)
        return mc_fail(
            err, MC_EINPUT, "images of %llu x %llu x %llu may be C,H,W or H,W,C: set --layout",
            (unsigned long long)s[1], (unsigned long long)s[2], (unsigned long long)s[3]);
    *channels_last = o->layout ? o->layout == MC_LAYOUT_NHWC : last;
    if (a->ndim == 4 && !(*channels_last ? last : first))
        return mc_fail(err, MC_EINPUT,
                       "images of %llu x %llu x %llu do not have 1 to %d channels%s",
                       (unsigned long long)s[1], (unsigned long long)s[2], (unsigned long long)s[3],
                       MC_MAX_CHANNELS_IN, o->layout ? " in this --layout" : "");
    if (a->ndim == 4) {
        c = *channels_last ? s[3] : s[1];
        h = *channels_last ? s[1] : s[2];
        w = *channels_last ? s[2] : s[3];
    }
    info->n = s[0];
    info->pixels = a->pixels;
    info->spec = (struct mc_net_spec){.channels = (int)c, .classes = 1};
    if (h < 1 || w < 1 || h > MC_DATASET_MAX_SIDE || w > MC_DATASET_MAX_SIDE)
        return mc_fail(err, MC_EINPUT, "an image side must be 1 to %d pixels (got %llu x %llu)",
                       MC_DATASET_MAX_SIDE, (unsigned long long)h, (unsigned long long)w);
    info->spec.height = (int)h;
    info->spec.width = (int)w;
    if (mc_dataset_image_bytes(info) > MC_DATASET_MAX_IMAGE)
        return mc_fail(err, MC_EINPUT, "images of %d x %d are too large", info->spec.height,
                       info->spec.width);
    if (info->n < 1 || info->n > MC_DATASET_MAX_IMAGES)
        return mc_fail(err, MC_EINPUT, "a data set must have 1 to %d images (got %llu)",
                       MC_DATASET_MAX_IMAGES, (unsigned long long)info->n);
    return 0;
}

static void set_close(struct mc_image_source *source)
{
    struct set *s = (struct set *)source;

    free(s->arrays.images);
    free(s->arrays.labels);
    free(s);
}

static int set_get(struct mc_image_source *source, uint64_t index, void *image, int32_t *label,
                   struct mc_error *err)
{
    const struct set *s = (struct set *)source;
    const struct mc_net_spec *spec = &s->source.info.spec;
    const size_t size = mc_dtype_size(s->arrays.pixels), channels = (size_t)spec->channels,
                 area = (size_t)spec->height * (size_t)spec->width;
    const char *from = (const char *)s->arrays.images + (size_t)index * channels * area * size;

    (void)err;
    *label = (int32_t)s->arrays.labels[index];
    if (!s->channels_last)
        memcpy(image, from, channels * area * size);
    else
        for (size_t i = 0; i < area; i++)
            for (size_t c = 0; c < channels; c++)
                memcpy((char *)image + (c * area + i) * size, from + (i * channels + c) * size,
                       size);
    return 0;
}

/* Mean and standard deviation of each channel's pixels in [0,1], by Welford's update over images. A
 * channel with one value gets the deviation 1. */
static int normalisation(struct set *s, struct mc_error *err)
{
    struct mc_net_spec *spec = &s->source.info.spec;
    const size_t channels = (size_t)spec->channels,
                 area = (size_t)spec->height * (size_t)spec->width;
    const uint8_t *bytes = s->arrays.images;
    const float *floats = s->arrays.images;
    double mean[MC_MAX_CHANNELS_IN] = {0}, square[MC_MAX_CHANNELS_IN] = {0};

    for (uint64_t n = 0; n < s->source.info.n; n++) {
        for (size_t c = 0; c < channels; c++) {
            double sum = 0, squares = 0;
            for (size_t i = 0; i < area; i++) {
                size_t element = (size_t)n * channels * area +
                                 (s->channels_last ? i * channels + c : c * area + i);
                double x =
                    s->arrays.pixels == MC_U8 ? bytes[element] / 255. : (double)floats[element];
                if (!(x >= 0 && x <= 1))
                    return mc_fail(
                        err, MC_EINPUT,
                        "image %llu has a pixel of %g: uint8, or floats from 0 to 1 without "
                        "normalisation, are required",
                        (unsigned long long)n, x);
                sum += x;
                squares += (x - mean[c]) * (x - mean[c]);
            }
            /* squares are about the old mean; squares - area d^2 about the image's own */
            double d = sum / (double)area - mean[c], k = (double)n + 1;
            square[c] += squares - (double)area * d * d / k;
            mean[c] += d / k;
        }
    }
    for (size_t c = 0; c < channels; c++) {
        double var = square[c] / ((double)s->source.info.n * (double)area);
        spec->mean[c] = (float)mean[c];
        spec->std[c] = var > 1e-8 ? (float)sqrt(var) : 1;
    }
    return 0;
}

static int check_labels(struct set *s, int classes, struct mc_error *err)
{
    struct mc_dataset_info *info = &s->source.info;
    const int max = classes ? classes : MC_DATASET_MAX_CLASSES;

    s->source.sorted = 1;
    for (uint64_t i = 0; i < info->n; i++) {
        const int64_t l = s->arrays.labels[i];
        if (l < 0 || l >= max)
            return mc_fail(err, MC_EINPUT, "image %llu has label %lld of %s%d classes",
                           (unsigned long long)i, (long long)l, classes ? "" : "at most ", max);
        if (l >= info->spec.classes)
            info->spec.classes = (int)l + 1;
        if (i && l < s->arrays.labels[i - 1])
            s->source.sorted = 0;
    }
    if (classes)
        info->spec.classes = classes;
    else if (s->arrays.max_label >= info->spec.classes && s->arrays.max_label < max)
        info->spec.classes = (int)s->arrays.max_label + 1;
    snprintf(info->order, sizeof info->order, "%s", s->source.sorted ? "by class" : "as stored");
    return 0;
}

int mc_arrays_open(struct mc_image_source **out, struct mc_arrays *a,
                   const struct mc_image_source_opts *o, struct mc_error *err)
{
    struct set *s = NULL;
    int rc = mc_new(&s, 1, err);

    if (rc) {
        free(a->images);
        free(a->labels);
        return rc;
    }
    s->arrays = *a;
    s->source.get = set_get;
    s->source.close = set_close;
    if ((rc = mc_arrays_shape(a, o, &s->source.info, &s->channels_last, err)) ||
        (rc = check_labels(s, o->classes, err)) || (rc = normalisation(s, err))) {
        set_close(&s->source);
        return rc;
    }
    const struct mc_net_spec *spec = &s->source.info.spec;
    if (spec->channels > 1) /* mirrored digits are not digits */
        s->source.info.augment = (struct mc_augment){
            .flip = 1, .pad = (spec->height < spec->width ? spec->height : spec->width) / 8};
    *out = &s->source;
    return 0;
}
