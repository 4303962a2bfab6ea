/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution by cuDNN, each pass by the algorithm that algorithms.c chooses. */
#include "kernels/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>

#define WHAT 240

static const char *const pass_names[] = {"forward", "data gradient", "weight gradient"};

static void say(const struct cuda_conv *c, const char *pass, char what[WHAT])
{
    const struct cuda_conv_shape *s = &c->shape;
    snprintf(what, WHAT, "%.95s%s%s of a convolution of %dx%dx%dx%d by %dx%d to %d channels%s",
             s->node ? s->node : "", s->node ? ": " : "", pass, s->n, s->ic, s->ih, s->iw,
             s->kernel[0], s->kernel[1], s->oc, s->groups > 1 ? " in groups" : "");
}

static cudnnStatus_t describe(struct cuda_conv *c)
{
    const struct cuda_conv_shape *s = &c->shape;
    /* cuDNN's default takes TF32 for float32 */
    const cudnnMathType_t math = s->type != CUDA_F32                    ? CUDNN_TENSOR_OP_MATH
                                 : c->be->precision == MC_PRECISION_F32 ? CUDNN_FMA_MATH
                                                                        : CUDNN_DEFAULT_MATH;
    const cudnnTensorFormat_t order = s->type == CUDA_F32 ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
    const cudnnDataType_t type = s->type == CUDA_F32    ? CUDNN_DATA_FLOAT
                                 : s->type == CUDA_BF16 ? CUDNN_DATA_BFLOAT16
                                                        : CUDNN_DATA_HALF;
    cudnnStatus_t rc = CUDNN_STATUS_SUCCESS;

    c->math = math;
    (void)((rc = cudnnCreateTensorDescriptor(&c->x)) || (rc = cudnnCreateTensorDescriptor(&c->y)) ||
           (rc = cudnnCreateFilterDescriptor(&c->w)) ||
           (rc = cudnnCreateConvolutionDescriptor(&c->conv)) ||
           (rc = cudnnSetTensor4dDescriptor(c->x, order, type, s->n, s->ic, s->ih, s->iw)) ||
           (rc = cudnnSetTensor4dDescriptor(c->y, order, type, s->n, s->oc, s->oh, s->ow)) ||
           (rc = cudnnSetFilter4dDescriptor(c->w, type, order, s->oc, s->ic / s->groups,
                                            s->kernel[0], s->kernel[1])) ||
           (rc = cudnnSetConvolution2dDescriptor(c->conv, s->pad[0], s->pad[1], s->stride[0],
                                                 s->stride[1], 1, 1, CUDNN_CROSS_CORRELATION,
                                                 CUDNN_DATA_FLOAT)) ||
           (rc = cudnnSetConvolutionGroupCount(c->conv, s->groups)) ||
           (rc = cudnnSetConvolutionMathType(c->conv, math)));
    return rc;
}

static int make(struct cuda_conv *c, struct mc_error *err)
{
    const int wanted[MC_N_PASSES] = {1, c->shape.backward_data, c->shape.backward_weights};
    const char *order = c->be->any_order ? "" : "deterministic ";
    char what[WHAT];
    const cudnnStatus_t rc = describe(c);

    if (rc != CUDNN_STATUS_SUCCESS) {
        cuda_dnn_reason(rc, c->why);
        say(c, "description", what);
        return mc_fail(err, MC_EFAIL, "%s: cuDNN: %s", what, c->why);
    }
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++) {
        size_t work = 0;
        if (!wanted[pass])
            continue;
        c->algorithm[pass] = cuda_choose(c, pass, &work);
        if (c->algorithm[pass] < 0) {
            say(c, pass_names[pass], what);
            return mc_fail(err, MC_EFAIL, "%s: cuDNN has no %salgorithm in %s: %s%s", what, order,
                           mc_precision_names[c->be->precision], c->why,
                           c->shape.type == CUDA_F32 ? "" : " (--precision f32 may have one)");
        }
        c->work = work > c->work ? work : c->work;
    }
    return 0;
}

int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err)
{
    struct cuda_conv *c = calloc(1, sizeof *c);

    if (!c)
        return mc_no_memory(err);
    c->be = be;
    c->shape = *s;
    const int rc = make(c, err);
    (void)cudaGetLastError(); /* an algorithm's refusal is no later launch's failure */
    if (rc)
        cuda_conv_free(c);
    else
        *out = c;
    return rc;
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

static void check(const struct cuda_conv *c, enum mc_pass pass, cudnnStatus_t status)
{
    char what[WHAT], in[WHAT + 10];

    if (status == CUDNN_STATUS_SUCCESS)
        return;
    say(c, pass_names[pass], what);
    snprintf(in, sizeof in, "%s: cuDNN: ", what);
    cuda_check_dnn(c->be, status, in);
}

void cuda_conv_forward(struct cuda_conv *c, const void *x, const void *weight, void *y, void *work)
{
    const float one = 1, none = 0;
    check(c, MC_PASS_FORWARD,
          cudnnConvolutionForward(c->be->dnn, &one, c->x, x, c->w, weight, c->conv,
                                  (cudnnConvolutionFwdAlgo_t)c->algorithm[MC_PASS_FORWARD], work,
                                  c->work, &none, c->y, y));
}

void cuda_conv_backward_data(struct cuda_conv *c, const void *dy, const void *weight, int add,
                             void *dx, void *work)
{
    const float one = 1, beta = add ? 1 : 0;
    check(c, MC_PASS_DATA,
          cudnnConvolutionBackwardData(c->be->dnn, &one, c->w, weight, c->y, dy, c->conv,
                                       (cudnnConvolutionBwdDataAlgo_t)c->algorithm[MC_PASS_DATA],
                                       work, c->work, &beta, c->x, dx));
}

void cuda_conv_backward_weights(struct cuda_conv *c, const void *x, const void *dy, void *dweight,
                                void *work)
{
    const float one = 1, none = 0;
    check(c, MC_PASS_WEIGHTS,
          cudnnConvolutionBackwardFilter(
              c->be->dnn, &one, c->x, x, c->y, dy, c->conv,
              (cudnnConvolutionBwdFilterAlgo_t)c->algorithm[MC_PASS_WEIGHTS], work, c->work, &none,
              c->w, dweight));
}
