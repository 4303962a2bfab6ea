/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of image files: their lists, and one image at a time. */
#include "formats/datasets/image_set.h"
#include "libcommon/base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- names in folders ---- */

int mc_is_folder(int *is, const char *path, struct mc_error *err)
{
    struct stat st;
    const int failed = stat(path, &st);

    *is = !failed && S_ISDIR(st.st_mode);
    /* a link that leads nowhere or round is none; nor is a name that is too long there */
    return failed && errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG
               ? mc_fail(err, MC_EFAIL, "cannot look at '%s': %s", path, strerror(errno))
               : 0;
}

char *mc_path_in(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

int mc_unpacked_folder(char **out, const char *dir, const char *name, struct mc_error *err)
{
    int inside = 0, rc = mc_image_source_folder(dir, err);

    *out = NULL;
    if (rc)
        return rc;
    if (!(*out = mc_path_in(dir, name)))
        return mc_no_memory(err);
    rc = mc_is_folder(&inside, *out, err);
    if (rc || !inside) {
        free(*out);
        *out = rc ? NULL : strdup(dir);
    }
    return rc || *out ? rc : mc_no_memory(err);
}

void mc_names_free(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
}

int mc_names_add(char ***names, size_t *n, const char *name, struct mc_error *err)
{
    int rc = mc_list_room(names, *n, err);

    if (!rc && !((*names)[*n] = strdup(name)))
        rc = mc_no_memory(err);
    *n += !rc;
    return rc;
}

/* *is: whether it is one of the folders, or of the others. What a link that leads nowhere names is
 * taken for a file, for the reader to complain of: left out in silence, it would be a smaller data
 * set. */
static int is_wanted(int *is, const char *folder, const struct dirent *e, int folders,
                     struct mc_error *err)
{
    int is_folder = e->d_type == DT_DIR, rc = 0;

    *is = 0;
    if (e->d_name[0] == '.')
        return 0;
    if (e->d_type != DT_DIR && e->d_type != DT_REG) {
        char *path = mc_path_in(folder, e->d_name);
        rc = path ? mc_is_folder(&is_folder, path, err) : mc_no_memory(err);
        free(path);
    }
    *is = folders == is_folder;
    return rc;
}

int mc_names_list(const char *folder, int folders, char ***out, size_t *n, struct mc_error *err)
{
    char **names = NULL;
    size_t have = 0;
    struct dirent *e = NULL;
    int rc = 0;
    DIR *d = opendir(folder);

    if (!d)
        return mc_fail(err, errno == ENOENT || errno == ENOTDIR ? MC_EINPUT : MC_EFAIL,
                       "cannot open the folder '%s': %s", folder, strerror(errno));
    while (!rc && (errno = 0, e = readdir(d))) {
        int is = 0;
        rc = is_wanted(&is, folder, e, folders, err);
        if (!rc && is)
            rc = mc_names_add(&names, &have, e->d_name, err);
    }
    if (!rc && errno)
        rc = mc_fail(err, MC_EFAIL, "cannot read the folder '%s': %s", folder, strerror(errno));
    closedir(d);
    if (rc) {
        mc_names_free(names, have);
        return rc;
    }
    if (have)
        qsort(names, have, sizeof *names, mc_by_bytes);
    *out = names;
    *n = have;
    return 0;
}

/* ---- the set ---- */

static void image_set_close(struct mc_image_source *source)
{
    struct mc_image_set *s = (struct mc_image_set *)source;

    mc_dataset_info_release(&s->source.info);
    mc_picture_release(&s->picture);
    mc_names_free(s->folders, s->n_folders);
    for (size_t i = 0; i < s->n_files; i++)
        free(s->files[i].name);
    free(s->files);
    free(s);
}

char *mc_image_set_path(const struct mc_image_set *s, size_t file)
{
    const struct mc_image_file *f = &s->files[file];

    return mc_path_in(s->folders[f->folder], f->name);
}

static int image_set_get(struct mc_image_source *source, uint64_t index, void *image,
                         int32_t *label, struct mc_error *err)
{
    struct mc_image_set *s = (struct mc_image_set *)source;
    const struct mc_net_spec *spec = &s->source.info.spec;
    struct mc_picture *p = &s->picture;
    char *path = mc_image_set_path(s, (size_t)index);
    int rc = path ? 0 : mc_no_memory(err);

    if (!rc)
        rc = mc_picture_read(p, path, err);
    if (!rc && s->size)
        rc = mc_picture_square(p, s->size, image, err);
    else if (!rc && (p->height != spec->height || p->width != spec->width))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: is %d x %d (width x height), the first image %d x %d; --size N makes all "
                     "N x N",
                     path, p->width, p->height, spec->width, spec->height);
    else if (!rc)
        mc_picture_planes(p, image);
    *label = s->files[index].label;
    free(path);
    return rc;
}

