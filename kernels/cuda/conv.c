/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution by cuDNN: of the algorithms that give the same bits every time, the first in the list
 * that takes the shape. */
#include "cuda.h"

#include <stdlib.h>

struct cuda_conv {
    struct cuda *be;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    cudnnConvolutionFwdAlgo_t forward;
    cudnnConvolutionBwdDataAlgo_t data;
    cudnnConvolutionBwdFilterAlgo_t weights;
    size_t work;
};

static int describe(struct cuda_conv *c, const struct cuda_conv_shape *s)
{
    /* cuDNN's default takes TF32 for float32 */
    const cudnnMathType_t math =
        c->be->precision == MC_PRECISION_F32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
    return cudnnCreateTensorDescriptor(&c->x) || cudnnCreateTensorDescriptor(&c->y) ||
           cudnnCreateFilterDescriptor(&c->w) || cudnnCreateConvolutionDescriptor(&c->conv) ||
           cudnnSetTensor4dDescriptor(c->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s->n, s->ic, s->ih,
                                      s->iw) ||
           cudnnSetTensor4dDescriptor(c->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s->n, s->oc, s->oh,
                                      s->ow) ||
           cudnnSetFilter4dDescriptor(c->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, s->oc,
                                      s->ic / s->groups, s->kernel[0], s->kernel[1]) ||
           cudnnSetConvolution2dDescriptor(c->conv, s->pad[0], s->pad[1], s->stride[0],
                                           s->stride[1], 1, 1, CUDNN_CROSS_CORRELATION,
                                           CUDNN_DATA_FLOAT) ||
           cudnnSetConvolutionGroupCount(c->conv, s->groups) ||
           cudnnSetConvolutionMathType(c->conv, math);
}

static int choose_forward(struct cuda_conv *c)
{
    static const cudnnConvolutionFwdAlgo_t list[] = {
        CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
        CUDNN_CONVOLUTION_FWD_ALGO_GEMM};
    size_t work = 0;

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!cudnnGetConvolutionForwardWorkspaceSize(c->be->dnn, c->x, c->w, c->conv, c->y, list[i],
                                                     &work)) {
            c->forward = list[i];
            c->work = work > c->work ? work : c->work;
            return 0;
        }
    return -1;
}

/* ALGO_0 adds atomically. */
static int choose_data(struct cuda_conv *c)
{
    static const cudnnConvolutionBwdDataAlgo_t list[] = {
        CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
        CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING};
    size_t work = 0;

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!cudnnGetConvolutionBackwardDataWorkspaceSize(c->be->dnn, c->w, c->y, c->conv, c->x,
                                                          list[i], &work)) {
            c->data = list[i];
            c->work = work > c->work ? work : c->work;
            return 0;
        }
    return -1;
}

/* ALGO_0 and ALGO_3 add atomically. */
static int choose_weights(struct cuda_conv *c)
{
    static const cudnnConvolutionBwdFilterAlgo_t list[] = {
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING};
    size_t work = 0;

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!cudnnGetConvolutionBackwardFilterWorkspaceSize(c->be->dnn, c->x, c->y, c->conv, c->w,
                                                            list[i], &work)) {
            c->weights = list[i];
            c->work = work > c->work ? work : c->work;
            return 0;
        }
    return -1;
}

int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err)
{
    struct cuda_conv *c = calloc(1, sizeof *c);

    if (!c)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    c->be = be;
    const int refused = describe(c, s) || choose_forward(c) ||
                        (s->backward_data && choose_data(c)) ||
                        (s->backward_weights && choose_weights(c));
    (void)cudaGetLastError(); /* an algorithm's refusal is no later launch's failure */
    if (refused) {
        cuda_conv_free(c);
        return mc_fail(err, MC_EFAIL,
                       "cuDNN has no deterministic convolution of %dx%dx%d by %dx%d to %d channels",
                       s->ic, s->ih, s->iw, s->kernel[0], s->kernel[1], s->oc);
    }
    *out = c;
    return 0;
}

void cuda_conv_free(struct cuda_conv *c)
{
    if (!c)
        return;
    if (c->x)
        (void)cudnnDestroyTensorDescriptor(c->x);
    if (c->y)
        (void)cudnnDestroyTensorDescriptor(c->y);
    if (c->w)
        (void)cudnnDestroyFilterDescriptor(c->w);
    if (c->conv)
        (void)cudnnDestroyConvolutionDescriptor(c->conv);
    free(c);
}

size_t cuda_conv_work(const struct cuda_conv *c)
{
    return c->work;
}

void cuda_conv_forward(struct cuda_conv *c, const float *x, const float *weight, float *y,
                       void *work)
{
    const float one = 1, none = 0;
    cuda_check_dnn(c->be, cudnnConvolutionForward(c->be->dnn, &one, c->x, x, c->w, weight, c->conv,
                                                  c->forward, work, c->work, &none, c->y, y));
}

void cuda_conv_backward_data(struct cuda_conv *c, const float *dy, const float *weight, int add,
                             float *dx, void *work)
{
    const float one = 1, beta = add ? 1 : 0;
    cuda_check_dnn(c->be,
                   cudnnConvolutionBackwardData(c->be->dnn, &one, c->w, weight, c->y, dy, c->conv,
                                                c->data, work, c->work, &beta, c->x, dx));
}

void cuda_conv_backward_weights(struct cuda_conv *c, const float *x, const float *dy,
                                float *dweight, void *work)
{
    const float one = 1, none = 0;
    cuda_check_dnn(c->be,
                   cudnnConvolutionBackwardFilter(c->be->dnn, &one, c->x, x, c->y, dy, c->conv,
                                                  c->weights, work, c->work, &none, c->w, dweight));
}
