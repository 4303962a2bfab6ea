/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and functions that the files of the CPU backend share: the backend, a plan and its nodes,
 * convolutions.
 *
 * A plan is a list of nodes in the graph's order. Each live node has a region of one arena for its
 * output and, with backward, one for its output's gradient. Regions share memory if their lifetimes
 * do not overlap: node i runs forward at time i and backward at time 2n - i. A batch norm computes
 * the ReLU after it if nothing else reads its output. No node's backward reads the node's own
 * output, so operations that can work in place do. */
#ifndef MC_CPU_H
#define MC_CPU_H

#include "kernels/conv_table.h"
#include "kernels/cpu/kernels.h"
#include "kernels/executor.h"
#include "kernels/functions.h"
#include "kernels/product.h"

#include <oneapi/dnnl/dnnl.h>

struct cpu {
    struct mc_backend base;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_status_t failed; /* first failure of oneDNN (or ours) while a plan ran; get() returns it */
    const struct cpu_kernels *k;
    double part[CPU_PARTS];
};

/* The functions of struct mc_backend, in attack.c, backend_cpu.c, buffers.c, pixels.c, plan.c,
 * results.c, run.c, soft_permutation.c and ops/batchnorm.c. */
MC_DECLARE_FUNCTIONS(cpu)

static inline struct cpu *cpu_of(struct mc_backend *base)
{
    return (struct cpu *)base;
}

/* ---- convolution (conv.c) ----------------------------------------------------------------------
 * Weights are read from and written to the flat vector; copies in oneDNN's layout are in `work`. */
struct cpu_conv;
/* The table chooses among the first three: oneDNN's direct convolution, its Winograd and ours. The
 * others replace oneDNN's reference code. */
enum cpu_algorithm {
    CPU_DIRECT,
    CPU_DNNL_WINOGRAD,
    CPU_WINOGRAD,
    CPU_N_TABLED,
    CPU_DEPTHWISE = CPU_N_TABLED,
    CPU_PRODUCTS,
    CPU_N_ALGORITHMS
};
struct cpu_conv_shape {
    int n, ic, ih, iw, oc, oh, ow;
    int kernel[2], stride[2], pad[2], groups;
    int plain_input, plain_grad; /* (N,C,H,W) rather than blocked: the input, its gradient */
    int bias;                    /* added by forward */
    int backward_data, backward_weights;
    int adds; /* the data's gradient is added to dx, if our Winograd computes it */
    enum cpu_algorithm algorithm[MC_N_PASSES]; /* direct if this one is not available */
};
/* Returns whether this pass reads or writes the input, or its gradient, as (N,C,H,W). */
static inline int cpu_is_plain(const struct cpu_conv_shape *s, enum mc_pass pass)
{
    return pass == MC_PASS_DATA ? s->plain_grad : s->plain_input;
}
static inline int cpu_is_depthwise(const struct cpu_conv_shape *s)
{
    return s->groups > 1 && s->groups == s->ic && s->groups == s->oc && !s->plain_input &&
           !s->plain_grad;
}
static inline struct mc_window cpu_conv_window(const struct cpu_conv_shape *s)
{
    return (struct mc_window){s->ih,
                              s->iw,
                              s->oh,
                              s->ow,
                              {s->kernel[0], s->kernel[1]},
                              {s->stride[0], s->stride[1]},
                              {s->pad[0], s->pad[1]},
                              0};
}
int cpu_conv_new(struct cpu *be, const struct cpu_conv_shape *s, struct cpu_conv **out,
                 struct mc_error *err);
void cpu_conv_free(struct cpu_conv *c);
/* Name of the implementation of a pass, ours or oneDNN's; "" if the pass is not computed. */
const char *cpu_conv_implementation(const struct cpu_conv *c, enum mc_pass pass);
size_t cpu_conv_work(const struct cpu_conv *c); /* bytes */
/* The tensors of a pass: backward, y and the result are gradients. It reads two of x, weight and y
 * and writes the third. */
struct cpu_tensors {
    float *x, *weight, *y;
    const float *bias; /* forward, if the shape has one */
    void *work;
};
void cpu_conv_run(struct cpu_conv *c, enum mc_pass pass, const struct cpu_tensors *t);