int mc_image_set_new(struct mc_image_set **out, const char *dir, size_t classes, int size,
                     struct mc_error *err)
{
    struct mc_image_set *s = NULL;
    int rc = 0;

    if (classes > MC_DATASET_MAX_CLASSES)
        return mc_fail(err, MC_EINPUT, "%s: %zu classes are too many (there may be %d)", dir,
                       classes, MC_DATASET_MAX_CLASSES);
    if ((rc = mc_new(&s, 1, err)) || (rc = mc_new(&s->source.info.class_names, classes, err))) {
        free(s);
        return rc;
    }
    s->size = size;
    s->source.info.spec = (struct mc_net_spec){
        3, size, size, (int)classes, {.485f, .456f, .406f}, {.229f, .224f, .225f}};
    s->source.sorted = 1;
    s->source.get = image_set_get;
    s->source.close = image_set_close;
    *out = s;
    return 0;
}

int mc_image_set_enter(struct mc_image_set *s, const char *folder, struct mc_error *err)
{
    return mc_names_add(&s->folders, &s->n_folders, folder, err);
}

int mc_image_set_add(struct mc_image_set *s, const char *file, int32_t label, struct mc_error *err)
{
    char *name = NULL;
    int rc = 0;

    if (s->n_files == MC_DATASET_MAX_IMAGES)
        return mc_fail(err, MC_EINPUT, "more than %d images", MC_DATASET_MAX_IMAGES);
    if ((rc = mc_list_room(&s->files, s->n_files, err)))
        return rc;
    if (!(name = strdup(file)))
        return mc_no_memory(err);
    s->files[s->n_files++] = (struct mc_image_file){(uint32_t)s->n_folders - 1, label, name};
    s->source.info.n = s->n_files;
    return 0;
}

static int ends_in(const char *name, const char *const *endings)
{
    const char *dot = strrchr(name, '.');

    for (; dot && *endings; endings++)
        if (!strcasecmp(dot, *endings))
            return 1;
    return 0;
}

int mc_is_picture_name(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", NULL};

    return ends_in(name, endings);
}

/* The pictures of a folder, then those of the folders in it. */
static int add_pictures(struct mc_image_set *s, const char *folder, int32_t label,
                        struct mc_error *err)
{
    static const char *const others[] = {".bmp",  ".gif", ".pgm",  ".pnm", ".ppm",
                                         ".tiff", ".tif", ".webp", NULL};
    char **names = NULL;
    size_t n = 0;
    int rc = mc_image_set_enter(s, folder, err);

    if (rc || (rc = mc_names_list(folder, 0, &names, &n, err)))
        return rc;
    for (size_t i = 0; i < n && !rc; i++) {
        if (mc_is_picture_name(names[i]))
            rc = mc_image_set_add(s, names[i], label, err);
        else if (ends_in(names[i], others))
            rc = mc_fail(err, MC_EINPUT, "%s/%s: only JPEG and PNG files are read", folder,
                         names[i]);
        else
            s->source.passed_over++;
    }
    mc_names_free(names, n);
    if (rc || (rc = mc_names_list(folder, 1, &names, &n, err)))
        return rc;
    for (size_t i = 0; i < n && !rc; i++) {
        char *inner = mc_path_in(folder, names[i]);
        rc = inner ? add_pictures(s, inner, label, err) : mc_no_memory(err);
        free(inner);
    }
    mc_names_free(names, n);
    return rc;
}

int mc_image_set_list(struct mc_image_set *s, const char *folder, int32_t label,
                      struct mc_error *err)
{
    const size_t before = s->n_files;
    int rc = add_pictures(s, folder, label, err);

    if (!rc && s->n_files == before)
        rc = mc_fail(err, MC_EINPUT, "%s: holds no JPEG or PNG file", folder);
    return rc;
}
