/* SPDX-License-Identifier: Apache-2.0
 *
 * The codec of permutation streams, and of permutations in other kinds. */
#include "formats/codecs/permutation.h"

#include "formats/codecs/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 65536
#define MAX_UNITS (1u << 24)

void mc_perm_pack_groups(const struct mc_perm *p, const struct mc_assignment *info,
                         struct mc_pack *out)
{
    mc_pack_array(out, p->n_groups);
    for (size_t k = 0; k < p->n_groups; k++) {
        mc_pack_map(out, info ? 6 : 2);
        mc_pack_str(out, "name");
        mc_pack_str(out, p->names[k]);
        mc_pack_str(out, "size");
        mc_pack_u64(out, p->sizes[k]);
        if (!info)
            continue;
        mc_pack_str(out, "value");
        mc_pack_f64(out, info[k].value);
        mc_pack_str(out, "bound");
        mc_pack_f64(out, info[k].bound);
        mc_pack_str(out, "gap");
        mc_pack_f64(out, info[k].gap);
        mc_pack_str(out, "ties");
        mc_pack_u64(out, info[k].n_ties);
    }
}

int mc_perm_unpack_groups(struct mc_perm *out, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *groups = NULL;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if ((rc = mc_get_array(meta, "groups", &groups, err)))
        return rc;
    size_t n = groups->via.array.size;
    if (n > MAX_GROUPS)
        return mc_fail(err, MC_EINPUT, "more than %d groups", MAX_GROUPS);
    if ((rc = mc_perm_alloc(out, n, err)))
        return rc;
    for (size_t k = 0; k < n && !rc; k++) {
        const msgpack_object *group = &groups->via.array.ptr[k];
        uint64_t size = 0;
        if ((rc = mc_get_str(group, "name", out->names[k], sizeof out->names[k], err)) ||
            (rc = mc_get_u64(group, "size", MAX_UNITS, &size, err)))
            mc_fail_in(rc, err, "a group");
        else if (!out->names[k][0] || !size)
            rc = mc_fail(err, MC_EINPUT, "group %zu has no name or no units", k);
        out->sizes[k] = (size_t)size;
    }
    if (rc)
        mc_perm_release(out);
    return rc;
}

void mc_perm_tensors(const struct mc_perm *p, const char *prefix, struct mc_tensor *out)
{
    for (size_t k = 0; p && k < p->n_groups; k++) {
        out[k] = mc_tensor_make("", MC_I32, 1, (const uint64_t[]){p->sizes[k]});
        size_t used = (size_t)snprintf(out[k].name, sizeof out[k].name, "%s", prefix);
        if (used < sizeof out[k].name)
            snprintf(out[k].name + used, sizeof out[k].name - used, "%s", p->names[k]);
    }
}

int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info, const char *path,
                  const struct mc_history *h, struct mc_error *err)
{
    struct mc_tensor *tensors = calloc(p->n_groups + 1, sizeof *tensors);
    const void **data = calloc(p->n_groups + 1, sizeof *data);
    struct mc_pack meta;
    int rc = 0;

    mc_pack_init(&meta);
    if (!tensors || !data) {
        rc = mc_no_memory(err);
        goto out;
    }
    mc_perm_tensors(p, "", tensors);
    for (size_t k = 0; k < p->n_groups; k++)
        data[k] = p->perm[k];
    mc_pack_map(&meta, 1);
    mc_pack_str(&meta, "groups");
    mc_perm_pack_groups(p, info, &meta);
    rc = mc_tensors_write_each(path, "permutation", &meta, tensors, data, p->n_groups, h, err);
out:
    mc_pack_release(&meta);
    free(data);
    free(tensors);
    return rc;
}

int mc_perm_read_stream(struct mc_perm *out, struct mc_reader *r, struct mc_history *h,
                        struct mc_error *err)
{
    struct mc_tensor *want = NULL;
    void **data = NULL;
    int rc;

    memset(out, 0, sizeof *out);
    if ((rc = mc_reader_expect(r, "permutation", err)))
        return rc;
    if (h)
        mc_history_input(h, r);
    if ((rc = mc_fail_in(mc_perm_unpack_groups(out, mc_reader_meta(r), err), err, "%s",
                         mc_reader_name(r))))
        goto out;
    if (!(want = calloc(out->n_groups + 1, sizeof *want))) {
        rc = mc_no_memory(err);
        goto out;
    }
    mc_perm_tensors(out, "", want);
    if ((rc = mc_tensors_read_each(r, want, out->n_groups, &data, err)))
        goto out;
    for (size_t k = 0; k < out->n_groups; k++)
        out->perm[k] = data[k];
    rc = mc_fail_in(mc_perm_check(out, err), err, "%s", mc_reader_name(r));
out:
    free(data);
    free(want);
    if (rc)
        mc_perm_release(out);
    return rc;
}