/* ---- our algorithms of a convolution (conv_native.c, products.c, unfolded.c) ------------- */
struct cpu_native {
    enum cpu_algorithm by; /* CPU_DIRECT: not ours */
    struct cpu_wino wino;
    size_t weights_bytes, work_bytes; /* work_bytes: with the weights */
};
/* How our kernels compute the convolution's pass. */
struct cpu_native *cpu_conv_native(struct cpu_conv *c, enum mc_pass pass);
/* Returns whether the data's gradient is added to dx. */
static inline int cpu_conv_adds(struct cpu_conv *c)
{
    return cpu_conv_native(c, MC_PASS_DATA)->wino.add;
}
/* Fills *native and returns 1 if algorithm `by` is ours and fits this pass, otherwise returns 0. */
int cpu_native_supports(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                        enum cpu_algorithm by, struct cpu_native *native);
/* Returns whether the pass can compute a kernel of a batch norm, native->wino.norm. */
int cpu_native_fuses(const struct cpu_native *native, enum mc_pass pass);
void cpu_native_run(struct cpu *be, const struct cpu_native *native, const struct cpu_conv_shape *s,
                    enum mc_pass pass, const struct cpu_tensors *t);
/* Matrix products, for blocked activations and for pixels (N,C,H,W). A pass adds its result to x or
 * y, or writes it to weight. */
size_t cpu_products_work(struct cpu *be, const struct cpu_conv_shape *s); /* bytes */
void cpu_products(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                  const struct cpu_tensors *t);
size_t cpu_unfolded_work(const struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass);
void cpu_unfolded(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                  const struct cpu_tensors *t);

/* ---- choice of algorithms (algorithms.c) --------------------------------------------------------
 * The committed table algorithms.tsv, written by `make tune`, has one line per instruction set,
 * pass and shape. Other shapes follow a rule: our Winograd for 3x3 of stride 1 with enough channels
 * and pixels, otherwise direct. */
enum cpu_algorithm cpu_choose(const struct cpu_kernels *k, enum mc_pass pass,
                              const struct cpu_conv_shape *s);
/* Returns our algorithm that replaces oneDNN's reference code. If it does not support the shape,
 * products do. */
enum cpu_algorithm cpu_choose_replacement(const struct cpu_conv_shape *s);
const char *cpu_algorithm_name(enum cpu_algorithm a);
uint32_t cpu_table_hash(void);

/* ---- arena (arena.c) ------------------------------------------------------------------------- */
struct cpu_region {
    size_t bytes, from, to; /* alive at times from..to, both included */
    size_t offset;
};
struct cpu_arena {
    struct cpu_region *regions;
    size_t n, bytes;
    int failed; /* out of memory while regions were added */
    unsigned char *data;
};
/* Returns the new region's number; 0 is never used. */
size_t cpu_arena_add(struct cpu_arena *a, size_t bytes, size_t from, size_t to);
void cpu_arena_extend(struct cpu_arena *a, size_t region, size_t from, size_t to);
int cpu_arena_place(struct cpu_arena *a, struct mc_error *err);
void cpu_arena_release(struct cpu_arena *a);
void *cpu_arena_at(const struct cpu_arena *a, size_t region);

/* ---- plan ------------------------------------------------------------------------------------ */
struct cpu_node {
    const struct mc_node *n;
    const struct mc_role *role;
    int plain;      /* the output is (N,C,H,W), not blocked: pixels only */
    int plain_grad; /* the same for the gradient; it is blocked if convolutions write it */

    size_t cb, hw, image, size;   /* channel blocks, pixels, floats per image, floats */
    size_t grad_image, grad_size; /* the gradient's */
    size_t out_region, grad_region, extra_region;
    float *out, *grad;
    void *extra;     /* memory of its operation alone */
    int adds;        /* its backward can add to a gradient */
    int batch_stats; /* batch norm: the last forward used the batch's statistics */
    struct cpu_conv *conv;
    /* batch norm: kernels that convolutions compute, or NULL */
    struct cpu_fused *fused[MC_N_PASSES];
    size_t part_region;
    float *part; /* batch norm: the sums that a convolution computes */
};

struct mc_plan {
    struct mc_run run; /* first */
    struct cpu *be;
    size_t valid;
    struct cpu_node *nodes; /* g->n_nodes */
    struct cpu_arena arena;
    size_t work_region, tmp_region, row_region, moments_region;
    void *work;            /* oneDNN's scratch, partial sums */
    float *tmp;            /* a second gradient, before it is added */
    int32_t *labels;       /* (B) */
    int32_t *samples;      /* index into the source, -1 after the last */
    uint32_t *ids;         /* keys of the samples' random numbers */
    float *loss, *correct; /* (B), main head */
    double objective;      /* sum over images and heads of the last forward */
    double *moments;       /* the moments' work */
    struct mc_ctl ctl;     /* control values of the last load */
};

