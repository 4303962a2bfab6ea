/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiny ImageNet in the layout of its publisher's archive: train/WNID/images, and val/ with
 * val_annotations.txt as the test split (test/ has no labels). */
#include "formats/codecs/dataset.h"
#include "formats/datasets/image_set.h"
#include "formats/stream/bounds.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SIZE 64
#define MAX_TEXT (64 << 20) /* size limit of a list */

/* Call take_line for every line that is not blank, without its newline. */
static int each_line(const char *path,
                     int (*take_line)(void *ctx, char *line, struct mc_error *err), void *ctx,
                     struct mc_error *err)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    uint64_t bytes = 0;
    FILE *f = NULL;
    int rc = mc_file_fopen(&f, &bytes, path, MC_EINPUT, err);

    if (rc)
        return rc;
    if (bytes > MAX_TEXT)
        rc = mc_fail(err, MC_EINPUT, "%s: a list must be at most %d MiB", path, MAX_TEXT >> 20);
    for (ssize_t len; !rc && (len = getline(&line, &size, f)) >= 0;) {
        number++;
        if (strlen(line) != (size_t)len) {
            rc = mc_fail(err, MC_EINPUT, "contains a NUL byte");
        } else {
            while (len > 0 && strchr(" \t\r\n", line[len - 1]))
                line[--len] = 0;
            rc = len ? take_line(ctx, line, err) : 0;
        }
        if (rc == MC_EINPUT)
            mc_fail_in(rc, err, "%s line %zu", path, number);
    }
    if (!rc)
        rc = mc_file_check_end(f, path, err);
    fclose(f);
    free(line);
    return rc;
}

/* Classes are numbered in the order of their names, as by torchvision's ImageFolder. */
struct tiny {
    struct mc_image_set *set;
    char **wnids;
    size_t n;
    size_t *images;  /* images per class */
    char **pictures; /* names in the annotations */
    size_t n_pictures;
};

static long class_of(const struct tiny *t, const char *wnid)
{
    char **match = bsearch(&wnid, t->wnids, t->n, sizeof *t->wnids, mc_by_bytes);

    return match ? match - t->wnids : -1;
}

/* 1 if it is a plain name, not a path. */
static int is_plain(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) <= 255;
}

static int take_wnid(void *ctx, char *line, struct mc_error *err)
{
    struct tiny *t = ctx;

    if (!is_plain(line) || strpbrk(line, " \t") ||
        !mc_is_text((const unsigned char *)line, strlen(line)))
        return mc_fail(err, MC_EINPUT, "not a class name");
    return mc_names_add(&t->wnids, &t->n, line, err);
}

/* words.txt has a line for every noun of WordNet. */
static int take_words(void *ctx, char *line, struct mc_error *err)
{
    struct tiny *t = ctx;
    char *words = strchr(line, '\t'), **name = NULL;

    if (words)
        *words++ = 0;
    long c = class_of(t, line);
    if (c < 0)
        return 0;
    name = &t->set->source.info.class_names[c];
    if (*name || !words || !*words || strlen(words) > MC_DATASET_MAX_CLASS_NAME ||
        !mc_is_text((const unsigned char *)words, strlen(words)))
        return mc_fail(err, MC_EINPUT, "invalid or repeated name of class %s", t->wnids[c]);
    return (*name = strdup(words)) ? 0 : mc_no_memory(err);
}

static int take_annotation(void *ctx, char *line, struct mc_error *err)
{
    struct tiny *t = ctx;
    char *wnid = strchr(line, '\t');

    if (!wnid)
        return mc_fail(err, MC_EINPUT, "the class is missing");
    *wnid++ = 0;
    wnid[strcspn(wnid, "\t")] = 0;
    long c = class_of(t, wnid);
    if (!is_plain(line) || c < 0)
        return mc_fail(err, MC_EINPUT, "an image and one of the %zu classes expected", t->n);
    t->images[c]++;
    int rc = mc_names_add(&t->pictures, &t->n_pictures, line, err);
    return rc ? rc : mc_image_set_add(t->set, line, (int32_t)c, err);
}

static int read_classes(struct tiny *t, const char *dir, struct mc_error *err)
{
    char *path = mc_path_in(dir, "wnids.txt");
    int rc = path ? each_line(path, take_wnid, t, err) : mc_no_memory(err);

    if (!rc && !t->n)
        rc = mc_fail(err, MC_EINPUT, "%s: no classes found", path);
    if (!rc)
        qsort(t->wnids, t->n, sizeof *t->wnids, mc_by_bytes);
    for (size_t i = 1; i < t->n && !rc; i++)
        if (!strcmp(t->wnids[i], t->wnids[i - 1]))
            rc = mc_fail(err, MC_EINPUT, "%s: %s is repeated", path, t->wnids[i]);
    free(path);
    return rc;
}

