/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/joining.h"

#include "formats/network/permutations.h"
#include "formats/network/values.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <stdlib.h>
#include <string.h>

static int read_network(struct mc_perm *p, struct mc_reader *r, struct mc_history *h,
                        struct mc_error *err)
{
    struct mc_symmetry s = {0};
    struct mc_values v;
    int rc = mc_values_open(&v, "weights", (struct mc_stream){.reader = r, .declared = 1}, h, err);

    if (!rc)
        rc = mc_fail_in(mc_symmetry_derive(&s, v.curve.graph, err), err, "%s", mc_reader_name(r));
    if (!rc && !(rc = mc_perm_init(p, &s, err)) && !(rc = mc_values_end(&v, err)))
        memcpy(p->ids[1], v.id, MC_ID_LEN);
    mc_symmetry_release(&s);
    mc_values_close(&v);
    return rc;
}

/* Read a permutation; one of the network `first` to another one's order is inverted. */
static int read_perm(struct mc_perm *p, struct mc_reader *r, const char *first,
                     struct mc_history *h, struct mc_error *err)
{
    char ids[2][MC_ID_LEN];
    int rc = mc_perm_read(p, (struct mc_stream){.reader = r}, NULL, h, err);

    if (rc)
        return rc;
    memcpy(ids, p->ids, sizeof ids);
    if (!*ids[1])
        return mc_fail(err, MC_EINPUT,
                       "%s: does not record two networks (a permutation of mc-hungarian, "
                       "mc-match or mc-pam expected, with its history)",
                       mc_reader_name(r));
    if (strcmp(ids[1], first))
        return 0;
    if (!(rc = mc_perm_inverse(p, err)))
        memcpy(p->ids[1], ids[0], MC_ID_LEN);
    return rc;
}

/* MC_EINPUT if member i has other groups than the first, or the network of an earlier one. */
static int expect_new(const struct mc_perm *p, size_t i, const char *const *paths,
                      struct mc_error *err)
{
    const struct mc_symmetry first = {.groups = p->groups, .n_groups = p->n_groups};
    const char *file = mc_file_called(paths[i]);
    int rc = mc_perm_check_groups(&p[i], &first, err);

    if (rc)
        return mc_fail(err, MC_EINPUT, "%s: other groups of units than %s", file,
                       mc_file_called(paths[0]));
    for (size_t k = 0; k < i; k++)
        if (!strcmp(p[i].ids[1], p[k].ids[1]))
            return mc_fail(err, MC_EINPUT, "%s: the same network as %s (each network once)", file,
                           mc_file_called(paths[k]));
    return 0;
}

static int read_member(struct mc_perm *p, size_t i, const char *const *paths, const char *first,
                       struct mc_history *h, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, paths[i], err);

    if (!rc)
        rc = strcmp(mc_reader_kind(r), "weights") ? read_perm(&p[i], r, first, h, err)
                                                  : read_network(&p[i], r, h, err);
    mc_reader_close(r);
    return rc ? rc : expect_new(p, i, paths, err);
}

/* MC_EINPUT if a permutation leads to the order of a network that another member moves. */
static int expect_one_order(const struct mc_joint_perm *set, const char (*ids)[MC_ID_LEN],
                            const char *const *paths, struct mc_error *err)
{
    for (size_t i = 0; i < set->n_members; i++)
        for (size_t k = 0; k < set->n_members; k++)
            if (!strcmp(set->members[i].ids[0], ids[k]) && !mc_perm_is_identity(&set->members[k]))
                return mc_fail(err, MC_EINPUT,
                               "%s: leads to the order of network %.8s, which %s moves (mc-permute "
                               "--compose joins the two)",
                               mc_file_called(paths[i]), ids[k], mc_file_called(paths[k]));
    return 0;
}

int mc_joint_perm_join(struct mc_joint_perm *out, const char *const *paths, size_t n,
                       struct mc_history *h, struct mc_error *err)
{
    char(*ids)[MC_ID_LEN] = NULL, first[MC_ID_LEN] = "";
    int rc = mc_new(&out->members, n, err);

    if (rc || (rc = mc_new(&ids, n, err)))
        return rc;
    out->n_members = n;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = read_member(out->members, i, paths, first, h, err);
        memcpy(ids[i], out->members[i].ids[1], MC_ID_LEN);
        if (!i && !*out->members[0].ids[0]) /* a network */
            memcpy(first, ids[0], MC_ID_LEN);
    }
    if (!rc)
        rc = expect_one_order(out, (const char(*)[MC_ID_LEN])ids, paths, err);
    if (!rc)
        mc_joint_perm_set_ids(out, (const char(*)[MC_ID_LEN])ids);
    free(ids);
    return rc;
}
