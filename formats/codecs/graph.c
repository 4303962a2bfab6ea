/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph as a MessagePack map, and back from one that a stranger may have written. Unknown keys
 * are refused, because a key that is not understood (a dilation, say) changes what is computed. */
#include "formats/codecs/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- packing -------------------------------------------------------------------------------- */

static void pack_floats(struct mc_pack *out, const char *key, const float *v, int n)
{
    mc_pack_str(out, key);
    mc_pack_array(out, (size_t)n);
    for (int i = 0; i < n; i++)
        mc_pack_f32(out, v[i]);
}

static void pack_pair(struct mc_pack *out, const char *key, int a, int b)
{
    mc_pack_str(out, key);
    mc_pack_array(out, 2);
    mc_pack_i64(out, a);
    mc_pack_i64(out, b);
}

static void pack_int(struct mc_pack *out, const char *key, int v)
{
    mc_pack_str(out, key);
    mc_pack_i64(out, v);
}

static void pack_flag(struct mc_pack *out, const char *key, int v)
{
    mc_pack_str(out, key);
    mc_pack_bool(out, v != 0);
}

static void pack_number(struct mc_pack *out, const char *key, float v)
{
    mc_pack_str(out, key);
    mc_pack_f32(out, v);
}

static void pack_text(struct mc_pack *out, const char *key, const char *v)
{
    mc_pack_str(out, key);
    mc_pack_str(out, v);
}

static size_t n_settings(const struct mc_node *n)
{
    switch (n->op) {
    case MC_OP_NORMALISE:
        return 2;
    case MC_OP_CONV:
        return n->has_bias ? 8 : 7;
    case MC_OP_LINEAR:
        return n->has_bias ? 4 : 3;
    case MC_OP_BATCHNORM:
    case MC_OP_MAXPOOL:
    case MC_OP_AVGPOOL:
        return 4;
    case MC_OP_LOSS:
        return 2;
    case MC_OP_RELU:
    case MC_OP_ADAPTPOOL:
    case MC_OP_DROPOUT:
        return 1;
    default:
        return 0;
    }
}

static void pack_settings(struct mc_pack *out, const struct mc_graph *g, const struct mc_node *n)
{
    switch (n->op) {
    case MC_OP_NORMALISE:
        pack_floats(out, "mean", n->mean, g->input[0]);
        pack_floats(out, "std", n->std, g->input[0]);
        break;
    case MC_OP_CONV:
        pack_int(out, "out", n->c);
        pack_pair(out, "kernel", n->kernel[0], n->kernel[1]);
        pack_pair(out, "stride", n->stride[0], n->stride[1]);
        pack_pair(out, "pad", n->pad[0], n->pad[1]);
        pack_int(out, "groups", n->groups);
        pack_flag(out, "bias", n->has_bias);
        break;
    case MC_OP_LINEAR:
        pack_int(out, "out", n->c);
        pack_flag(out, "bias", n->has_bias);
        break;
    case MC_OP_BATCHNORM:
        pack_number(out, "eps", n->eps);
        pack_number(out, "momentum", n->momentum);
        break;
    case MC_OP_RELU:
        pack_number(out, "delta", n->delta);
        break;
    case MC_OP_MAXPOOL:
    case MC_OP_AVGPOOL:
        pack_pair(out, "kernel", n->kernel[0], n->kernel[1]);
        pack_pair(out, "stride", n->stride[0], n->stride[1]);
        pack_pair(out, "pad", n->pad[0], n->pad[1]);
        pack_flag(out, "ceil", n->ceil_mode);
        break;
    case MC_OP_ADAPTPOOL:
        pack_pair(out, "size", n->h, n->w);
        break;
    case MC_OP_DROPOUT:
        pack_number(out, "p", n->drop);
        break;
    case MC_OP_LOSS:
        pack_number(out, "weight", n->loss_weight);
        pack_flag(out, "train_only", n->train_only);
        break;
    default:
        break;
    }
    if (n->op == MC_OP_CONV || n->op == MC_OP_LINEAR || n->op == MC_OP_BATCHNORM) {
        pack_text(out, "weight_init", mc_init_name(n->weight_init));
        if (n->has_bias || n->op == MC_OP_BATCHNORM)
            pack_text(out, "bias_init", mc_init_name(n->bias_init));
    }
}

