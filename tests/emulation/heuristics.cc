/* SPDX-License-Identifier: Apache-2.0
 *
 * What cuDNN's heuristics name, on the emulated device: first one that it has no code for, then
 * those that add atomically or are ranked for another arithmetic than the descriptor's, then the
 * others; memory and time mean nothing. */
#include <cudnn.h>

template <class Perf, class Algorithm>
static void name(Perf *list, int wanted, int *n, Algorithm algorithm, int status, int fixed,
                 cudnnMathType_t math)
{
    if (*n == wanted)
        return;
    list[*n] = Perf();
    list[*n].algo = algorithm;
    list[*n].status = status ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
    list[*n].determinism = fixed ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
    list[*n].mathType = math;
    (*n)++;
}

static cudnnMathType_t wanted_math(cudnnConvolutionDescriptor_t c)
{
    cudnnMathType_t math;
    return cudnnGetConvolutionMathType(c, &math) ? CUDNN_DEFAULT_MATH : math;
}

static cudnnMathType_t other_math(cudnnConvolutionDescriptor_t c)
{
    return wanted_math(c) == CUDNN_FMA_MATH ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                     const cudnnFilterDescriptor_t,
                                                     const cudnnConvolutionDescriptor_t c,
                                                     const cudnnTensorDescriptor_t,
                                                     const int wanted, int *n,
                                                     cudnnConvolutionFwdAlgoPerf_t *list)
{
    *n = 0;
    name(list, wanted, n, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, 0, 1, wanted_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_FWD_ALGO_FFT, 1, 1, wanted_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, 1, 1, other_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 1, 1, wanted_math(c));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t c, const cudnnTensorDescriptor_t, const int wanted, int *n,
    cudnnConvolutionBwdDataAlgoPerf_t *list)
{
    *n = 0;
    name(list, wanted, n, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, 0, 1, wanted_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, 1, 0, wanted_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, 1, 1, wanted_math(c));
    return CUDNN_STATUS_SUCCESS;
}

/* Of the weights' gradient none that is deterministic: the backend's own list is to be taken. */
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t c, const cudnnFilterDescriptor_t, const int wanted, int *n,
    cudnnConvolutionBwdFilterAlgoPerf_t *list)
{
    *n = 0;
    name(list, wanted, n, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD, 1, 1, wanted_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, 1, 0, wanted_math(c));
    name(list, wanted, n, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, 1, 0, wanted_math(c));
    return CUDNN_STATUS_SUCCESS;
}
