/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/permutation.h"

#include "formats/codecs/curve.h"
#include "formats/codecs/groups.h"

#include <string.h>

int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info, const char *path,
                  const struct mc_history *h, struct mc_error *err)
{
    struct mc_layout l = {0};

    mc_perm_tensors(p, "", &l);
    mc_layout_meta(&l, "permutation", 1);
    mc_perm_pack_groups(p, info, &l.meta);
    return mc_layout_write(&l, path, h, err);
}

static int read_permutation(struct mc_perm *out, struct mc_reader *r, struct mc_history *h,
                            struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = mc_expect_kind(r, "permutation", h, err);

    if (rc)
        return rc;
    if ((rc = mc_perm_unpack_groups(out, mc_reader_meta(r), err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    mc_perm_tensors(out, "", &l);
    if (!(rc = mc_layout_read(&l, r, err)))
        rc = mc_fail_in(mc_perm_check(out, err), err, "%s", mc_reader_name(r));
    return rc;
}

static int read_from_curve(struct mc_perm *out, struct mc_reader *r, struct mc_history *h,
                           struct mc_error *err)
{
    struct mc_curve c = {0};
    int rc = mc_curve_read(&c, (struct mc_stream){.reader = r, .declared = 1}, h, err);

    if (rc)
        return rc;
    if (c.perm) {
        *out = *c.perm;
        *c.perm = (struct mc_perm){0};
    } else {
        rc = mc_fail(err, MC_EINPUT, "%s: the curve has no permutation", mc_reader_name(r));
    }
    mc_curve_release(&c);
    return rc;
}

int mc_perm_read(struct mc_perm *out, struct mc_stream from, const struct mc_symmetry *of,
                 struct mc_history *h, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_stream_open(&r, from, NULL, NULL, err);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = strcmp(mc_reader_kind(r), "curve") ? read_permutation(out, r, h, err)
                                                : read_from_curve(out, r, h, err);
    if (!rc && of)
        rc = mc_fail_in(mc_perm_fit(out, of, err), err, "%s", mc_reader_name(r));
    if (rc)
        mc_perm_release(out);
    else
        mc_history_pair(mc_reader_history(r), out->ids);
    mc_stream_close(from, r);
    return rc;
}
