/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and functions that the files of the CUDA backend share: the backend, a plan and its nodes,
 * convolutions.
 *
 * C files decide what runs in which order; ops/ has a file per family of operations. The .cu files
 * hold the kernels and the functions that launch them (kernels.h). All work goes to one stream and
 * runs in order, with two exceptions on a side stream: weights' gradients, and the sums of metrics()
 * and the sumsq() after it. A backward pass waits for these only at its end. Only put() and get()
 * wait for the device.
 *
 * Activations are (N,C,H,W) float32, or (N,H,W,C) in half precision. Every live node has its own
 * memory for its output and, with backward, for its output's gradient. There are three exceptions.
 * A batch norm computes the ReLU after it, and an addition between them, if nothing else reads its
 * output. An addition may share its gradient's memory with one of its inputs. If only a
 * concatenation reads a batch norm's output, the batch norm writes into the concatenation's output.
 * The number of images in a batch is known only on the device (struct cuda_batch). */
#ifndef MC_CUDA_H
#define MC_CUDA_H

#include "kernels/conv_table.h"
#include "kernels/cuda/kernels.h"
#include "kernels/executor.h"
#include "kernels/product.h"

#include <cublas_v2.h>
#include <cudnn.h>

struct cuda {
    struct mc_backend base;
    int device;
    enum mc_precision precision;
    char kind[16]; /* "sm_90" */
    int processors;
    int any_order;             /* convolutions may add in any order */
    cudaStream_t stream, side; /* side: concurrent work, from a fork to a join */
    cudaEvent_t forks, joins;
    int forked;           /* work may be on the side stream */
    cudaStream_t current; /* kernels are launched on it */
    cudnnHandle_t dnn, dnn_side;
    cudnnBackendDescriptor_t properties; /* the device's, for cuDNN */
    cublasHandle_t blas;
    void *blas_work;
    double *part;                /* CUDA_PARTS partial sums of a flat vector, and a counter */
    struct cuda_choice *choices; /* all choices so far */
    uint32_t chosen;             /* sum of the hashes of their lines, which does not depend on
                                    their order; */
    char *algorithms;            /* and as text: the fact "algorithms" */
    unsigned frees;              /* number of frees: a captured graph may refer to freed memory */
    int direct;                  /* a capture failed; `describe` contains the reason */
    int untimed;                 /* a shape is not in the table; `describe` says so */
    enum mc_err failed;          /* the first failure of queued work, and */
    char reason[MC_CUDA_REASON]; /* its reason; get() returns both */
};

/* cuDNN's description of a failure: the status and, from version 9 on, its last message. */
#define CUDA_DNN_REASON 240
void cuda_dnn_reason(cudnnStatus_t status, char text[CUDA_DNN_REASON]);

/* ---- cuDNN's engines (engines.c) ---------------------------------------------------------------
 * An engine computes a pass of a convolution. It is a number and the values of its knobs. Both have
 * a meaning in one version of cuDNN only. */
enum { CUDA_PASS_ADD = MC_N_PASSES, CUDA_N_PASSES }; /* after mc_pass: the data's gradient, added */
enum { CUDA_ENGINE_TEXT = 160, CUDA_MAX_ENGINES = 64 };
#define CUDA_MAX_WORK ((size_t)512 << 20) /* scratch memory of one engine */

#define CUDA_NATIVE_ENGINE "own" /* conv_weights.cu: weights' gradients, among cuDNN's engines */
struct cuda_engine {
    char text[CUDA_ENGINE_TEXT];   /* "48:2=2,6=1": engine 48, knob 2 is 2; or CUDA_NATIVE_ENGINE */
    struct cuda_conv_sizes native; /* our own engine's sizes; n is 0 for cuDNN's engines */
    unsigned notes;                /* bits of cuDNN's numerical notes */
    int shown;                     /* it has no numerical notes, and equal bytes were observed on a
                                      device */
    size_t work;                   /* bytes */
    cudnnBackendDescriptor_t plan; /* NULL: none, or our own engine */
};
struct cuda_conv_shape {
    const char *node;    /* name in the graph, for messages; NULL: none */
    enum cuda_type type; /* float32: NCHW, OIHW; else NHWC, OHWI */
    int n, ic, ih, iw, oc, oh, ow;
    int kernel[2], stride[2], pad[2], groups;
    int needed[CUDA_N_PASSES];
};
struct cuda_conv {
    struct cuda *be;
    struct cuda_conv_shape shape;
    struct cuda_engine engines[CUDA_N_PASSES];
    char reason[CUDA_DNN_REASON]; /* cuDNN's first reason for refusing an engine */
};

