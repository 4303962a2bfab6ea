/* SPDX-License-Identifier: Apache-2.0
 *
 * Your own images: JPEG and PNG files, one folder per class. */
#include "formats/datasets/image_set.h"
#include "formats/stream/bounds.h"

#include <stdlib.h>
#include <string.h>

/* Find the folder of the split's classes: DIR/train, DIR/test (else DIR/val), or DIR if none of
 * these exists. *train is the folder that defines the classes, NULL if it is the split's own. */
static int split_folder(const struct mc_image_source_opts *o, char **out, char **train,
                        struct mc_error *err)
{
    static const char *const names[] = {"train", "test", "val"};
    const int test = !strcmp(o->split, "test");
    char *paths[3] = {NULL}, *dir = strdup(o->dir);
    int rc = dir ? 0 : mc_no_memory(err), exists[3] = {0}, pick = -1;

    for (int i = 0; i < 3 && !rc; i++) {
        paths[i] = mc_path_in(o->dir, names[i]);
        rc = paths[i] ? mc_is_folder(&exists[i], paths[i], err) : mc_no_memory(err);
    }
    if (rc)
        goto out;
    if (test && (exists[1] || exists[2]))
        pick = exists[1] ? 1 : 2;
    else if (!test && exists[0])
        pick = 0;
    else if (exists[0] || exists[1] || exists[2])
        rc = mc_fail(err, MC_EINPUT, "%s: folder '%s' is missing", o->dir, o->split);
    if (rc)
        goto out;
    *out = pick < 0 ? dir : paths[pick];
    *(pick < 0 ? &dir : &paths[pick]) = NULL;
    if (pick > 0 && exists[0]) {
        *train = paths[0];
        paths[0] = NULL;
    }
out:
    for (int i = 0; i < 3; i++)
        free(paths[i]);
    free(dir);
    return rc;
}

/* The folders of the training images number the classes, so a test set must have the same ones. */
static int same_classes(const char *folder, const char *train, struct mc_error *err)
{
    char **names = NULL, **train_names = NULL;
    size_t n = 0, n_train = 0;
    int rc = mc_names_list(folder, MC_NAMES_FOLDERS, &names, &n, err);

    if (!rc)
        rc = mc_names_list(train, MC_NAMES_FOLDERS, &train_names, &n_train, err);
    for (size_t i = 0, j = 0; !rc && (i < n || j < n_train); i++, j++) {
        int order = i == n ? 1 : j == n_train ? -1 : strcmp(names[i], train_names[j]);
        if (order)
            rc = mc_fail(err, MC_EINPUT, "%s: class '%s' of %s is missing",
                         order < 0 ? train : folder, order < 0 ? names[i] : train_names[j],
                         order < 0 ? folder : train);
    }
    mc_names_free(names, n);
    mc_names_free(train_names, n_train);
    return rc;
}

static int add_class(struct mc_image_set *s, const char *folder, const char *name, size_t label,
                     struct mc_error *err)
{
    char *path = NULL;
    int rc = 0;

    if (!mc_is_text((const unsigned char *)name, strlen(name)))
        return mc_fail(err, MC_EINPUT, "%s: the name of class %zu is not UTF-8", folder, label);
    s->source.info.class_names[label] = strdup(name);
    path = mc_path_in(folder, name);
    if (!s->source.info.class_names[label] || !path)
        rc = mc_no_memory(err);
    else
        rc = mc_image_set_list(s, path, (int32_t)label, err);
    free(path);
    return rc;
}

/* Without --size all images must have the size of the first. */
static int size_of_first(struct mc_image_set *s, struct mc_error *err)
{
    char *path = mc_image_set_path(s, 0);
    struct mc_picture *p = &s->pictures[0];
    p->max_pixels = s->max_pixels = MC_DATASET_MAX_IMAGE / 3;
    int rc = path ? mc_picture_read(p, path, err) : mc_no_memory(err);

    s->source.info.spec.height = p->height;
    s->source.info.spec.width = p->width;
    free(path);
    return rc;
}

int mc_folder_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                   struct mc_error *err)
{
    struct mc_image_set *s = NULL;
    char *folder = NULL, *train = NULL, **classes = NULL;
    size_t n = 0;
    int rc = mc_image_source_folder(o->dir, err);

    if (rc || (rc = split_folder(o, &folder, &train, err)) ||
        (train && (rc = same_classes(folder, train, err))) ||
        (rc = mc_names_list(folder, MC_NAMES_FOLDERS, &classes, &n, err)))
        goto out;
    if (!n)
        rc = mc_fail(err, MC_EINPUT, "%s: class folders are missing", folder);
    else if (o->classes ? n != (size_t)o->classes : n == 1)
        rc = mc_fail(err, MC_EINPUT, "%s: %d class folders expected, got %zu%s", folder,
                     o->classes ? o->classes : 2, n, n == 1 ? " (--classes 1 accepts one)" : "");
    else
        rc = mc_image_set_new(&s, n, o->size, err);
    if (!rc && !(rc = mc_image_set_skip(s, folder, MC_NAMES_HIDDEN, err)))
        rc = mc_image_set_skip(s, folder, MC_NAMES_FILES, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = add_class(s, folder, classes[i], i, err);
    if (rc || (!o->size && (rc = size_of_first(s, err))))
        goto out;
    const struct mc_net_spec *spec = &s->source.info.spec;
    const int shorter = spec->height < spec->width ? spec->height : spec->width;
    s->source.info.augment = (struct mc_augment){.flip = 1, .pad = shorter / 8};
    *out = &s->source;
    s = NULL;
out:
    if (s)
        mc_image_source_close(&s->source);
    mc_names_free(classes, n);
    free(folder);
    free(train);
    return rc;
}
