/* SPDX-License-Identifier: Apache-2.0
 *
 * A network is a graph plus two flat vectors. This is the graph: its nodes in the order they are
 * computed, their shapes, and where each of their tensors lies in the flat vectors.
 *
 *     parameters  trained, decayed, interpolated     conv's and linear's weight and bias,
 *                                                    batch and layer norm's weight and bias,
 *                                                    scale's weight
 *     statistics  re-estimated or tracked, permuted  batch norm's running mean and variance
 *
 * Tensors lie in PyTorch's order and layout (OIHW), each at a multiple of 16 floats (64 bytes); the
 * gaps are 0. Letters: N images, C channels, H W, K units of a group, P parameters (with gaps). */
#ifndef MC_GRAPH_H
#define MC_GRAPH_H

#include "libcommon/base/error.h"
#include "libcommon/base/tensor.h"

enum mc_op {
    MC_OP_NORMALISE, /* node 0, always: pixels in [0,1] -> (x - mean) / std, per channel */
    MC_OP_CONV,
    MC_OP_LINEAR,    /* in: one whose H = W = 1 */
    MC_OP_BATCHNORM, /* per channel */
    MC_OP_LAYERNORM, /* over the channels of each pixel */
    MC_OP_SCALE,     /* a learned factor a channel */
    MC_OP_RELU,      /* Huber's delta: 0 below 0, x^2 / 2 delta up to delta, x - delta / 2 above; 0:
                      * ReLU */
    MC_OP_RELU6,     /* this and the next five: kernels/activation.h */
    MC_OP_GELU,
    MC_OP_SILU,
    MC_OP_HARDSWISH,
    MC_OP_HARDSIGMOID,
    MC_OP_SIGMOID,
    MC_OP_ADD,    /* of two or more equal shapes */
    MC_OP_MUL,    /* of two; the second may be 1x1, one factor a channel */
    MC_OP_CONCAT, /* along channels */
    MC_OP_MAXPOOL,
    MC_OP_AVGPOOL,    /* padding counts as 0 and is not averaged over */
    MC_OP_GLOBALPOOL, /* the mean of each channel: H = W = 1 */
    MC_OP_ADAPTPOOL,  /* average to out_h x out_w as PyTorch's AdaptiveAvgPool2d */
    MC_OP_FLATTEN,    /* C*H*W channels, channel-major, H = W = 1 */
    MC_OP_DROPOUT,    /* training only; scales by 1 / (1 - p) */
    MC_OP_LOSS, /* softmax cross-entropy head of weight `loss_weight`; its input are the logits */
    MC_N_OPS
};

#define MC_MAX_INPUTS 256
#define MC_MAX_CHANNELS_IN 4 /* colour channels of an image */
#define MC_MAX_NODES 4096
#define MC_MAX_NODE_NAME 96 /* bytes of a node's name with its final 0 */
#define MC_MAX_SIDE 8192    /* of an image, a kernel, a stride */
#define MC_MAX_CLASSES 1048576
#define MC_MAX_CHANNELS (1 << 24)
#define MC_MAX_ELEMENTS (1 << 28) /* C*H*W of any node */
#define MC_MAX_DROPOUT (1 << 22)  /* C*H*W of a dropout: what its random numbers' counter holds */
#define MC_MAX_VECTOR ((size_t)1 << 31) /* floats of a flat vector; so an index fits in 32 bits */

/* How a parameter tensor is initialised; a builder's choice, in the graph so that a stranger's
 * network trains too. Fan in and out as PyTorch's. Batch norm starts at zero or one. */
enum mc_init {
    MC_INIT_ZERO,
    MC_INIT_ONE,
    MC_INIT_XAVIER_NORMAL,
    MC_INIT_KAIMING_NORMAL_OUT,  /* fan-out, gain sqrt 2 */
    MC_INIT_UNIFORM_FAN_IN,      /* +-1/sqrt(fan-in), for weights and biases alike */
    MC_INIT_TRUNCATED_NORMAL_01, /* sigma .01 cut at +-2 sigma */
    MC_N_INITS
};

static inline int mc_is_activation(enum mc_op op)
{
    return op >= MC_OP_RELU && op <= MC_OP_SIGMOID;
}

