/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the CUDA backend share: the backend, a plan and its nodes, convolutions.
 *
 * C files decide what runs in which order; the .cu files hold the kernels and the functions that
 * launch them (kernels.h). All work goes to one stream, so what is launched later sees what was
 * launched before, and only put() and get() wait. An activation lies as (N,C,H,W) float32, or
 * (N,H,W,C) in half precision. Every live node has memory of its own for its output and, with
 * backward, for its output's gradient; a ReLU that alone follows a batch norm is done by it. How
 * many images of a batch count is known on the device alone (struct cuda_batch). */
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
    char kind[16]; /* "sm_90": of the table of algorithms */
    int dnn_major; /* cuDNN's version */
    int any_order; /* convolutions may add in any order */
    cudaStream_t stream;
    cudnnHandle_t dnn;
    cublasHandle_t blas;
    void *blas_work;
    double *part;             /* CUDA_PARTS, of a flat vector's sums */
    unsigned given_back;      /* how often memory was: what was captured may mean it */
    int direct;               /* something could not be captured, `describe` says why */
    enum mc_err failed;       /* the first failure while work was given to the device; */
    char why[MC_CUDA_REASON]; /* get() tells */
};

/* What cuDNN says of a failure: the status, and of version 9 its last message. */
#define CUDA_DNN_REASON 240
void cuda_dnn_reason(cudnnStatus_t status, char text[CUDA_DNN_REASON]);

/* ---- convolution (conv.c): cuDNN's ------------------------------------------------------------
 */
struct cuda_conv_shape {
    const char *node;    /* of the graph, for messages; NULL: none */
    enum cuda_type type; /* float32: NCHW, OIHW; else NHWC, OHWI */
    int n, ic, ih, iw, oc, oh, ow;
    int kernel[2], stride[2], pad[2], groups;
    int backward_data, backward_weights;
    int algorithm[MC_N_PASSES]; /* cuDNN's number and 1; 0: chosen */
};
struct cuda_conv {
    struct cuda *be;
    struct cuda_conv_shape shape;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    cudnnMathType_t math;
    int algorithm[MC_N_PASSES]; /* cuDNN's number */
    size_t work;                /* bytes */
    cudnnStatus_t refused;      /* what cuDNN last said of an algorithm, */
    char why[CUDA_DNN_REASON];  /* and why it took none */
};
int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err);
void cuda_conv_free(struct cuda_conv *c);
size_t cuda_conv_work(const struct cuda_conv *c); /* bytes */
void cuda_conv_forward(struct cuda_conv *c, const void *x, const void *weight, void *y, void *work);
/* add: dx += */
void cuda_conv_backward_data(struct cuda_conv *c, const void *dy, const void *weight, int add,
                             void *dx, void *work);
void cuda_conv_backward_weights(struct cuda_conv *c, const void *x, const void *dy, void *dweight,
                                void *work);

/* ---- the choice of its algorithms (algorithms.c) -----------------------------------------------
 * An algorithm is cuDNN's number in the pass's own enum. Sums are in a fixed order, unless
 * `any_order`. */
enum { CUDA_N_ALGORITHMS = 8, CUDA_TABLE_KEY = 64 };
#define CUDA_MOST_WORK ((size_t)512 << 20) /* scratch memory of one that need not be taken */
/* The algorithm and the bytes of its scratch memory, or -1: cuDNN has none for the shape, and
 * c->why tells why. */
int cuda_choose(struct cuda_conv *c, enum mc_pass pass, size_t *work);
/* What it is where the table has no entry. */
int cuda_choose_untuned(struct cuda_conv *c, enum mc_pass pass, size_t *work);
/* May it be taken at all, and for this shape? */
int cuda_algorithm_fits(const struct cuda *be, enum mc_pass pass, int algorithm);
int cuda_algorithm_takes(struct cuda_conv *c, enum mc_pass pass, int algorithm, size_t *work);
const char *cuda_algorithm_name(enum mc_pass pass, int algorithm); /* NULL: there is none */
void cuda_conv_text(const struct cuda_conv_shape *s, char text[MC_SHAPE_TEXT]);
void cuda_table_key(const struct cuda *be, int any_order, char key[CUDA_TABLE_KEY]);
uint32_t cuda_table_hash(void);

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

/* ---- plan -------------------------------------------------------------------------------------
 */
struct cuda_node {
    const struct mc_node *n;
    const struct mc_role *role;

    uint32_t hw, stored; /* pixels, and channels that lie there: of the graph's pixels maybe more */
    size_t size;         /* numbers: B * stored * hw */
    void *out, *grad;
    void *weight, *dweight; /* half precision: its copy, and a convolution's gradient */
    struct cuda_norm norm;  /* batch and layer norm */
    int32_t *where;         /* max pool */
    int written;            /* backward: grad holds something */
    int batch_stats;        /* batch norm: the last forward used the batch's own */
    struct cuda_conv *conv;
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
    float loss_scale; /* activations' gradients are this times too large; a power of two */
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
    void *work;        /* cuDNN's scratch */
    double *part;      /* partial sums of channels */
    double *moments;   /* a batch's, then activations as doubles */
    size_t chunk;      /* doubles of those of each network */
    enum mc_mode mode; /* of the last forward */
};

static inline struct cuda_shape cuda_node_shape(const struct mc_plan *p, const struct cuda_node *c)
{
    const int last = p->type != CUDA_F32 || c->hw == 1;
    struct cuda_shape s = {.n = (uint32_t)p->batch,
                           .c = (uint32_t)c->n->c,
                           .hw = c->hw,
                           .image = c->stored * c->hw,
                           .channel = last ? 1 : c->hw,
                           .pixel = last ? c->stored : 1,
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
/* Back, when all that uses it has ended. NULL is fine. */
void cuda_give_back(struct cuda *be, void *p);

/* The current device is a thread's: every entry point sets it. */
static inline void cuda_enter(struct cuda *be)
{
    cuda_check(be, cudaSetDevice(be->device));
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