void mc_graph_pack(const struct mc_graph *g, struct mc_pack *out)
{
    mc_pack_map(out, 4);
    pack_text(out, "net", g->net);
    mc_pack_str(out, "input");
    mc_pack_array(out, 3);
    for (int i = 0; i < 3; i++)
        mc_pack_i64(out, g->input[i]);
    pack_int(out, "classes", g->classes);
    mc_pack_str(out, "nodes");
    mc_pack_array(out, (size_t)g->n_nodes);
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        mc_pack_map(out, 3 + n_settings(n));
        pack_text(out, "op", mc_op_name(n->op));
        pack_text(out, "name", n->name);
        mc_pack_str(out, "in");
        mc_pack_array(out, (size_t)n->n_in);
        for (int k = 0; k < n->n_in; k++)
            mc_pack_str(out, g->nodes[n->in[k]].name);
        pack_settings(out, g, n);
    }
}

int mc_graph_id(const struct mc_graph *g, char *id, struct mc_error *err)
{
    struct mc_pack p;
    int rc = 0;

    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    if (p.failed) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    } else {
        XXH128_hash_t h = XXH3_128bits(p.buf.data, p.buf.size);
        snprintf(id, MC_ID_LEN, "%016llx%016llx", (unsigned long long)h.high64,
                 (unsigned long long)h.low64);
    }
    mc_pack_release(&p);
    return rc;
}

/* ---- unpacking ------------------------------------------------------------------------------ */

/* Every key of the map is one of those in `known` (separated by spaces), and comes once. */
static int check_keys(const msgpack_object *map, const char *known, struct mc_error *err)
{
    unsigned seen = 0;

    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object *key = &map->via.map.ptr[i].key;
        const char *at = known;
        size_t len = 0;
        int bit = 0;
        if (key->type != MSGPACK_OBJECT_STR)
            return mc_fail(err, MC_EINPUT, "a key is not text");
        for (;; at += len + 1, bit++) {
            len = strcspn(at, " ");
            if (len == key->via.str.size && !memcmp(at, key->via.str.ptr, len))
                break;
            if (!at[len])
                return mc_fail(err, MC_EINPUT, "key \"%.*s\" is not known here",
                               key->via.str.size > 40 ? 40 : (int)key->via.str.size,
                               key->via.str.ptr);
        }
        if (seen & 1u << bit)
            return mc_fail(err, MC_EINPUT, "key \"%.*s\" comes twice", (int)len, at);
        seen |= 1u << bit;
    }
    return 0;
}

static int get_int(const msgpack_object *map, const char *key, int max, int *out,
                   struct mc_error *err)
{
    uint64_t v = 0;
    int rc = mc_get_u64(map, key, (uint64_t)max, &v, err);

    *out = (int)v;
    return rc;
}

static int get_ints(const msgpack_object *map, const char *key, int n, int max, int *out,
                    struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(map, key, &a, err);

    if (rc)
        return rc;
    if (a->via.array.size != (uint32_t)n)
        return mc_fail(err, MC_EINPUT, "\"%s\": %d numbers are needed", key, n);
    for (int i = 0; i < n; i++) {
        const msgpack_object *v = &a->via.array.ptr[i];
        if (v->type != MSGPACK_OBJECT_POSITIVE_INTEGER || v->via.u64 > (uint64_t)max)
            return mc_fail(err, MC_EINPUT, "\"%s\": not whole numbers from 0 to %d", key, max);
        out[i] = (int)v->via.u64;
    }
    return 0;
}

static int to_float(double v, const char *key, float *out, struct mc_error *err)
{
    if (!(v >= -3e38 && v <= 3e38))
        return mc_fail(err, MC_EINPUT, "\"%s\": %g is out of range", key, v);
    *out = (float)v;
    return 0;
}

static int get_float(const msgpack_object *map, const char *key, float *out, struct mc_error *err)
{
    double v = 0;
    int rc = mc_get_f64(map, key, &v, err);

    return rc ? rc : to_float(v, key, out, err);
}