/* Their names in streams: "conv", "xavier_normal"; and an op's number, -1 where there is none. */
const char *mc_op_name(enum mc_op op);
int mc_op_from_name(const char *name);
const char *mc_init_name(enum mc_init init);

/* A tensor of a node: where it lies in its flat vector, in floats. count 0: not there. */
struct mc_slot {
    size_t offset, count;
};

struct mc_node {
    enum mc_op op;
    char name[MC_MAX_NODE_NAME]; /* a module path: "layers.0.conv"; its tensors are name.weight,
                               name.bias, name.running_mean, name.running_var; a scale's is the
                               name alone */
    int in[MC_MAX_INPUTS];       /* earlier nodes */
    int n_in;
    int c, h, w; /* shape of the output, inferred */

    /* settings: libcommon/graph/fields.h has their ranges */
    int kernel[2], stride[2], pad[2]; /* conv, pooling: H then W */
    int groups;                       /* conv */
    int ceil_mode;                    /* max and average pooling */
    int has_bias;                     /* conv, linear */
    float eps, momentum;              /* batch norm, eps of layer norm too; momentum is the new
                                         batch's weight, .1 */
    float delta;                      /* relu */
    float drop;                       /* dropout's probability */
    float loss_weight;                /* loss: 1 for the main head, .3 for an auxiliary one */
    int train_only;                   /* loss: head left out (with all that only it needs) outside
                                         training */
    float mean[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN]; /* normalise */
    enum mc_init weight_init, bias_init;                     /* of what has weights, biases */

    struct mc_slot weight, bias;              /* in the parameters */
    struct mc_slot running_mean, running_var; /* in the statistics */
};

/* A parameter or statistics tensor of the graph, in flat order. */
struct mc_param {
    struct mc_tensor tensor; /* "layers.0.conv.weight", float32, shape */
    size_t offset;           /* floats into its flat vector */
    size_t count;
    int node;
    enum mc_init init;
    size_t fan_in, fan_out; /* of the layer it belongs to */
};

struct mc_graph {
    char net[64]; /* the builder's name and arguments, "tinyten"; free text for others */
    int input[3]; /* C, H, W */
    int classes;
    struct mc_node *nodes; /* nodes[0] is normalise; inputs come before their users */
    int n_nodes;
    int logits; /* node whose output are the logits: the input of the one loss that is not
                   train_only */

    struct mc_param *params; /* in flat order */
    size_t n_params, P; /* P: floats in the parameter vector, gaps included, a multiple of 16 */
    struct mc_param *stats;
    size_t n_stats, S;

    /* of a network that no graph says, which has no nodes and no statistics: what may be permuted
     * in its parameters (libcommon/graph/group_rows.h); else NULL */
    char *rows;

    struct mc_error error; /* the first of a builder's errors, until mc_graph_finish reports it */
};

/* ---- building ---------------------------------------------------------------------------------
 * A builder calls mc_graph_new, then the functions below, each of which returns the new node's
 * index or -1; errors are sticky (the first is kept in g and reported by mc_graph_finish), so that
 * a builder reads as the network does. `name` NULL: the op's name followed by the node's number.
 * mean, std NULL: 0 and 1, pixels as they are. Node 0 is called "normalise". */
struct mc_graph *mc_graph_new(const char *net, int channels, int height, int width, int classes,
                              const float *mean,
                              const float *std); /* returns NULL: out of memory */
void mc_graph_free(struct mc_graph *g);

struct mc_conv_opts { /* zero means: kernel 1, stride 1, pad 0, groups 1, no bias */
    int kernel, stride, pad, groups, bias;
    enum mc_init init, bias_init;
};
int mc_graph_conv(struct mc_graph *g, const char *name, int in, int out, struct mc_conv_opts o);
int mc_graph_linear(struct mc_graph *g, const char *name, int in, int out, int bias,
                    enum mc_init init, enum mc_init bias_init);
