/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of files in folders. */
#ifndef MC_NAMES_H
#define MC_NAMES_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* Names in a folder, ordered by their bytes, without those that begin with a dot; only folders or
 * only others. Free by mc_names_free. MC_EINPUT: it is not there, or no folder. */
MC_USE_RESULT int mc_names_list(const char *folder, int folders, char ***out, size_t *n,
                                struct mc_error *err);
/* The order of names (of char *, for qsort and bsearch). */
int mc_by_bytes(const void *a, const void *b);
void mc_names_free(char **names, size_t n);
/* Is there a folder of that path? */
int mc_is_folder(const char *path);
/* "folder/name", to be freed; NULL for lack of memory. */
char *mc_path_in(const char *folder, const char *name);

#endif
