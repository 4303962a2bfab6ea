/* SPDX-License-Identifier: Apache-2.0
 *
 * cuDNN's convolutions on the emulated device, as its manual defines the calls: of float32 NCHW
 * tensors, sums in float64. Its scratch memory is filled with what is no number. */
#include "device.h"

#include <cudnn.h>

#include <cstring>
#include <vector>

struct cudnnTensorStruct {
    int n, c, h, w;
};
struct cudnnFilterStruct {
    int k, c, h, w;
};
struct cudnnConvolutionStruct {
    int pad[2], stride[2], groups;
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

const char *cudnnGetErrorString(cudnnStatus_t)
{
    return "an invalid argument";
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *d)
{
    *d = new cudnnTensorStruct();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t d)
{
    delete d;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w)
{
    if (format != CUDNN_TENSOR_NCHW || type != CUDNN_DATA_FLOAT)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *d = {n, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *d)
{
    *d = new cudnnFilterStruct();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t d)
{
    delete d;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    if (format != CUDNN_TENSOR_NCHW || type != CUDNN_DATA_FLOAT)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *d = {k, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *d)
{
    *d = new cudnnConvolutionStruct();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t d)
{
    delete d;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int pad_h, int pad_w,
                                              int u, int v, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type)
{
    if (dilation_h != 1 || dilation_w != 1 || mode != CUDNN_CROSS_CORRELATION ||
        type != CUDNN_DATA_FLOAT)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *d = {{pad_h, pad_w}, {u, v}, 1};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups)
{
    d->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t type)
{
    return type == CUDNN_FMA_MATH ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

static cudnnStatus_t check(const cudnnTensorStruct *x, const cudnnFilterStruct *w,
                           const cudnnConvolutionStruct *c, const cudnnTensorStruct *y)
{
    const int fits = x->n == y->n && w->k == y->c && w->c * c->groups == x->c &&
                     y->c % c->groups == 0 &&
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
    return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ? CUDNN_STATUS_NOT_SUPPORTED
                                                          : check(dx, w, c, dy);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t c, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes)
{
    *bytes = WORK;
    return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
                   algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3
               ? CUDNN_STATUS_NOT_SUPPORTED
               : check(x, dw, c, dy);
}

/* All three passes visit the same (output row, weight) pairs; `visit` gets a pair's input row, its
 * output row, the weight, and the columns [from, to) of the output whose input lies on the image.
 */
template <class F>
static void each_row(const cudnnTensorStruct *x, const cudnnFilterStruct *w,
                     const cudnnConvolutionStruct *c, const cudnnTensorStruct *y, F visit)
{
    const int per_group = y->c / c->groups;
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
                            visit(((n * x->c + ch) * x->h + r) * x->w + shift,
                                  ((n * y->c + o) * y->h + h) * y->w,
                                  ((o * w->c + i) * w->h + kh) * w->w + kw, from, to);
                        }
}

static cudnnStatus_t begin(void *work, size_t bytes)
{
    if (bytes < WORK)
        return CUDNN_STATUS_BAD_PARAM;
    emulated_begin();
    memset(work, 0x7f, bytes);
    return CUDNN_STATUS_SUCCESS;
}

static void finish(const std::vector<double> &sum, float alpha, float beta, float *to)
{
    for (size_t i = 0; i < sum.size(); i++)
        to[i] = beta != 0 ? alpha * (float)sum[i] + beta * to[i] : alpha * (float)sum[i];
    emulated_end();
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void *alpha,
                                      const cudnnTensorDescriptor_t xd, const void *x,
                                      const cudnnFilterDescriptor_t wd, const void *w,
                                      const cudnnConvolutionDescriptor_t c,
                                      cudnnConvolutionFwdAlgo_t, void *work, size_t bytes,
                                      const void *beta, const cudnnTensorDescriptor_t yd, void *y)
{
    const float *from_x = (const float *)x, *from_w = (const float *)w;
    std::vector<double> sum((size_t)yd->n * yd->c * yd->h * yd->w);
    if (begin(work, bytes))
        return CUDNN_STATUS_BAD_PARAM;
    const long stride = c->stride[1];
    each_row(xd, wd, c, yd, [&](long px, long py, long pw, long from, long to) {
        const double v = (double)from_w[pw];
        for (long q = from; q < to; q++)
            sum[(size_t)(py + q)] += v * (double)from_x[px + q * stride];
    });
    finish(sum, *(const float *)alpha, *(const float *)beta, (float *)y);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void *alpha,
                                           const cudnnFilterDescriptor_t wd, const void *w,
                                           const cudnnTensorDescriptor_t yd, const void *dy,
                                           const cudnnConvolutionDescriptor_t c,
                                           cudnnConvolutionBwdDataAlgo_t, void *work, size_t bytes,
                                           const void *beta, const cudnnTensorDescriptor_t xd,
                                           void *dx)
{
    const float *from_y = (const float *)dy, *from_w = (const float *)w;
    std::vector<double> sum((size_t)xd->n * xd->c * xd->h * xd->w);
    if (begin(work, bytes))
        return CUDNN_STATUS_BAD_PARAM;
    const long stride = c->stride[1];
    each_row(xd, wd, c, yd, [&](long px, long py, long pw, long from, long to) {
        const double v = (double)from_w[pw];
        for (long q = from; q < to; q++)
            sum[(size_t)(px + q * stride)] += v * (double)from_y[py + q];
    });
    finish(sum, *(const float *)alpha, *(const float *)beta, (float *)dx);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, const void *alpha,
                                             const cudnnTensorDescriptor_t xd, const void *x,
                                             const cudnnTensorDescriptor_t yd, const void *dy,
                                             const cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionBwdFilterAlgo_t, void *work,
                                             size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t wd, void *dw)
{
    const float *from_x = (const float *)x, *from_y = (const float *)dy;
    std::vector<double> sum((size_t)wd->k * wd->c * wd->h * wd->w);
    if (begin(work, bytes))
        return CUDNN_STATUS_BAD_PARAM;
    const long stride = c->stride[1];
    each_row(xd, wd, c, yd, [&](long px, long py, long pw, long from, long to) {
        double s = 0;
        for (long q = from; q < to; q++)
            s += (double)from_x[px + q * stride] * (double)from_y[py + q];
        sum[(size_t)pw] += s;
    });
    finish(sum, *(const float *)alpha, *(const float *)beta, (float *)dw);
    return CUDNN_STATUS_SUCCESS;
}
