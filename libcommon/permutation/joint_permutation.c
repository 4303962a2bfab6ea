/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/permutation/joint_permutation.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

int mc_joint_perm_init(struct mc_joint_perm *j, size_t n_members, const struct mc_group *groups,
                       size_t n_groups, struct mc_error *err)
{
    int rc = mc_new(&j->members, n_members, err);

    j->n_members = n_members;
    for (size_t i = 0; i < n_members && !rc; i++)
        rc = mc_perm_identity(&j->members[i], groups, n_groups, err);
    if (rc)
        mc_joint_perm_release(j);
    return rc;
}

void mc_joint_perm_release(struct mc_joint_perm *j)
{
    for (size_t i = 0; j->members && i < j->n_members; i++)
        mc_perm_release(&j->members[i]);
    free(j->members);
    *j = (struct mc_joint_perm){0};
}

void mc_joint_perm_set_ids(struct mc_joint_perm *j, const char (*ids)[MC_ID_LEN])
{
    const int is_first = mc_perm_is_identity(&j->members[0]);

    for (size_t i = 0; i < j->n_members; i++) {
        memcpy(j->members[i].ids[1], ids[i], MC_ID_LEN);
        memset(j->members[i].ids[0], 0, MC_ID_LEN);
        if (is_first)
            memcpy(j->members[i].ids[0], ids[0], MC_ID_LEN);
    }
}

size_t mc_joint_perm_find(const struct mc_joint_perm *j, const char *id)
{
    size_t i = 0;

    while (i < j->n_members && strcmp(j->members[i].ids[1], id) != 0)
        i++;
    return i;
}

int mc_joint_perm_follow(struct mc_joint_perm *j, const struct mc_perm *q, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < j->n_members && !rc; i++) {
        char id[MC_ID_LEN];
        memcpy(id, j->members[i].ids[1], MC_ID_LEN);
        rc = mc_perm_compose(&j->members[i], q, err); /* clears the ids */
        memcpy(j->members[i].ids[1], id, MC_ID_LEN);
    }
    return rc;
}

void mc_joint_perm_copy(struct mc_joint_perm *to, const struct mc_joint_perm *from)
{
    for (size_t i = 0; i < from->n_members; i++)
        mc_perm_copy(&to->members[i], &from->members[i]);
}

int mc_joint_perm_follow_first(struct mc_joint_perm *j, struct mc_error *err)
{
    struct mc_perm back = {0};
    int rc = mc_perm_clone(&back, &j->members[0], err);

    if (!rc && !(rc = mc_perm_inverse(&back, err)))
        rc = mc_joint_perm_follow(j, &back, err);
    mc_perm_release(&back);
    return rc;
}

int mc_joint_perm_get(struct mc_perm *out, const struct mc_joint_perm *j, size_t from,
                      const size_t *to, struct mc_error *err)
{
    struct mc_perm back = {0};
    int rc = mc_perm_clone(out, &j->members[from], err);

    if (rc || !to)
        return rc;
    if ((rc = mc_perm_clone(&back, &j->members[*to], err)) || (rc = mc_perm_inverse(&back, err)) ||
        (rc = mc_perm_compose(out, &back, err)))
        goto out;
    memcpy(out->ids[0], j->members[*to].ids[1], MC_ID_LEN);
    memcpy(out->ids[1], j->members[from].ids[1], MC_ID_LEN);
out:
    mc_perm_release(&back);
    return rc;
}
