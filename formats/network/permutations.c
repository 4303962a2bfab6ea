/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/network/permutations.h"

#include "formats/network/values.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <string.h>

static int read_from_curve(struct mc_joint_perm *out, struct mc_reader *r, struct mc_history *h,
                           struct mc_error *err)
{
    struct mc_values v;
    int rc = mc_values_open(&v, "curve", (struct mc_stream){.reader = r, .declared = 1}, h, err);

    if (!rc)
        rc = mc_values_end(&v, err);
    if (!rc && !v.curve.perm)
        rc = mc_fail(err, MC_EINPUT, "%s: the curve has no permutation", mc_reader_name(r));
    if (!rc && !(rc = mc_new(&out->members, 1, err))) {
        out->n_members = 1;
        out->members[0] = *v.curve.perm;
        *v.curve.perm = (struct mc_perm){0};
        mc_history_pair(mc_reader_history(r), out->members[0].ids);
    }
    mc_values_close(&v);
    return rc;
}

int mc_joint_perm_read(struct mc_joint_perm *out, struct mc_stream from, struct mc_history *h,
                       struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_stream_open(&r, from, NULL, NULL, err);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = strcmp(mc_reader_kind(r), "curve") ? mc_joint_perm_read_stream(out, r, h, err)
                                                : read_from_curve(out, r, h, err);
    mc_stream_close(from, r);
    return rc;
}

int mc_perm_read(struct mc_perm *out, struct mc_stream from, const struct mc_symmetry *of,
                 struct mc_history *h, struct mc_error *err)
{
    struct mc_joint_perm j;
    const char *name = from.reader ? mc_reader_name(from.reader) : mc_file_called(from.path);
    int rc = mc_joint_perm_read(&j, from, h, err);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    const size_t g = mc_perm_first_map(&j.members[0]);
    if (g < j.members[0].n_groups && !from.maps)
        rc = mc_fail(err, MC_EINPUT,
                     "%s: group \"%s\" has a matrix (a permutation expected; mc-permute applies "
                     "matrices)",
                     name, j.members[0].groups[g].name);
    if (j.n_members > 1)
        rc = mc_fail(err, MC_EINPUT,
                     "%s: one permutation expected, got a joint set of %zu (mc-permute --member N "
                     "writes one)",
                     name, j.n_members);
    if (!rc && of)
        rc = mc_fail_in(mc_perm_set_nesting(&j.members[0], of, err), err, "%s", name);
    if (!rc) {
        *out = j.members[0];
        j.members[0] = (struct mc_perm){0};
    }
    mc_joint_perm_release(&j);
    return rc;
}
