/* SPDX-License-Identifier: Apache-2.0
 *
 * cuDNN's convolutions on the emulated device, as its manual defines the calls: of packed NCHW
 * tensors in float32 and NHWC tensors in half precisions, sums in float64. Its scratch memory is
 * filled with what is no number. */
#include "tests/emulation/device.h"
#include "tests/emulation/numbers.h"

#include <cudnn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/* A tensor or a filter, of n images or output channels. */
struct packed {
    cudnnTensorFormat_t format;
    cudnnDataType_t type;
    long n, c, h, w;

    long at(long i, long channel, long row, long column) const
    {
        return format == CUDNN_TENSOR_NCHW ? ((i * c + channel) * h + row) * w + column
                                           : ((i * h + row) * w + column) * c + channel;
    }
    long along() const /* from a column to the next */
    {
        return format == CUDNN_TENSOR_NCHW ? 1 : c;
    }
    size_t all() const
    {
        return (size_t)(n * c * h * w);
    }
};
struct cudnnTensorStruct : packed {
};
struct cudnnFilterStruct : packed {
};
struct cudnnConvolutionStruct {
    int pad[2], stride[2], groups;
    cudnnMathType_t math;
};
static int none;
enum { WORK = 1000 };

cudnnStatus_t cudnnCreate(cudnnHandle_t *h)
{
    *h = (cudnnHandle_t)(void *)&none;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t)
{
    return CUDNN_STATUS_SUCCESS;
}

size_t cudnnGetVersion()
{
    return 0;
}

/* Is this to fail, by MC_EMULATION_CUDNN: describe, algorithm, run. */
static bool fails(const char *call)
{
    const char *which = getenv("MC_EMULATION_CUDNN");
    return which && !strcmp(which, call);
}

const char *cudnnGetErrorString(cudnnStatus_t rc)
{
    return rc == CUDNN_STATUS_NOT_SUPPORTED      ? "CUDNN_STATUS_NOT_SUPPORTED"
           : rc == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                                 : "CUDNN_STATUS_BAD_PARAM";
}

#if CUDNN_MAJOR >= 9
void cudnnGetLastErrorString(char *text, size_t size)
{
    snprintf(text, size, "Reason:\nthe emulated one");
}
#endif

