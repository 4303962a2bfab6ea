/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's weights: copies between the parameter vector (float32 in PyTorch's order) and the type
 * and order of its products. */
#include "kernels/cuda/device.cuh"

/* n is a multiple of 8 (copies.c). */
#define EIGHT(T) pack<T, 8>

/* Memory traffic: index, to and as many parameters once. */
template <class T>
static __global__ void copy_weights(uint32_t n, const float *params, const EIGHT(uint32_t) * index,
                                    EIGHT(T) * to, struct cuda_batch *batch,
                                    const struct mc_ctl *ctl)
{
    EACH (j, n) {
        if (j == 0) {
            batch->ctl = *ctl;
            batch->objective = 0;
        }
        const EIGHT(uint32_t) from = index[j];
        EIGHT(T) u;
        for (int k = 0; k < 8; k++)
            set(&u.v[k], from.v[k] == CUDA_NO_PARAM ? 0.0f : params[from.v[k]]);
        to[j] = u;
    }
}

void cuda_copy_weights(struct cuda *be, enum cuda_type t, size_t n, const float *params,
                       const uint32_t *index, void *to, const struct cuda_rows *r,
                       const struct mc_ctl *ctl)
{
    cuda_report_bytes((double)n * (double)(8 + cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, copy_weights, (uint32_t)n / 8, params,
                             (const EIGHT(uint32_t) *)index, (EIGHT(T) *)to, r->batch, ctl));
}

/* Memory traffic: index, from and as many gradients once. */
template <class T>
static __global__ void copy_gradients(uint32_t n, const EIGHT(T) * from,
                                      const EIGHT(uint32_t) * index, float *grad)
{
    EACH (j, n) {
        const EIGHT(uint32_t) to = index[j];
        const EIGHT(T) u = from[j];
        for (int k = 0; k < 8; k++)
            if (to.v[k] != CUDA_NO_PARAM)
                grad[to.v[k]] = value(u.v[k]);
    }
}

void cuda_copy_gradients(struct cuda *be, enum cuda_type t, size_t n, const void *from,
                         const uint32_t *index, float *grad)
{
    cuda_report_bytes((double)n * (double)(8 + cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, copy_gradients, (uint32_t)n / 8, (const EIGHT(T) *)from,
                             (const EIGHT(uint32_t) *)index, grad));
}
