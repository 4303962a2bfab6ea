/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's weights between the parameter vector, float32 in PyTorch's order, and the type and order
 * that its products take. */
#include "kernels/cuda/device.cuh"

/* Moves index, to and as many parameters once. */
template <class T>
static __global__ void copy_weights(uint32_t n, const float *params, const uint32_t *index, T *to,
                                    struct cuda_batch *batch, const struct mc_ctl *ctl)
{
    for
        EACH(j, n)
        {
            if (j == 0) {
                batch->ctl = *ctl;
                batch->objective = 0;
            }
            set(&to[j], index[j] == CUDA_NO_PARAM ? 0.0f : params[index[j]]);
        }
}

void cuda_copy_weights(struct cuda *be, enum cuda_type t, size_t n, const float *params,
                       const uint32_t *index, void *to, const struct cuda_rows *r,
                       const struct mc_ctl *ctl)
{
    cuda_moves((double)n * (double)(8 + cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, copy_weights, (uint32_t)n, params, index, (T *)to, r->batch, ctl));
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
