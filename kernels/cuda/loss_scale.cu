/* SPDX-License-Identifier: Apache-2.0
 *
 * f16's gradients: the scale that they have, and what it becomes. */
#include "kernels/cuda/device.cuh"

#include <cfloat>

static __global__ void find_overflow(size_t n, const float *grad, struct cuda_loss_scale *scale)
{
    for
        EACH(i, n)
    if (!(fabsf(grad[i]) <= FLT_MAX))
        scale->overflow = 1;
}

/* Moves grad twice. The last block changes the scale. */
static __global__ void unscale(size_t n, float *grad, struct cuda_loss_scale *scale, uint32_t *came)
{
    const float most = 1 << 24, by = scale->overflow ? NAN : 1 / scale->scale;

    for
        EACH(i, n)
    grad[i] *= by;
    if (!comes_last(came, gridDim.x) || threadIdx.x)
        return;
    if (scale->overflow) {
        scale->scale = scale->scale > 2 ? scale->scale / 2 : 1;
        scale->steps = 0;
    } else if (++scale->steps >= CUDA_SCALE_STEPS) {
        scale->scale = scale->scale < most ? 2 * scale->scale : most;
        scale->steps = 0;
    }
    scale->overflow = 0;
}

void cuda_finish_gradients(struct cuda *be, size_t n, float *grad, struct cuda_loss_scale *scale,
                           uint32_t *came)
{
    cuda_moves(4. * (double)n);
    LAUNCH_EACH(be, find_overflow, n, grad, scale);
    cuda_moves(8. * (double)n);
    LAUNCH_BLOCKS(be, unscale, cuda_blocks(n), n, grad, scale, came);
}
