/* SPDX-License-Identifier: Apache-2.0
 *
 * What the joint moments need beside a product in float64. */
#include "device.cuh"

static __global__ void to_doubles(size_t all, struct cuda_shape s, size_t first, size_t n,
                                  const float *x, double *to)
{
    for
        EACH(i, all)
        {
            const size_t c = i / (n * s.hw), image = first + i / s.hw % n;
            to[i] = image < s.batch->valid ? (double)x[image * s.image + c * s.hw + i % s.hw] : 0.0;
        }
}

void cuda_to_doubles(struct cuda *be, const struct cuda_shape *s, size_t first, size_t n,
                     const float *x, double *to)
{
    LAUNCH_EACH(be, to_doubles, s->c * n * s->hw, *s, first, n, x, to);
}

static __global__ void add_doubles(size_t n, const double *from, double *to)
{
    for
        EACH(i, n)
    to[i] += from[i];
}

void cuda_add_doubles(struct cuda *be, size_t n, const double *from, double *to)
{
    LAUNCH_EACH(be, add_doubles, n, from, to);
}
