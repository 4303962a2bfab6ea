/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/groups.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>

int mc_symmetry_alloc(struct mc_symmetry *s, size_t n_groups, struct mc_error *err)
{
    int rc = mc_new(&s->groups, n_groups, err);

    s->n_groups = n_groups;
    for (size_t k = 0; k < n_groups && !rc; k++)
        s->groups[k].outer = MC_NO_GROUP;
    return rc ? rc : mc_new(&s->uses, n_groups, err);
}

void mc_symmetry_release(struct mc_symmetry *s)
{
    for (size_t i = 0; s->uses && i < s->n_groups; i++)
        free(s->uses[i].use);
    free(s->groups);
    free(s->uses);
    free(s->taps);
    free(s->axes ? s->axes[0].seg : NULL);
    free(s->axes);
    *s = (struct mc_symmetry){0};
}
