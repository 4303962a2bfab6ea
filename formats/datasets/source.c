/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of sets, writing in order, and the synthetic set. */
#include "formats/datasets/source.h"

#include "formats/datasets/synth.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/near.h"
#include "libcommon/base/rng.h"

#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct kind {
    const char *name;
    const char *place; /* "DIR" or "FILE"; NULL: synthetic, with a seed */
    int has_size;      /* accepts --size */
    int has_labels;    /* labels may be in a second file */
    const char *order; /* NULL: a set of arrays, which sets order and pixels */
    mc_image_source_opener *open;
} kinds[] = {{"cifar10", "DIR", 0, 0, "publisher", mc_cifar10_open},
             {"cifar100", "DIR", 0, 0, "publisher", mc_cifar100_open},
             {"tiny-imagenet", "DIR", 1, 0, "by class", mc_tiny_imagenet_open},
             {"folder", "DIR", 1, 0, "by class", mc_folder_open},
             {"npz", "FILE", 0, 0, NULL, mc_npz_set_open},
             {"idx", "DIR", 0, 1, NULL, mc_idx_open},
             {"synth", NULL, 1, 0, "as drawn", mc_synth_open}};
#define N_KINDS (sizeof kinds / sizeof *kinds)

int mc_image_source_open(struct mc_image_source **out, const char *name,
                         const struct mc_image_source_opts *o, struct mc_error *err)
{
    char list[256] = "", meant[MC_NEAR_TEXT];
    struct mc_near near = mc_near(name, strlen(name));
    int rc = 0;

    *out = NULL;
    for (const struct kind *i = kinds; i < kinds + N_KINDS; i++) {
        size_t used = strlen(list);
        mc_near_try(&near, i->name);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", i->name);
        if (strcmp(i->name, name))
            continue;
        if (strcmp(o->split, "train") && strcmp(o->split, "test"))
            return mc_fail(err, MC_EUSAGE, "%s: unknown split '%s'%s (one of: train, test)", name,
                           o->split, strncmp(o->split, "val", 3) ? "" : ", did you mean 'test'?");
        if (i->place && !o->dir)
            return mc_fail(err, MC_EUSAGE, "%s: %s is required, as in: mc-data %s %s -o train.mcz",
                           name, i->place, name, i->place);
        if (!i->place && o->dir)
            return mc_fail(err, MC_EUSAGE, "%s: unexpected argument '%s'", name, o->dir);
        if (!i->has_labels && o->labels)
            return mc_fail(err, MC_EUSAGE, "%s: unexpected argument '%s'", name, o->labels);
        if (i->order && o->layout)
            return mc_fail(err, MC_EUSAGE, "%s: --layout is only for npz and idx", name);
        if (i->order && o->classes && i->open != mc_folder_open)
            return mc_fail(err, MC_EUSAGE, "%s: --classes is only for npz, idx and folder", name);
        if (i->open != mc_npz_set_open && o->arrays)
            return mc_fail(err, MC_EUSAGE, "%s: --arrays is only for npz", name);
        if (!i->has_size && o->size)
            return mc_fail(err, MC_EUSAGE, "%s: --size is only for synth, tiny-imagenet and folder",
                           name);
        if ((rc = i->open(out, o, err)))
            return rc;
        struct mc_dataset_info *info = &(*out)->info;
        snprintf(info->name, sizeof info->name, "%s", name);
        snprintf(info->split, sizeof info->split, "%s", o->split);
        if (i->order) {
            snprintf(info->order, sizeof info->order, "%s", i->order);
            info->pixels = MC_U8;
        }
        return 0;
    }
    return mc_fail(err, MC_EUSAGE, "unknown data set '%s'%s (one of: %s)", name,
                   mc_near_text(&near, meant), list);
}

