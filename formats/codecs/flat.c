/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/flat.h"

#include "formats/codecs/groups.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"
#include "libcommon/graph/group_rows.h"

#include <stdlib.h>
#include <string.h>

static int is_variance(const char *name)
{
    static const char suffix[] = ".running_var";
    size_t n = strlen(name), k = sizeof suffix - 1;

    return n >= k && !strcmp(name + n - k, suffix);
}

int mc_flat_check(const struct mc_param *p, enum mc_dtype type, const void *x, size_t n,
                  const char *file, struct mc_error *err)
{
    const char *name = p->tensor.name;
    int rc = mc_finite(type, x, n, file, name, err);

    if (!rc && is_variance(name) && mc_any_below_zero(type, x, n))
        rc = mc_fail(err, MC_EINPUT, "%s%s\"%s\" holds a variance below 0", file ? file : "",
                     file ? ": " : "", name);
    return rc;
}

int mc_flat_finite(const struct mc_param *params, size_t n, const float *flat, const char *file,
                   struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_flat_check(&params[i], MC_F32, flat + params[i].offset, params[i].count, file, err);
    return rc;
}

void mc_flat_pack_meta(struct mc_pack *p, const struct mc_graph *g, const char *dataset)
{
    mc_put_str(p, "net", g->net);
    mc_put_str(p, "dataset", dataset);
    if (g->rows) {
        mc_put_str(p, "symmetry", g->rows);
        return;
    }
    mc_pack_str(p, "graph");
    mc_graph_pack(g, p);
}

static int is_parameter_type(enum mc_dtype dtype)
{
    return dtype == MC_F32 || mc_is_narrow(dtype);
}

/* Make the network of a stream without a graph, from its tensors with the prefix and its rows. */
static int unpack_declared(struct mc_graph **g, const char *net, const msgpack_object *rows,
                           const struct mc_reader *r, const char *prefix, struct mc_error *err)
{
    const size_t all = mc_reader_n_tensors(r), skip = strlen(prefix);
    struct mc_tensor *tensors = NULL;
    size_t n = 0;
    int rc = 0;

    if (rows->type != MSGPACK_OBJECT_STR)
        return mc_fail(err, MC_EINPUT, "\"symmetry\" is not a string");
    if ((rc = mc_new(&tensors, all, err)))
        return rc;
    for (size_t i = 0; i < all && !rc; i++) {
        const struct mc_tensor *t = mc_reader_tensor(r, i);
        if (strncmp(t->name, prefix, skip) != 0)
            continue;
        tensors[n] = mc_tensor_make(t->name + skip, MC_F32, t->ndim, t->shape);
        if (!is_parameter_type(t->dtype) || strlen(tensors[n++].name) >= MC_MAX_DECLARED_NAME)
            rc = mc_fail(
                err, MC_EINPUT,
                "tensor \"%s\" must be float32, float16 or bfloat16, with a name of at most "
                "%d bytes",
                t->name, MC_MAX_DECLARED_NAME - 1);
    }
    if (!rc)
        rc = mc_fail_in(
            mc_graph_declare(g, net, tensors, n, rows->via.str.ptr, rows->via.str.size, err), err,
            "symmetry");
    free(tensors);
    if (!rc && (strlen((*g)->rows) != rows->via.str.size ||
                memcmp((*g)->rows, rows->via.str.ptr, rows->via.str.size) != 0)) {
        rc = mc_fail(err, MC_EINPUT,
                     "\"symmetry\" has comments, empty lines or a line without a newline");
        mc_graph_free(*g);
        *g = NULL;
    }
    return rc;
}

