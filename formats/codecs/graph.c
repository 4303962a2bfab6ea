/* SPDX-License-Identifier: Apache-2.0
 *
 * Pack a graph as a MessagePack map, and unpack one that may be hostile. Unknown keys are refused:
 * a key that is not understood (a dilation, say) changes the computation. */
#include "formats/codecs/graph.h"

#include "formats/stream/frame.h"
#include "libcommon/base/alloc.h"
#include "libcommon/graph/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct mc_field
    INPUT = {"input", MC_FIELD_INT, MC_FIELD_IMAGE,
             .offset = offsetof(struct mc_graph, input), 1, MC_MAX_SIDE},
    CLASSES = {"classes", MC_FIELD_INT, MC_FIELD_ONE,
               .offset = offsetof(struct mc_graph, classes), 2, MC_MAX_CLASSES};
/* clang-format on */

/* ---- packing -------------------------------------------------------------------------------- */

static void pack_field(struct mc_pack *out, const struct mc_field *f, const void *base,
                       int channels)
{
    const int n = mc_field_count(f, channels);

    mc_pack_str(out, f->key);
    if (f->list != MC_FIELD_ONE)
        mc_pack_array(out, (size_t)n);
    for (int i = 0; i < n; i++) {
        const double v = mc_field_get(f, base, i);
        if (f->type == MC_FIELD_INT)
            mc_pack_i64(out, (int64_t)v);
        else if (f->type == MC_FIELD_FLAG)
            mc_pack_bool(out, v != 0);
        else if (f->type == MC_FIELD_FLOAT)
            mc_pack_f32(out, (float)v);
        else
            mc_pack_str(out, mc_init_name((enum mc_init)v));
    }
}

/* Pack a node's settings to `out` unless it is NULL. Returns their number. */
static size_t pack_settings(struct mc_pack *out, const struct mc_node *n)
{
    size_t count = 0;

    for (const struct mc_field *f = NULL; (f = mc_node_field(n->op, f));) {
        if (f->with_bias && !n->has_bias)
            continue;
        count++;
        if (out)
            pack_field(out, f, n, n->c);
    }
    return count;
}

void mc_graph_pack(const struct mc_graph *g, struct mc_pack *out)
{
    mc_pack_map(out, 4);
    mc_put_str(out, "net", g->net);
    pack_field(out, &INPUT, g, 0);
    pack_field(out, &CLASSES, g, 0);
    mc_put_array(out, "nodes", (size_t)g->n_nodes);
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        mc_pack_map(out, 3 + pack_settings(NULL, n));
        mc_put_str(out, "op", mc_op_name(n->op));
        mc_put_str(out, "name", n->name);
        mc_put_array(out, "in", (size_t)n->n_in);
        for (int k = 0; k < n->n_in; k++)
            mc_pack_str(out, g->nodes[n->in[k]].name);
        pack_settings(out, n);
    }
}

int mc_graph_id(const struct mc_graph *g, char *id, struct mc_error *err)
{
    struct mc_pack p;
    int rc = 0;

    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    if (p.failed)
        rc = mc_no_memory(err);
    else
        mc_hash_id(XXH3_128bits(p.buf.data, p.buf.size), id);
    mc_pack_release(&p);
    return rc;
}

/* ---- unpacking ------------------------------------------------------------------------------ */

/* Check that every key of the map is one of the n known keys and occurs once. */
static int check_keys(const msgpack_object *map, const char *const *known, int n,
                      struct mc_error *err)
{
    unsigned seen = 0;

    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object *key = &map->via.map.ptr[i].key;
        int k = 0;
        if (key->type != MSGPACK_OBJECT_STR)
            return mc_fail(err, MC_EINPUT, "a key is not a string");
        while (k < n && !mc_is_str(key, known[k]))
            k++;
        if (k == n)
            return mc_fail(err, MC_EINPUT, "unknown key \"%.*s\"",
                           key->via.str.size > 40 ? 40 : (int)key->via.str.size, key->via.str.ptr);
        if (seen & 1u << k)
            return mc_fail(err, MC_EINPUT, "key \"%s\" occurs twice", known[k]);
        seen |= 1u << k;
    }
    return 0;
}

static int check_node_keys(const msgpack_object *map, enum mc_op op, struct mc_error *err)
{
    const char *known[32] = {"op", "name", "in"};
    int n = 3;

    for (const struct mc_field *f = NULL; (f = mc_node_field(op, f));)
        known[n++] = f->key;
    return check_keys(map, known, n, err);
}

