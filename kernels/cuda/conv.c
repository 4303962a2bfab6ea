/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution by cuDNN, each pass by the algorithm that algorithms.c chooses. */
#include "cuda.h"

#include <stdlib.h>

static int describe(struct cuda_conv *c, const struct cuda_conv_shape *s)
{
    /* cuDNN's default takes TF32 for float32 */
    const cudnnMathType_t math = s->type != CUDA_F32                    ? CUDNN_TENSOR_OP_MATH
                                 : c->be->precision == MC_PRECISION_F32 ? CUDNN_FMA_MATH
                                                                        : CUDNN_DEFAULT_MATH;
    const cudnnTensorFormat_t order = s->type == CUDA_F32 ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
    const cudnnDataType_t type = s->type == CUDA_F32    ? CUDNN_DATA_FLOAT
                                 : s->type == CUDA_BF16 ? CUDNN_DATA_BFLOAT16
                                                        : CUDNN_DATA_HALF;
    return cudnnCreateTensorDescriptor(&c->x) || cudnnCreateTensorDescriptor(&c->y) ||
           cudnnCreateFilterDescriptor(&c->w) || cudnnCreateConvolutionDescriptor(&c->conv) ||
           cudnnSetTensor4dDescriptor(c->x, order, type, s->n, s->ic, s->ih, s->iw) ||
           cudnnSetTensor4dDescriptor(c->y, order, type, s->n, s->oc, s->oh, s->ow) ||
           cudnnSetFilter4dDescriptor(c->w, type, order, s->oc, s->ic / s->groups, s->kernel[0],
                                      s->kernel[1]) ||
           cudnnSetConvolution2dDescriptor(c->conv, s->pad[0], s->pad[1], s->stride[0],
                                           s->stride[1], 1, 1, CUDNN_CROSS_CORRELATION,
                                           CUDNN_DATA_FLOAT) ||
           cudnnSetConvolutionGroupCount(c->conv, s->groups) ||
           cudnnSetConvolutionMathType(c->conv, math);
}

static int choose(struct cuda_conv *c, const struct cuda_conv_shape *s)
{
    const int wanted[MC_N_PASSES] = {1, s->backward_data, s->backward_weights};

    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++) {
        size_t work = 0;
        if (!wanted[pass])
            continue;
        c->algorithm[pass] = cuda_choose(c, s, pass, &work);
        if (c->algorithm[pass] < 0)
            return -1;
        c->work = work > c->work ? work : c->work;
    }
    return 0;
}

int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err)
{
    struct cuda_conv *c = calloc(1, sizeof *c);

    if (!c)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    c->be = be;
    const int refused = describe(c, s) || choose(c, s);
    (void)cudaGetLastError(); /* an algorithm's refusal is no later launch's failure */
    if (refused) {
        cuda_conv_free(c);
        return mc_fail(err, MC_EFAIL,
                       "cuDNN has no %sconvolution of %dx%dx%d by %dx%d to %d channels",
                       be->any_order ? "" : "deterministic ", s->ic, s->ih, s->iw, s->kernel[0],
                       s->kernel[1], s->oc);
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

void cuda_conv_forward(struct cuda_conv *c, const void *x, const void *weight, void *y, void *work)
{
    const float one = 1, none = 0;
    cuda_check_dnn(c->be,
                   cudnnConvolutionForward(c->be->dnn, &one, c->x, x, c->w, weight, c->conv,
                                           (cudnnConvolutionFwdAlgo_t)c->algorithm[MC_PASS_FORWARD],
                                           work, c->work, &none, c->y, y));
}

void cuda_conv_backward_data(struct cuda_conv *c, const void *dy, const void *weight, int add,
                             void *dx, void *work)
{
    const float one = 1, beta = add ? 1 : 0;
    cuda_check_dnn(c->be, cudnnConvolutionBackwardData(
                              c->be->dnn, &one, c->w, weight, c->y, dy, c->conv,
                              (cudnnConvolutionBwdDataAlgo_t)c->algorithm[MC_PASS_DATA], work,
                              c->work, &beta, c->x, dx));
}

void cuda_conv_backward_weights(struct cuda_conv *c, const void *x, const void *dy, void *dweight,
                                void *work)
{
    const float one = 1, none = 0;
    cuda_check_dnn(c->be, cudnnConvolutionBackwardFilter(
                              c->be->dnn, &one, c->x, x, c->y, dy, c->conv,
                              (cudnnConvolutionBwdFilterAlgo_t)c->algorithm[MC_PASS_WEIGHTS], work,
                              c->work, &none, c->w, dweight));
}
