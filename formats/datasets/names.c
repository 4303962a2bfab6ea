/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of files in folders. */
#include "formats/datasets/names.h"

#include "formats/stream/list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int mc_is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

char *mc_path_in(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

void mc_names_free(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
}

int mc_by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a link that leads nowhere names is taken for a file, for the reader to complain of: left out
 * in silence, it would be a smaller data set. */
static int wanted(const char *folder, const struct dirent *e, int folders)
{
    struct stat st;
    char *path = NULL;

    if (e->d_name[0] == '.')
        return 0;
    if (e->d_type == DT_DIR || e->d_type == DT_REG)
        return folders == (e->d_type == DT_DIR);
    if (!(path = mc_path_in(folder, e->d_name)))
        return -1;
    int is_folder = !stat(path, &st) && S_ISDIR(st.st_mode);
    free(path);
    return folders == is_folder;
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
        int want = wanted(folder, e, folders);
        if (!want)
            continue;
        char **more = want > 0 ? mc_list_room(names, have, sizeof *names) : NULL;
        names = more ? more : names;
        if (!more || !(names[have] = strdup(e->d_name)))
            rc = mc_no_memory(err);
        else
            have++;
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
