/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/matrices.h"

#include "formats/codecs/groups.h"
#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 65536
#define MAX_UNITS (1u << 22) /* so that a row of float64 fits in one record */

struct entry {
    struct mc_group group;
    size_t taps;
};
static const struct mc_key group_keys[] = {
    MC_KEY(struct entry, group.name, "name", MC_KEY_TEXT, 0),
    MC_KEY(struct entry, group.size, "size", MC_KEY_COUNT, MAX_UNITS),
    MC_KEY(struct entry, taps, "taps", MC_KEY_COUNT, UINT32_MAX),
};
static const struct mc_key keys[] = {
    MC_KEY(struct mc_matrices, measure, "measure", MC_KEY_TEXT, 0),
    MC_KEY(struct mc_matrices, place, "at", MC_KEY_TEXT, 0),
};

void mc_matrices_release(struct mc_matrices *m)
{
    for (size_t k = 0; m->matrices && k < m->n_groups; k++) {
        free(m->matrices[k].value);
        free(m->matrices[k].dead_a);
        free(m->matrices[k].dead_b);
    }
    free(m->matrices);
    free(m->groups);
    memset(m, 0, sizeof *m);
}

int mc_matrices_alloc(struct mc_matrices *m, size_t n_groups, struct mc_error *err)
{
    int rc = mc_new(&m->groups, n_groups, err);

    m->n_groups = n_groups;
    return rc ? rc : mc_new(&m->matrices, n_groups, err);
}

static int get_dead(const msgpack_object *group, const char *key, size_t size, int32_t **out,
                    size_t *n, struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(group, key, &a, err);

    if (rc)
        return rc;
    if (a->via.array.size > size)
        return mc_fail(err, MC_EINPUT, "\"%s\" must list at most %zu units (got %u)", key, size,
                       a->via.array.size);
    if ((rc = mc_new(out, a->via.array.size, err)))
        return rc;
    for (size_t i = 0; i < a->via.array.size; i++) {
        const msgpack_object *o = &a->via.array.ptr[i];
        if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 >= size ||
            (i && o->via.u64 <= (uint64_t)(*out)[i - 1]))
            return mc_fail(err, MC_EINPUT, "\"%s\" is not an ascending list of units", key);
        (*out)[i] = (int32_t)o->via.u64;
    }
    *n = a->via.array.size;
    return 0;
}

static int get_group(struct mc_matrices *m, size_t k, const msgpack_object *o, struct mc_error *err)
{
    struct entry entry = {.taps = 0};
    int rc = mc_keys_unpack(o, group_keys, 3, &entry, err);

    if (rc)
        return rc;
    if (!entry.group.name[0] || !entry.group.size)
        return mc_fail(err, MC_EINPUT, "a group has no name or no units");
    m->groups[k] = entry.group;
    m->matrices[k].taps = entry.taps;
    return mc_group_options_unpack(&m->groups[k], m->n_groups, o, "allows", err);
}

static int get_dead_units(struct mc_matrices *m, size_t k, const msgpack_object *o,
                          struct mc_error *err)
{
    struct mc_matrix *x = &m->matrices[k];
    int rc = x->n > MAX_UNITS ? mc_fail(err, MC_EINPUT, "group %s: too many units (%zu)",
                                        m->groups[k].name, x->n)
                              : get_dead(o, "dead_a", x->n, &x->dead_a, &x->n_dead_a, err);

    return rc ? rc : get_dead(o, "dead_b", x->n, &x->dead_b, &x->n_dead_b, err);
}

int mc_matrices_nest(struct mc_matrices *m, struct mc_error *err)
{
    int rc = mc_groups_check(m->groups, m->n_groups, err);

    if (rc || (rc = mc_groups_check_depth(m->groups, m->n_groups, err)))
        return rc;
    for (size_t k = 0; k < m->n_groups; k++) {
        m->matrices[k].n = mc_group_tap_units(m->groups, k);
        if (mc_group_is_nested(&m->groups[k]))
            m->matrices[m->groups[k].outer].holds += m->groups[k].size;
    }
    for (size_t k = 0; k < m->n_groups; k++)
        if (m->matrices[k].holds)
            m->matrices[k].n = 0;
    return 0;
}

static int get_meta(struct mc_matrices *m, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *groups = NULL;
    int rc = 0;

    if ((rc = mc_keys_unpack(meta, keys, 2, m, err)) ||
        (rc = mc_get_array(meta, "groups", &groups, err)))
        return rc;
    if (strcmp(m->place, "post") && strcmp(m->place, "pre"))
        return mc_fail(err, MC_EINPUT, "\"at\" must be post or pre (got \"%s\")", m->place);
    if (groups->via.array.size > MAX_GROUPS)
        return mc_fail(err, MC_EINPUT, "more than %d groups", MAX_GROUPS);
    if ((rc = mc_matrices_alloc(m, groups->via.array.size, err)))
        return rc;
    for (size_t k = 0; k < m->n_groups && !rc; k++)
        rc = get_group(m, k, &groups->via.array.ptr[k], err);
    if (!rc)
        rc = mc_matrices_nest(m, err);
    for (size_t k = 0; k < m->n_groups && !rc; k++)
        rc = get_dead_units(m, k, &groups->via.array.ptr[k], err);
    return rc;
}

