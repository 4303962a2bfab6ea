/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of image files: their lists, and one image at a time. */
#include "formats/datasets/image_set.h"
#include "libcommon/base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <omp.h>
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
    /* a broken or circular link is not a folder; nor is a name that is too long */
    return failed && errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG
               ? mc_fail(err, MC_EFAIL, "cannot read '%s': %s", path, strerror(errno))
               : 0;
}

char *mc_path_in(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

int mc_unpacked_folder(char **out, const char *dir, const char *name, const char *file,
                       struct mc_error *err)
{
    int inside = 0, rc = mc_image_source_folder(dir, err);
    char *paths[2] = {mc_path_in(dir, name), mc_path_in(dir, file)};
    struct stat st;

    *out = NULL;
    if (!rc)
        rc = paths[0] && paths[1] ? mc_is_folder(&inside, paths[0], err) : mc_no_memory(err);
    if (!rc && inside && !stat(paths[1], &st))
        rc = mc_fail(err, MC_EINPUT, "%s: holds both %s and the folder %s (name the one to read)",
                     dir, file, name);
    if (!rc && !(*out = strdup(inside ? paths[0] : dir)))
        rc = mc_no_memory(err);
    free(paths[0]);
    free(paths[1]);
    return rc;
}

int mc_expect_published(const char *dir, const char *file, const char *set, struct mc_error *err)
{
    char *path = mc_path_in(dir, file);
    struct stat st;
    int rc = path ? 0 : mc_no_memory(err);

    if (path && stat(path, &st) && errno == ENOENT)
        rc = mc_fail(err, MC_EINPUT,
                     "%s: %s is missing (pipelines/setup/fetch.sh %s DIR fetches it)", dir, file,
                     set);
    free(path);
    return rc;
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

/* A broken link counts as a file, so that reading it fails. Skipping it would silently make the
 * data set smaller. */
static int find_type(enum mc_names *type, const char *folder, const struct dirent *e,
                     struct mc_error *err)
{
    int is_folder = e->d_type == DT_DIR, rc = 0;

    *type = MC_NAMES_HIDDEN;
    if (e->d_name[0] == '.')
        return 0;
    if (e->d_type != DT_DIR && e->d_type != DT_REG) {
        char *path = mc_path_in(folder, e->d_name);
        rc = path ? mc_is_folder(&is_folder, path, err) : mc_no_memory(err);
        free(path);
    }
    *type = is_folder ? MC_NAMES_FOLDERS : MC_NAMES_FILES;
    return rc;
}

int mc_names_list(const char *folder, enum mc_names type, char ***out, size_t *n,
                  struct mc_error *err)
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
        enum mc_names is = type;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        rc = find_type(&is, folder, e, err);
        if (!rc && is == type)
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
    for (int i = 0; i < MC_IMAGE_THREADS; i++)
        mc_picture_release(&s->pictures[i]);
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
    struct mc_picture *p = &s->pictures[omp_get_thread_num()];
    char *path = mc_image_set_path(s, (size_t)index);
    int rc = path ? 0 : mc_no_memory(err);

    p->max_pixels = s->max_pixels;
    if (!rc)
        rc = mc_picture_read(p, path, err);
    if (!rc && s->size)
        rc = mc_picture_square(p, s->size, image, err);
    else if (!rc && (p->height != spec->height || p->width != spec->width))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: size %d x %d (width x height) of the first image expected, got %d x %d: "
                     "resize with --size N",
                     path, spec->width, spec->height, p->width, p->height);
    else if (!rc)
        mc_picture_planes(p, image);
    *label = s->files[index].label;
    free(path);
    return rc;
}

