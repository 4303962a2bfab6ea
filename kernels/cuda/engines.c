/* SPDX-License-Identifier: Apache-2.0
 *
 * cuDNN's graphs: a convolution pass as a graph of one operation, the engines that cuDNN's
 * heuristics name for it, preparing one of them, and running it. */
#include "kernels/cuda/cuda.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cuDNN's descriptors ----------------------------------------------------------------------
 * After the first refusal, the functions do nothing. */

enum { MAX_KNOBS = CUDNN_KNOB_TYPE_COUNTS, MAX_PARTS = CUDA_MAX_ENGINES + 16 };

struct parts {
    cudnnStatus_t refused;
    int n;
    cudnnBackendDescriptor_t made[MAX_PARTS];
};

static cudnnBackendDescriptor_t begin(struct parts *p, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;

    assert(p->n < MAX_PARTS);
    if (!p->refused)
        p->refused = cudnnBackendCreateDescriptor(type, &d);
    if (d)
        p->made[p->n++] = d;
    return d;
}

static void set(struct parts *p, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    if (!p->refused)
        p->refused = cudnnBackendSetAttribute(d, name, type, n, values);
}

static void set_number(struct parts *p, cudnnBackendDescriptor_t d,
                       cudnnBackendAttributeName_t name, int64_t value)
{
    set(p, d, name, CUDNN_TYPE_INT64, 1, &value);
}

static void set_parts(struct parts *p, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                      int64_t n, const cudnnBackendDescriptor_t *values)
{
    set(p, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, values);
}

static void end(struct parts *p, cudnnBackendDescriptor_t d)
{
    if (!p->refused)
        p->refused = cudnnBackendFinalize(d);
}

/* Read up to `limit` values and return their number. */
static int64_t get(struct parts *p, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, int64_t limit, void *values)
{
    int64_t n = 0;

    if (!p->refused)
        p->refused = cudnnBackendGetAttribute(d, name, type, limit, &n, values);
    return p->refused ? 0 : n < limit ? n : limit;
}

static cudnnStatus_t release(struct parts *p)
{
    while (p->n > 0)
        (void)cudnnBackendDestroyDescriptor(p->made[--p->n]);
    (void)cudaGetLastError(); /* a refusal must not become a later launch's failure */
    return p->refused;
}

