/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/permutation.h"

#include "formats/codecs/groups.h"
#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Versions of joint sets, and of permutations with matrices; others have no version key. */
#define VERSION 2
#define MATRICES 3
#define MAP "map" /* the key of a group that has a matrix: its kind */

int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info, const char *path,
                  const struct mc_history *h, struct mc_error *err)
{
    const int matrices = mc_perm_first_map(p) < p->n_groups;
    struct mc_layout l = {0};

    mc_perm_tensors(p, "", &l);
    mc_layout_meta(&l, "permutation", matrices ? 2 : 1);
    if (matrices)
        mc_put_u64(&l.meta, "version", MATRICES);
    mc_perm_pack_groups(p, info, MAP, &l.meta);
    return mc_layout_write(&l, path, h, err);
}

/* ---- joint sets ------------------------------------------------------------------------------ */

/* Add the tensors of all members, named N/GROUP. */
static void member_tensors(const struct mc_joint_perm *j, struct mc_layout *l)
{
    for (size_t i = 0; i < j->n_members; i++) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "%zu/", i + 1);
        mc_perm_tensors(&j->members[i], prefix, l);
    }
}

int mc_joint_perm_write(const struct mc_joint_perm *j, const char *path, const struct mc_history *h,
                        struct mc_error *err)
{
    struct mc_layout l = {0};

    member_tensors(j, &l);
    mc_layout_meta(&l, "permutation", 3);
    mc_put_u64(&l.meta, "version", VERSION);
    mc_put_array(&l.meta, "members", j->n_members);
    for (size_t i = 0; i < j->n_members; i++)
        mc_pack_str(&l.meta, j->members[i].ids[1]);
    mc_perm_pack_groups(&j->members[0], NULL, NULL, &l.meta);
    return mc_layout_write(&l, path, h, err);
}

/* Read the key "members". *ids: the caller frees it. */
static int unpack_members(char (**ids)[MC_ID_LEN], size_t *n, const msgpack_object *meta,
                          struct mc_error *err)
{
    const msgpack_object *list = NULL;
    uint64_t version = 1;
    int rc = mc_get_u64(meta, "version", UINT32_MAX, &version, err);

    if (rc)
        return rc;
    if (version != VERSION)
        return mc_fail(err, MC_EINPUT,
                       "permutation version %llu (this program reads 1, %d with \"members\" and %d "
                       "without)",
                       (unsigned long long)version, VERSION, MATRICES);
    if ((rc = mc_get_array(meta, "members", &list, err)))
        return rc;
    *n = list->via.array.size;
    if (*n < 2 || *n > MC_MAX_MEMBERS)
        return mc_fail(err, MC_EINPUT, "\"members\" must list 2 to %d networks (got %zu)",
                       MC_MAX_MEMBERS, *n);
    if ((rc = mc_new(ids, *n, err)))
        return rc;
    for (size_t i = 0; i < *n; i++) {
        const msgpack_object *o = &list->via.array.ptr[i];
        if (!mc_is_id(o))
            return mc_fail(err, MC_EINPUT, "\"members\": entry %zu is not a content id", i);
        memcpy((*ids)[i], o->via.str.ptr, MC_ID_LEN - 1);
        for (size_t k = 0; k < i; k++)
            if (!memcmp((*ids)[i], (*ids)[k], MC_ID_LEN))
                return mc_fail(err, MC_EINPUT, "\"members\" lists %s twice", (*ids)[i]);
    }
    return 0;
}

/* Read the members' tensors. The header must announce all before they are allocated. */
static int read_members(struct mc_joint_perm *out, struct mc_reader *r, size_t n,
                        struct mc_error *err)
{
    struct mc_perm groups;
    struct mc_layout l = {0};
    int rc = mc_perm_unpack_groups(&groups, mc_reader_meta(r), NULL, err);

    if (rc)
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    if ((rc = mc_expect_count(r, n * groups.n_groups, err)) || (rc = mc_new(&out->members, n, err)))
        goto out;
    out->n_members = n;
    for (size_t i = 0; i < n; i++) {
        if ((rc = mc_perm_alloc(&out->members[i], groups.n_groups, err)))
            goto out;
        memcpy(out->members[i].groups, groups.groups, groups.n_groups * sizeof *groups.groups);
    }
    member_tensors(out, &l);
    rc = mc_layout_read(&l, r, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_fail_in(mc_perm_check(&out->members[i], err), err, "%s: member %zu",
                        mc_reader_name(r), i + 1);
out:
    mc_perm_release(&groups);
    return rc;
}

static int read_joint(struct mc_joint_perm *out, struct mc_reader *r, struct mc_history *h,
                      struct mc_error *err)
{
    char(*ids)[MC_ID_LEN] = NULL;
    size_t n = 0;
    int rc = mc_expect_kind(r, "permutation", h, err);

    if (!rc)
        rc = mc_fail_in(unpack_members(&ids, &n, mc_reader_meta(r), err), err, "%s",
                        mc_reader_name(r));
    if (!rc && !(rc = read_members(out, r, n, err)))
        mc_joint_perm_set_ids(out, ids);
    free(ids);
    return rc;
}

/* ---- single permutations --------------------------------------------------------------------- */

/* matrices: groups may have one. */
static int read_permutation(struct mc_perm *out, struct mc_reader *r, int matrices,
                            struct mc_history *h, struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = mc_expect_kind(r, "permutation", h, err);

    if (rc)
        return rc;
    if ((rc = mc_perm_unpack_groups(out, mc_reader_meta(r), matrices ? MAP : NULL, err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    mc_perm_tensors(out, "", &l);
    if (!(rc = mc_layout_read(&l, r, err)))
        rc = mc_fail_in(mc_perm_check(out, err), err, "%s", mc_reader_name(r));
    return rc;
}

int mc_joint_perm_read_stream(struct mc_joint_perm *out, struct mc_reader *r, struct mc_history *h,
                              struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r), *version = mc_get_opt(meta, "version");
    const int joint = mc_get_opt(meta, "members") != NULL;
    const int matrices =
        version && version->type == MSGPACK_OBJECT_POSITIVE_INTEGER && version->via.u64 == MATRICES;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if (joint || (version && !matrices))
        rc = read_joint(out, r, h, err);
    else if (!(rc = mc_new(&out->members, 1, err))) {
        out->n_members = 1;
        if (!(rc = read_permutation(&out->members[0], r, matrices, h, err)))
            mc_history_pair(mc_reader_history(r), out->members[0].ids);
    }
    if (rc)
        mc_joint_perm_release(out);
    return rc;
}
