/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiny ImageNet as its publisher's archive unpacks: train/WNID/images, and val/ with
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
#define MAX_TEXT (64 << 20) /* bytes of a list */

/* take() gets every line that is not blank, without its end; *rc stays what it returns. */
static int each_line(const char *path, int (*take)(void *ctx, char *line, struct mc_error *err),
                     void *ctx, struct mc_error *err)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    uint64_t bytes = 0;
    FILE *f = NULL;
    int rc = mc_file_fopen(&f, &bytes, path, MC_EINPUT, err);

    if (rc)
        return rc;
    if (bytes > MAX_TEXT)
        rc = mc_fail(err, MC_EINPUT, "%s: has over %d MiB, no list", path, MAX_TEXT >> 20);
    for (ssize_t len; !rc && (len = getline(&line, &size, f)) >= 0;) {
        number++;
        if (strlen(line) != (size_t)len) {
            rc = mc_fail(err, MC_EINPUT, "holds a NUL");
        } else {
            while (len > 0 && strchr(" \t\r\n", line[len - 1]))
                line[--len] = 0;
            rc = len ? take(ctx, line, err) : 0;
        }
        if (rc == MC_EINPUT)
            mc_fail_in(rc, err, "%s line %zu", path, number);
    }
    if (!rc)
        rc = mc_file_ended(f, path, err);
    fclose(f);
    free(line);
    return rc;
}

/* Classes are numbered as torchvision's ImageFolder does, by the order of their names. */
struct tiny {
    struct mc_image_set *set;
    char **wnids;
    size_t n;
    size_t *images; /* of a class */
};

static long class_of(const struct tiny *t, const char *wnid)
{
    char **at = bsearch(&wnid, t->wnids, t->n, sizeof *t->wnids, mc_by_bytes);

    return at ? at - t->wnids : -1;
}

/* A name of a file or folder, and no path. */
static int is_plain(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) <= 255;
}

static int take_wnid(void *ctx, char *line, struct mc_error *err)
{
    struct tiny *t = ctx;

    if (!is_plain(line) || strpbrk(line, " \t") ||
        !mc_is_text((const unsigned char *)line, strlen(line)))
        return mc_fail(err, MC_EINPUT, "is no name of a class");
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
        return mc_fail(err, MC_EINPUT, "is no name for class %s, or its second", t->wnids[c]);
    return (*name = strdup(words)) ? 0 : mc_no_memory(err);
}

static int take_annotation(void *ctx, char *line, struct mc_error *err)
{
    struct tiny *t = ctx;
    char *wnid = strchr(line, '\t');

    if (!wnid)
        return mc_fail(err, MC_EINPUT, "has no class");
    *wnid++ = 0;
    wnid[strcspn(wnid, "\t")] = 0;
    long c = class_of(t, wnid);
    if (!is_plain(line) || c < 0)
        return mc_fail(err, MC_EINPUT, "is no image and one of the %zu classes", t->n);
    t->images[c]++;
    return mc_image_set_add(t->set, line, (int32_t)c, err);
}

static int read_classes(struct tiny *t, const char *dir, struct mc_error *err)
{
    char *path = mc_path_in(dir, "wnids.txt");
    int rc = path ? each_line(path, take_wnid, t, err) : mc_no_memory(err);

    if (!rc && !t->n)
        rc = mc_fail(err, MC_EINPUT, "%s: names no classes", path);
    if (!rc)
        qsort(t->wnids, t->n, sizeof *t->wnids, mc_by_bytes);
    for (size_t i = 1; i < t->n && !rc; i++)
        if (!strcmp(t->wnids[i], t->wnids[i - 1]))
            rc = mc_fail(err, MC_EINPUT, "%s: names %s twice", path, t->wnids[i]);
    free(path);
    return rc;
}

/* Where words.txt is silent, the WordNet number is the name. */
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

/* Every name of a folder's folders, or of its pictures, must be in a list that is sorted: a list
 * that was cut off would leave out the rest in silence. */
static int all_listed(const char *folder, int folders, char *const *list, size_t n,
                      const char *where, struct mc_error *err)
{
    char **names = NULL;
    size_t n_names = 0;
    int rc = mc_names_list(folder, folders, &names, &n_names, err);

    for (size_t i = 0; i < n_names && !rc; i++)
        if ((folders || mc_is_picture_name(names[i])) &&
            !(n && bsearch(&names[i], list, n, sizeof *list, mc_by_bytes)))
            rc = mc_fail(err, MC_EINPUT, "%s: does not list %s, which %s contains", where, names[i],
                         folder);
    mc_names_free(names, n_names);
    return rc;
}

static int add_train(struct tiny *t, const char *dir, struct mc_error *err)
{
    char *train = mc_path_in(dir, "train");
    int rc = train ? all_listed(train, 1, t->wnids, t->n, "wnids.txt", err) : mc_no_memory(err);

    free(train);
    for (size_t i = 0; i < t->n && !rc; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/train/%s/images", dir, t->wnids[i]) < 0)
            return mc_no_memory(err);
        rc = mc_image_set_list(t->set, path, (int32_t)i, err);
        free(path);
    }
    return rc;
}

/* Each annotation is of another picture, and each picture has one. */
static int check_annotated(const struct tiny *t, const char *images, const char *list,
                           struct mc_error *err)
{
    const size_t n = t->set->n_files;
    char **names = NULL;
    int rc = mc_new(&names, n, err);

    for (size_t i = 0; i < n && !rc; i++)
        names[i] = t->set->files[i].name;
    if (n && !rc)
        qsort(names, n, sizeof *names, mc_by_bytes);
    for (size_t i = 1; i < n && !rc; i++)
        if (!strcmp(names[i - 1], names[i]))
            rc = mc_fail(err, MC_EINPUT, "%s: lists %s twice", list, names[i]);
    if (!rc)
        rc = all_listed(images, 0, names, n, list, err);
    free(names);
    return rc;
}

static int add_val(struct tiny *t, const char *dir, struct mc_error *err)
{
    char *images = mc_path_in(dir, "val/images"),
         *list = mc_path_in(dir, "val/val_annotations.txt");
    int rc = images && list ? mc_new(&t->images, t->n, err) : mc_no_memory(err);

    if (!rc && !(rc = mc_image_set_enter(t->set, images, err)))
        rc = each_line(list, take_annotation, t, err);
    for (size_t i = 0; i < t->n && !rc; i++)
        if (!t->images[i])
            rc = mc_fail(err, MC_EINPUT, "%s: has no image of class %s", list, t->wnids[i]);
    if (!rc)
        rc = check_annotated(t, images, list, err);
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
    int rc = mc_unpacked_folder(&dir, o->dir, "tiny-imagenet-200", err);

    if (rc || (rc = read_classes(&t, dir, err)) ||
        (rc = mc_image_set_new(&t.set, o->dir, t.n, size, err)) ||
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
    free(t.images);
    free(dir);
    return rc;
}
