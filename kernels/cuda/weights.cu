/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's weights between the parameter vector, float32 in PyTorch's order, and the type and order
 * that its products take. */
#include "kernels/cuda/device.cuh"

template <class T>
static __global__ void copy_weights(uint32_t n, const float *params, const uint32_t *index, T *to)
{
    for
        EACH(j, n)
    set(&to[j], index[j] == CUDA_NO_PARAM ? 0.0f : params[index[j]]);
}

void cuda_copy_weights(struct cuda *be, enum cuda_type t, size_t n, const float *params,
                       const uint32_t *index, void *to)
{
    cuda_moves((double)n * (double)(8 + cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, copy_weights, (uint32_t)n, params, index, (T *)to));
}

template <class T>
static __global__ void copy_gradients(uint32_t n, const T *from, const uint32_t *index, float scale,
                                      float *grad)
{
    for
        EACH(j, n)
    if (index[j] != CUDA_NO_PARAM)
        grad[index[j]] = scale * value(from[j]);
}

void cuda_copy_gradients(struct cuda *be, enum cuda_type t, size_t n, const void *from,
                         const uint32_t *index, float scale, float *grad)
{
    cuda_moves((double)n * (double)(8 + cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, copy_gradients, (uint32_t)n, (const T *)from, index, scale, grad));
}
