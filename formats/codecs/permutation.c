/* SPDX-License-Identifier: Apache-2.0
 *
 * The codec of permutation streams, and of permutations in other kinds. */
#include "formats/codecs/permutation.h"

#include "formats/codecs/tensors.h"
#include "libcommon/graph/nesting.h"

#include <string.h>

#define GROUP(member, key, type, max) MC_KEY(struct mc_group_entry, member, key, type, max)
const struct mc_key mc_group_keys[MC_GROUP_KEYS] = {
    GROUP(name, "name", MC_KEY_TEXT, 0),
    GROUP(size, "size", MC_KEY_COUNT, MC_MAX_UNITS),
    GROUP(found.value, "value", MC_KEY_F64, 0),
    GROUP(found.bound, "bound", MC_KEY_F64, 0),
    GROUP(found.gap, "gap", MC_KEY_F64, 0),
    GROUP(found.n_ties, "ties", MC_KEY_COUNT, MC_MAX_UNITS),
};

void mc_perm_pack_groups(const struct mc_perm *p, const struct mc_assignment *info,
                         struct mc_pack *out)
{
    const size_t n = info ? MC_GROUP_KEYS : 2, *within = p->within;

    mc_put_array(out, "groups", p->n_groups);
    for (size_t k = 0; k < p->n_groups; k++) {
        struct mc_group_entry group = {.size = p->sizes[k]};
        memcpy(group.name, p->names[k], sizeof group.name);
        if (info)
            group.found = info[k];
        mc_pack_map(out, n + (within && within[k] ? 2 : 0));
        mc_keys_pack(out, mc_group_keys, n, &group);
        if (within && within[k])
            mc_nesting_pack(out, within[k], p->unit[k]);
    }
}

void mc_nesting_pack(struct mc_pack *p, size_t within, size_t unit)
{
    mc_put_u64(p, "within", within - 1);
    mc_put_u64(p, "unit", unit);
}

int mc_nesting_unpack(size_t *within, size_t *unit, size_t n_groups, const msgpack_object *map,
                      struct mc_error *err)
{
    uint64_t at = 0, of = 0;
    int rc = mc_get_u64(map, "within", n_groups - 1, &at, err);

    if (!rc)
        rc = mc_get_u64(map, "unit", MC_MAX_UNITS, &of, err);
    *within = (size_t)at + 1;
    *unit = (size_t)of;
    return rc;
}

/* Group k of out: its name and size; and, where an assignment found it, all of what that says. */
static int unpack_group(struct mc_perm *out, size_t k, const msgpack_object *map,
                        struct mc_error *err)
{
    struct mc_group_entry group = {.size = 0};
    size_t keys = 2;
    int rc = 0;

    for (size_t i = keys; i < MC_GROUP_KEYS; i++)
        if (map->type == MSGPACK_OBJECT_MAP && mc_get_opt(map, mc_group_keys[i].key))
            keys = MC_GROUP_KEYS;
    if ((rc = mc_keys_unpack(map, mc_group_keys, keys, &group, err)))
        return mc_fail_in(rc, err, "a group");
    if (!group.name[0] || !group.size)
        return mc_fail(err, MC_EINPUT, "group %zu has no name or no units", k);
    if (group.found.n_ties > group.size)
        return mc_fail(err, MC_EINPUT, "group %s: %zu ties of %zu units", group.name,
                       group.found.n_ties, group.size);
    memcpy(out->names[k], group.name, sizeof group.name);
    out->sizes[k] = group.size;
    return mc_get_opt(map, "within") || mc_get_opt(map, "unit")
               ? mc_nesting_unpack(&out->within[k], &out->unit[k], out->n_groups, map, err)
               : 0;
}

int mc_perm_unpack_groups(struct mc_perm *out, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *groups = NULL;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if ((rc = mc_get_array(meta, "groups", &groups, err)))
        return rc;
    size_t n = groups->via.array.size;
    if (n > MC_MAX_GROUPS)
        return mc_fail(err, MC_EINPUT, "more than %d groups", MC_MAX_GROUPS);
    if ((rc = mc_perm_alloc(out, n, err)))
        return rc;
    for (size_t k = 0; k < n && !rc; k++)
        rc = unpack_group(out, k, &groups->via.array.ptr[k], err);
    if (!rc)
        rc = mc_perm_check_nesting(out, err);
    if (rc)
        mc_perm_release(out);
    return rc;
}

void mc_perm_tensors(const struct mc_perm *p, const char *prefix, struct mc_layout *out)
{
    for (size_t k = 0; p && k < p->n_groups; k++) {
        struct mc_tensor t = mc_tensor_make("", MC_I32, 1, (const uint64_t[]){p->sizes[k]});
        mc_tensor_prefix(&t, prefix, p->names[k]);
        mc_layout_add(out, &t, &p->perm[k]);
    }
}

int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info, const char *path,
                  const struct mc_history *h, struct mc_error *err)
{
    struct mc_layout l = {0};

    mc_perm_tensors(p, "", &l);
    mc_layout_meta(&l, "permutation", 1);
    mc_perm_pack_groups(p, info, &l.meta);
    return mc_layout_write(&l, path, h, err);
}

int mc_perm_read_stream(struct mc_perm *out, struct mc_reader *r, struct mc_history *h,
                        struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = mc_take_kind(r, "permutation", h, err);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    if ((rc = mc_perm_unpack_groups(out, mc_reader_meta(r), err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    mc_perm_tensors(out, "", &l);
    if (!(rc = mc_layout_read(&l, r, err)))
        rc = mc_fail_in(mc_perm_check(out, err), err, "%s", mc_reader_name(r));
    if (rc)
        mc_perm_release(out);
    return rc;
}
