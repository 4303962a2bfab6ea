/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that the joint moments need in addition to a float64 product. */
#include "kernels/cuda/device.cuh"

template <class T>
static __global__ void to_doubles(uint32_t all, struct cuda_shape s, uint32_t first, uint32_t n,
                                  const T *x, double *to)
{
    EACH (element, all) {
        const uint32_t k = element / (n * s.hw), i = first + element / s.hw % n, q = element % s.hw;
        to[element] =
            i < s.batch->valid ? (double)value(x[i * s.image + k * s.channel + q * s.pixel]) : 0.0;
    }
}

void cuda_to_doubles(struct cuda *be, const struct cuda_shape *s, size_t first, size_t n,
                     const void *x, double *to)
{
    WITH_TYPE(s->type, LAUNCH_EACH(be, to_doubles, (uint32_t)(s->c * n * s->hw), *s,
                                   (uint32_t)first, (uint32_t)n, (const T *)x, to));
}

static __global__ void add_doubles(size_t n, const double *from, double *to)
{
    EACH (i, n)
        to[i] += from[i];
}

void cuda_add_doubles(struct cuda *be, size_t n, const double *from, double *to)
{
    LAUNCH_EACH(be, add_doubles, n, from, to);
}