static inline struct mc_plan *cpu_plan_of(struct mc_run *run)
{
    return (struct mc_plan *)run;
}

static inline struct cpu_shape cpu_node_shape(const struct mc_plan *p, const struct cpu_node *n)
{
    struct cpu_shape s = {p->run.batch, p->valid, n->cb, n->hw};
    return s;
}

/* Offset of channel ch of image i; *step is the distance between its pixels. */
static inline size_t cpu_channel_at(const struct mc_plan *p, const struct cpu_node *c, size_t i,
                                    size_t ch, size_t *step)
{
    const size_t b = (size_t)p->be->k->block;
    *step = c->plain ? 1 : b;
    return i * c->image + (c->plain ? ch * c->hw : ch / b * c->hw * b + ch % b);
}

/* The shape of a plan's convolution. Its algorithms are direct: the choice comes later. */
struct cpu_conv_shape cpu_conv_shape_of(const struct mc_plan *p, const struct cpu_node *c);

/* ---- operations (ops/) ----------------------------------------------------------------------
 * One row for each; struct mc_runner says what the functions do. */
struct cpu_step {
    struct mc_plan *p;
    const struct cpu_kernels *k;
    struct cpu_node *c, *in; /* the node and its first input; backward: and input `input` */
    int input;
    const float *from; /* forward: in's output; backward: c's gradient */
    float *to;         /* forward: c's output; backward: the memory of in's gradient */
    int adds;          /* backward: add to `to`. Only set if the node's `adds` is */
};
struct cpu_op {
    void (*forward)(const struct cpu_step *s);
    void (*parameters)(const struct cpu_step *s); /* NULL: none */
    void (*backward)(const struct cpu_step *s);
    int adds; /* backward can add */
    /* Makes the node's convolution, or reserves its extra_region. NULL: neither. */
    int (*place)(struct mc_plan *p, struct cpu_node *c, struct mc_error *err);
};
#define CPU_DECLARE_OP(NAME, name, ...) extern const struct cpu_op cpu_op_##name;
MC_EACH_OP(CPU_DECLARE_OP)
extern const struct cpu_op *const cpu_ops[MC_N_OPS];

/* to = from, or to += from; they may be the same memory. */
void cpu_move(const struct mc_plan *p, size_t n, const float *from, int adds, float *to);
/* Zero the lanes after the last channel, as in every blocked activation. */
void cpu_clear_padding(const struct mc_plan *p, const struct cpu_node *c, float *x);
/* Sum over images of part[n][cb][index of `count`][b] for channel c. */
double cpu_total(const struct mc_plan *p, const struct cpu_node *n, const float *part, size_t c,
                 size_t index, size_t count);
/* The same from p->work, for every channel. */
void cpu_totals(const struct mc_plan *p, const struct cpu_node *c, size_t index, size_t count,
                float *sums);

/* Memory and convolutions of a plan whose nodes have their roles (plan.c). The caller releases the
 * arena. */
int cpu_plan_place(struct mc_plan *p, struct mc_error *err);

/* Adds the joint moments of tap t of two plans (results.c). */
void cpu_tap_moments(struct mc_run *a, struct mc_run *b, size_t t, struct mc_buf *acc);

/* May also be called in a parallel loop. */
static inline void cpu_check(struct cpu *cpu, dnnl_status_t status)
{
    if (!status)
        return;
#pragma omp critical(cpu_check)
    if (!cpu->failed)
        cpu->failed = status;
}

static inline void cpu_gemm(struct cpu *cpu, struct mc_product p)
{
    cpu_check(cpu, dnnl_sgemm(p.a.transposed ? 'T' : 'N', p.b.transposed ? 'T' : 'N',
                              (dnnl_dim_t)p.size.m, (dnnl_dim_t)p.size.n, (dnnl_dim_t)p.size.k, 1,
                              p.a.x, (dnnl_dim_t)p.a.ld, p.b.x, (dnnl_dim_t)p.b.ld, p.beta, p.c.x,
                              (dnnl_dim_t)p.c.ld));
}

/* OpenMP stores the number of threads per calling thread: sets it to the backend's. */
void cpu_enter(const struct cpu *cpu);
int cpu_backend_new(struct mc_backend **out, const struct mc_backend_opts *o, struct mc_error *err);

#endif
