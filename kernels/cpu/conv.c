/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions by oneDNN, or by our own algorithms if the table says so. Activations have the
 * plan's fixed layout. Weights have the pass's layout and are copied from and to the flat vector at
 * each use (they are small).
 *
 * For fewer blocked input channels than a block, oneDNN has only reference code, a hundred times
 * slower. It therefore gets a whole block: the extra lanes are 0 in the activations, and the
 * weights get zeros for them. The same is true of groups that are not whole blocks. Groups that
 * together fill blocks are passed as one group, with zero weights between them. If oneDNN has only
 * reference code for another shape, one of our algorithms computes the pass (conv_native.c). */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

struct pass {
    dnnl_primitive_t run, reorder; /* reorder: flat to blocked weights, or back */
    dnnl_memory_t data[2];         /* the activation read and the one written (or dy) */
    dnnl_memory_t weights, flat, scratch;
    size_t weights_bytes, scratch_bytes, padded_bytes; /* padded: flat weights with the zeros */
    struct cpu_native native;                          /* its `by` is CPU_DIRECT: oneDNN */
};

struct cpu_conv {
    struct cpu *be;
    struct cpu_conv_shape s, dnnl_shape; /* the convolution, and its shape as oneDNN gets it */
    int merged;                          /* groups of s in one of dnnl_shape */
    struct pass pass[MC_N_PASSES];
    dnnl_memory_t bias;
    size_t work;
};

static int failed(struct mc_error *err, dnnl_status_t status, const char *object)
{
    if (status == dnnl_success)
        return 0;
    return mc_fail(err, status == dnnl_out_of_memory ? MC_ENOMEM : MC_EFAIL,
                   "convolution: oneDNN cannot do %s (status %d)", object, (int)status);
}

static void release_pass(struct pass *p)
{
    dnnl_primitive_destroy(p->run);
    dnnl_primitive_destroy(p->reorder);
    dnnl_memory_destroy(p->data[0]);
    dnnl_memory_destroy(p->data[1]);
    dnnl_memory_destroy(p->weights);
    dnnl_memory_destroy(p->flat);
    dnnl_memory_destroy(p->scratch);
}

/* Input channels that oneDNN gets. */
static int channels_in(const struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass)
{
    return s->ic < be->k->block && !cpu_is_plain(s, pass) && s->groups == 1 ? be->k->block : s->ic;
}

/* Merge groups until they fill whole blocks, or until all are merged. The activations' padding
 * counts as filled. */
static struct cpu_conv_shape merge(const struct cpu *be, const struct cpu_conv_shape *s,
                                   int *merged)
{
    const int b = be->k->block, ic = s->ic / s->groups, oc = s->oc / s->groups;
    struct cpu_conv_shape t = *s;
    int m = 1;

    *merged = 1;
    if (s->groups == 1 || cpu_is_depthwise(s))
        return t;
    while (ic * m % b || oc * m % b) /* a block is a power of two */
        m *= 2;
    t.groups = (s->groups + m - 1) / m;
    t.ic = t.groups * m * ic;
    t.oc = t.groups * m * oc;
    if (s->plain_input || s->plain_grad || t.ic != (s->ic + b - 1) / b * b ||
        t.oc != (s->oc + b - 1) / b * b) {
        t = *s;
        t.groups = 1;
        m = s->groups;
    }
    *merged = m;
    return t;
}

struct descs {
    dnnl_memory_desc_t src, dst, any, flat, bias;
};

static int describe(const struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                    struct descs *d, struct mc_error *err)
{
    const int ic = channels_in(be, s, pass);
    const dnnl_dims_t src = {s->n, ic, s->ih, s->iw}, dst = {s->n, s->oc, s->oh, s->ow};
    const dnnl_dims_t bias = {s->oc};
    const int grouped = s->groups > 1;
    const dnnl_dims_t w4 = {s->oc, ic, s->kernel[0], s->kernel[1]};
    const dnnl_dims_t w5 = {s->groups, s->oc / s->groups, s->ic / s->groups, s->kernel[0],
                            s->kernel[1]};
    const dnnl_format_tag_t tag = be->k->block == 16 ? dnnl_nChw16c : dnnl_nChw8c;
    const dnnl_dim_t *w = grouped ? w5 : w4;
    const int dims = grouped ? 5 : 4;

    dnnl_status_t st;

    (void)((st = dnnl_memory_desc_init_by_tag(&d->src, 4, src, dnnl_f32,
                                              cpu_is_plain(s, pass) ? dnnl_nchw : tag)) ||
           (st = dnnl_memory_desc_init_by_tag(&d->dst, 4, dst, dnnl_f32, tag)) ||
           (st = dnnl_memory_desc_init_by_tag(&d->any, dims, w, dnnl_f32, dnnl_format_tag_any)) ||
           (st = dnnl_memory_desc_init_by_tag(&d->flat, dims, w, dnnl_f32,
                                              grouped ? dnnl_goihw : dnnl_oihw)) ||
           (st = dnnl_memory_desc_init_by_tag(&d->bias, 1, bias, dnnl_f32, dnnl_x)));
    return failed(err, st, "these shapes");
}

