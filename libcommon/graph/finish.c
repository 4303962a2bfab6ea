/* SPDX-License-Identifier: Apache-2.0
 *
 * Finished graphs: checks, layout of the flat vectors, queries. */
#include "libcommon/graph/op.h"

#include "libcommon/base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const INIT_NAMES[MC_N_INITS] = {
    [MC_INIT_ZERO] = "zero",
    [MC_INIT_ONE] = "one",
    [MC_INIT_XAVIER_NORMAL] = "xavier_normal",
    [MC_INIT_KAIMING_NORMAL_OUT] = "kaiming_normal_out",
    [MC_INIT_UNIFORM_FAN_IN] = "uniform_fan_in",
    [MC_INIT_TRUNCATED_NORMAL_01] = "truncated_normal_01",
};

#define OP_NAME(NAME, name, ...) [MC_OP_##NAME] = #name,
static const char *const OP_NAMES[MC_N_OPS] = {MC_EACH_OP(OP_NAME)};

const char *mc_op_name(enum mc_op op)
{
    return OP_NAMES[op];
}

int mc_op_from_name(const char *name)
{
    for (int i = 0; i < MC_N_OPS; i++)
        if (!strcmp(OP_NAMES[i], name))
            return i;
    return -1;
}

const char *mc_init_name(enum mc_init init)
{
    return INIT_NAMES[init];
}

int mc_graph_find(const struct mc_graph *g, const char *name)
{
    for (int i = g->n_nodes - 1; i >= 0; i--) /* the name is often that of a recent node */
        if (!strcmp(g->nodes[i].name, name))
            return i;
    return -1;
}

void mc_graph_needed(const struct mc_graph *g, int training, unsigned char *needed)
{
    memset(needed, 0, (size_t)g->n_nodes);
    for (int i = g->n_nodes - 1; i >= 0; i--) {
        const struct mc_node *n = &g->nodes[i];
        if (n->op == MC_OP_LOSS)
            needed[i] = training || !n->train_only;
        for (int k = 0; needed[i] && k < n->n_in; k++)
            needed[n->in[k]] = 1;
    }
}

static int check_names(struct mc_graph *g)
{
    const char *twice = NULL;

    for (int i = 0; i < g->n_nodes; i++) {
        const char *name = g->nodes[i].name;
        size_t len = strlen(name);
        if (!len || len >= MC_MAX_NODE_NAME)
            mc_graph_fail(g, "node %d: name must have 1 to %d bytes", i, MC_MAX_NODE_NAME - 1);
        for (size_t k = 0; k < len; k++)
            if ((unsigned char)name[k] <= ' ' || name[k] == 0x7f)
                mc_graph_fail(g, "node \"%s\": name must not contain spaces or control characters",
                              name);
    }
    if (!g->error.code &&
        !mc_duplicate_name(g->nodes->name, (size_t)g->n_nodes, sizeof *g->nodes, &twice,
                           &g->error) &&
        twice)
        mc_graph_fail(g, "two nodes are named \"%s\"", twice);
    return g->error.code;
}

static int check_heads(struct mc_graph *g)
{
    unsigned char *needed = NULL;
    int mains = 0;

    if (mc_new(&needed, (size_t)g->n_nodes, &g->error))
        return g->error.code;
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        if (n->op != MC_OP_LOSS)
            continue;
        if (n->c != g->classes || n->h != 1 || n->w != 1)
            mc_graph_fail(g, "node \"%s\": got %dx%dx%d logits for %d classes", n->name, n->c, n->h,
                          n->w, g->classes);
        if (!n->train_only) {
            g->logits = n->in[0];
            mains++;
        }
    }
    if (mains != 1)
        mc_graph_fail(g, "exactly one loss head must have \"train_only\" false (got %d)", mains);
    mc_graph_needed(g, 1, needed);
    for (int i = 0; i < g->n_nodes; i++)
        if (!needed[i])
            mc_graph_fail(g, "node \"%s\": does not lead to a loss", g->nodes[i].name);
    free(needed);
    return g->error.code;
}

struct layout {
    struct mc_param *p; /* NULL while only counting */
    size_t n, end;
};

