/* SPDX-License-Identifier: Apache-2.0
 *
 * A network is a graph plus two flat vectors. The graph contains the nodes in the order of
 * computation, their shapes, and the position of each tensor in the flat vectors.
 *
 *     parameters  trained, decayed, interpolated     conv's and linear's weight and bias,
 *                                                    batch and layer norm's weight and bias,
 *                                                    scale's weight
 *     statistics  re-estimated or tracked, permuted  batch norm's running mean and variance
 *
 * Tensors have PyTorch's order and layout (OIHW). Each starts at a multiple of 16 floats (64
 * bytes). The gaps are 0, and code that writes a vector keeps them so. Letters: N images, C
 * channels, H W, K units of a group, P parameters (with gaps).
 *
 * A finished graph never changes, except for what mc_graph_huber and mc_graph_set_dropout set. A
 * builder needs no checks: mc_graph_finish reports the first error. A network of one hidden layer:
 *
 *     struct mc_graph *g = mc_graph_new("tiny", 3, 32, 32, 10, NULL, NULL);
 *     if (!g)
 *         return mc_no_memory(err);
 *     int x = mc_graph_flatten(g, NULL, 0); // node 0: the normalised pixels
 *     x = mc_graph_linear(g, "hidden", x, 64, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
 *     x = mc_graph_linear(g, "head", mc_graph_relu(g, NULL, x), 10, 1, MC_INIT_XAVIER_NORMAL,
 *                         MC_INIT_ZERO);
 *     mc_graph_loss(g, NULL, x, 1, 0);
 *     if ((rc = mc_graph_finish(g, err)))
 *         mc_graph_free(g); */
#ifndef MC_GRAPH_H
#define MC_GRAPH_H

#include "libcommon/base/error.h"
#include "libcommon/base/tensor.h"
#include "libcommon/graph/op_list.h"

#define MC_MAX_INPUTS 256
#define MC_MAX_CHANNELS_IN 4 /* colour channels of an image */
#define MC_MAX_NODES 4096
#define MC_MAX_NODE_NAME 96 /* bytes in a node's name, final 0 included */
#define MC_MAX_SIDE 8192    /* for images, kernels and strides */
#define MC_MAX_CLASSES 1048576
#define MC_MAX_CHANNELS (1 << 24)
#define MC_MAX_ELEMENTS (1 << 28) /* C*H*W of any node */
#define MC_MAX_DROPOUT (1 << 22)  /* C*H*W of a dropout: limit of its random numbers' counter */
#define MC_MAX_VECTOR ((size_t)1 << 31) /* floats in a flat vector; an index fits in 32 bits */

/* Initialisation of a parameter tensor. The builder chooses it; the graph stores it, so that any
 * network can be trained. Fan in and out are PyTorch's. Batch norm starts at zero or one. */
enum mc_init {
    MC_INIT_ZERO,
    MC_INIT_ONE,
    MC_INIT_XAVIER_NORMAL,
    MC_INIT_KAIMING_NORMAL_OUT,  /* fan-out, gain sqrt 2 */
    MC_INIT_UNIFORM_FAN_IN,      /* +-1/sqrt(fan-in), for weights and biases */
    MC_INIT_TRUNCATED_NORMAL_01, /* sigma .01, truncated at +-2 sigma */
    MC_N_INITS
};

/* Names in streams, such as "conv" and "xavier_normal"; the op with a name, or -1. */
const char *mc_op_name(enum mc_op op);
int mc_op_from_name(const char *name);
const char *mc_init_name(enum mc_init init);

/* A tensor's position in its flat vector, in floats. count 0: the node has none. */
struct mc_slot {
    size_t offset, count;
};

struct mc_node {
    enum mc_op op;
    char name[MC_MAX_NODE_NAME]; /* a module path, "layers.0.conv". Tensors are name.weight,
                               name.bias, name.running_mean, name.running_var; for a scale the
                               name itself */
    int in[MC_MAX_INPUTS];       /* earlier nodes */
    int n_in;
    int c, h, w; /* shape of the output, inferred */