/* Sets be->properties to those of be->dnn's device. */
cudnnStatus_t cuda_describe_device(struct cuda *be);
/* Returns whether our own engine precedes cuDNN's: their fast engines have no fixed order in f32. */
static inline int cuda_native_is_first(const struct cuda *be)
{
    return be->precision == MC_PRECISION_F32 && !be->any_order;
}
/* Lists the engines that the heuristics, or their fallback, name for a pass, best first, and our
 * own first or last. Returns their number. */
int cuda_engine_candidates(struct cuda_conv *c, int pass, int fallback,
                           char list[CUDA_MAX_ENGINES][CUDA_ENGINE_TEXT]);
/* Prepares c->engines[pass]. Returns -1, and sets c->reason, if cuDNN refuses. */
int cuda_engine_make(struct cuda_conv *c, int pass, const char *text);
void cuda_engine_release(struct cuda_engine *e);
cudnnStatus_t cuda_engine_run(cudnnHandle_t dnn, const struct cuda_engine *e, const void *x,
                              const void *weight, const void *y, const void *work);

/* ---- the choice of engines (choice.c) ----------------------------------------------------------
 * Sums have a fixed order, unless `any_order`. */
enum {
    CUDA_TABLE_KEY = 64,
    CUDA_CHOICE_LINE = CUDA_TABLE_KEY + MC_SHAPE_TEXT + 32 + CUDA_ENGINE_TEXT
};
/* The engine of a pass, batch and shape: table key, PASS, BATCH, SHAPE and ENGINE, tab-separated. A
 * backend chooses once, so that equal convolutions have the same engine. */
struct cuda_choice {
    struct cuda_choice *next;
    char line[CUDA_CHOICE_LINE];
};
/* kernels/cuda/plans.tsv; tests set their own. */
extern const char *cuda_plan_table;
const char *cuda_pass_name(int pass);
/* Prepares c->engines[pass]. Returns -1, and sets c->reason, if no engine supports the shape. */
int cuda_choose(struct cuda_conv *c, int pass);
/* Returns whether the engine's numerical notes and memory allow its use. */
int cuda_engine_is_usable(const struct cuda *be, const struct cuda_engine *e);
/* Returns the evidence that the engine's sums have a fixed order. By cuDNN's numerical notes:
 * "noted" (fixed) or "unordered" (not fixed). Without notes: "shown" (by a device) or
 * "unproved". Our own engine: "own". */
const char *cuda_engine_proof(const struct cuda_engine *e);
void cuda_table_key(const struct cuda *be, int any_order, char key[CUDA_TABLE_KEY]);

/* ---- convolution (conv.c) -------------------------------------------------------------------- */
int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err);
void cuda_conv_free(struct cuda_conv *c);
/* Bytes of scratch for the weights' gradient, or for the other passes. */
size_t cuda_conv_work(const struct cuda_conv *c, int weights);
/* Runs a pass that the shape needs: computes y, dx or dweight from the other two. side: later work
 * does not wait for it until cuda_join, so it needs its own scratch memory. */
void cuda_conv_run(struct cuda_conv *c, int pass, const void *x, const void *weight, const void *y,
                   const void *work, int side);

/* ---- products by cuBLAS (backend_cuda.c) ----------------------------------------------------- */
void cuda_gemm(struct cuda *be, const struct mc_product *p);   /* float32 */
void cuda_gemm64(struct cuda *be, const struct mc_product *p); /* float64 */
/* A layer's product in the plan's precision: a and b are of type `from`, c of type `to`. */
void cuda_layer_product(struct cuda *be, const struct mc_product *p, enum cuda_type from,
                        enum cuda_type to);
/* `count` float32 products: the same a with b, b + stride, ... into c, c + stride, ... */
void cuda_gemm_slices(struct cuda *be, const struct mc_product *p, size_t stride, size_t count);

/* ---- plan ------------------------------------------------------------------------------------ */
struct cuda_node {
    const struct mc_node *n;
    const struct mc_role *role;

