/* SPDX-License-Identifier: Apache-2.0
 *
 * The builder functions: add nodes to a graph. */
#include "libcommon/base/alloc.h"
#include "libcommon/graph/fields.h"
#include "libcommon/graph/op.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mc_graph_node(struct mc_graph *g, const char *name, struct mc_node *n)
{
    struct mc_error err = {0};
    const struct mc_op_info *op = mc_ops[n->op];
    int i = g->n_nodes;

    if (g->error.code)
        return -1;
    if (g->params)
        return mc_graph_fail(g, "cannot add a node to a finished graph");
    if (name && strlen(name) >= sizeof n->name)
        return mc_graph_fail(g, "node %d: name is too long", i);
    if (name)
        snprintf(n->name, sizeof n->name, "%s", name);
    else
        snprintf(n->name, sizeof n->name, "%s%d", mc_op_name(n->op), i);
    if (i >= MC_MAX_NODES)
        return mc_graph_fail(g, "a graph has at most %d nodes", MC_MAX_NODES);
    if ((n->op == MC_OP_NORMALISE) != (i == 0) || n->n_in < op->min_in || n->n_in > op->max_in)
        return mc_graph_fail(g, "node \"%s\": got %d inputs (%s requires %s)", n->name, n->n_in,
                             mc_op_name(n->op), op->in);
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] < 0 || n->in[k] >= i || g->nodes[n->in[k]].op == MC_OP_LOSS)
            return mc_graph_fail(g, "node \"%s\": input must be an earlier node with an output",
                                 n->name);
    if (mc_node_check(n, &err))
        return mc_graph_fail(g, "node \"%s\": %s", n->name, err.text);
    if (n->n_in) {
        const struct mc_node *in = &g->nodes[n->in[0]];
        if (!(op->flags & MC_OP_LAYER))
            n->c = in->c;
        n->h = n->h ? n->h : in->h;
        n->w = n->w ? n->w : in->w;
    }
    if (op->shape && op->shape(g, n))
        return -1;
    if (n->c < 1 || n->c > MC_MAX_CHANNELS || n->h < 1 || n->h > MC_MAX_SIDE || n->w < 1 ||
        n->w > MC_MAX_SIDE || (int64_t)n->c * n->h * n->w > MC_MAX_ELEMENTS)
        return mc_graph_fail(g, "node \"%s\": output is empty or too large", n->name);
    if (mc_list_room(&g->nodes, (size_t)i, &g->error))
        return -1;
    g->nodes[i] = *n;
    return g->n_nodes++;
}

/* ---- the builder functions ------------------------------------------------------------------ */

struct mc_graph *mc_graph_new(const char *net, int channels, int height, int width, int classes,
                              const float *mean, const float *std)
{
    struct mc_graph *g = calloc(1, sizeof *g);
    struct mc_node n = {.op = MC_OP_NORMALISE, .c = channels, .h = height, .w = width};

    if (!g)
        return NULL;
    snprintf(g->net, sizeof g->net, "%s", net);
    g->input[0] = channels;
    g->input[1] = height;
    g->input[2] = width;
    g->classes = classes;
    g->logits = -1;
    if (channels < 1 || channels > MC_MAX_CHANNELS_IN)
        (void)mc_graph_fail(g, "images must have 1 to %d colour channels (got %d)",
                            MC_MAX_CHANNELS_IN, channels);
    else if (classes < 2 || classes > MC_MAX_CLASSES)
        (void)mc_graph_fail(g, "there must be 2 to %d classes (got %d)", MC_MAX_CLASSES, classes);
    for (int i = 0; i < MC_MAX_CHANNELS_IN; i++) {
        n.mean[i] = mean && i < channels ? mean[i] : 0;
        n.std[i] = std && i < channels ? std[i] : 1;
    }
    mc_graph_node(g, mc_op_name(MC_OP_NORMALISE), &n);
    return g;
}

void mc_graph_free(struct mc_graph *g)
{
    if (!g)
        return;
    free(g->nodes);
    free(g->params);
    free(g->stats);
    free(g->rows);
    free(g);
}

