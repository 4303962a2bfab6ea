/* SPDX-License-Identifier: Apache-2.0
 *
 * f16's loss scale: its removal from the parameters' gradients, and its update. */
#include "kernels/cuda/device.cuh"

#include <cassert>
#include <cfloat>

#define FOUR pack<float, 4>

/* Memory traffic: grad once. */
static __global__ void find_overflow(size_t n, const FOUR *grad, struct cuda_loss_scale *scale)
{
    EACH (i, n) {
        const FOUR g = grad[i];
        for (int j = 0; j < 4; j++)
            if (!(fabsf(g.v[j]) <= FLT_MAX))
                scale->overflow = 1;
    }
}

/* Memory traffic: grad twice. The last block changes the scale. */
static __global__ void unscale(size_t n, FOUR *grad, struct cuda_loss_scale *scale,
                               uint32_t *arrived)
{
    const float limit = 1 << 24, old = scale->scale;
    const int overflow = (int)scale->overflow;

    EACH (i, n) {
        FOUR g = grad[i];
        for (int j = 0; j < 4; j++)
            g.v[j] = !overflow ? g.v[j] / old : old > 1 ? NAN : INFINITY;
        grad[i] = g;
    }
    if (!is_last_block(arrived, gridDim.x) || threadIdx.x)
        return;
    scale->last = old;
    scale->overflow = 0;
    if (overflow) {
        scale->scale = old > 2 ? old / 2 : 1;
        scale->steps = 0;
    } else if (++scale->steps >= CUDA_SCALE_STEPS) {
        scale->scale = old < limit ? 2 * old : limit;
        scale->steps = 0;
    }
}

#define UNSCALE_BLOCKS 512 /* the last one counts the others */

void cuda_finish_gradients(struct cuda *be, size_t n, float *grad, struct cuda_loss_scale *scale,
                           uint32_t *arrived)
{
    const size_t blocks = cuda_blocks(n / 4);

    assert(n % 4 == 0);
    cuda_report_bytes(4. * (double)n);
    LAUNCH_EACH(be, find_overflow, n / 4, (const FOUR *)grad, scale);
    cuda_report_bytes(8. * (double)n);
    LAUNCH_BLOCKS(be, unscale, blocks < UNSCALE_BLOCKS ? blocks : UNSCALE_BLOCKS, n / 4,
                  (FOUR *)grad, scale, arrived);
}