static dnnl_status_t memory(struct cpu *be, dnnl_memory_t *out, const dnnl_memory_desc_t *desc)
{
    return dnnl_memory_create(out, desc, be->engine, DNNL_MEMORY_NONE);
}

/* Make the reorder between flat and the pass's weights, the memories and the primitive. */
static int make_pass(struct cpu *be, struct pass *p, dnnl_primitive_desc_t pd,
                     const struct descs *d, enum mc_pass pass, struct mc_error *err)
{
    const int to_flat = pass == MC_PASS_WEIGHTS;
    const dnnl_memory_desc_t *w = dnnl_primitive_desc_query_md(
        pd, to_flat ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *first = pass == MC_PASS_DATA ? &d->dst : &d->src;
    const dnnl_memory_desc_t *second = pass == MC_PASS_DATA ? &d->src : &d->dst;
    const dnnl_memory_desc_t *scratch =
        dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    dnnl_primitive_desc_t rpd = NULL;
    dnnl_status_t st;

    if (!((st = dnnl_reorder_primitive_desc_create(&rpd, to_flat ? w : &d->flat, be->engine,
                                                   to_flat ? &d->flat : w, be->engine, NULL)) ||
          (st = dnnl_primitive_create(&p->reorder, rpd)) ||
          (st = dnnl_primitive_create(&p->run, pd)) || (st = memory(be, &p->weights, w)) ||
          (st = memory(be, &p->flat, &d->flat)) || (st = memory(be, &p->scratch, scratch)) ||
          (st = memory(be, &p->data[0], first)) || (st = memory(be, &p->data[1], second)))) {
        p->weights_bytes = (dnnl_memory_desc_get_size(w) + 63) / 64 * 64;
        p->scratch_bytes = dnnl_memory_desc_get_size(scratch);
    }
    dnnl_primitive_desc_destroy(rpd);
    return failed(err, st, "a primitive");
}

static dnnl_status_t describe_pass(dnnl_convolution_desc_t *cd, enum mc_pass pass,
                                   dnnl_alg_kind_t alg, const struct cpu_conv_shape *s,
                                   const struct descs *d)
{
    const dnnl_dims_t stride = {s->stride[0], s->stride[1]}, pad = {s->pad[0], s->pad[1]};
    /* negative padding: pixels on the far side that no window covers */
    const dnnl_dims_t far = {(s->oh - 1) * s->stride[0] + s->kernel[0] - s->ih - s->pad[0],
                             (s->ow - 1) * s->stride[1] + s->kernel[1] - s->iw - s->pad[1]};
    const int training = s->backward_data || s->backward_weights;

    if (pass == MC_PASS_DATA)
        return dnnl_convolution_backward_data_desc_init(cd, alg, &d->src, &d->any, &d->dst, stride,
                                                        pad, far);
    if (pass == MC_PASS_WEIGHTS)
        return dnnl_convolution_backward_weights_desc_init(cd, alg, &d->src, &d->any, NULL, &d->dst,
                                                           stride, pad, far);
    return dnnl_convolution_forward_desc_init(
        cd, training ? dnnl_forward_training : dnnl_forward_inference, alg, &d->src, &d->any,
        s->bias ? &d->bias : NULL, &d->dst, stride, pad, far);
}

/* The pass's primitive descriptor by the requested algorithm, or by the direct one if that is not
 * available. */
static dnnl_status_t create_pass(struct cpu *be, dnnl_primitive_desc_t *pd, enum mc_pass pass,
                                 const struct cpu_conv_shape *s, const struct descs *d,
                                 dnnl_primitive_attr_t attr)
{
    const dnnl_alg_kind_t algs[] = {dnnl_convolution_winograd, dnnl_convolution_direct};
    dnnl_status_t st = dnnl_unimplemented;

    for (int i = s->algorithm[pass] == CPU_DNNL_WINOGRAD ? 0 : 1; i < 2 && st == dnnl_unimplemented;
         i++) {
        dnnl_convolution_desc_t cd, hint_cd;
        dnnl_primitive_desc_t hint = NULL;
        st = describe_pass(&cd, pass, algs[i], s, d);
        if (!st && pass != MC_PASS_FORWARD) { /* backward needs a forward of the same algorithm */
            st = describe_pass(&hint_cd, MC_PASS_FORWARD, algs[i], s, d);
            if (!st)
                st = dnnl_primitive_desc_create(&hint, &hint_cd, attr, be->engine, NULL);
        }
        if (!st)
            st = dnnl_primitive_desc_create(pd, &cd, attr, be->engine, hint);
        dnnl_primitive_desc_destroy(hint);
    }
    return st;
}

static const char *implementation(const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;
    return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) ? "" : name;
}

