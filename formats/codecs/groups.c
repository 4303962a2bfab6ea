/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/groups.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/nesting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 65536
#define MAX_UNITS (1u << 24)
#define MAX_TAPS MAX_GROUPS
#define MAX_SAMPLES ((uint64_t)1 << 56)

/* ---- groups ---- */

/* An entry of the key "groups". Without an assignment it has only the first two keys. */
struct group_entry {
    struct mc_group group;
    struct mc_assignment found;
};

#define GROUP(member, key, type, max) MC_KEY(struct group_entry, member, key, type, max)
static const struct mc_key group_keys[] = {
    GROUP(group.name, "name", MC_KEY_TEXT, 0),
    GROUP(group.size, "size", MC_KEY_COUNT, MAX_UNITS),
    GROUP(found.value, "value", MC_KEY_F64, 0),
    GROUP(found.bound, "bound", MC_KEY_F64, 0),
    GROUP(found.gap, "gap", MC_KEY_F64, 0),
    GROUP(found.n_ties, "ties", MC_KEY_COUNT, MAX_UNITS),
};
#define N_GROUP_KEYS (sizeof group_keys / sizeof *group_keys)

void mc_perm_pack_groups(const struct mc_perm *p, const struct mc_assignment *info,
                         const char *allows_key, struct mc_pack *out)
{
    mc_put_array(out, "groups", p->n_groups);
    for (size_t k = 0; k < p->n_groups; k++) {
        const size_t n = info && !info[k].kept ? N_GROUP_KEYS : 2;
        struct group_entry entry = {.group = p->groups[k]};
        if (info)
            entry.found = info[k];
        mc_pack_map(out, n + MC_GROUP_OPTIONS(&p->groups[k]));
        mc_keys_pack(out, group_keys, n, &entry);
        mc_group_options_pack(out, &p->groups[k], allows_key);
    }
}

void mc_group_options_pack(struct mc_pack *p, const struct mc_group *g, const char *allows_key)
{
    if (mc_group_is_nested(g)) {
        mc_put_u64(p, "within", g->outer);
        mc_put_u64(p, "unit", g->unit);
    }
    if (g->allows)
        mc_put_str(p, allows_key, mc_allows_names[g->allows]);
}

int mc_group_options_unpack(struct mc_group *g, size_t n_groups, const msgpack_object *map,
                            const char *allows_key, struct mc_error *err)
{
    const msgpack_object *allows = allows_key ? mc_get_opt(map, allows_key) : NULL;
    uint64_t outer = 0, unit = 0;
    int rc = 0;

    g->outer = MC_NO_GROUP;
    if (allows) {
        g->allows = allows->type == MSGPACK_OBJECT_STR
                        ? mc_allows_find(allows->via.str.ptr, allows->via.str.size)
                        : MC_N_ALLOWS;
        if (g->allows == MC_N_ALLOWS || !g->allows)
            return mc_fail(err, MC_EINPUT, "group %s: \"%s\" must be " MC_ALLOWS_LIST, g->name,
                           allows_key);
    }
    if (!mc_get_opt(map, "within") && !mc_get_opt(map, "unit"))
        return 0;
    if (!(rc = mc_get_u64(map, "within", n_groups - 1, &outer, err)))
        rc = mc_get_u64(map, "unit", MAX_UNITS, &unit, err);
    g->outer = (size_t)outer;
    g->unit = (size_t)unit;
    return rc;
}

/* Unpack group k of out. If one key of an assignment is present, all are required. */
static int unpack_group(struct mc_perm *out, size_t k, const msgpack_object *map,
                        const char *allows_key, struct mc_error *err)
{
    struct group_entry entry = {.found.n_ties = 0};
    const struct mc_group *g = &entry.group;
    size_t keys = 2;
    int rc = 0;

    for (size_t i = keys; i < N_GROUP_KEYS; i++)
        if (map->type == MSGPACK_OBJECT_MAP && mc_get_opt(map, group_keys[i].key))
            keys = N_GROUP_KEYS;
    if ((rc = mc_keys_unpack(map, group_keys, keys, &entry, err)))
        return mc_fail_in(rc, err, "a group");
    if (!g->name[0] || !g->size)
        return mc_fail(err, MC_EINPUT, "group %zu has no name or no units", k);
    if (entry.found.n_ties > g->size)
        return mc_fail(err, MC_EINPUT, "group %s: \"ties\" must be at most %zu (got %zu)", g->name,
                       g->size, entry.found.n_ties);
    out->groups[k] = *g;
    return mc_group_options_unpack(&out->groups[k], out->n_groups, map, allows_key, err);
}