static void groups_layout(struct mc_layout *l, const struct mc_matrices *m)
{
    for (size_t k = 0; k < m->n_groups; k++) {
        const uint64_t n = m->matrices[k].n;
        const struct mc_tensor t =
            mc_tensor_make(m->groups[k].name, MC_F64, 2, (const uint64_t[]){n, n});
        if (n)
            mc_layout_add(l, &t, &m->matrices[k].value);
    }
}

/* Measures with a limited range. */
static const struct range {
    const char *measure;
    double min, max;
    const char *text;
} ranges[] = {{"correlation", -1, 1, "a correlation is from -1 to 1"},
              {"l2", -INFINITY, 0, "l2 is a negative squared distance, at most 0"}};

static const struct range *range_of(const char *measure)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!strcmp(measure, ranges[i].measure))
            return &ranges[i];
    return NULL;
}

static int check_values(const struct mc_matrices *m, const char *file, struct mc_error *err)
{
    const struct range *range = range_of(m->measure);
    int rc = 0;

    for (size_t k = 0; k < m->n_groups && !rc; k++) {
        const char *name = m->groups[k].name;
        const size_t n = m->matrices[k].n;
        const double *value = m->matrices[k].value;
        rc = n ? mc_finite(MC_F64, value, n * n, file, name, err) : 0;
        for (size_t i = 0; range && i < n * n && !rc; i++)
            if (value[i] < range->min || value[i] > range->max)
                rc = mc_fail(err, MC_EINPUT, "%s%s\"%s\" holds %.9g (%s)", file ? file : "",
                             file ? ": " : "", name, value[i], range->text);
    }
    return rc;
}

/* Check that a dead unit has value 0 with every other. The measure l2 has no dead units. */
static int check_dead(const struct mc_matrices *m, const char *file, struct mc_error *err)
{
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix *g = &m->matrices[k];
        const char *name = m->groups[k].name;
        const size_t n = g->n, dead = g->n_dead_a + g->n_dead_b;
        if (dead && !strcmp(m->measure, "l2"))
            return mc_fail(err, MC_EINPUT, "%s: \"%s\" lists dead units, which l2 does not have",
                           file, name);
        for (size_t i = 0; i < dead; i++) {
            const int of_a = i < g->n_dead_a;
            const size_t unit = (size_t)(of_a ? g->dead_a[i] : g->dead_b[i - g->n_dead_a]);
            for (size_t j = 0; j < n; j++)
                if (g->value[of_a ? unit * n + j : j * n + unit] != 0)
                    return mc_fail(err, MC_EINPUT,
                                   "%s: \"%s\": unit %zu is in \"%s\" but has values", file, name,
                                   unit, of_a ? "dead_a" : "dead_b");
        }
    }
    return 0;
}

int mc_matrices_read(struct mc_matrices *out, struct mc_stream from, struct mc_history *h,
                     struct mc_error *err)
{
    struct mc_layout l = {0};
    struct mc_reader *r = NULL;
    int rc = mc_stream_open(&r, from, "matrices", h, err);

    memset(out, 0, sizeof *out);
    if (!rc &&
        !(rc = mc_fail_in(get_meta(out, mc_reader_meta(r), err), err, "%s", mc_reader_name(r)))) {
        groups_layout(&l, out);
        if (!(rc = mc_layout_read(&l, r, err)) && !(rc = check_dead(out, mc_reader_name(r), err)))
            rc = check_values(out, mc_reader_name(r), err);
    }
    if (rc)
        mc_matrices_release(out);
    mc_stream_close(from, r);
    return rc;
}

static void pack_dead(struct mc_pack *p, const char *key, const int32_t *dead, size_t n)
{
    mc_put_array(p, key, n);
    for (size_t i = 0; i < n; i++)
        mc_pack_u64(p, (uint64_t)dead[i]);
}

int mc_matrices_write(const struct mc_matrices *m, const char *path, const struct mc_history *h,
                      struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = mc_not_input(check_values(m, NULL, err), err);

    if (rc)
        return rc;
    mc_layout_meta(&l, "matrices", 3);
    mc_keys_pack(&l.meta, keys, 2, m);
    mc_put_array(&l.meta, "groups", m->n_groups);
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix *g = &m->matrices[k];
        const struct entry entry = {m->groups[k], g->taps};
        mc_pack_map(&l.meta, 5 + MC_GROUP_OPTIONS(&m->groups[k]));
        mc_keys_pack(&l.meta, group_keys, 3, &entry);
        pack_dead(&l.meta, "dead_a", g->dead_a, g->n_dead_a);
        pack_dead(&l.meta, "dead_b", g->dead_b, g->n_dead_b);
        mc_group_options_pack(&l.meta, &m->groups[k], "allows");
    }
    groups_layout(&l, m);
    return mc_layout_write(&l, path, h, err);
}