    uint32_t hw, stored; /* pixels, and stored channels: for the graph's pixels maybe more than c */
    size_t size;         /* numbers: B * stored * hw */
    void *out, *grad;
    void *weight, *dweight; /* half precision: its copy, and a convolution's gradient */
    struct cuda_norm norm;  /* batch and layer norm */
    void *argmax;           /* max pool */
    int batch_stats;        /* batch norm: the last forward used the batch's statistics */
    struct cuda_conv *conv;
    struct cuda_node *view;  /* the node whose output is also this one's, or NULL */
    struct cuda_node *whole; /* the concatenation that contains this node's output and gradient, */
    size_t first_channel;    /* from this channel on */
};

/* Half precision: the weights of a plan's convolutions as (O,H,W,I), then of its linear layers. */
struct cuda_copies {
    size_t n, convs;       /* numbers, and those of convolutions */
    unsigned char *weight; /* (n), written by every forward */
    unsigned char *grad;   /* (convs) */
    uint32_t *param;       /* (n): parameter that each number copies, or CUDA_NO_PARAM */
};

struct mc_plan {
    struct mc_run run; /* first */
    struct cuda *be;
    enum cuda_type type;
    struct cuda_loss_scale *loss_scale; /* f16, on the device; else NULL */
    const float *scale;                 /* the current backward pass's scale; NULL: 1 */
    const float *pixels_scale;          /* scale of the pixels' gradient in memory */
    struct mc_buf state;                /* the part of loss_scale that a checkpoint stores */
    struct cuda_node *nodes;            /* g->n_nodes */
    unsigned char *data;                /* all device memory of the plan */
    size_t bytes;
    struct cuda_rows rows;
    struct cuda_scaling scaling;
    struct cuda_copies copies;
    void *work;                  /* cuDNN's scratch, */
    void *side_work;             /* and that of weights' gradients */
    double *part;                /* partial sums of channels */
    struct cuda_partial partial; /* the same, and counters: for sums that the last block finishes */
    double *moments;             /* a batch's moments, then activations as doubles */
    size_t chunk;                /* doubles of those activations per network */
};

static inline struct mc_plan *cuda_plan_of(struct mc_run *run)
{
    return (struct mc_plan *)run;
}

static inline struct cuda_shape cuda_node_shape(const struct mc_plan *p, const struct cuda_node *c)
{
    const int last = p->type != CUDA_F32 || c->hw == 1;
    const uint32_t stored = c->whole ? c->whole->stored : c->stored;
    struct cuda_shape s = {.n = (uint32_t)p->run.batch,
                           .c = (uint32_t)c->n->c,
                           .hw = c->hw,
                           .image = stored * c->hw,
                           .channel = last ? 1 : c->hw,
                           .pixel = last ? stored : 1,
                           .type = p->type,
                           .batch = p->rows.batch};
    return s;
}
/* The packed shape (N,C,HW). */
static inline struct cuda_shape cuda_channels_first(const struct cuda_shape *s)
{
    struct cuda_shape first = *s;
    first.image = s->c * s->hw;
    first.channel = s->hw;
    first.pixel = 1;
    return first;
}
/* A node's memory from channel k on. */
static inline void *cuda_from_channel(const struct mc_plan *p, const struct cuda_node *c, void *x,
                                      size_t k)
{
    const struct cuda_shape s = cuda_node_shape(p, c);
    return (unsigned char *)x + k * s.channel * cuda_type_size(p->type);
}

static inline enum cuda_type cuda_type_of(const struct cuda *be)
{
    return be->precision == MC_PRECISION_BF16  ? CUDA_BF16
           : be->precision == MC_PRECISION_F16 ? CUDA_F16
                                               : CUDA_F32;
}
/* Returns the channels of a convolution's pixels, padded to a multiple of 8 for tensor cores. */
static inline int cuda_pixel_channels(enum cuda_type t, int c)
{
    return t == CUDA_F32 ? c : (c + 7) / 8 * 8;
}

/* ---- operations (ops/) ----------------------------------------------------------------------
 * One row for each; kernels/executor.h says what the first three functions do. */
