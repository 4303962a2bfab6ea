/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the CUDA backend share: the backend, a plan and its nodes, convolutions.
 *
 * C files decide what runs in which order; the .cu files hold the kernels and the functions that
 * launch them (kernels.h). All work goes to one stream, so what is launched later sees what was
 * launched before, but for weights' gradients and what metrics() and then sumsq() add, which a
 * backward pass does not wait for before it ends; and only put() and get() wait. An activation lies
 * as (N,C,H,W) float32, or (N,H,W,C) in half precision. Every live node has memory of its own for
 * its output and, with backward, for its output's gradient; but a batch norm does the ReLU that
 * alone follows it, and an addition between them; the gradient of one of an addition's inputs may
 * lie in the addition's; and what a batch norm makes for a concatenation alone lies there. How many
 * images of a batch count is known on the device alone (struct cuda_batch). */
#ifndef MC_CUDA_H
#define MC_CUDA_H

#include "kernels/conv_table.h"
#include "kernels/cuda/kernels.h"
#include "kernels/roles.h"

#include <cublas_v2.h>
#include <cudnn.h>

struct cuda {
    struct mc_backend base;
    int device;
    enum mc_precision precision;
    char kind[16]; /* "sm_90" */
    int processors;
    int any_order;               /* convolutions may add in any order */
    cudaStream_t stream, beside; /* what runs beside the other work, from a fork to a join */
    cudaEvent_t forks, joins;
    int forked;       /* something may be beside */
    cudaStream_t now; /* that kernels are launched on */
    cudnnHandle_t dnn, dnn_beside;
    cudnnBackendDescriptor_t properties; /* the device's, for cuDNN */
    cublasHandle_t blas;
    void *blas_work;
    double *part;                /* CUDA_PARTS, of a flat vector's sums, and a counter */
    struct cuda_choice *choices; /* made so far */
    uint32_t chosen;             /* the sum of their lines' hashes: the same in any order; */
    char *algorithms;            /* and as text, the fact of that name */
    unsigned given_back;         /* how often memory was: what was captured may mean it */
    int direct;                  /* something could not be captured, `describe` says why */
    enum mc_err failed;          /* the first failure while work was given to the device; */
    char why[MC_CUDA_REASON];    /* get() tells */
};

/* What cuDNN says of a failure: the status, and of version 9 its last message. */
#define CUDA_DNN_REASON 240
void cuda_dnn_reason(cudnnStatus_t status, char text[CUDA_DNN_REASON]);

/* ---- engines (engines.c): cuDNN's -------------------------------------------------------------
 * What computes a pass of a convolution: a number of cuDNN's and the values of its knobs, which
 * mean something in one version of cuDNN alone. */
enum {
    CUDA_PASS_ADD = MC_N_PASSES,
    CUDA_N_PASSES
}; /* beside mc_pass: the data's gradient, added */
enum { CUDA_ENGINE_TEXT = 160, CUDA_MOST_ENGINES = 64 };
#define CUDA_MOST_WORK ((size_t)512 << 20) /* scratch memory of one */

struct cuda_engine {
    char text[CUDA_ENGINE_TEXT];   /* "48:2=2,6=1": engine 48, knob 2 is 2 */
    unsigned notes;                /* a bit for each of cuDNN's numerical notes that it has */
    int shown;                     /* it has none, and a device gave equal bytes with it */
    size_t work;                   /* bytes */
    cudnnBackendDescriptor_t plan; /* NULL: there is none */
};
struct cuda_conv_shape {
    const char *node;    /* of the graph, for messages; NULL: none */
    enum cuda_type type; /* float32: NCHW, OIHW; else NHWC, OHWI */
    int n, ic, ih, iw, oc, oh, ow;
    int kernel[2], stride[2], pad[2], groups;
    int wanted[CUDA_N_PASSES];
};
struct cuda_conv {
    struct cuda *be;
    struct cuda_conv_shape shape;
    struct cuda_engine engines[CUDA_N_PASSES];
    char why[CUDA_DNN_REASON]; /* what cuDNN first said of an engine that it refused */
};

/* be->properties, of the device of be->dnn. */
cudnnStatus_t cuda_describe_device(struct cuda *be);
/* What the heuristics name for a pass, best first, or what they fall back to; how many. */
int cuda_engines_named(struct cuda_conv *c, int pass, int fallback,
                       char list[CUDA_MOST_ENGINES][CUDA_ENGINE_TEXT]);
/* Makes c->engines[pass] ready. -1: cuDNN refuses, and c->why tells why. */
int cuda_engine_make(struct cuda_conv *c, int pass, const char *text);
void cuda_engine_drop(struct cuda_engine *e);
cudnnStatus_t cuda_engine_run(cudnnHandle_t dnn, const struct cuda_engine *e, const void *x,
                              const void *weight, const void *y, const void *work);

