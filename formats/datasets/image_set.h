/* SPDX-License-Identifier: Apache-2.0
 *
 * What the sets of image files share: which files, of which class, read and fitted one at a time.
 * Memory grows with the files' names alone. Used by formats/ only. */
#ifndef MC_IMAGE_SET_H
#define MC_IMAGE_SET_H

#include "formats/datasets/picture.h"
#include "formats/datasets/source.h"

struct mc_image_set {
    struct mc_image_source source; /* first: a set is freed by its close() */
    int size;                      /* fitted to; 0: all are of the size in info */
    struct mc_picture picture;
    char **folders;
    size_t n_folders;
    struct mc_image_file {
        uint32_t folder;
        int32_t label;
        char *name;
    } * files;
    size_t n_files;
    size_t n_passed_over;
    char passed_over[256]; /* the first one's path */
};

/* The names in a folder: those that begin with a dot, whatever they are, and of the others the
 * folders and the files. */
enum mc_names { MC_NAMES_FOLDERS, MC_NAMES_FILES, MC_NAMES_HIDDEN };

/* A new set of size x size images of folder dir in so many classes, whose names are to be filled in
 * (strdup'd); close it by mc_image_source_close. */
MC_USE_RESULT int mc_image_set_new(struct mc_image_set **out, const char *dir, size_t classes,
                                   int size, struct mc_error *err);
/* Files added from now on lie in this folder. */
MC_USE_RESULT int mc_image_set_enter(struct mc_image_set *s, const char *folder,
                                     struct mc_error *err);
MC_USE_RESULT int mc_image_set_add(struct mc_image_set *s, const char *file, int32_t label,
                                   struct mc_error *err);
/* Adds every .jpg, .jpeg and .png file (in either case) of a folder and of all folders in it, as
 * torchvision's ImageFolder does: folder by folder in the order of their paths' bytes, each one's
 * files in the order of their names' bytes. Other files are passed over. MC_EINPUT: not a folder,
 * no such file in it, a picture of another format (by its name), or a folder in it twice by
 * links. */
MC_USE_RESULT int mc_image_set_list(struct mc_image_set *s, const char *folder, int32_t label,
                                    struct mc_error *err);
/* *is: whether the name is of a picture that can be read; else the file is passed over, or, if it
 * is a picture of another format, MC_EINPUT. */
MC_USE_RESULT int mc_image_set_judge(struct mc_image_set *s, const char *folder, const char *name,
                                     int *is, struct mc_error *err);
/* Counts these names in the set's note as passed over. */
MC_USE_RESULT int mc_image_set_pass_over(struct mc_image_set *s, const char *folder,
                                         enum mc_names type, struct mc_error *err);
/* The path of a file, to be freed; NULL for lack of memory. */
char *mc_image_set_path(const struct mc_image_set *s, size_t file);

/* The names of one type in a folder, ordered by their bytes. Free by mc_names_free. MC_EINPUT: it
 * is missing, or not a folder. */
MC_USE_RESULT int mc_names_list(const char *folder, enum mc_names type, char ***out, size_t *n,
                                struct mc_error *err);
void mc_names_free(char **names, size_t n);
/* Add a copy of a name to a list of *n. MC_ENOMEM. */
MC_USE_RESULT int mc_names_add(char ***names, size_t *n, const char *name, struct mc_error *err);
/* *is: whether there is a folder of that path; what has another name, or none, is no error.
 * MC_EFAIL where that cannot be told. */
MC_USE_RESULT int mc_is_folder(int *is, const char *path, struct mc_error *err);
/* "folder/name", to be freed; NULL for lack of memory. */
char *mc_path_in(const char *folder, const char *name);
/* *out, to be freed: this folder, or the one of this name in it that the publisher's archive
 * unpacks to. Errors as of mc_image_source_folder; MC_EINPUT also if this folder holds `file`, one
 * of the publisher's, and that one too. */
MC_USE_RESULT int mc_unpacked_folder(char **out, const char *dir, const char *name,
                                     const char *file, struct mc_error *err);

#endif