int mc_flat_unpack_meta(struct mc_graph **g, char *dataset, size_t size, const struct mc_reader *r,
                        const char *prefix, int any, struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r), *map = NULL;
    const msgpack_object *rows = mc_get_opt(meta, "symmetry");
    char net[sizeof(*g)->net];
    int rc = 0;

    *g = NULL;
    if (rows && mc_get_opt(meta, "graph"))
        rc = mc_fail(err, MC_EINPUT, "has both a \"graph\" and a \"symmetry\"");
    else if (rows && !any)
        rc = mc_fail(err, MC_EINPUT,
                     "a network with a graph is required (see docs/guides/any-module.md)");
    else if (!(rc = mc_get_str(meta, "net", net, sizeof net, err)) &&
             !(rc = mc_get_str(meta, "dataset", dataset, size, err)))
        rc = rows ? unpack_declared(g, net, rows, r, prefix, err)
                  : mc_get_map(meta, "graph", &map, err);
    if (map)
        rc = mc_graph_unpack(g, map, err);
    if (rc)
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    memcpy((*g)->net, net, sizeof net);
    return 0;
}

/* Add the tensors of the vectors, then of the permutation, which may be NULL. */
static void all_tensors(struct mc_layout *l, const struct mc_flat *f, size_t n_flat,
                        const struct mc_perm *perm)
{
    for (size_t i = 0; i < n_flat; i++) {
        mc_layout_slab(l, f[i].data, f[i].floats * sizeof(float));
        for (size_t j = 0; j < f[i].n; j++) {
            const struct mc_param *p = &f[i].params[j];
            struct mc_tensor t = p->tensor;
            /* a node's name leaves room for the longest prefix */
            mc_tensor_prefix(&t, f[i].prefix, p->tensor.name);
            if (f[i].types)
                t.dtype = f[i].types[j];
            mc_layout_floats(l, &t, p->offset * sizeof(float));
        }
    }
    mc_perm_tensors(perm, "permutation/", l);
}

static int check_values(const struct mc_flat *f, size_t n_flat, const char *file,
                        struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n_flat && !rc; i++)
        rc = mc_flat_finite(f[i].params, f[i].n, *f[i].data, file, err);
    return rc;
}

int mc_flat_layout(struct mc_layout *l, const struct mc_reader *r, const struct mc_flat *f,
                   size_t n_flat, const struct mc_perm *perm, struct mc_error *err)
{
    size_t n = perm ? perm->n_groups : 0;
    int rc = 0;

    for (size_t i = 0; i < n_flat; i++)
        n += f[i].n;
    if ((rc = mc_expect_count(r, n, err)))
        return rc;
    for (size_t i = 0, index = 0; i < n_flat; i++)
        for (size_t j = 0; j < f[i].n; j++) {
            const enum mc_dtype dtype = mc_reader_tensor(r, index++)->dtype;
            f[i].types[j] = is_parameter_type(dtype) ? dtype : MC_F32;
        }
    all_tensors(l, f, n_flat, perm);
    return mc_layout_expect(l, r, err);
}

int mc_flat_read(struct mc_reader *r, const struct mc_flat *f, size_t n_flat, struct mc_perm *perm,
                 struct mc_error *err)
{
    struct mc_layout l = {0};
    int rc = mc_flat_layout(&l, r, f, n_flat, perm, err);

    if (rc)
        mc_layout_release(&l);
    if (rc || (rc = mc_layout_read(&l, r, err)) ||
        (rc = check_values(f, n_flat, mc_reader_name(r), err)) || !perm)
        return rc;
    return mc_fail_in(mc_perm_check(perm, err), err, "%s", mc_reader_name(r));
}

int mc_flat_write(struct mc_layout *l, const char *path, const struct mc_flat *f, size_t n_flat,
                  const struct mc_perm *perm, const struct mc_history *h, struct mc_error *err)
{
    int rc = mc_not_input(check_values(f, n_flat, NULL, err), err);

    if (rc) {
        mc_layout_release(l);
        return rc;
    }
    all_tensors(l, f, n_flat, perm);
    return mc_layout_write(l, path, h, err);
}

int mc_flat_open(struct mc_writer **w, struct mc_layout *l, const char *path,
                 const struct mc_flat *f, size_t n_flat, const struct mc_perm *perm,
                 const struct mc_history *h, struct mc_error *err)
{
    all_tensors(l, f, n_flat, perm);
    int rc = mc_layout_open(w, l, path, h, err);

    mc_layout_release(l);
    return rc;
}