cudnnStatus_t cuda_describe_device(struct cuda *be)
{
    struct parts p = {0};

    be->properties = begin(&p, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    set(&p, be->properties, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &be->dnn);
    end(&p, be->properties);
    return p.refused;
}

/* ---- a pass's graph -------------------------------------------------------------------------- */

enum { X = 'x', W = 'w', Y = 'y' }; /* tensor numbers */

static const struct operation {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
    float adds;
} operations[CUDA_N_PASSES] = {
#define NAME(kind, attribute) CUDNN_ATTR_OPERATION_CONVOLUTION_##kind##_##attribute
#define OPERATION(type, kind, x, w, y, adds)                                                       \
    {                                                                                              \
        CUDNN_BACKEND_OPERATION_CONVOLUTION_##type##_DESCRIPTOR, NAME(kind, x), NAME(kind, w),     \
            NAME(kind, y), NAME(kind, CONV_DESC), NAME(kind, ALPHA), NAME(kind, BETA), adds        \
    }
    [MC_PASS_FORWARD] = OPERATION(FORWARD, FORWARD, X, W, Y, 0),
    [MC_PASS_DATA] = OPERATION(BACKWARD_DATA, BWD_DATA, DX, W, DY, 0),
    [CUDA_PASS_ADD] = OPERATION(BACKWARD_DATA, BWD_DATA, DX, W, DY, 1),
    [MC_PASS_WEIGHTS] = OPERATION(BACKWARD_FILTER, BWD_FILTER, X, DW, DY, 0),
};

/* Packed, in the order of the plan's activations; memory is aligned to 16 bytes. */
static cudnnBackendDescriptor_t tensor(struct parts *p, enum cuda_type type, int64_t number,
                                       int64_t n, int64_t c, int64_t h, int64_t w)
{
    const cudnnDataType_t kind = type == CUDA_F32    ? CUDNN_DATA_FLOAT
                                 : type == CUDA_BF16 ? CUDNN_DATA_BFLOAT16
                                                     : CUDNN_DATA_HALF;
    const int64_t sizes[] = {n, c, h, w}, first[] = {c * h * w, h * w, w, 1},
                  last[] = {c * h * w, 1, w * c, c};
    cudnnBackendDescriptor_t d = begin(p, CUDNN_BACKEND_TENSOR_DESCRIPTOR);

    set(p, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &kind);
    set(p, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes);
    set(p, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, type == CUDA_F32 ? first : last);
    set_number(p, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, number);
    set_number(p, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
    end(p, d);
    return d;
}

static cudnnBackendDescriptor_t convolution(struct parts *p, const struct cuda_conv_shape *s)
{
    const int64_t pad[] = {s->pad[0], s->pad[1]}, stride[] = {s->stride[0], s->stride[1]};
    const int64_t unit[] = {1, 1};
    const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    cudnnBackendDescriptor_t d = begin(p, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

    set_number(p, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
    set(p, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    set(p, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(p, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(p, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(p, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, unit);
    set(p, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride);
    end(p, d);
    return d;
}

static cudnnBackendDescriptor_t graph(struct parts *p, struct cuda_conv *c, int pass)
{
    const struct operation *o = &operations[pass];
    const struct cuda_conv_shape *s = &c->shape;
    const float unit = 1;
    const cudnnBackendDescriptor_t x = tensor(p, s->type, X, s->n, s->ic, s->ih, s->iw);
    const cudnnBackendDescriptor_t w =
        tensor(p, s->type, W, s->oc, s->ic / s->groups, s->kernel[0], s->kernel[1]);
    const cudnnBackendDescriptor_t y = tensor(p, s->type, Y, s->n, s->oc, s->oh, s->ow);
    const cudnnBackendDescriptor_t conv = convolution(p, s);
    cudnnBackendDescriptor_t d = begin(p, o->type);

    set_parts(p, d, o->x, 1, &x);
    set_parts(p, d, o->w, 1, &w);
    set_parts(p, d, o->y, 1, &y);
    set_parts(p, d, o->convolution, 1, &conv);
    set(p, d, o->alpha, CUDNN_TYPE_FLOAT, 1, &unit);
    set(p, d, o->beta, CUDNN_TYPE_FLOAT, 1, &o->adds);
    end(p, d);
    cudnnBackendDescriptor_t all = begin(p, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_parts(p, all, CUDNN_ATTR_OPERATIONGRAPH_OPS, 1, &d);
    set(p, all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &c->be->dnn);
    end(p, all);
    return all;
}

/* ---- the heuristics' candidates -------------------------------------------------------------- */

/* Write the engine's text, or "" if cuDNN cannot describe it. */
static void write_text(cudnnBackendDescriptor_t config, char text[CUDA_ENGINE_TEXT])
{
    struct parts p = {0};
    cudnnBackendDescriptor_t knobs[MAX_KNOBS], engine = begin(&p, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t number = -1;

    for (int k = 0; k < MAX_KNOBS; k++)
        knobs[k] = begin(&p, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    get(&p, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    get(&p, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &number);
    const int64_t n = get(&p, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                          CUDNN_TYPE_BACKEND_DESCRIPTOR, MAX_KNOBS, knobs);
    size_t length = (size_t)snprintf(text, CUDA_ENGINE_TEXT, "%" PRId64, number);
    for (int64_t k = 0; k < n && length < CUDA_ENGINE_TEXT; k++) {
        cudnnBackendKnobType_t kind = CUDNN_KNOB_TYPE_COUNTS;
        int64_t value = 0;
        get(&p, knobs[k], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &kind);
        get(&p, knobs[k], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
        length += (size_t)snprintf(text + length, CUDA_ENGINE_TEXT - length, "%c%d=%" PRId64,
                                   k ? ',' : ':', (int)kind, value);
    }
    if (release(&p) || length >= CUDA_ENGINE_TEXT)
        text[0] = 0;
}

static int cudnn_candidates(struct cuda_conv *c, int pass, int fallback,
                            char list[CUDA_MAX_ENGINES][CUDA_ENGINE_TEXT])
{
    const cudnnBackendHeurMode_t mode = fallback ? CUDNN_HEUR_MODE_FALLBACK : CUDNN_HEUR_MODE_A;
    struct parts p = {0};
    const cudnnBackendDescriptor_t all = graph(&p, c, pass);
    cudnnBackendDescriptor_t configs[CUDA_MAX_ENGINES];
    cudnnBackendDescriptor_t d = begin(&p, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    int n = 0;

    set_parts(&p, d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 1, &all);
    set(&p, d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    set_parts(&p, d, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, 1, &c->be->properties);
    end(&p, d);
    for (int i = 0; i < CUDA_MAX_ENGINES; i++)
        configs[i] = begin(&p, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const int64_t found = get(&p, d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              CUDA_MAX_ENGINES, configs);
    for (int64_t i = 0; i < found; i++) {
        write_text(configs[i], list[n]);
        n += list[n][0] != 0;
    }
    if (p.refused && !c->reason[0])
        cuda_dnn_reason(p.refused, c->reason);
    release(&p);
    return n;
}

/* Return whether our own engine supports a pass, and the convolution's sizes. */
static int own_supports(const struct cuda_conv *c, int pass, struct cuda_conv_sizes *s)
{
    const struct cuda_conv_shape *h = &c->shape;

    if (pass != MC_PASS_WEIGHTS || h->type != CUDA_F32 || h->groups != 1 ||
        h->kernel[0] != h->kernel[1] || h->stride[0] != h->stride[1] || h->pad[0] != h->pad[1])
        return 0;
    *s = (struct cuda_conv_sizes){.n = (uint32_t)h->n,
                                  .ic = (uint32_t)h->ic,
                                  .ih = (uint32_t)h->ih,
                                  .iw = (uint32_t)h->iw,
                                  .oc = (uint32_t)h->oc,
                                  .oh = (uint32_t)h->oh,
                                  .ow = (uint32_t)h->ow,
                                  .kernel = (uint32_t)h->kernel[0],
                                  .stride = (uint32_t)h->stride[0],
                                  .pad = (uint32_t)h->pad[0]};
    return cuda_conv_weights_work(s) > 0;
}

int cuda_engine_candidates(struct cuda_conv *c, int pass, int fallback,
                           char list[CUDA_MAX_ENGINES][CUDA_ENGINE_TEXT])
{
    const int first = cuda_native_is_first(c->be);
    struct cuda_conv_sizes s;

    if (fallback || !own_supports(c, pass, &s))
        return cudnn_candidates(c, pass, fallback, list);
    int n = cudnn_candidates(c, pass, fallback, list);
    n -= n == CUDA_MAX_ENGINES;
    if (first)
        memmove(list[1], list[0], (size_t)n * sizeof list[0]);
    strcpy(list[first ? 0 : n], CUDA_NATIVE_ENGINE);
    return n + 1;
}

/* ---- one engine ------------------------------------------------------------------------------ */

static int make_native(struct cuda_conv *c, int pass)
{
    struct cuda_engine *e = &c->engines[pass];
    struct cuda_conv_sizes s;

    if (!own_supports(c, pass, &s))
        return -1;
    *e = (struct cuda_engine){
        .text = CUDA_NATIVE_ENGINE, .native = s, .work = cuda_conv_weights_work(&s)};
    return 0;
}

static cudnnBackendDescriptor_t engine_with(struct parts *p, const struct cuda *be,
                                            const cudnnBackendDescriptor_t *all, const char *text,
                                            unsigned *notes)
{
    cudnnBackendNumericalNote_t list[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    cudnnBackendDescriptor_t knobs[MAX_KNOBS], engine = begin(p, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    char *cursor = NULL;
    int64_t n = 0;

    set_parts(p, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, 1, all);
    set_number(p, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, strtoll(text, &cursor, 10));
    set_parts(p, engine, CUDNN_ATTR_ENGINE_DEVICEPROP, 1, &be->properties);
    end(p, engine);
    for (; (*cursor == ':' || *cursor == ',') && n < MAX_KNOBS; n++) {
        const cudnnBackendKnobType_t kind = (cudnnBackendKnobType_t)strtol(cursor + 1, &cursor, 10);
        knobs[n] = begin(p, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set(p, knobs[n], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &kind);
        set_number(p, knobs[n], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                   *cursor == '=' ? strtoll(cursor + 1, &cursor, 10) : 0);
        end(p, knobs[n]);
    }
    const int64_t noted = get(p, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                              CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, list);
    for (int64_t i = 0; i < noted; i++)
        *notes |= 1u << list[i];
    cudnnBackendDescriptor_t config = begin(p, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_parts(p, config, CUDNN_ATTR_ENGINECFG_ENGINE, 1, &engine);
    if (n)
        set_parts(p, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, n, knobs);
    end(p, config);
    return config;
}

int cuda_engine_make(struct cuda_conv *c, int pass, const char *text)
{
    struct cuda_engine *e = &c->engines[pass];
    struct parts p = {0};

    cuda_engine_release(e);
    if (!strcmp(text, CUDA_NATIVE_ENGINE))
        return make_native(c, pass);
    const cudnnBackendDescriptor_t all = graph(&p, c, pass);
    const cudnnBackendDescriptor_t config = engine_with(&p, c->be, &all, text, &e->notes);
    cudnnBackendDescriptor_t plan = begin(&p, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t work = 0;
    set_parts(&p, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 1, &config);
    set_parts(&p, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, 1, &c->be->properties);
    set(&p, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &c->be->dnn);
    end(&p, plan);
    get(&p, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &work);
    if (p.refused) {
        if (!c->reason[0])
            cuda_dnn_reason(p.refused, c->reason);
        release(&p);
        return -1;
    }
    p.n--; /* the plan stays; it needs no other descriptor */
    release(&p);
    e->plan = plan;
    e->work = (size_t)work;
    snprintf(e->text, sizeof e->text, "%s", text);
    return 0;
}

void cuda_engine_release(struct cuda_engine *e)
{
    if (e->plan)
        (void)cudnnBackendDestroyDescriptor(e->plan);
    *e = (struct cuda_engine){0};
}

cudnnStatus_t cuda_engine_run(cudnnHandle_t dnn, const struct cuda_engine *e, const void *x,
                              const void *weight, const void *y, const void *work)
{
    const int64_t numbers[] = {X, W, Y};
    const void *const data[] = {x, weight, y};
    struct parts p = {0};
    cudnnBackendDescriptor_t d = begin(&p, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

    set(&p, d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, numbers);
    set(&p, d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data);
    set(&p, d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
    end(&p, d);
    if (!p.refused)
        p.refused = cudnnBackendExecute(dnn, e->plan, d);
    if (d)
        (void)cudnnBackendDestroyDescriptor(d);
    return p.refused;
}