    /* settings; libcommon/graph/fields.h has their ranges */
    int kernel[2], stride[2], pad[2]; /* conv, pooling: H then W */
    int before[3], after[3];          /* pad: zeros on each side of C, H, W */
    int groups;                       /* conv, groupnorm */
    int ceil_mode;                    /* max and average pooling */
    int has_bias;                     /* conv, linear */
    float eps, momentum; /* batch norm, eps also for layer and group norm; momentum is the weight
                                         of the new batch, .1 */
    float delta;         /* relu */
    float factor;        /* an activation's number: leakyrelu's slope below 0 */
    float drop;          /* dropout probability */
    float loss_weight;   /* loss: 1 for the main head, .3 for an auxiliary one */
    int train_only;      /* loss: head (and nodes that only it needs) computed only in
                                         training */
    float mean[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN]; /* normalise */
    enum mc_init weight_init, bias_init;                     /* nodes with weights, biases */

    struct mc_slot weight, bias;              /* in the parameters */
    struct mc_slot running_mean, running_var; /* in the statistics */
};

/* A parameter or statistics tensor of the graph, in flat order. */
struct mc_param {
    struct mc_tensor tensor; /* "layers.0.conv.weight", float32, shape */
    size_t offset;           /* in floats, in its flat vector */
    size_t count;
    int node;
    enum mc_init init;
    size_t fan_in, fan_out; /* the values of its layer */
};

struct mc_graph {
    char net[64]; /* the builder's name and arguments, "tinyten"; any text for other graphs */
    int input[3]; /* C, H, W */
    int classes;
    struct mc_node *nodes; /* nodes[0] is normalise; inputs precede their users */
    int n_nodes;
    int logits; /* the node that computes the logits: input of the loss that is not train_only */

    struct mc_param *params; /* in flat order */
    size_t n_params, P;      /* P: floats in the parameter vector with gaps, a multiple of 16 */
    struct mc_param *stats;
    size_t n_stats, S;

    /* NULL, or the text that declares the groups of a network without a graph (no nodes, no
     * statistics): libcommon/graph/group_rows.h */
    char *rows;

    struct mc_error error; /* the builder's first error; mc_graph_finish reports it */
};

/* ---- building ---------------------------------------------------------------------------------
 * A builder calls mc_graph_new and then the functions below. Each returns the new node's index or
 * -1. The first error is kept in g and reported by mc_graph_finish, so a builder needs no checks.
 * `name` NULL: the op's name followed by the node's number. mean, std NULL: 0 and 1, pixels
 * unmodified. Node 0 is named "normalise". */
struct mc_graph *mc_graph_new(const char *net, int channels, int height, int width, int classes,
                              const float *mean,
                              const float *std); /* returns NULL: out of memory */
void mc_graph_free(struct mc_graph *g);

struct mc_conv_opts { /* all zero: kernel 1, stride 1, pad 0, groups 1, no bias */
    int kernel, stride, pad, groups, bias;
    enum mc_init init, bias_init;
};
int mc_graph_conv(struct mc_graph *g, const char *name, int in, int out, struct mc_conv_opts o);
int mc_graph_linear(struct mc_graph *g, const char *name, int in, int out, int bias,
                    enum mc_init init, enum mc_init bias_init);
int mc_graph_batchnorm(struct mc_graph *g, const char *name, int in, float eps);
int mc_graph_relu(struct mc_graph *g, const char *name, int in);
/* A node with one input and no settings: an activation without a setting, scale (ones),
 * globalpool, flatten. */
int mc_graph_plain(struct mc_graph *g, const char *name, enum mc_op op, int in);
int mc_graph_add(struct mc_graph *g, const char *name, const int *in, int n);
int mc_graph_concat(struct mc_graph *g, const char *name, const int *in, int n);
int mc_graph_pool(struct mc_graph *g, const char *name, enum mc_op op, int in, int kernel,
                  int stride, int pad, int ceil_mode); /* max or average */
