/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set. */
#include "libcommon/base/rng.h"
#include "tools/load/loader.h"

#include <stdlib.h>
#include <string.h>

int mc_data_expect(const struct mc_graph *g, const struct mc_dataset_info *info, const char *path,
                   struct mc_error *err)
{
    const struct mc_net_spec *s = &info->spec;

    if (g->input[0] != s->channels || g->input[1] != s->height || g->input[2] != s->width)
        return mc_fail(err, MC_EINPUT, "%s: images are %dx%dx%d, but the network expects %dx%dx%d",
                       path, s->channels, s->height, s->width, g->input[0], g->input[1],
                       g->input[2]);
    if (g->classes != s->classes)
        return mc_fail(err, MC_EINPUT, "%s: has %d classes, but the network has %d", path,
                       s->classes, g->classes);
    return 0;
}

int mc_data_check(const struct mc_graph *g, const char *path, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    int rc = mc_dataset_open(&d, path, err);

    if (!rc && g)
        rc = mc_data_expect(g, mc_dataset_get_info(d), mc_reader_name(mc_dataset_stream(d)), err);
    mc_dataset_close(d);
    return rc;
}

int mc_data_samples(const struct mc_dataset_info *info, const char *path, uint64_t samples,
                    int exact, uint64_t *out, struct mc_error *err)
{
    if (!info->n)
        return mc_fail(err, MC_EINPUT, "%s: has no images", path);
    if (exact && samples > info->n)
        return mc_fail(err, MC_EINPUT, "%s: has %llu images, but %llu were requested", path,
                       (unsigned long long)info->n, (unsigned long long)samples);
    *out = samples && samples < info->n ? samples : info->n;
    return 0;
}

int mc_data_batches(const struct mc_graph *g, const char *path, uint64_t n, uint64_t batch,
                    struct mc_error *err)
{
    for (int i = 0; n % batch == 1 && i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_BATCHNORM && g->nodes[i].h * g->nodes[i].w == 1)
            return mc_fail(
                err, MC_EINPUT,
                "%s: batch norm '%s' requires at least 2 images per batch (%llu image%s in "
                "batches of %llu leave%s 1 for the last)",
                path, g->nodes[i].name, (unsigned long long)n, n == 1 ? "" : "s",
                (unsigned long long)batch, n == 1 ? "s" : "");
    return 0;
}

int mc_loader_open(struct mc_loader *f, const struct mc_graph *g, const struct mc_loader_options *o,
                   struct mc_error *err)
{
    const struct mc_dataset_info *info = mc_dataset_get_info(o->data);
    const char *name = mc_reader_name(mc_dataset_stream(o->data));
    const struct mc_ctl ctl = {.seed = o->seed};
    const size_t B = o->batch, bytes = mc_dataset_image_bytes(info);
    int rc;

    *f = (struct mc_loader){.be = o->be, .o = *o, .image_bytes = bytes, .bufs.be = o->be};
    if ((rc = mc_data_samples(info, name, o->samples, o->exact, &f->n_images, err)) ||
        (rc = mc_data_expect(g, info, name, err)))
        return rc;
    mc_bufs_add(&f->bufs, &f->images, NULL, B * bytes, err);
    mc_bufs_add(&f->bufs, &f->labels, NULL, B * sizeof *f->host_labels, err);
    mc_bufs_add(&f->bufs, &f->order, NULL, B * sizeof *f->host_order, err);
    mc_bufs_add(&f->bufs, &f->ctl, &ctl, sizeof ctl, err);
    if (f->bufs.rc)
        return f->bufs.rc;
    if (!(f->host_labels = malloc(2 * B * sizeof *f->host_labels)))
        return mc_no_memory(err);
    f->host_order = f->host_labels + B;
    f->to = f->n_images;
    f->source = (struct mc_source){.images = f->images,
                                   .pixels = info->pixels,
                                   .labels = f->labels,
                                   .order = f->order,
                                   .augment = o->augment ? &info->augment : NULL,
                                   .purpose = MC_RNG_BN};
    return 0;
}

/* Read the next n images; *got is less at the end. If keep, copy pixels to the device and labels to
 * the host. */
static int read_batch(struct mc_loader *f, int keep, size_t n, size_t *got, struct mc_error *err)
{
    const void *images;
    const int32_t *labels;
    size_t count;

    for (*got = 0; *got < n; *got += count) {
        int rc = mc_dataset_lend(f->o.data, n - *got, &images, &labels, &count, err);
        if (!rc && count && keep) {
            memcpy(f->host_labels + *got, labels, count * sizeof *labels);
            rc = f->be->put(f->be, f->images, *got * f->image_bytes, images, count * f->image_bytes,
                            err);
        }
        if (rc || !count)
            return rc;
    }
    return 0;
}

/* Load the n images read, whose first is image `first` of the data, into the models' plans. */
static int load(struct mc_loader *f, const struct mc_model *models, size_t n_models, size_t n,
                uint64_t first, struct mc_error *err)
{
    const size_t B = f->o.batch, size = sizeof *f->host_labels;
    struct mc_backend *be = f->be;
    int rc;

    for (size_t i = 0; i < B; i++)
        f->host_order[i] = i < n ? (int32_t)i : -1;
    if ((rc = be->put(be, f->labels, 0, f->host_labels, n * size, err)) ||
        (rc = be->put(be, f->order, 0, f->host_order, B * size, err)))
        return rc;
    f->source.base = (uint32_t)first;
    for (size_t i = 0; i < n_models; i++)
        mc_loader_reload(f, &models[i]);
    return 0;
}

int mc_loader_next(struct mc_loader *f, const struct mc_model *models, size_t n_models, size_t *n,
                   struct mc_error *err)
{
    const uint64_t to = f->to < f->n_images ? f->to : f->n_images;

    *n = 0;
    f->n_reported += f->last;
    if (f->last && f->o.progress)
        f->o.progress(f->o.arg, f->n_reported, to - f->from);
    f->last = 0;
    while (!f->ended) { /* read on after the last image needed: the end may be damaged */
        const uint64_t first = f->read;
        const int keep = first >= f->from && first < to;
        const size_t n_max = keep && to - first < f->o.batch ? (size_t)(to - first) : f->o.batch;
        size_t got;
        int rc = read_batch(f, keep, n_max, &got, err);
        if (rc)
            return rc;
        f->read += got;
        f->ended = got < n_max;
        if (!got || !keep)
            continue;
        if ((rc = load(f, models, n_models, got, first, err)))
            return rc;
        *n = f->last = got;
        return 0;
    }
    return 0;
}

void mc_loader_reload(struct mc_loader *f, const struct mc_model *m)
{
    f->be->load(m->plan, &f->source, f->ctl);
}

void mc_loader_release(struct mc_loader *f)
{
    mc_bufs_release(&f->bufs);
    free(f->host_labels);
    *f = (struct mc_loader){0};
}
