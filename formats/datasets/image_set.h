/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions shared by sets of image files: the list of files and classes, and reading and fitting
 * one image per thread. Memory grows only with the file names. Used by formats/ only. */
#ifndef MC_IMAGE_SET_H
#define MC_IMAGE_SET_H

#include "formats/datasets/picture.h"
#include "formats/datasets/source.h"

struct mc_image_set {
    struct mc_image_source source;                /* first: close() frees the whole set */
    int size;                                     /* 0: all images have the size in info */
    size_t max_pixels;                            /* picture's limit; 0: the decoder's */
    struct mc_picture pictures[MC_IMAGE_THREADS]; /* a decoder per thread */
    char **folders;
    size_t n_folders;
    struct mc_image_file {
        uint32_t folder;
        int32_t label;
        char *name;
    } * files;
    size_t n_files;
    size_t n_skipped;
    char skipped[256]; /* path of the first */
};

/* Names in a folder: folders, files, and everything that starts with a dot. */
enum mc_names { MC_NAMES_FOLDERS, MC_NAMES_FILES, MC_NAMES_HIDDEN };

/* Make a set of size x size images with this number of classes. The caller fills in the class names
 * (strdup'd) and closes it with mc_image_source_close. */
MC_USE_RESULT int mc_image_set_new(struct mc_image_set **out, size_t classes, int size,
                                   struct mc_error *err);
/* Set the folder of the files that are added next. */
MC_USE_RESULT int mc_image_set_enter(struct mc_image_set *s, const char *folder,
                                     struct mc_error *err);
MC_USE_RESULT int mc_image_set_add(struct mc_image_set *s, const char *file, int32_t label,
                                   struct mc_error *err);
/* Add every .jpg, .jpeg and .png file (any case) of a folder and its subfolders, in the order of
 * torchvision's ImageFolder: folders by the bytes of their paths, then files by the bytes of their
 * names. Other files are skipped. MC_EINPUT if it is not a folder or has no such file, for pictures
 * of other formats (by name), and for a folder that links make occur twice. */
MC_USE_RESULT int mc_image_set_list(struct mc_image_set *s, const char *folder, int32_t label,
                                    struct mc_error *err);
/* Set *is to 1 if the name is of a readable picture. Otherwise the file is skipped; a picture of
 * another format is MC_EINPUT. */
MC_USE_RESULT int mc_image_set_check_name(struct mc_image_set *s, const char *folder,
                                          const char *name, int *is, struct mc_error *err);
/* Count these names as skipped in the set's note. */
MC_USE_RESULT int mc_image_set_skip(struct mc_image_set *s, const char *folder, enum mc_names type,
                                    struct mc_error *err);
/* The path of a file, to be freed. NULL if out of memory. */
char *mc_image_set_path(const struct mc_image_set *s, size_t file);

/* List the names of one type in a folder, in byte order. Free with mc_names_free. MC_EINPUT if it
 * is missing or not a folder. */
MC_USE_RESULT int mc_names_list(const char *folder, enum mc_names type, char ***out, size_t *n,
                                struct mc_error *err);
void mc_names_free(char **names, size_t n);
/* Append a copy of a name to a list of *n. MC_ENOMEM. */
MC_USE_RESULT int mc_names_add(char ***names, size_t *n, const char *name, struct mc_error *err);
/* Set *is to 1 if path is a folder, and to 0 if it is something else or missing. MC_EFAIL if
 * unknown. */
MC_USE_RESULT int mc_is_folder(int *is, const char *path, struct mc_error *err);
/* "folder/name", to be freed. NULL if out of memory. */
char *mc_path_in(const char *folder, const char *name);
/* MC_EINPUT if `file` of a published set is missing from its folder; names the command that fetches
 * the set. */
MC_USE_RESULT int mc_expect_published(const char *dir, const char *file, const char *set,
                                      struct mc_error *err);
/* Set *out, to be freed, to dir, or to the folder in it that the publisher's archive unpacks to.
 * Errors as for mc_image_source_folder. MC_EINPUT also if dir holds both that folder and the
 * publisher's `file`. */
MC_USE_RESULT int mc_unpacked_folder(char **out, const char *dir, const char *name,
                                     const char *file, struct mc_error *err);

#endif