/* Add a node with one input. */
static int add(struct mc_graph *g, const char *name, int in, struct mc_node n)
{
    n.in[0] = in;
    n.n_in = 1;
    return mc_graph_node(g, name, &n);
}

int mc_graph_conv(struct mc_graph *g, const char *name, int in, int out, struct mc_conv_opts o)
{
    int kernel = o.kernel ? o.kernel : 1, stride = o.stride ? o.stride : 1;

    return add(g, name, in,
               (struct mc_node){.op = MC_OP_CONV,
                                .c = out,
                                .kernel = {kernel, kernel},
                                .stride = {stride, stride},
                                .pad = {o.pad, o.pad},
                                .groups = o.groups ? o.groups : 1,
                                .has_bias = o.bias,
                                .weight_init = o.init,
                                .bias_init = o.bias_init});
}

int mc_graph_linear(struct mc_graph *g, const char *name, int in, int out, int bias,
                    enum mc_init init, enum mc_init bias_init)
{
    return add(g, name, in,
               (struct mc_node){.op = MC_OP_LINEAR,
                                .c = out,
                                .has_bias = bias,
                                .weight_init = init,
                                .bias_init = bias_init});
}

int mc_graph_batchnorm(struct mc_graph *g, const char *name, int in, float eps)
{
    return add(g, name, in,
               (struct mc_node){.op = MC_OP_BATCHNORM,
                                .eps = eps,
                                .momentum = .1f,
                                .weight_init = MC_INIT_ONE,
                                .bias_init = MC_INIT_ZERO});
}

int mc_graph_plain(struct mc_graph *g, const char *name, enum mc_op op, int in)
{
    return add(g, name, in, (struct mc_node){.op = op, .weight_init = MC_INIT_ONE});
}

int mc_graph_relu(struct mc_graph *g, const char *name, int in)
{
    return mc_graph_plain(g, name, MC_OP_RELU, in);
}

static int join(struct mc_graph *g, const char *name, enum mc_op op, const int *in, int count)
{
    struct mc_node n = {.op = op};

    if (count < 0 || count > MC_MAX_INPUTS)
        return mc_graph_fail(g, "node \"%s\": at most %d inputs are allowed (got %d)",
                             name ? name : mc_op_name(op), MC_MAX_INPUTS, count);
    memcpy(n.in, in, (size_t)count * sizeof *in);
    n.n_in = count;
    return mc_graph_node(g, name, &n);
}

int mc_graph_add(struct mc_graph *g, const char *name, const int *in, int n)
{
    return join(g, name, MC_OP_ADD, in, n);
}

int mc_graph_concat(struct mc_graph *g, const char *name, const int *in, int n)
{
    return join(g, name, MC_OP_CONCAT, in, n);
}

int mc_graph_pool(struct mc_graph *g, const char *name, enum mc_op op, int in, int kernel,
                  int stride, int pad, int ceil_mode)
{
    return add(g, name, in,
               (struct mc_node){.op = op,
                                .kernel = {kernel, kernel},
                                .stride = {stride, stride},
                                .pad = {pad, pad},
                                .ceil_mode = ceil_mode});
}

int mc_graph_globalpool(struct mc_graph *g, const char *name, int in)
{
    return mc_graph_plain(g, name, MC_OP_GLOBALPOOL, in);
}

int mc_graph_adaptpool(struct mc_graph *g, const char *name, int in, int out_h, int out_w)
{
    return add(g, name, in, (struct mc_node){.op = MC_OP_ADAPTPOOL, .h = out_h, .w = out_w});
}

int mc_graph_flatten(struct mc_graph *g, const char *name, int in)
{
    return mc_graph_plain(g, name, MC_OP_FLATTEN, in);
}

int mc_graph_dropout(struct mc_graph *g, const char *name, int in, float p)
{
    return add(g, name, in, (struct mc_node){.op = MC_OP_DROPOUT, .drop = p});
}

int mc_graph_loss(struct mc_graph *g, const char *name, int logits, float weight, int train_only)
{
    return add(g, name, logits,
               (struct mc_node){.op = MC_OP_LOSS, .loss_weight = weight, .train_only = train_only});
}