int mc_graph_globalpool(struct mc_graph *g, const char *name, int in);
int mc_graph_adaptpool(struct mc_graph *g, const char *name, int in, int out_h, int out_w);
int mc_graph_flatten(struct mc_graph *g, const char *name, int in);
int mc_graph_dropout(struct mc_graph *g, const char *name, int in, float p);
int mc_graph_loss(struct mc_graph *g, const char *name, int logits, float weight, int train_only);

/* Append *n; the functions above call this, and graph files, which have more operations. The caller sets the op, inputs and settings (c for conv
 * and linear; c, h, w for normalise; h and w for adaptive pooling). The shape is inferred. */
int mc_graph_node(struct mc_graph *g, const char *name, struct mc_node *n);

/* Check the graph and lay out its tensors. Names must be unique and printable, without spaces.
 * Every node must lead to a loss head. All heads must have `classes` logits; exactly one is not
 * train_only. Call it once. MC_EINPUT with the first error of any call above, or MC_ENOMEM. */
MC_USE_RESULT int mc_graph_finish(struct mc_graph *g, struct mc_error *err);

/* ---- queries --------------------------------------------------------------------------------- */
/* 1 if both compute the same in evaluation and have the same node names. `net`, inits and settings
 * used only in training (dropout's p, batch norm's momentum) may differ. */
int mc_graph_same(const struct mc_graph *a, const struct mc_graph *b);
/* The same for graphs of two files; MC_EINPUT describes the first difference. */
MC_USE_RESULT int mc_graph_expect_same(const struct mc_graph *a, const struct mc_graph *b,
                                       const char *name_a, const char *name_b,
                                       struct mc_error *err);
/* The number of training settings that differ between two graphs that are the same. text names the
 * first with both values. */
int mc_graph_training_differs(const struct mc_graph *a, const struct mc_graph *b, char *text,
                              size_t size);
/* A copy of a finished graph; nodes cannot be added. NULL: out of memory. */
struct mc_graph *mc_graph_copy(const struct mc_graph *g);
/* Index of the node with that name, or -1. */
int mc_graph_find(const struct mc_graph *g, const char *name);
/* Set needed[i] (n_nodes entries) to 1 if node i is computed. Outside training, train_only heads
 * and nodes that only they need are not. */
void mc_graph_needed(const struct mc_graph *g, int training, unsigned char *needed);
/* Set delta in every ReLU. */
void mc_graph_huber(struct mc_graph *g, float delta);
/* Set the probability of every dropout. Returns their number. */
int mc_graph_set_dropout(struct mc_graph *g, float p);

/* 1 if the node's groups of channels are blocks: more than one, of more than one channel. */
static inline int mc_is_blocked(const struct mc_graph *g, const struct mc_node *n)
{
    return n->groups > 1 && n->groups < g->nodes[n->in[0]].c;
}
/* 1 for a convolution in which each output has one input. */
static inline int mc_is_depthwise(const struct mc_graph *g, const struct mc_node *n)
{
    return n->op == MC_OP_CONV && n->groups > 1 && n->groups == g->nodes[n->in[0]].c;
}
/* The groups of the convolution if p is its weight; otherwise 1, also without a graph. */
static inline size_t mc_param_groups(const struct mc_graph *g, const struct mc_param *p)
{
    const struct mc_node *n = p->node < 0 ? NULL : &g->nodes[p->node];
    return n && n->op == MC_OP_CONV && p->tensor.ndim > 1 ? (size_t)n->groups : 1;
}
/* Number of parameters without gaps, as papers report it. */
size_t mc_graph_count(const struct mc_graph *g);
/* Multiply-adds times 2 in the conv and linear layers, for one image's forward pass in
 * evaluation. */
double mc_graph_flops(const struct mc_graph *g);
/* Fill params (P floats) from the tensors' inits and the seed; stats (S floats): mean 0, var 1. */
void mc_graph_init(const struct mc_graph *g, uint64_t seed, float *params, float *stats);

#endif