/* A descriptor's birth and death. */
#define DESCRIPTOR(kind)                                                                           \
    cudnnStatus_t cudnnCreate##kind##Descriptor(cudnn##kind##Descriptor_t *d)                      \
    {                                                                                              \
        *d = new cudnn##kind##Struct();                                                            \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }                                                                                              \
    cudnnStatus_t cudnnDestroy##kind##Descriptor(cudnn##kind##Descriptor_t d)                      \
    {                                                                                              \
        delete d;                                                                                  \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }
DESCRIPTOR(Tensor)
DESCRIPTOR(Filter)
DESCRIPTOR(Convolution)

static cudnnStatus_t describe(packed *d, cudnnTensorFormat_t format, cudnnDataType_t type, int n,
                              int c, int h, int w)
{
    const int small = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
    if (format == CUDNN_TENSOR_NCHW ? type != CUDNN_DATA_FLOAT
                                    : format != CUDNN_TENSOR_NHWC || !small)
        return CUDNN_STATUS_NOT_SUPPORTED;
    d->format = format;
    d->type = type;
    d->n = n;
    d->c = c;
    d->h = h;
    d->w = w;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w)
{
    return describe(d, format, type, n, c, h, w);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    return describe(d, format, type, k, c, h, w);
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int pad_h, int pad_w,
                                              int u, int v, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type)
{
    if (dilation_h != 1 || dilation_w != 1 || mode != CUDNN_CROSS_CORRELATION ||
        type != CUDNN_DATA_FLOAT)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *d = {{pad_h, pad_w}, {u, v}, 1, CUDNN_DEFAULT_MATH};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups)
{
    d->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t type)
{
    d->math = type;
    return fails("describe") ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t *type)
{
    *type = d->math;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check(const cudnnTensorStruct *x, const cudnnFilterStruct *w,
                           const cudnnConvolutionStruct *c, const cudnnTensorStruct *y)
{
    if (fails("algorithm"))
        return CUDNN_STATUS_NOT_SUPPORTED;
    const int small = x->type != CUDNN_DATA_FLOAT;
    const int fits = x->n == y->n && x->format == w->format && x->format == y->format &&
                     x->type == w->type && x->type == y->type &&
                     (small ? c->math == CUDNN_TENSOR_OP_MATH
                            : c->math == CUDNN_FMA_MATH || c->math == CUDNN_DEFAULT_MATH) &&
                     w->n == y->c && w->c * c->groups == x->c && y->c % c->groups == 0 &&
                     y->h == (x->h + 2 * c->pad[0] - w->h) / c->stride[0] + 1 &&
                     y->w == (x->w + 2 * c->pad[1] - w->w) / c->stride[1] + 1;
    return fits ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t,
                                                      const cudnnTensorDescriptor_t x,
                                                      const cudnnFilterDescriptor_t w,
                                                      const cudnnConvolutionDescriptor_t c,
                                                      const cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t, size_t *bytes)
{
    *bytes = WORK;
    return check(x, w, c, y);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t c, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes)
{
    *bytes = WORK;
    return algorithm >= CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT ? CUDNN_STATUS_NOT_SUPPORTED
                                                              : check(dx, w, c, dy);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t c, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes)
{
    *bytes = WORK;
    return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD ? CUDNN_STATUS_NOT_SUPPORTED
                                                                   : check(x, dw, c, dy);
}

/* All three passes visit the same (output row, weight) pairs; `visit` gets a pair's place in the
 * input of column 0 of the output, its output row, the weight, and the columns [from, to) of the
 * output whose input lies on the image. */
template <class F>
static void each_row(const packed *x, const packed *w, const cudnnConvolutionStruct *c,
                     const packed *y, F visit)
{
    const long per_group = y->c / c->groups;
    for (long n = 0; n < x->n; n++)
        for (long o = 0; o < y->c; o++)
            for (long i = 0; i < w->c; i++)
                for (long kh = 0; kh < w->h; kh++)
                    for (long kw = 0; kw < w->w; kw++)
                        for (long h = 0; h < y->h; h++) {
                            const long r = h * c->stride[0] - c->pad[0] + kh;
                            const long ch = o / per_group * w->c + i;
                            const long shift = kw - c->pad[1];
                            if (r < 0 || r >= x->h)
                                continue;
                            long from = 0, to = y->w;
                            while (from < to && from * c->stride[1] + shift < 0)
                                from++;
                            while (to > from && (to - 1) * c->stride[1] + shift >= x->w)
                                to--;
                            visit(x->at(n, ch, r, shift), y->at(n, o, h, 0), w->at(o, i, kh, kw),
                                  from, to);
                        }
}

/* Kept in a capture: the numbers are read at the call, the call is made at a launch. */
template <class F> static cudnnStatus_t keep(const void *alpha, const void *beta, F call)
{
    const float a = *(const float *)alpha, b = *(const float *)beta;
    emulated_do([=] {
        if (call(&a, &b))
            abort();
    });
    return CUDNN_STATUS_SUCCESS;
}

/* The values that a convolution multiplies. */
template <class T> static std::vector<double> values(const packed *d, const void *from)
{
    std::vector<double> all(d->all());
    for (size_t i = 0; i < all.size(); i++)
        all[i] = (double)number(((const T *)from)[i]);
    return all;
}

static std::vector<double> take(const packed *d, const cudnnConvolutionStruct *c, const void *from)
{
    if (d->type == CUDNN_DATA_HALF)
        return values<__half>(d, from);
    if (d->type == CUDNN_DATA_BFLOAT16)
        return values<__nv_bfloat16>(d, from);
    return c->math == CUDNN_FMA_MATH ? values<float>(d, from) : values<tf32>(d, from);
}

template <class T>
static void store(const std::vector<double> &sum, float alpha, float beta, void *to)
{
    T *out = (T *)to;
    for (size_t i = 0; i < sum.size(); i++)
        put(beta != 0 ? alpha * (float)sum[i] + beta * number(out[i]) : alpha * (float)sum[i],
            &out[i]);
}

/* atomic: as if added in another order in every call. */
static void finish(const packed *d, const std::vector<double> &sum, int atomic, const void *alpha,
                   const void *beta, void *to)
{
    static unsigned calls;
    const float other = atomic && calls++ % 2 ? 1 + 0x1p-8f : 1;
    const float a = *(const float *)alpha * other, b = *(const float *)beta;
    if (d->type == CUDNN_DATA_HALF)
        store<__half>(sum, a, b, to);
    else if (d->type == CUDNN_DATA_BFLOAT16)
        store<__nv_bfloat16>(sum, a, b, to);
    else
        store<float>(sum, a, b, to);
    emulated_end();
}

/* Tensor cores want their operands at multiples of 16 bytes. */
static cudnnStatus_t begin(void *work, size_t bytes, const void *x, const void *y, const void *w)
{
    if (bytes < WORK || (uintptr_t)x % 16 || (uintptr_t)y % 16 || (uintptr_t)w % 16)
        return CUDNN_STATUS_BAD_PARAM;
    if (fails("run"))
        return CUDNN_STATUS_EXECUTION_FAILED;
    emulated_begin();
    memset(work, 0x7f, bytes);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void *alpha,
                                      const cudnnTensorDescriptor_t xd, const void *x,
                                      const cudnnFilterDescriptor_t wd, const void *w,
                                      const cudnnConvolutionDescriptor_t c,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *work, size_t bytes,
                                      const void *beta, const cudnnTensorDescriptor_t yd, void *y)
{
    if (emulated_captures())
        return keep(alpha, beta, [=](const void *a, const void *b) {
            return cudnnConvolutionForward(h, a, xd, x, wd, w, c, algorithm, work, bytes, b, yd, y);
        });
    if (const cudnnStatus_t rc = begin(work, bytes, x, y, w))
        return rc;
    const std::vector<double> from_x = take(xd, c, x), from_w = take(wd, c, w);
    std::vector<double> sum(yd->all());
    const long step = c->stride[1] * xd->along(), next = yd->along();
    each_row(xd, wd, c, yd, [&](long px, long py, long pw, long from, long to) {
        const double v = from_w[(size_t)pw];
        for (long q = from; q < to; q++)
            sum[(size_t)(py + q * next)] += v * from_x[(size_t)(px + q * step)];
    });
    finish(yd, sum, 0, alpha, beta, y);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t h, const void *alpha,
                                           const cudnnFilterDescriptor_t wd, const void *w,
                                           const cudnnTensorDescriptor_t yd, const void *dy,
                                           const cudnnConvolutionDescriptor_t c,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *work,
                                           size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t xd, void *dx)
{
    if (emulated_captures())
        return keep(alpha, beta, [=](const void *a, const void *b) {
            return cudnnConvolutionBackwardData(h, a, wd, w, yd, dy, c, algorithm, work, bytes, b,
                                                xd, dx);
        });
    if (const cudnnStatus_t rc = begin(work, bytes, dx, dy, w))
        return rc;
    const std::vector<double> from_y = take(yd, c, dy), from_w = take(wd, c, w);
    std::vector<double> sum(xd->all());
    const long step = c->stride[1] * xd->along(), next = yd->along();
    each_row(xd, wd, c, yd, [&](long px, long py, long pw, long from, long to) {
        const double v = from_w[(size_t)pw];
        for (long q = from; q < to; q++)
            sum[(size_t)(px + q * step)] += v * from_y[(size_t)(py + q * next)];
    });
    finish(xd, sum, algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, alpha, beta, dx);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t h, const void *alpha,
                                             const cudnnTensorDescriptor_t xd, const void *x,
                                             const cudnnTensorDescriptor_t yd, const void *dy,
                                             const cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void *work,
                                             size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t wd, void *dw)
{
    if (emulated_captures())
        return keep(alpha, beta, [=](const void *a, const void *b) {
            return cudnnConvolutionBackwardFilter(h, a, xd, x, yd, dy, c, algorithm, work, bytes, b,
                                                  wd, dw);
        });
    if (const cudnnStatus_t rc = begin(work, bytes, x, dy, dw))
        return rc;
    const std::vector<double> from_x = take(xd, c, x), from_y = take(yd, c, dy);
    std::vector<double> sum(wd->all());
    const long step = c->stride[1] * xd->along(), next = yd->along();
    each_row(xd, wd, c, yd, [&](long px, long py, long pw, long from, long to) {
        double s = 0;
        for (long q = from; q < to; q++)
            s += from_x[(size_t)(px + q * step)] * from_y[(size_t)(py + q * next)];
        sum[(size_t)pw] += s;
    });
    const int atomic = algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
                       algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
    finish(wd, sum, atomic, alpha, beta, dw);
    return CUDNN_STATUS_SUCCESS;
}