/* ---- the choice of engines (choice.c) ----------------------------------------------------------
 * Sums are in a fixed order, unless `any_order`. */
enum {
    CUDA_TABLE_KEY = 64,
    CUDA_CHOICE_LINE = CUDA_TABLE_KEY + MC_SHAPE_TEXT + 32 + CUDA_ENGINE_TEXT
};
/* The engine of a pass, a batch and a shape: the table's key, PASS, BATCH, SHAPE and ENGINE,
 * tab-separated. A backend chooses once, so all equal convolutions have the same engine. */
struct cuda_choice {
    struct cuda_choice *next;
    char line[CUDA_CHOICE_LINE];
};
/* kernels/cuda/plans.tsv; tests set their own. */
extern const char *cuda_plan_table;
const char *cuda_pass_name(int pass);
/* Makes c->engines[pass] ready. -1: there is none for the shape, and c->why tells why. */
int cuda_choose(struct cuda_conv *c, int pass);
/* What it is where the table has no entry. */
int cuda_choose_untuned(struct cuda_conv *c, int pass);
/* May it be taken, by its notes and its memory? */
int cuda_engine_fits(const struct cuda *be, const struct cuda_engine *e);
/* What is known of the order of its sums: "noted", that it is fixed, by cuDNN's notes; "unordered",
 * that it is not; without notes "shown", by a device, or "unproved". */
const char *cuda_engine_proof(const struct cuda_engine *e);
void cuda_conv_text(const struct cuda_conv_shape *s, char text[MC_SHAPE_TEXT]);
void cuda_table_key(const struct cuda *be, int any_order, char key[CUDA_TABLE_KEY]);

/* ---- convolution (conv.c) -------------------------------------------------------------------- */
int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err);
void cuda_conv_free(struct cuda_conv *c);
/* Bytes: of the weights' gradient, or of the other passes. */
size_t cuda_conv_work(const struct cuda_conv *c, int weights);
/* y, dx or dweight is what a wanted pass makes of the other two. beside: what
 * is asked for later does not wait for it until cuda_join; it has scratch memory of its own. */
void cuda_conv_run(struct cuda_conv *c, int pass, const void *x, const void *weight, const void *y,
                   const void *work, int beside);

/* ---- products (backend_cuda.c): cuBLAS's -------------------------------------------------------
 * c (m,n) = a (m,k) b (k,n) + beta c, row-major; 'T': lies transposed. */
void cuda_gemm(struct cuda *be, char ta, char tb, size_t m, size_t n, size_t k, const float *a,
               size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc);
/* Of a plan's layers, in its precision: c (m,n) = alpha a b + beta c, of the type `to`. */
void cuda_product(struct cuda *be, enum cuda_type type, char ta, char tb, size_t m, size_t n,
                  size_t k, float alpha, const void *a, size_t lda, const void *b, size_t ldb,
                  float beta, enum cuda_type to, void *c, size_t ldc);
void cuda_gemm64(struct cuda *be, char ta, char tb, size_t m, size_t n, size_t k, const double *a,
                 size_t lda, const double *b, size_t ldb, double beta, double *c, size_t ldc);
/* `count` products of the same a with b, b + stride, ... into c, c + stride, ... */
void cuda_gemm_blocks(struct cuda *be, char ta, size_t m, size_t n, size_t k, const float *a,
                      size_t lda, const float *b, float *c, size_t ld, size_t stride, size_t count);

/* ---- plan ------------------------------------------------------------------------------------ */
struct cuda_node {
    const struct mc_node *n;
    const struct mc_role *role;

    uint32_t hw, stored; /* pixels, and channels that lie there: of the graph's pixels maybe more */
    size_t size;         /* numbers: B * stored * hw */
    void *out, *grad;
    void *weight, *dweight; /* half precision: its copy, and a convolution's gradient */
    struct cuda_norm norm;  /* batch and layer norm */
    void *where;            /* max pool */
    int written;            /* backward: grad holds something */
    int batch_stats;        /* batch norm: the last forward used the batch's own */
    struct cuda_conv *conv;
    struct cuda_node *whole; /* a concatenation: output and gradient lie in its, */
    size_t at;               /* from this channel on */
};

/* Half precision: the weights of a plan's convolutions as (O,H,W,I), then of its linear layers. */
struct cuda_copies {
    size_t n, convs;       /* numbers, and of them convolutions' */
    unsigned char *weight; /* (n), made by every forward */
    unsigned char *grad;   /* (convs) */
    uint32_t *param;       /* (n): the parameter each is a copy of, or CUDA_NO_PARAM */
};

