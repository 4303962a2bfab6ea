/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set. */
#include "tools/load/loader.h"

#include <stdlib.h>
#include <string.h>

int mc_data_fits(const struct mc_graph *g, const struct mc_dataset_info *info, const char *path,
                 struct mc_error *err)
{
    const struct mc_net_spec *s = &info->spec;

    if (g->input[0] != s->channels || g->input[1] != s->height || g->input[2] != s->width)
        return mc_fail(err, MC_EINPUT, "%s: images are %dx%dx%d, the network takes %dx%dx%d", path,
                       s->channels, s->height, s->width, g->input[0], g->input[1], g->input[2]);
    if (g->classes != s->classes)
        return mc_fail(err, MC_EINPUT, "%s: has %d classes, the network has %d", path, s->classes,
                       g->classes);
    return 0;
}

int mc_data_samples(const struct mc_dataset_info *info, const char *path, uint64_t samples,
                    int exact, uint64_t *out, struct mc_error *err)
{
    if (!info->n)
        return mc_fail(err, MC_EINPUT, "%s: holds no images", path);
    if (exact && samples > info->n)
        return mc_fail(err, MC_EINPUT, "%s: holds %llu images, %llu are asked for", path,
                       (unsigned long long)info->n, (unsigned long long)samples);
    *out = samples && samples < info->n ? samples : info->n;
    return 0;
}

int mc_loader_open(struct mc_loader *f, struct mc_backend *be, const struct mc_graph *g,
                   struct mc_dataset_reader *data, const struct mc_loader_options *o,
                   struct mc_error *err)
{
    const struct mc_dataset_info *info = mc_dataset_get_info(data);
    const char *name = mc_reader_name(mc_dataset_stream(data));
    const struct mc_ctl ctl = {.seed = o->seed};
    const size_t B = o->batch, bytes = mc_dataset_image_bytes(info);
    int rc;

    *f = (struct mc_loader){.be = be, .data = data, .batch = B, .image_bytes = bytes};
    if ((rc = mc_data_samples(info, name, o->samples, o->exact, &f->wanted, err)) ||
        (rc = mc_data_fits(g, info, name, err)) ||
        (rc = be->buf_new(be, B * bytes, &f->images, err)) ||
        (rc = be->buf_new(be, B * sizeof *f->host_labels, &f->labels, err)) ||
        (rc = be->buf_new(be, B * sizeof *f->host_order, &f->order, err)) ||
        (rc = be->buf_new(be, sizeof ctl, &f->ctl, err)) ||
        (rc = be->put(be, f->ctl, 0, &ctl, sizeof ctl, err)))
        return rc;
    f->host_images = malloc(B * bytes);
    f->host_labels = malloc(B * sizeof *f->host_labels);
    f->host_order = malloc(B * sizeof *f->host_order);
    if (!f->host_images || !f->host_labels || !f->host_order)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    f->to = f->wanted;
    f->source = (struct mc_source){.images = f->images,
                                   .pixels = info->pixels,
                                   .labels = f->labels,
                                   .order = f->order,
                                   .augment = o->augment,
                                   .purpose = o->purpose};
    return 0;
}

/* The first n images of the host's buffers, of which the first is image `at` of the data. */
static int load(struct mc_loader *f, struct mc_plan *const *plans, size_t n_plans, size_t n,
                uint64_t at, struct mc_error *err)
{
    struct mc_backend *be = f->be;
    int rc;

    for (size_t i = 0; i < f->batch; i++)
        f->host_order[i] = i < n ? (int32_t)i : -1;
    if ((rc = be->put(be, f->images, 0, f->host_images, n * f->image_bytes, err)) ||
        (rc = be->put(be, f->labels, 0, f->host_labels, n * sizeof *f->host_labels, err)) ||
        (rc = be->put(be, f->order, 0, f->host_order, f->batch * sizeof *f->host_order, err)))
        return rc;
    f->source.base = (uint32_t)at;
    for (size_t i = 0; i < n_plans; i++)
        be->load(plans[i], &f->source, f->ctl);
    return 0;
}

int mc_loader_next(struct mc_loader *f, struct mc_plan *const *plans, size_t n_plans, size_t *n,
                   struct mc_error *err)
{
    const uint64_t to = f->to < f->wanted ? f->to : f->wanted;

    *n = 0;
    while (!f->ended) { /* beyond the last image that is wanted too: the end may be damaged */
        const uint64_t at = f->read;
        size_t got;
        int rc = mc_dataset_read(f->data, f->batch, f->host_images, f->host_labels, &got, err);
        if (rc)
            return rc;
        f->read += got;
        f->ended = got < f->batch;
        if (!got || at < f->from || at >= to)
            continue;
        got = got < to - at ? got : (size_t)(to - at);
        if ((rc = load(f, plans, n_plans, got, at, err)))
            return rc;
        *n = got;
        return 0;
    }
    return 0;
}

void mc_loader_release(struct mc_loader *f)
{
    struct mc_buf *all[] = {f->images, f->labels, f->order, f->ctl};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            f->be->buf_free(f->be, all[i]);
    free(f->host_images);
    free(f->host_labels);
    free(f->host_order);
    *f = (struct mc_loader){0};
}