struct cuda_step {
    struct mc_plan *p;
    struct cuda *be;
    struct cuda_node *c, *in; /* the node and its first input; backward: and input `input` */
    struct cuda_shape x, y;   /* the shapes of in and c */
    const void *from;         /* forward: in's output; backward: c's gradient */
    void *to;                 /* forward: c's output; backward: in's gradient */
    const void *dy;           /* forward: NULL; backward: c's gradient */
    int input, adds;          /* backward: adds to in->grad */
};
/* A plan's memory, counted with data NULL, then assigned. */
struct cuda_places {
    unsigned char *data;
    size_t bytes;
    size_t work, side_work; /* maxima over nodes, which share this memory: p->work, p->side_work, */
    size_t parts, channels; /* and p->partial's sums and counters */
};
struct cuda_op {
    void (*forward)(const struct cuda_step *s);
    void (*parameters)(const struct cuda_step *s); /* NULL: none */
    void (*backward)(const struct cuda_step *s);
    /* A new plan calls the rest for its live nodes; NULL: nothing to do. First, in the order of
     * nodes, `make` makes the node's convolution, or sets `view` or `whole`. */
    int (*make)(struct mc_plan *p, struct cuda_node *c, struct mc_error *err);
    /* Places memory other than the output and its gradient. */
    void (*place)(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m);
    /* Half precision: returns the size of the weight's copy. Unless param is NULL, fills its part
     * of struct cuda_copies' param, in which padding keeps CUDA_NO_PARAM. */
    size_t (*copy)(const struct mc_plan *p, const struct cuda_node *c, uint32_t *param);
};
#define CUDA_DECLARE_OP(NAME, name, ...) extern const struct cuda_op cuda_op_##name;
MC_EACH_OP(CUDA_DECLARE_OP)
extern const struct cuda_op *const cuda_ops[MC_N_OPS];

/* to = from, or to += from; they may be the same memory. */
void cuda_move(const struct mc_plan *p, size_t n, const void *from, int adds, void *to);

/* plan.c */
void *cuda_place(struct cuda_places *m, size_t bytes);
/* Makes p->partial large enough for sums of the node's channels. */
void cuda_place_partial(const struct mc_plan *p, const struct cuda_node *c, struct cuda_places *m);
static inline void cuda_raise(size_t *most, size_t n)
{
    *most = n > *most ? n : *most;
}
/* Memory and convolutions of a plan whose nodes have their roles. */
int cuda_plan_place(struct mc_plan *p, struct mc_error *err);

/* copies.c */
/* Counts the copies; if `weight` and `grad` are set, assigns each node its slice. */
void cuda_copies_place(struct mc_plan *p);
int cuda_copies_fill(struct mc_plan *p, struct mc_error *err); /* param, on the device */

/* batch.c */
/* The number of images, of n with k channels of hw pixels, that are converted to doubles at
 * once. */
size_t cuda_moments_images(size_t n, size_t k, size_t hw);
/* Adds the joint moments of tap t of two plans. */
void cuda_tap_moments(struct mc_run *a, struct mc_run *b, size_t t, struct mc_buf *acc);

/* buffers.c */
/* Copies from host memory, which may change after it returns. */
void cuda_send(struct cuda *be, void *to, const void *from, size_t bytes);
/* Allocates zeroed device memory; `name` is for the message. MC_ENOMEM with the bytes needed and
 * free. */
int cuda_alloc(struct cuda *be, size_t bytes, const char *name, void **out, struct mc_error *err);
void cuda_fill_zeros(struct cuda *be, void *p, size_t bytes);
/* Frees memory once all work that uses it has ended. NULL is fine. */
void cuda_release(struct cuda *be, void *p);

/* cuda_fork makes the side stream wait for all earlier work of the main stream; cuda_join does the
 * reverse. cuda_fork returns 0 without forking if kernels are timed one by one. */
int cuda_fork(struct cuda *be);
void cuda_join(struct cuda *be);

/* Work launched until cuda_end_side runs concurrently with later work, until a join. */
void cuda_begin_side(struct cuda *be);

/* Sets the calling thread's current device, as every entry point must. */
static inline void cuda_use(struct cuda *be)
{
    cuda_check(be, cudaSetDevice(be->device));
}
/* All entry points but metrics(), sumsq() and backward() also wait for the side stream. */
static inline void cuda_enter(struct cuda *be)
{
    cuda_use(be);
    if (be->forked)
        cuda_join(be);
}
/* operation: for the message */
void cuda_check_dnn(struct cuda *be, cudnnStatus_t status, const char *operation);

static inline struct cuda *cuda_of(struct mc_backend *be)
{
    return (struct cuda *)be;
}

#endif
