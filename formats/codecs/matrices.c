/* SPDX-License-Identifier: Apache-2.0
 *
 * The codec of matrices streams. */
#include "formats/codecs/matrices.h"

#include "formats/codecs/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 65536
#define MAX_UNITS (1u << 22) /* a row of float64 is then one record at most */

void mc_matrices_release(struct mc_matrices *m)
{
    for (size_t k = 0; m->groups && k < m->n_groups; k++) {
        free(m->groups[k].value);
        free(m->groups[k].dead_a);
        free(m->groups[k].dead_b);
    }
    free(m->groups);
    memset(m, 0, sizeof *m);
}

static int get_dead(const msgpack_object *group, const char *key, size_t size, int32_t **out,
                    size_t *n, struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(group, key, &a, err);

    if (rc)
        return rc;
    if (a->via.array.size > size)
        return mc_fail(err, MC_EINPUT, "\"%s\" lists %u of %zu units", key, a->via.array.size,
                       size);
    if (!(*out = calloc(a->via.array.size + (size_t)1, sizeof **out)))
        return mc_no_memory(err);
    for (size_t i = 0; i < a->via.array.size; i++) {
        const msgpack_object *o = &a->via.array.ptr[i];
        if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 >= size ||
            (i && o->via.u64 <= (uint64_t)(*out)[i - 1]))
            return mc_fail(err, MC_EINPUT, "\"%s\" is no ascending list of units", key);
        (*out)[i] = (int32_t)o->via.u64;
    }
    *n = a->via.array.size;
    return 0;
}

static int get_group(struct mc_matrix_group *g, const msgpack_object *o, struct mc_error *err)
{
    uint64_t size = 0, taps = 0;
    int rc = 0;

    if ((rc = mc_get_str(o, "name", g->name, sizeof g->name, err)) ||
        (rc = mc_get_u64(o, "size", MAX_UNITS, &size, err)) ||
        (rc = mc_get_u64(o, "taps", UINT32_MAX, &taps, err)))
        return rc;
    if (!g->name[0] || !size)
        return mc_fail(err, MC_EINPUT, "a group has no name or no units");
    g->size = (size_t)size;
    g->taps = (size_t)taps;
    if ((rc = get_dead(o, "dead_a", g->size, &g->dead_a, &g->n_dead_a, err)))
        return rc;
    return get_dead(o, "dead_b", g->size, &g->dead_b, &g->n_dead_b, err);
}

static int get_meta(struct mc_matrices *m, const msgpack_object *meta, struct mc_error *err)
{
    const msgpack_object *groups = NULL;
    int rc = 0;

    if ((rc = mc_get_str(meta, "measure", m->measure, sizeof m->measure, err)) ||
        (rc = mc_get_str(meta, "at", m->at, sizeof m->at, err)) ||
        (rc = mc_get_array(meta, "groups", &groups, err)))
        return rc;
    if (groups->via.array.size > MAX_GROUPS)
        return mc_fail(err, MC_EINPUT, "more than %d groups", MAX_GROUPS);
    if (!(m->groups = calloc(groups->via.array.size + (size_t)1, sizeof *m->groups)))
        return mc_no_memory(err);
    m->n_groups = groups->via.array.size;
    for (size_t k = 0; k < m->n_groups && !rc; k++)
        rc = get_group(&m->groups[k], &groups->via.array.ptr[k], err);
    return rc;
}

static struct mc_tensor group_tensor(const struct mc_matrix_group *g)
{
    return mc_tensor_make(g->name, MC_F64, 2, (const uint64_t[]){g->size, g->size});
}

int mc_matrices_read(struct mc_matrices *out, const char *path, struct mc_history *h,
                     struct mc_error *err)
{
    struct mc_reader *r = NULL;
    struct mc_tensor *want = NULL;
    void **data = NULL;
    int rc = mc_open_kind(&r, path, "matrices", h, err);

    memset(out, 0, sizeof *out);
    if (rc)
        goto out;
    if ((rc = mc_fail_in(get_meta(out, mc_reader_meta(r), err), err, "%s", mc_reader_name(r))))
        goto out;
    if (!(want = calloc(out->n_groups + 1, sizeof *want))) {
        rc = mc_no_memory(err);
        goto out;
    }
    for (size_t k = 0; k < out->n_groups; k++)
        want[k] = group_tensor(&out->groups[k]);
    if ((rc = mc_tensors_read_each(r, want, out->n_groups, &data, err)))
        goto out;
    for (size_t k = 0; k < out->n_groups; k++)
        out->groups[k].value = data[k];
    for (size_t k = 0; k < out->n_groups && !rc; k++) {
        const struct mc_matrix_group *g = &out->groups[k];
        rc = mc_finite_f64(g->value, g->size * g->size, mc_reader_name(r), g->name, err);
    }
out:
    free(data);
    free(want);
    mc_reader_close(r);
    if (rc)
        mc_matrices_release(out);
    return rc;
}

static void pack_dead(struct mc_pack *p, const char *key, const int32_t *dead, size_t n)
{
    mc_pack_str(p, key);
    mc_pack_array(p, n);
    for (size_t i = 0; i < n; i++)
        mc_pack_u64(p, (uint64_t)dead[i]);
}

static void pack_groups(struct mc_pack *meta, const struct mc_matrices *m)
{
    mc_pack_map(meta, 3);
    mc_pack_str(meta, "measure");
    mc_pack_str(meta, m->measure);
    mc_pack_str(meta, "at");
    mc_pack_str(meta, m->at);
    mc_pack_str(meta, "groups");
    mc_pack_array(meta, m->n_groups);
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *g = &m->groups[k];
        mc_pack_map(meta, 5);
        mc_pack_str(meta, "name");
        mc_pack_str(meta, g->name);
        mc_pack_str(meta, "size");
        mc_pack_u64(meta, g->size);
        mc_pack_str(meta, "taps");
        mc_pack_u64(meta, g->taps);
        pack_dead(meta, "dead_a", g->dead_a, g->n_dead_a);
        pack_dead(meta, "dead_b", g->dead_b, g->n_dead_b);
    }
}

int mc_matrices_write(const struct mc_matrices *m, const char *path, const struct mc_history *h,
                      struct mc_error *err)
{
    struct mc_tensor *tensors = calloc(m->n_groups + 1, sizeof *tensors);
    const void **data = calloc(m->n_groups + 1, sizeof *data);
    struct mc_pack meta;
    int rc = 0;

    mc_pack_init(&meta);
    if (!tensors || !data) {
        rc = mc_no_memory(err);
        goto out;
    }
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *g = &m->groups[k];
        if (mc_finite_f64(g->value, g->size * g->size, NULL, g->name, err)) {
            rc = MC_EFAIL; /* not an input's fault */
            if (err)
                err->code = rc;
            goto out;
        }
        tensors[k] = group_tensor(g);
        data[k] = g->value;
    }
    pack_groups(&meta, m);
    rc = mc_tensors_write_each(path, "matrices", &meta, tensors, data, m->n_groups, h, err);
out:
    mc_pack_release(&meta);
    free(data);
    free(tensors);
    return rc;
}