static int get_floats(const msgpack_object *map, const char *key, int n, float *out,
                      struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(map, key, &a, err);

    if (rc)
        return rc;
    if (a->via.array.size != (uint32_t)n)
        return mc_fail(err, MC_EINPUT, "\"%s\": %d numbers are needed, one a colour channel", key,
                       n);
    for (int i = 0; i < n && !rc; i++) {
        const msgpack_object *v = &a->via.array.ptr[i];
        if (v->type == MSGPACK_OBJECT_FLOAT64 || v->type == MSGPACK_OBJECT_FLOAT32)
            rc = to_float(v->via.f64, key, &out[i], err);
        else if (v->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
            rc = to_float((double)v->via.u64, key, &out[i], err);
        else if (v->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
            rc = to_float((double)v->via.i64, key, &out[i], err);
        else
            rc = mc_fail(err, MC_EINPUT, "\"%s\": not a number", key);
    }
    return rc;
}

/* Absent: uniform in 1/sqrt(fan-in), PyTorch's default; one and zero for batch norm. */
static int get_init(const msgpack_object *map, const char *key, enum mc_init absent,
                    enum mc_init *out, struct mc_error *err)
{
    char name[32] = "";
    int rc = 0, init = 0;

    *out = absent;
    if (!mc_get_opt(map, key))
        return 0;
    if ((rc = mc_get_str(map, key, name, sizeof name, err)))
        return rc;
    if ((init = mc_init_from_name(name)) < 0)
        return mc_fail(err, MC_EINPUT, "\"%s\": \"%s\" is no initialisation", key, name);
    *out = (enum mc_init)init;
    return 0;
}

static const char *keys_of(enum mc_op op)
{
    switch (op) {
    case MC_OP_NORMALISE:
        return "op name in mean std";
    case MC_OP_CONV:
        return "op name in out kernel stride pad groups bias weight_init bias_init";
    case MC_OP_LINEAR:
        return "op name in out bias weight_init bias_init";
    case MC_OP_BATCHNORM:
        return "op name in eps momentum weight_init bias_init";
    case MC_OP_RELU:
        return "op name in delta";
    case MC_OP_MAXPOOL:
    case MC_OP_AVGPOOL:
        return "op name in kernel stride pad ceil";
    case MC_OP_ADAPTPOOL:
        return "op name in size";
    case MC_OP_DROPOUT:
        return "op name in p";
    case MC_OP_LOSS:
        return "op name in weight train_only";
    default:
        return "op name in";
    }
}

static int get_settings(const msgpack_object *map, int channels, struct mc_node *n,
                        struct mc_error *err)
{
    int rc = 0, is_bn = n->op == MC_OP_BATCHNORM, size[2];

    switch (n->op) {
    case MC_OP_NORMALISE:
        rc = get_floats(map, "mean", channels, n->mean, err);
        return rc ? rc : get_floats(map, "std", channels, n->std, err);
    case MC_OP_CONV:
        if ((rc = get_int(map, "out", MC_MAX_CHANNELS, &n->c, err)) ||
            (rc = get_ints(map, "kernel", 2, MC_MAX_SIDE, n->kernel, err)) ||
            (rc = get_ints(map, "stride", 2, MC_MAX_SIDE, n->stride, err)) ||
            (rc = get_ints(map, "pad", 2, MC_MAX_SIDE, n->pad, err)) ||
            (rc = get_int(map, "groups", MC_MAX_CHANNELS, &n->groups, err)) ||
            (rc = mc_get_bool(map, "bias", &n->has_bias, err)))
            return rc;
        break;
    case MC_OP_LINEAR:
        if ((rc = get_int(map, "out", MC_MAX_CHANNELS, &n->c, err)) ||
            (rc = mc_get_bool(map, "bias", &n->has_bias, err)))
            return rc;
        break;
    case MC_OP_BATCHNORM:
        if ((rc = get_float(map, "eps", &n->eps, err)) ||
            (rc = get_float(map, "momentum", &n->momentum, err)))
            return rc;
        break;
    case MC_OP_RELU:
        return mc_get_opt(map, "delta") ? get_float(map, "delta", &n->delta, err) : 0;
    case MC_OP_MAXPOOL:
    case MC_OP_AVGPOOL:
        if ((rc = get_ints(map, "kernel", 2, MC_MAX_SIDE, n->kernel, err)) ||
            (rc = get_ints(map, "stride", 2, MC_MAX_SIDE, n->stride, err)) ||
            (rc = get_ints(map, "pad", 2, MC_MAX_SIDE, n->pad, err)))
            return rc;
        return mc_get_bool(map, "ceil", &n->ceil_mode, err);
    case MC_OP_ADAPTPOOL:
        rc = get_ints(map, "size", 2, MC_MAX_SIDE, size, err);
        n->h = rc ? 0 : size[0];
        n->w = rc ? 0 : size[1];
        return rc;
    case MC_OP_DROPOUT:
        return get_float(map, "p", &n->drop, err);
    case MC_OP_LOSS:
        rc = get_float(map, "weight", &n->loss_weight, err);
        return rc ? rc : mc_get_bool(map, "train_only", &n->train_only, err);
    default:
        return 0;
    }
    rc = get_init(map, "weight_init", is_bn ? MC_INIT_ONE : MC_INIT_UNIFORM_FAN_IN, &n->weight_init,
                  err);
    return rc ? rc
              : get_init(map, "bias_init", is_bn ? MC_INIT_ZERO : MC_INIT_UNIFORM_FAN_IN,
                         &n->bias_init, err);
}

static int get_inputs(const struct mc_graph *g, const msgpack_object *map, struct mc_node *n,
                      struct mc_error *err)
{
    const msgpack_object *a = NULL;
    int rc = mc_get_array(map, "in", &a, err);

    if (rc)
        return rc;
    if (a->via.array.size > MC_MAX_INPUTS)
        return mc_fail(err, MC_EINPUT, "%u inputs are more than %d", a->via.array.size,
                       MC_MAX_INPUTS);
    for (uint32_t i = 0; i < a->via.array.size; i++) {
        const msgpack_object *v = &a->via.array.ptr[i];
        char name[MC_MAX_NODE_NAME] = "";
        if (v->type != MSGPACK_OBJECT_STR || v->via.str.size >= sizeof name ||
            memchr(v->via.str.ptr, 0, v->via.str.size))
            return mc_fail(err, MC_EINPUT, "input %u is no node's name", i);
        memcpy(name, v->via.str.ptr, v->via.str.size);
        n->in[i] = mc_graph_find(g, name);
        if (n->in[i] < 0)
            return mc_fail(err, MC_EINPUT, "input \"%s\" is no earlier node", name);
    }
    n->n_in = (int)a->via.array.size;
    return 0;
}

static int unpack_node(struct mc_graph *g, const msgpack_object *map, struct mc_error *err)
{
    struct mc_node n = {0};
    char name[MC_MAX_NODE_NAME] = "", op[32] = "", what[MC_MAX_NODE_NAME + 16];
    int rc = 0, found = 0;

    if (map->type != MSGPACK_OBJECT_MAP)
        return mc_fail(err, MC_EINPUT, "node %d: not a map", g->n_nodes);
    snprintf(what, sizeof what, "node %d", g->n_nodes);
    if ((rc = mc_get_str(map, "name", name, sizeof name, err)))
        goto out;
    snprintf(what, sizeof what, "node \"%s\"", name);
    if ((rc = mc_get_str(map, "op", op, sizeof op, err)))
        goto out;
    if ((found = mc_op_from_name(op)) < 0) {
        rc = mc_fail(err, MC_EINPUT, "op \"%s\" is not known", op);
        goto out;
    }
    n.op = (enum mc_op)found;
    if (n.op == MC_OP_NORMALISE) {
        n.c = g->input[0];
        n.h = g->input[1];
        n.w = g->input[2];
    }
    if ((rc = check_keys(map, keys_of(n.op), err)) || (rc = get_inputs(g, map, &n, err)))
        goto out;
    rc = get_settings(map, g->input[0], &n, err);
out:
    if (rc)
        return mc_fail_in(err, what);
    mc_graph_node(g, name, &n); /* its errors are kept in g */
    return 0;
}

int mc_graph_unpack(struct mc_graph **out, const msgpack_object *map, struct mc_error *err)
{
    const msgpack_object *nodes = NULL;
    struct mc_graph *g = NULL;
    int rc = 0;

    *out = NULL;
    if (map->type != MSGPACK_OBJECT_MAP)
        return mc_fail(err, MC_EINPUT, "graph: not a map");
    g = calloc(1, sizeof *g);
    if (!g)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    g->logits = -1;
    if ((rc = check_keys(map, "net input classes nodes", err)) ||
        (mc_get_opt(map, "net") && (rc = mc_get_str(map, "net", g->net, sizeof g->net, err))) ||
        (rc = get_ints(map, "input", 3, MC_MAX_SIDE, g->input, err)) ||
        (rc = get_int(map, "classes", MC_MAX_CLASSES, &g->classes, err)) ||
        (rc = mc_get_array(map, "nodes", &nodes, err)))
        goto out;
    if (g->input[0] < 1 || g->input[0] > MC_MAX_CHANNELS_IN || g->classes < 2) {
        rc = mc_fail(err, MC_EINPUT, "%d colour channels and %d classes cannot be", g->input[0],
                     g->classes);
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
        return mc_fail_in(err, "graph");
    }
    *out = g;
    return 0;
}