const char *cpu_conv_implementation(const struct cpu_conv *c, enum mc_pass pass)
{
    const struct pass *p = &c->pass[pass];
    const_dnnl_primitive_desc_t pd;

    if (p->native.by != CPU_DIRECT)
        return cpu_algorithm_name(p->native.by);
    return p->run && !dnnl_primitive_get_primitive_desc(p->run, &pd) ? implementation(pd) : "";
}

/* Make one pass. Our kernels compute it if the algorithm is ours or oneDNN has only reference
 * code. */
static int new_pass(struct cpu_conv *c, enum mc_pass pass, dnnl_primitive_attr_t attr,
                    struct mc_error *err)
{
    struct cpu *be = c->be;
    const struct cpu_conv_shape *s = &c->s;
    struct pass *p = &c->pass[pass];
    struct descs d;
    dnnl_primitive_desc_t pd = NULL;

    if (cpu_native_supports(be, s, pass, s->algorithm[pass], &p->native))
        return 0;
    int rc = describe(be, &c->dnnl_shape, pass, &d, err);
    if (!rc)
        rc = failed(err, create_pass(be, &pd, pass, s, &d, attr), "this shape");
    if (rc || !strncmp(implementation(pd), "ref", 3)) {
        dnnl_primitive_desc_destroy(pd);
        if (!rc && !cpu_native_supports(be, s, pass, cpu_choose_replacement(s), &p->native))
            (void)cpu_native_supports(be, s, pass, CPU_PRODUCTS, &p->native);
        return rc;
    }
    rc = make_pass(be, p, pd, &d, pass, err);
    if (channels_in(be, &c->dnnl_shape, pass) != s->ic || c->merged > 1)
        p->padded_bytes = (dnnl_memory_desc_get_size(&d.flat) + 63) / 64 * 64;
    dnnl_primitive_desc_destroy(pd);
    return rc;
}

int cpu_conv_new(struct cpu *be, const struct cpu_conv_shape *s, struct cpu_conv **out,
                 struct mc_error *err)
{
    struct cpu_conv *c = calloc(1, sizeof *c);
    struct descs d;
    dnnl_primitive_attr_t attr = NULL;
    int rc;

    if (!c)
        return mc_no_memory(err);
    c->be = be;
    c->s = *s;
    c->dnnl_shape = merge(be, s, &c->merged);
    rc = failed(err, dnnl_primitive_attr_create(&attr), "attributes");
    if (!rc)
        rc = failed(err, dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user),
                    "attributes");
    for (enum mc_pass pass = 0; !rc && pass < MC_N_PASSES; pass++) {
        const int needed[] = {1, s->backward_data, s->backward_weights};
        if (needed[pass])
            rc = new_pass(c, pass, attr, err);
    }
    if (!rc && s->bias && !(rc = describe(be, &c->dnnl_shape, MC_PASS_FORWARD, &d, err)))
        rc = failed(err, memory(be, &c->bias, &d.bias), "a bias");
    for (const struct pass *p = c->pass; p < c->pass + MC_N_PASSES; p++) {
        const size_t work =
            p->weights_bytes + p->padded_bytes + p->scratch_bytes + p->native.work_bytes;
        c->work = work > c->work ? work : c->work;
    }
    dnnl_primitive_attr_destroy(attr);
    if (rc)
        cpu_conv_free(c);
    else
        *out = c;
    return rc;
}

void cpu_conv_free(struct cpu_conv *c)
{
    if (!c)
        return;
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        release_pass(&c->pass[pass]);
    dnnl_memory_destroy(c->bias);
    free(c);
}

size_t cpu_conv_work(const struct cpu_conv *c)
{
    return c->work;
}