int mc_image_source_folder(const char *dir, struct mc_error *err)
{
    struct stat st;

    if (stat(dir, &st))
        return mc_fail(err, MC_EFAIL, "cannot open '%s': %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return mc_fail(err, MC_EINPUT, "%s: not a folder", dir);
    return 0;
}

void mc_image_source_close(struct mc_image_source *s)
{
    if (s)
        s->close(s);
}

/* ---- writing in order ---- */

#define BATCH ((size_t)1 << 20) /* bytes of the images that threads share */

static uint32_t *shuffled(uint64_t n, uint64_t seed)
{
    uint32_t *order = malloc(n * sizeof *order);

    for (uint64_t i = 0; order && i < n; i++) {
        uint32_t bits = mc_rng(seed, MC_RNG_DATA, 0, (uint32_t)i, 0).v[0];
        uint32_t j = mc_rng_below(bits, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    return order;
}

/* Images index[0] to index[n - 1] of a set, or from to from + n - 1 if index is NULL. */
struct batch {
    struct mc_image_source *set;
    const uint32_t *index;
    uint64_t from;
    size_t n, bytes; /* bytes: of an image */
    unsigned char *images;
    int32_t *labels;
    size_t failed;        /* the first image that failed; n: none */
    struct mc_error *err; /* its error */
};

static void get_image(struct batch *b, size_t i)
{
    struct mc_error err = {0};

    if (!b->set->get(b->set, b->index ? b->index[i] : b->from + i, b->images + i * b->bytes,
                     &b->labels[i], &err))
        return;
#pragma omp critical(mc_image_failed)
    mc_error_first(i, &b->failed, b->err, &err);
}

static int get_images(struct batch *b, int threads)
{
    b->failed = b->n;
    if (threads == 1) /* OpenMP would allocate memory, and exit if it cannot */
        for (size_t i = 0; i < b->n && b->failed == b->n; i++)
            get_image(b, i);
    else
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (size_t i = 0; i < b->n; i++)
            get_image(b, i);
    return b->failed < b->n ? b->err->code : 0;
}

/* Threads that may get images at once. */
static int thread_count(const struct mc_image_source *s, int threads)
{
    threads = threads ? threads : omp_get_max_threads();
    return !s->parallel ? 1 : threads < MC_IMAGE_THREADS ? threads : MC_IMAGE_THREADS;
}

int mc_image_source_write(struct mc_image_source *s, const char *path,
                          const struct mc_image_choice *c, const struct mc_history *h,
                          struct mc_error *err)
{
    const uint64_t *shuffle = c->shuffle, samples = c->samples;
    struct mc_dataset_info info = s->info;
    const int threads = thread_count(s, c->threads);
    struct batch b = {.set = s, .bytes = mc_dataset_image_bytes(&info), .err = err};
    const size_t most = BATCH / b.bytes > (size_t)threads ? BATCH / b.bytes : (size_t)threads;
    struct mc_dataset_writer *w = NULL;
    uint32_t *order = NULL;
    int rc = 0;

    if (samples > info.n)
        return mc_fail(
            err, MC_EUSAGE, "--samples must be at most %llu for the %s split of %s (got %llu)",
            (unsigned long long)info.n, info.split, info.name, (unsigned long long)samples);
    if (shuffle)
        snprintf(info.order, sizeof info.order, "shuffled with seed %llu",
                 (unsigned long long)*shuffle);
    info.n = samples ? samples : info.n;
    if (!(b.images = malloc(most * b.bytes)) || !(b.labels = malloc(most * sizeof *b.labels)) ||
        (shuffle && !(order = shuffled(s->info.n, *shuffle)))) {
        rc = mc_no_memory(err);
        goto out;
    }
    if ((rc = mc_dataset_create(&w, path, &info, h, err)))
        goto out;
    for (; b.from < info.n; b.from += b.n) {
        b.n = info.n - b.from < most ? (size_t)(info.n - b.from) : most;
        b.index = order ? order + b.from : NULL;
        if ((rc = get_images(&b, threads)) ||
            (rc = mc_dataset_write(w, b.n, b.images, b.labels, err)))
            goto out;
        if (c->progress)
            c->progress(c->arg, b.from + b.n);
    }
out:
    rc = mc_dataset_commit(w, rc, NULL, err);
    free(order);
    free(b.images);
    free(b.labels);
    return rc;
}

/* ---- synth ---- */

#define SYNTH_TRAIN 10000
#define SYNTH_TEST 2000

struct synth {
    struct mc_image_source source;
    uint64_t seed;
    int split, size;
};

static int synth_get(struct mc_image_source *s, uint64_t index, void *image, int32_t *label,
                     struct mc_error *err)
{
    const struct synth *y = (const struct synth *)s;

    (void)err;
    *label = mc_synth_image(y->seed, y->split, (uint32_t)index, y->size, image);
    return 0;
}

static void synth_close(struct mc_image_source *s)
{
    free(s);
}

int mc_synth_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                  struct mc_error *err)
{
    struct synth *y = NULL;
    int rc = 0;

    if (o->size && (o->size < MC_SYNTH_MIN_SIZE || o->size > MC_SYNTH_MAX_SIZE))
        return mc_fail(err, MC_EUSAGE, "synth: --size must be %d to %d (got %d)", MC_SYNTH_MIN_SIZE,
                       MC_SYNTH_MAX_SIZE, o->size);
    if ((rc = mc_new(&y, 1, err)))
        return rc;
    struct mc_dataset_info *info = &y->source.info;
    y->seed = o->seed;
    y->split = !strcmp(o->split, "test");
    y->size = o->size ? o->size : 32;
    info->n = o->samples ? o->samples : y->split ? SYNTH_TEST : SYNTH_TRAIN;
    info->spec = (struct mc_net_spec){3, y->size, y->size, MC_SYNTH_CLASSES, {0}, {0}};
    memcpy(info->spec.mean, mc_synth_mean, sizeof mc_synth_mean);
    memcpy(info->spec.std, mc_synth_std, sizeof mc_synth_std);
    info->augment = (struct mc_augment){.rotate = 0, .flip = 1, .pad = 4};
    info->class_names = (char **)mc_synth_class_names; /* read only: never released */
    y->source.parallel = 1;
    y->source.get = synth_get;
    y->source.close = synth_close;
    *out = &y->source;
    return 0;
}