int mc_graph_batchnorm(struct mc_graph *g, const char *name, int in, float eps);
int mc_graph_layernorm(struct mc_graph *g, const char *name, int in, float eps);
int mc_graph_relu(struct mc_graph *g, const char *name, int in);
/* A node of one input without settings: an activation, scale (of ones), globalpool, flatten. */
int mc_graph_plain(struct mc_graph *g, const char *name, enum mc_op op, int in);
int mc_graph_add(struct mc_graph *g, const char *name, const int *in, int n);
int mc_graph_mul(struct mc_graph *g, const char *name, int a, int b);
int mc_graph_concat(struct mc_graph *g, const char *name, const int *in, int n);
int mc_graph_pool(struct mc_graph *g, const char *name, enum mc_op op, int in, int kernel,
                  int stride, int pad, int ceil_mode); /* max or average */
int mc_graph_globalpool(struct mc_graph *g, const char *name, int in);
int mc_graph_adaptpool(struct mc_graph *g, const char *name, int in, int out_h, int out_w);
int mc_graph_flatten(struct mc_graph *g, const char *name, int in);
int mc_graph_dropout(struct mc_graph *g, const char *name, int in, float p);
int mc_graph_loss(struct mc_graph *g, const char *name, int logits, float weight, int train_only);

/* What the functions above end in: append *n, whose op, inputs and settings are filled (c for conv
 * and linear, c, h, w for normalise, h and w for adaptive pooling); the shape is inferred. */
int mc_graph_node(struct mc_graph *g, const char *name, struct mc_node *n);

/* Checks names (unique; printable, no spaces), that every node leads to a loss head, that all heads
 * have `classes` logits and exactly one is not train_only, and lays the tensors out. Call once.
 * MC_EINPUT with the first error of all the calls above, or MC_ENOMEM. */
MC_USE_RESULT int mc_graph_finish(struct mc_graph *g, struct mc_error *err);

/* ---- what is asked of a graph ---------------------------------------------------------------- */
/* 1 if both compute the same in evaluation and call their nodes alike. `net`, inits and settings
 * that only training uses (dropout's p, batch norm's momentum) may differ. */
int mc_graph_same(const struct mc_graph *a, const struct mc_graph *b);
/* The same of two files' graphs, or MC_EINPUT that says where they differ first. */
MC_USE_RESULT int mc_graph_expect_same(const struct mc_graph *a, const struct mc_graph *b,
                                       const char *name_a, const char *name_b,
                                       struct mc_error *err);
/* The number of settings that only training uses and that differ between two graphs that are the
 * same. text names the first of them with both values. */
int mc_graph_training_differs(const struct mc_graph *a, const struct mc_graph *b, char *text,
                              size_t size);
/* Of a finished graph, to which no nodes are added. NULL: out of memory. */
struct mc_graph *mc_graph_copy(const struct mc_graph *g);
/* Index of the node called so, or -1. */
int mc_graph_find(const struct mc_graph *g, const char *name);
/* needed[i] (n_nodes entries): whether node i is computed in training, or outside it, where heads
 * that are train_only and what only they need are left out. */
void mc_graph_needed(const struct mc_graph *g, int training, unsigned char *needed);
/* Set delta of every ReLU. */
void mc_graph_huber(struct mc_graph *g, float delta);

/* A convolution or a linear layer. */
static inline int mc_is_layer(const struct mc_node *n)
{
    return n->op == MC_OP_CONV || n->op == MC_OP_LINEAR;
}
/* A convolution each of whose outputs is of one input. */
static inline int mc_is_depthwise(const struct mc_graph *g, const struct mc_node *n)
{
    return n->op == MC_OP_CONV && n->groups > 1 && n->groups == g->nodes[n->in[0]].c;
}
/* Groups of the convolution whose weight it is; else 1, as without a graph. */
static inline size_t mc_param_groups(const struct mc_graph *g, const struct mc_param *p)
{
    const struct mc_node *n = p->node < 0 ? NULL : &g->nodes[p->node];
    return n && n->op == MC_OP_CONV && p->tensor.ndim > 1 ? (size_t)n->groups : 1;
}
/* Parameters without gaps: what people count. */
size_t mc_graph_count(const struct mc_graph *g);
/* Multiply-adds times 2 of one image's forward pass, outside training, in conv and linear
 * layers. */
double mc_graph_flops(const struct mc_graph *g);
/* Fill params (P floats) from the tensors' inits, keyed by seed; stats (S floats): mean 0, var
 * 1. */
void mc_graph_init(const struct mc_graph *g, uint64_t seed, float *params, float *stats);

#endif