int mc_perm_unpack_groups(struct mc_perm *out, const msgpack_object *meta, const char *allows_key,
                          struct mc_error *err)
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
    for (size_t k = 0; k < n && !rc; k++)
        rc = unpack_group(out, k, &groups->via.array.ptr[k], allows_key, err);
    if (!rc)
        rc = mc_groups_check(out->groups, n, err);
    if (!rc && allows_key)
        rc = mc_new(&out->map, n, err);
    if (rc)
        mc_perm_release(out);
    return rc;
}

void mc_perm_tensors(const struct mc_perm *p, const char *prefix, struct mc_layout *out)
{
    for (size_t k = 0; p && k < p->n_groups; k++) {
        const uint64_t K = p->groups[k].size;
        const int matrix = p->groups[k].allows != MC_ALLOWS_PERMUTATION;
        struct mc_tensor t =
            mc_tensor_make("", matrix ? MC_F32 : MC_I32, matrix ? 2 : 1, (const uint64_t[]){K, K});
        mc_tensor_prefix(&t, prefix, p->groups[k].name);
        mc_layout_add(out, &t, matrix ? (const void *)&p->map[k] : &p->perm[k]);
    }
}

/* ---- taps ---- */

static int taps_alloc(struct mc_taps *t, size_t n_groups, size_t n_taps, struct mc_error *err)
{
    int rc = 0;

    *t = (struct mc_taps){.n_groups = n_groups, .n_taps = n_taps};
    if ((rc = mc_new(&t->groups, n_groups, err)) || (rc = mc_new(&t->taps, n_taps, err)))
        mc_taps_release(t);
    return rc;
}

void mc_taps_release(struct mc_taps *t)
{
    free(t->groups);
    free(t->taps);
    memset(t, 0, sizeof *t);
}

int mc_taps_init(struct mc_taps *out, const struct mc_symmetry *s, const struct mc_graph *g,
                 int at_pre, struct mc_error *err)
{
    int rc = taps_alloc(out, s->n_groups, s->n_taps, err);

    if (rc)
        return rc;
    snprintf(out->place, sizeof out->place, "%s", at_pre ? "pre" : "post");
    memcpy(out->groups, s->groups, s->n_groups * sizeof *out->groups);
    for (size_t i = 0; i < s->n_taps; i++) {
        const struct mc_tap *tap = &s->taps[i];
        const struct mc_node *node = &g->nodes[at_pre ? tap->pre : tap->post];
        snprintf(out->taps[i].name, sizeof out->taps[i].name, "%s", node->name);
        out->taps[i].group = (size_t)tap->group;
        out->taps[i].count = tap->count;
    }
    return 0;
}

int mc_taps_copy(struct mc_taps *out, const struct mc_taps *t, struct mc_error *err)
{
    int rc = taps_alloc(out, t->n_groups, t->n_taps, err);

    if (rc)
        return rc;
    memcpy(out->place, t->place, sizeof out->place);
    memcpy(out->groups, t->groups, t->n_groups * sizeof *t->groups);
    memcpy(out->taps, t->taps, t->n_taps * sizeof *t->taps);
    return 0;
}

int mc_taps_same(const struct mc_taps *a, const struct mc_taps *b)
{
    if (strcmp(a->place, b->place) || a->n_groups != b->n_groups || a->n_taps != b->n_taps)
        return 0;
    for (size_t k = 0; k < a->n_groups; k++)
        if (strcmp(a->groups[k].name, b->groups[k].name) ||
            a->groups[k].size != b->groups[k].size || a->groups[k].allows != b->groups[k].allows ||
            !mc_group_same_place(&a->groups[k], &b->groups[k]))
            return 0;
    for (size_t i = 0; i < a->n_taps; i++) {
        const struct mc_tap_info *x = &a->taps[i], *y = &b->taps[i];
        if (strcmp(x->name, y->name) || x->group != y->group || x->start != y->start ||
            x->count != y->count)
            return 0;
    }
    return 1;
}

#define TAP(member, type, max) MC_KEY(struct mc_tap_info, member, #member, type, max)
static const struct mc_key tap_keys[] = {
    TAP(name, MC_KEY_TEXT, MC_MAX_NODE_NAME), TAP(group, MC_KEY_COUNT, MAX_TAPS),
    TAP(start, MC_KEY_COUNT, MAX_UNITS),      TAP(count, MC_KEY_COUNT, MAX_UNITS),
    TAP(samples, MC_KEY_COUNT, MAX_SAMPLES),
};
#define N_TAP_KEYS (sizeof tap_keys / sizeof *tap_keys)

