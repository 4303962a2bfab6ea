/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/options/chosen_groups.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/near.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 5 /* names in a message */

static int no_match(const char *pattern, const struct mc_group *groups, size_t n, const char *file,
                    struct mc_error *err)
{
    struct mc_near near = mc_near(pattern, strlen(pattern));
    char names[SHOWN * (MC_NAME_MAX + 2) + 16] = "", text[MC_NEAR_TEXT];
    size_t used = 0;

    for (size_t g = 0; g < n; g++) {
        mc_near_try(&near, groups[g].name);
        if (g < SHOWN)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", g ? ", " : "",
                                     groups[g].name);
    }
    return mc_fail(err, MC_EUSAGE, "--groups: '%.100s' matches no group of %s%s (groups: %s%s)",
                   pattern, file, mc_near_text(&near, text), names, n > SHOWN ? ", ..." : "");
}

int mc_groups_keep(unsigned char **keep, const struct mc_group *groups, size_t n,
                   const char *patterns, const char *file, struct mc_error *err)
{
    char *copy = NULL, *rest = NULL, *pattern = NULL;
    int rc = mc_new(keep, n, err);

    if (rc || !patterns)
        goto out;
    if (!(rest = copy = strdup(patterns)))
        return mc_no_memory(err);
    memset(*keep, 1, n);
    while (!rc && (pattern = strsep(&rest, ","))) {
        int found = 0;
        for (size_t g = 0; g < n; g++)
            if (!fnmatch(pattern, groups[g].name, 0)) {
                (*keep)[g] = 0;
                found = 1;
            }
        if (!found)
            rc = no_match(pattern, groups, n, file, err);
    }
out:
    /* The only permutation that keeps pairs in place is the identity. */
    for (size_t g = 0; !rc && g < n; g++)
        (*keep)[g] |= (unsigned char)mc_allows_of_pairs(groups[g].allows);
    free(copy);
    return rc;
}