int mc_image_set_new(struct mc_image_set **out, size_t classes, int size, struct mc_error *err)
{
    struct mc_image_set *s = NULL;
    int rc = 0;

    if ((rc = mc_new(&s, 1, err)) || (rc = mc_new(&s->source.info.class_names, classes, err))) {
        free(s);
        return rc;
    }
    s->size = size;
    s->source.info.spec = (struct mc_net_spec){
        3, size, size, (int)classes, {.485f, .456f, .406f}, {.229f, .224f, .225f}};
    s->source.sorted = 1;
    s->source.parallel = 1;
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

static void skip_name(struct mc_image_set *s, const char *folder, const char *name)
{
    if (!s->n_skipped++)
        snprintf(s->skipped, sizeof s->skipped, "%s/%s", folder, name);
    snprintf(s->source.note, sizeof s->source.note,
             s->n_skipped == 1 ? "%zu file skipped (%s)" : "%zu files skipped (first: %s)",
             s->n_skipped, s->skipped);
}

int mc_image_set_check_name(struct mc_image_set *s, const char *folder, const char *name, int *is,
                            struct mc_error *err)
{
    static const char *const supported[] = {".jpg", ".jpeg", ".png", NULL};
    static const char *const others[] = {".avif", ".bmp", ".gif",  ".heic", ".heif",
                                         ".jfif", ".jp2", ".jxl",  ".pgm",  ".pnm",
                                         ".ppm",  ".tif", ".tiff", ".webp", NULL};

    *is = ends_in(name, supported);
    if (!*is && ends_in(name, others))
        return mc_fail(err, MC_EINPUT, "%s/%s: only JPEG and PNG files are supported", folder,
                       name);
    if (!*is)
        skip_name(s, folder, name);
    return 0;
}

int mc_image_set_skip(struct mc_image_set *s, const char *folder, enum mc_names type,
                      struct mc_error *err)
{
    char **names = NULL;
    size_t n = 0;
    int rc = mc_names_list(folder, type, &names, &n, err);

    for (size_t i = 0; i < n; i++)
        skip_name(s, folder, names[i]);
    mc_names_free(names, n);
    return rc;
}

static int list_files(struct mc_image_set *s, const char *folder, int32_t label,
                      struct mc_error *err)
{
    char **names = NULL;
    size_t n = 0;
    int is_image = 0, rc = mc_image_set_enter(s, folder, err);

    if (rc || (rc = mc_image_set_skip(s, folder, MC_NAMES_HIDDEN, err)) ||
        (rc = mc_names_list(folder, MC_NAMES_FILES, &names, &n, err)))
        return rc;
    for (size_t i = 0; i < n && !rc; i++)
        if (!(rc = mc_image_set_check_name(s, folder, names[i], &is_image, err)) && is_image)
            rc = mc_image_set_add(s, names[i], label, err);
    mc_names_free(names, n);
    return rc;
}

/* The folders of a class and their identities on disk: links may repeat a folder or lead back. */
struct tree {
    char **paths;
    size_t n;
    struct stat *is; /* (n) */
};

static int add_folder(struct tree *t, const char *path, struct mc_error *err)
{
    struct stat st;

    if (stat(path, &st))
        return mc_fail(err, errno == ENOENT || errno == ENOTDIR ? MC_EINPUT : MC_EFAIL,
                       "cannot open the folder '%s': %s", path, strerror(errno));
    for (size_t i = 0; i < t->n; i++)
        if (t->is[i].st_dev == st.st_dev && t->is[i].st_ino == st.st_ino)
            return mc_fail(err, MC_EINPUT, "%s: the same folder as %s", path, t->paths[i]);
    int rc = mc_list_room(&t->is, t->n, err);
    if (rc)
        return rc;
    t->is[t->n] = st;
    return mc_names_add(&t->paths, &t->n, path, err);
}

int mc_image_set_list(struct mc_image_set *s, const char *folder, int32_t label,
                      struct mc_error *err)
{
    const size_t before = s->n_files;
    struct tree t = {0};
    int rc = add_folder(&t, folder, err);

    for (size_t i = 0; i < t.n && !rc; i++) {
        char **names = NULL;
        size_t n = 0;
        rc = mc_names_list(t.paths[i], MC_NAMES_FOLDERS, &names, &n, err);
        for (size_t k = 0; k < n && !rc; k++) {
            char *path = mc_path_in(t.paths[i], names[k]);
            rc = path ? add_folder(&t, path, err) : mc_no_memory(err);
            free(path);
        }
        mc_names_free(names, n);
    }
    if (!rc)
        qsort(t.paths, t.n, sizeof *t.paths, mc_by_bytes);
    for (size_t i = 0; i < t.n && !rc; i++)
        rc = list_files(s, t.paths[i], label, err);
    mc_names_free(t.paths, t.n);
    free(t.is);
    if (!rc && s->n_files == before)
        rc = mc_fail(err, MC_EINPUT, "%s: no JPEG or PNG file found", folder);
    return rc;
}