static void point(struct cpu *be, dnnl_memory_t m, const void *data)
{
    /* oneDNN accepts no const pointer; it does not write an input */
    cpu_check(be, dnnl_memory_set_data_handle(m, (void *)(uintptr_t)data));
}

static void execute(struct cpu *be, dnnl_primitive_t p, int n, const dnnl_exec_arg_t *args)
{
    cpu_check(be, dnnl_primitive_execute(p, be->stream, n, args));
}

/* Assign the parts of the pass's work memory: weights, flat weights with zeros, scratch. */
static float *place(struct cpu_conv *c, struct pass *p, const float *flat, void *work)
{
    float *padded = (float *)work + p->weights_bytes / sizeof(float);

    point(c->be, p->flat, p->padded_bytes ? padded : flat);
    point(c->be, p->weights, work);
    point(c->be, p->scratch, (char *)padded + p->padded_bytes);
    return padded;
}

/* Floats of an output channel's weights, (ic / groups, kernel), and of the padded row that contains
 * them. */
static size_t row_of(const struct cpu_conv *c, const struct pass *p, size_t *wide)
{
    const size_t window = (size_t)(c->s.kernel[0] * c->s.kernel[1]);

    *wide = (size_t)(channels_in(c->be, &c->dnnl_shape, (enum mc_pass)(p - c->pass)) /
                     c->dnnl_shape.groups) *
            window;
    return (size_t)(c->s.ic / c->s.groups) * window;
}

/* Offset of output channel o's weights in the padded ones. */
static size_t row_at(const struct cpu_conv *c, size_t o, size_t row, size_t wide)
{
    return o * wide + o / (size_t)(c->s.oc / c->s.groups) % (size_t)c->merged * row;
}

static void weights_in(struct cpu_conv *c, struct pass *p, const float *flat, float *padded)
{
    size_t wide, row = row_of(c, p, &wide);

    if (p->padded_bytes)
        memset(padded, 0, (size_t)c->dnnl_shape.oc * wide * sizeof *flat);
    for (size_t o = 0; p->padded_bytes && o < (size_t)c->s.oc; o++)
        memcpy(padded + row_at(c, o, row, wide), flat + o * row, row * sizeof *flat);
    execute(c->be, p->reorder, 2,
            (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, p->flat}, {DNNL_ARG_TO, p->weights}});
}

static void weights_out(struct cpu_conv *c, struct pass *p, float *flat, const float *padded)
{
    size_t wide, row = row_of(c, p, &wide);

    execute(c->be, p->reorder, 2,
            (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, p->weights}, {DNNL_ARG_TO, p->flat}});
    for (size_t o = 0; p->padded_bytes && o < (size_t)c->s.oc; o++)
        memcpy(flat + o * row, padded + row_at(c, o, row, wide), row * sizeof *flat);
}

/* Run oneDNN's primitive. */
static void run(struct cpu_conv *c, enum mc_pass pass, const struct cpu_tensors *t)
{
    static const int names[MC_N_PASSES][3] = {
        [MC_PASS_FORWARD] = {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS},
        [MC_PASS_DATA] = {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS},
        [MC_PASS_WEIGHTS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS},
    };
    const int data = pass == MC_PASS_DATA, has_bias = pass == MC_PASS_FORWARD && c->s.bias;
    struct pass *p = &c->pass[pass];
    float *padded = place(c, p, t->weight, t->work);

    if (pass != MC_PASS_WEIGHTS)
        weights_in(c, p, t->weight, padded);
    point(c->be, p->data[0], data ? t->y : t->x);
    point(c->be, p->data[1], data ? t->x : t->y);
    if (has_bias)
        point(c->be, c->bias, t->bias);
    execute(c->be, p->run, has_bias ? 5 : 4,
            (dnnl_exec_arg_t[]){{names[pass][0], p->data[0]},
                                {names[pass][1], p->data[1]},
                                {names[pass][2], p->weights},
                                {DNNL_ARG_SCRATCHPAD, p->scratch},
                                {DNNL_ARG_BIAS, c->bias}});
    if (pass == MC_PASS_WEIGHTS)
        weights_out(c, p, t->weight, padded);
}

struct cpu_native *cpu_conv_native(struct cpu_conv *c, enum mc_pass pass)
{
    return &c->pass[pass].native;
}

void cpu_conv_run(struct cpu_conv *c, enum mc_pass pass, const struct cpu_tensors *t)
{
    const struct cpu_native *native = &c->pass[pass].native;

    if (native->by == CPU_DIRECT)
        run(c, pass, t);
    else
        cpu_native_run(c->be, native, &c->s, pass, t);
}