/* Without a name in words.txt, the WordNet number is the name. */
static int read_names(struct tiny *t, const char *dir, struct mc_error *err)
{
    char **names = t->set->source.info.class_names, *path = mc_path_in(dir, "words.txt");
    struct stat st;
    int rc = path ? 0 : mc_no_memory(err);

    if (!rc && !stat(path, &st))
        rc = each_line(path, take_words, t, err);
    for (size_t i = 0; i < t->n && !rc; i++)
        if (!names[i] && !(names[i] = strdup(t->wnids[i])))
            rc = mc_no_memory(err);
    free(path);
    return rc;
}

/* Check that every training folder is listed: a truncated list would drop its images. */
static int expect_listed(const struct tiny *t, const char *train, struct mc_error *err)
{
    char **names = NULL;
    size_t n = 0;
    int rc = mc_names_list(train, MC_NAMES_FOLDERS, &names, &n, err);

    for (size_t i = 0; i < n && !rc; i++)
        if (class_of(t, names[i]) < 0)
            rc = mc_fail(err, MC_EINPUT, "%s/%s: not a class of wnids.txt", train, names[i]);
    mc_names_free(names, n);
    return rc;
}

static int add_train(struct tiny *t, const char *dir, struct mc_error *err)
{
    char *train = mc_path_in(dir, "train");
    int rc = train ? expect_listed(t, train, err) : mc_no_memory(err);

    for (size_t i = 0; i < t->n && !rc; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s/images", train, t->wnids[i]) < 0)
            rc = mc_no_memory(err);
        else
            rc = mc_image_set_list(t->set, path, (int32_t)i, err);
        free(path);
    }
    free(train);
    return rc;
}

/* Check that each picture of the folder is annotated once, and each annotation has a picture. */
static int expect_annotated(struct tiny *t, const char *images, const char *list,
                            struct mc_error *err)
{
    char **names = NULL, **listed = t->pictures;
    size_t n = 0;
    int rc = mc_names_list(images, MC_NAMES_FILES, &names, &n, err);

    if (!rc && t->n_pictures)
        qsort(listed, t->n_pictures, sizeof *listed, mc_by_bytes);
    for (size_t i = 1; i < t->n_pictures && !rc; i++)
        if (!strcmp(listed[i], listed[i - 1]))
            rc = mc_fail(err, MC_EINPUT, "%s: %s is repeated", list, listed[i]);
    for (size_t i = 0, k = 0; !rc && (i < n || k < t->n_pictures);) {
        const int order = i == n ? 1 : k == t->n_pictures ? -1 : strcmp(names[i], listed[k]);
        int is_image = 0;
        if (order > 0)
            rc = mc_fail(err, MC_EINPUT, "%s: %s is not in %s", list, listed[k], images);
        else if (order < 0 &&
                 !(rc = mc_image_set_check_name(t->set, images, names[i], &is_image, err)) &&
                 is_image)
            rc = mc_fail(err, MC_EINPUT, "%s: no line for %s of %s", list, names[i], images);
        i += order <= 0;
        k += order >= 0;
    }
    mc_names_free(names, n);
    return rc;
}

static int add_val(struct tiny *t, const char *dir, struct mc_error *err)
{
    char *images = mc_path_in(dir, "val/images"),
         *list = mc_path_in(dir, "val/val_annotations.txt");
    int rc = images && list ? mc_new(&t->images, t->n, err) : mc_no_memory(err);

    if (!rc && !(rc = mc_image_set_enter(t->set, images, err)))
        rc = each_line(list, take_annotation, t, err);
    if (!rc && !(rc = expect_annotated(t, images, list, err)))
        rc = mc_image_set_skip(t->set, images, MC_NAMES_HIDDEN, err);
    for (size_t i = 0; i < t->n && !rc; i++)
        if (!t->images[i])
            rc = mc_fail(err, MC_EINPUT, "%s: no image of class %s", list, t->wnids[i]);
    free(images);
    free(list);
    return rc;
}

int mc_tiny_imagenet_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                          struct mc_error *err)
{
    struct tiny t = {0};
    const int size = o->size ? o->size : SIZE, test = !strcmp(o->split, "test");
    char *dir = NULL;
    int rc = mc_unpacked_folder(&dir, o->dir, "tiny-imagenet-200", "wnids.txt", err);

    if (rc || (rc = mc_expect_published(dir, "wnids.txt", "tiny-imagenet", err)) ||
        (rc = read_classes(&t, dir, err)) || (rc = mc_image_set_new(&t.set, t.n, size, err)) ||
        (rc = read_names(&t, dir, err)) ||
        (rc = test ? add_val(&t, dir, err) : add_train(&t, dir, err)))
        goto out;
    t.set->source.info.augment = (struct mc_augment){
        .flip = 1, .pad = size / 8, .turn = 30, .scale = .2f, .contrast = .25f, .saturation = .25f};
    *out = &t.set->source;
    t.set = NULL;
out:
    if (t.set)
        mc_image_source_close(&t.set->source);
    mc_names_free(t.wnids, t.n);
    mc_names_free(t.pictures, t.n_pictures);
    free(t.images);
    free(dir);
    return rc;
}