/* Append tensor k of a node's list. */
static int add_tensor(struct mc_graph *g, struct layout *l, const struct mc_op_tensors *t, int k,
                      int node)
{
    const struct mc_node *n = &g->nodes[node];
    uint64_t count = 1; /* at most 2^31 times a dimension's 2^28 */

    for (int i = 0; i < t->list[k].ndim && count <= MC_MAX_VECTOR; i++)
        count *= t->list[k].shape[i];
    if (count > MC_MAX_VECTOR)
        return mc_graph_fail(g, "node \"%s\": weight is too large", n->name);
    if (l->p) {
        struct mc_param *p = &l->p[l->n];
        char name[MC_NAME_MAX];
        snprintf(name, sizeof name, "%s%s", n->name, t->list[k].suffix);
        p->tensor = mc_tensor_make(name, MC_F32, t->list[k].ndim, t->list[k].shape);
        p->offset = l->end;
        p->count = (size_t)count;
        p->node = node;
        p->init = t->list[k].init;
        p->fan_in = (size_t)t->fan_in;
        p->fan_out = (size_t)t->fan_out;
        *t->list[k].slot = (struct mc_slot){l->end, (size_t)count};
    }
    l->n++;
    l->end = (l->end + count + 15) / 16 * 16;
    return l->end > MC_MAX_VECTOR
               ? mc_graph_fail(g, "node \"%s\": more than %zu parameters", n->name, MC_MAX_VECTOR)
               : 0;
}

static int lay_out(struct mc_graph *g, struct layout *params, struct layout *stats)
{
    for (int i = 0; i < g->n_nodes; i++) {
        struct mc_op_tensors t = {.fan_in = 1, .fan_out = 1};
        if (mc_ops[g->nodes[i].op]->tensors)
            mc_ops[g->nodes[i].op]->tensors(g, &g->nodes[i], &t);
        for (int k = 0; k < t.n; k++)
            if (add_tensor(g, t.list[k].is_stat ? stats : params, &t, k, i))
                return -1;
    }
    return 0;
}

int mc_graph_finish(struct mc_graph *g, struct mc_error *err)
{
    struct layout params = {0}, stats = {0};

    if (g->error.code || check_names(g) || check_heads(g) || lay_out(g, &params, &stats))
        goto out;
    g->n_params = params.n;
    g->n_stats = stats.n;
    g->P = params.end;
    g->S = stats.end;
    if (mc_new(&g->params, params.n, &g->error) || mc_new(&g->stats, stats.n, &g->error))
        goto out;
    params = (struct layout){.p = g->params};
    stats = (struct layout){.p = g->stats};
    (void)lay_out(g, &params, &stats); /* succeeded above */
out:
    if (g->error.code && err)
        *err = g->error;
    return g->error.code;
}

static void *dup(const void *from, size_t n, size_t size)
{
    void *to = calloc(n ? n : 1, size);

    if (to && n)
        memcpy(to, from, n * size);
    return to;
}

struct mc_graph *mc_graph_copy(const struct mc_graph *g)
{
    struct mc_graph *c = dup(g, 1, sizeof *g);

    if (!c)
        return NULL;
    c->nodes = dup(g->nodes, (size_t)g->n_nodes, sizeof *g->nodes);
    c->params = dup(g->params, g->n_params, sizeof *g->params);
    c->stats = dup(g->stats, g->n_stats, sizeof *g->stats);
    c->rows = g->rows ? strdup(g->rows) : NULL;
    if (!c->nodes || !c->params || !c->stats || !c->rows != !g->rows) {
        mc_graph_free(c);
        return NULL;
    }
    return c;
}

void mc_graph_huber(struct mc_graph *g, float delta)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_RELU)
            g->nodes[i].delta = delta;
}

int mc_graph_set_dropout(struct mc_graph *g, float p)
{
    int n = 0;

    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_DROPOUT) {
            g->nodes[i].drop = p;
            n++;
        }
    return n;
}

size_t mc_graph_count(const struct mc_graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_params; i++)
        n += g->params[i].count;
    return n;
}

double mc_graph_flops(const struct mc_graph *g)
{
    unsigned char needed[MC_MAX_NODES];
    double flops = 0;

    mc_graph_needed(g, 0, needed);
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        if (needed[i] && mc_op_has(n, MC_OP_LAYER))
            flops += 2.0 * (double)n->weight.count * n->h * n->w;
    }
    return flops;
}