struct mc_plan {
    struct cuda *be;
    const struct mc_graph *g;
    size_t batch;
    enum cuda_type type;
    struct cuda_loss_scale *loss_scale; /* f16, on the device; else NULL */
    const float *scale;                 /* of it, that of the backward pass that runs; NULL: 1 */
    const float *pixels_scale;          /* and that of the pixels' gradient that lies there */
    struct mc_buf state;                /* of it, what a checkpoint holds */
    int backward, input_grad, train_only;
    struct cuda_node *nodes; /* g->n_nodes */
    struct mc_role *roles;   /* the nodes' */
    struct mc_tap_request *taps;
    size_t n_taps;
    unsigned char *data; /* all its device memory */
    size_t bytes;
    struct cuda_rows rows;
    struct cuda_scaling scaling;
    struct cuda_copies copies;
    void *work;                  /* cuDNN's scratch, */
    void *work_beside;           /* and that of weights' gradients */
    double *part;                /* partial sums of channels */
    struct cuda_partial partial; /* the same, and counters: for sums that the last block ends */
    double *moments;             /* a batch's, then activations as doubles */
    size_t chunk;                /* doubles of those of each network */
    enum mc_mode mode;           /* of the last forward */
};

static inline struct cuda_shape cuda_node_shape(const struct mc_plan *p, const struct cuda_node *c)
{
    const int last = p->type != CUDA_F32 || c->hw == 1;
    const uint32_t stored = c->whole ? c->whole->stored : c->stored;
    struct cuda_shape s = {.n = (uint32_t)p->batch,
                           .c = (uint32_t)c->n->c,
                           .hw = c->hw,
                           .image = stored * c->hw,
                           .channel = last ? 1 : c->hw,
                           .pixel = last ? stored : 1,
                           .type = p->type,
                           .batch = p->rows.batch};
    return s;
}
/* The same as (N,C,HW). */
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
/* Tensor cores want channels by eights, of which an image has fewer: a convolution's pixels. */
static inline int cuda_pixel_channels(enum cuda_type t, int c)
{
    return t == CUDA_F32 ? c : (c + 7) / 8 * 8;
}

/* Whether a node's numbers lie as (N,C*H*W). */
static inline int cuda_flat(const struct mc_plan *p, const struct cuda_node *c)
{
    return p->type == CUDA_F32 || c->hw == 1 || c->n->c == 1;
}

/* copies.c */
/* Counts them, then says where each node's lie, once `weight` and `grad` are given. */
void cuda_copies_place(struct mc_plan *p);
int cuda_copies_fill(struct mc_plan *p, struct mc_error *err); /* param, on the device */

/* Memory and convolutions of a plan whose nodes have their roles (plan.c). */
int cuda_plan_place(struct mc_plan *p, struct mc_error *err);
void cuda_plan_release(struct mc_plan *p);

/* outside.c */
/* Images of k channels of hw pixels whose activations become doubles at a time, of n. */
size_t cuda_moments_images(size_t n, size_t k, size_t hw);

/* buffers.c */
/* A copy from the host's memory, which may change when it returns. */
void cuda_send(struct cuda *be, void *to, const void *from, size_t bytes);
/* Zeroed device memory; `what` names it. MC_ENOMEM with the bytes needed and free. */
int cuda_take(struct cuda *be, size_t bytes, const char *what, void **out, struct mc_error *err);
void cuda_fill_zeros(struct cuda *be, void *p, size_t bytes);
/* Back, when all that uses it has ended. NULL is fine. */
void cuda_give_back(struct cuda *be, void *p);

/* What is given to be->beside then comes behind all that was given to be->stream; and what is given
 * to be->stream then, behind all that was given to be->beside. 0: there is no fork, as somebody
 * times what runs, one after the other. */
int cuda_fork(struct cuda *be);
void cuda_join(struct cuda *be);

/* What is launched from here to cuda_end_beside goes on beside what comes next, until a join. */
void cuda_begin_beside(struct cuda *be);

/* The current device is a thread's: every entry point sets it. */
static inline void cuda_use(struct cuda *be)
{
    cuda_check(be, cudaSetDevice(be->device));
}
/* And all but metrics(), sumsq() and backward() wait for what is beside. */
static inline void cuda_enter(struct cuda *be)
{
    cuda_use(be);
    if (be->forked)
        cuda_join(be);
}
/* what: was to be done */
void cuda_check_dnn(struct cuda *be, cudnnStatus_t status, const char *what);

static inline struct cuda *cuda_of(struct mc_backend *be)
{
    return (struct cuda *)be;
}
static inline float *cuda_floats(struct mc_buf *b)
{
    return (float *)b->data;
}
static inline const float *cuda_const_floats(const struct mc_buf *b)
{
    return (const float *)b->data;
}

#endif