/* The value as a number. NAN if it has another type. */
static double number(const msgpack_object *o, enum mc_field_type type)
{
    const int any = type == MC_FIELD_INT || type == MC_FIELD_FLOAT;

    if (type == MC_FIELD_INIT)
        for (int i = 0; i < MC_N_INITS; i++)
            if (mc_is_str(o, mc_init_name((enum mc_init)i)))
                return i;
    if (type == MC_FIELD_FLAG && o->type == MSGPACK_OBJECT_BOOLEAN)
        return o->via.boolean;
    if (any && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        return (double)o->via.u64;
    if (any && o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        return (double)o->via.i64;
    if (type == MC_FIELD_FLOAT &&
        (o->type == MSGPACK_OBJECT_FLOAT64 || o->type == MSGPACK_OBJECT_FLOAT32))
        return o->via.f64;
    return NAN;
}

static int get_field(const msgpack_object *map, const struct mc_field *f, void *base, int channels,
                     struct mc_error *err)
{
    const msgpack_object *v = mc_get_opt(map, f->key);
    const int n = mc_field_count(f, channels);
    int rc = 0;

    if (!v)
        return f->optional ? mc_field_set(f, base, 0, f->absent, err)
                           : mc_fail(err, MC_EINPUT, "\"%s\" is missing", f->key);
    if (f->list != MC_FIELD_ONE) {
        if (v->type != MSGPACK_OBJECT_ARRAY || v->via.array.size != (uint32_t)n)
            return mc_field_set(f, base, 0, NAN, err);
        v = v->via.array.ptr;
    }
    for (int i = 0; i < n && !rc; i++)
        rc = mc_field_set(f, base, i, number(&v[i], f->type), err);
    return rc;
}

static int get_inputs(const struct mc_graph *g, const msgpack_object *map, struct mc_node *n,
                      struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(map, "in", &a, err);

    if (rc)
        return rc;
    if (a->via.array.size > MC_MAX_INPUTS)
        return mc_fail(err, MC_EINPUT, "at most %d inputs expected, got %u", MC_MAX_INPUTS,
                       a->via.array.size);
    for (uint32_t i = 0; i < a->via.array.size; i++) {
        const msgpack_object *v = &a->via.array.ptr[i];
        char name[MC_MAX_NODE_NAME] = "";
        if (v->type != MSGPACK_OBJECT_STR || v->via.str.size >= sizeof name ||
            memchr(v->via.str.ptr, 0, v->via.str.size))
            return mc_fail(err, MC_EINPUT, "input %u is not a node's name", i);
        memcpy(name, v->via.str.ptr, v->via.str.size);
        n->in[i] = mc_graph_find(g, name);
        if (n->in[i] < 0)
            return mc_fail(err, MC_EINPUT, "input \"%s\" is not an earlier node", name);
    }
    n->n_in = (int)a->via.array.size;
    return 0;
}

static int unpack_node(struct mc_graph *g, const msgpack_object *map, struct mc_error *err)
{
    struct mc_node n = {0};
    char name[MC_MAX_NODE_NAME] = "", op[32] = "", where[MC_MAX_NODE_NAME + 16];
    int rc = 0, found = 0;

    if (map->type != MSGPACK_OBJECT_MAP)
        return mc_fail(err, MC_EINPUT, "node %d: not a map", g->n_nodes);
    snprintf(where, sizeof where, "node %d", g->n_nodes);
    if ((rc = mc_get_str(map, "name", name, sizeof name, err)))
        goto out;
    snprintf(where, sizeof where, "node \"%s\"", name);
    if ((rc = mc_get_str(map, "op", op, sizeof op, err)))
        goto out;
    if ((found = mc_op_from_name(op)) < 0) {
        rc = mc_fail(err, MC_EINPUT, "unknown op \"%s\" (see formats/codecs/graph.md)", op);
        goto out;
    }
    n.op = (enum mc_op)found;
    if (n.op == MC_OP_NORMALISE) {
        n.c = g->input[0];
        n.h = g->input[1];
        n.w = g->input[2];
    }
    if ((rc = check_node_keys(map, n.op, err)) || (rc = get_inputs(g, map, &n, err)))
        goto out;
    for (const struct mc_field *f = NULL; !rc && (f = mc_node_field(n.op, f));)
        rc = get_field(map, f, &n, g->input[0], err);
out:
    if (rc)
        return mc_fail_in(rc, err, "%s", where);
    mc_graph_node(g, name, &n); /* errors are stored in g */
    return 0;
}

int mc_graph_unpack(struct mc_graph **out, const msgpack_object *map, struct mc_error *err)
{
    static const char *const KNOWN[] = {"net", "input", "classes", "nodes"};
    const msgpack_object *nodes = NULL;
    struct mc_graph *g = NULL;
    int rc = 0;

    *out = NULL;
    if (map->type != MSGPACK_OBJECT_MAP)
        return mc_fail(err, MC_EINPUT, "graph: not a map");
    if ((rc = mc_new(&g, 1, err)))
        return rc;
    g->logits = -1;
    if ((rc = check_keys(map, KNOWN, 4, err)) ||
        (mc_get_opt(map, "net") && (rc = mc_get_str(map, "net", g->net, sizeof g->net, err))) ||
        (rc = get_field(map, &INPUT, g, 0, err)) || (rc = get_field(map, &CLASSES, g, 0, err)) ||
        (rc = mc_get_array(map, "nodes", &nodes, err)))
        goto out;
    if (g->input[0] > MC_MAX_CHANNELS_IN) {
        rc = mc_fail(err, MC_EINPUT, "an image must have 1 to %d channels (got %d)",
                     MC_MAX_CHANNELS_IN, g->input[0]);
        goto out;
    }
    for (uint32_t i = 0; i < nodes->via.array.size && !rc && !g->error.code; i++)
        rc = unpack_node(g, &nodes->via.array.ptr[i], err);
    if (!rc && !nodes->via.array.size)
        rc = mc_fail(err, MC_EINPUT, "no nodes");
    if (!rc)
        rc = mc_graph_finish(g, err);
out:
    if (rc) {
        mc_graph_free(g);
        return mc_fail_in(rc, err, "graph");
    }
    *out = g;
    return 0;
}