void mc_taps_pack(const struct mc_taps *t, struct mc_pack *p)
{
    const struct mc_perm groups = {.n_groups = t->n_groups, .groups = t->groups};

    mc_put_str(p, "at", t->place);
    mc_perm_pack_groups(&groups, NULL, "allows", p);
    mc_put_array(p, "taps", t->n_taps);
    for (size_t i = 0; i < t->n_taps; i++) {
        mc_pack_map(p, N_TAP_KEYS);
        mc_keys_pack(p, tap_keys, N_TAP_KEYS, &t->taps[i]);
    }
}

static int unpack_tap(struct mc_taps *t, size_t i, const msgpack_object *o, struct mc_error *err)
{
    struct mc_tap_info *tap = &t->taps[i];
    int rc = mc_keys_unpack(o, tap_keys, N_TAP_KEYS, tap, err);

    return rc || (tap->name[0] && tap->count)
               ? rc
               : mc_fail(err, MC_EINPUT, "tap %zu has no name or no units", i);
}

/* Order by group, then by start. */
static int by_place(const void *x, const void *y)
{
    const struct mc_tap_info *a = *(const struct mc_tap_info *const *)x;
    const struct mc_tap_info *b = *(const struct mc_tap_info *const *)y;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Set observable[k] to the number of channels of group k that taps must observe. If groups repeat
 * in every unit of another group, the first observes all. */
static int count_observable(const struct mc_taps *t, size_t *observable, struct mc_error *err)
{
    for (size_t k = 0; k < t->n_groups; k++)
        observable[k] = mc_group_tap_units(t->groups, k);
    for (size_t k = 0; k < t->n_groups; k++)
        if (mc_group_is_nested(&t->groups[k]))
            observable[t->groups[k].outer] = 0;
    return mc_groups_check_depth(t->groups, t->n_groups, err);
}

/* Taps are sorted, so that memory and time do not depend on the sizes, which may be anything. */
int mc_taps_check(const struct mc_taps *t, struct mc_error *err)
{
    const struct mc_tap_info **sorted = NULL;
    size_t position = 0, *observable = NULL;
    int rc = 0;

    if ((rc = mc_new(&sorted, t->n_taps, err)) || (rc = mc_new(&observable, t->n_groups, err)) ||
        (rc = count_observable(t, observable, err)))
        goto out;
    for (size_t i = 0; i < t->n_taps && !rc; i++) {
        const struct mc_tap_info *tap = sorted[i] = &t->taps[i];
        size_t size = tap->group < t->n_groups ? observable[tap->group] : 0;
        if (tap->start > size || tap->count > size - tap->start)
            rc = mc_fail(err, MC_EINPUT, "tap %s: not within a group", tap->name);
    }
    if (!rc)
        qsort(sorted, t->n_taps, sizeof *sorted, by_place);
    for (size_t k = 0; k < t->n_groups && !rc; k++) {
        size_t end = 0;
        for (;
             position < t->n_taps && sorted[position]->group == k && sorted[position]->start <= end;
             position++) {
            const size_t next = sorted[position]->start + sorted[position]->count;
            end = next > end ? next : end;
        }
        if (end < observable[k])
            rc = mc_fail(err, MC_EINPUT, "group %s: no tap observes unit %zu", t->groups[k].name,
                         end);
    }
out:
    free(sorted);
    free(observable);
    return rc;
}

int mc_taps_unpack(struct mc_taps *out, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *taps = NULL;
    struct mc_perm groups;
    char place[sizeof out->place];
    int rc = 0;

    memset(out, 0, sizeof *out);
    if ((rc = mc_get_str(meta, "at", place, sizeof place, err)) ||
        (rc = mc_get_array(meta, "taps", &taps, err)))
        return rc;
    if (strcmp(place, "post") && strcmp(place, "pre"))
        return mc_fail(err, MC_EINPUT, "\"at\" must be post or pre (got \"%s\")", place);
    if (taps->via.array.size > MAX_TAPS)
        return mc_fail(err, MC_EINPUT, "more than %d taps", MAX_TAPS);
    if ((rc = mc_perm_unpack_groups(&groups, meta, "allows", err)))
        return rc;
    if (!(rc = taps_alloc(out, groups.n_groups, taps->via.array.size, err))) {
        memcpy(out->place, place, sizeof place);
        memcpy(out->groups, groups.groups, groups.n_groups * sizeof *groups.groups);
    }
    mc_perm_release(&groups);
    for (size_t i = 0; i < out->n_taps && !rc; i++)
        rc = unpack_tap(out, i, &taps->via.array.ptr[i], err);
    if (!rc)
        rc = mc_taps_check(out, err);
    if (rc)
        mc_taps_release(out);
    return rc;
}
