/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over a channel's elements, in two steps: each block one part of a channel, then the parts in
 * their order. */
#include "device.cuh"

size_t cuda_sum_parts(const struct cuda_shape *s)
{
    const size_t parts = (s->n * s->hw + 4095) / 4096;
    return parts < 1 ? 1 : parts < CUDA_MAX_PARTS ? parts : CUDA_MAX_PARTS;
}

/* Block (c, part): elements [from, to) of channel c, of N * HW. */
static __global__ void sum_parts(struct cuda_shape s, enum cuda_sum what, const float *x,
                                 const float *dy, struct cuda_norm m, size_t parts, double *out)
{
    const size_t c = blockIdx.x / parts, part = blockIdx.x % parts;
    const size_t all = s.n * s.hw, from = all * part / parts, end = all * (part + 1) / parts;
    const size_t counted = (size_t)s.batch->valid * s.hw, to = end < counted ? end : counted;
    double a = 0, b = 0;

    for (size_t e = from + threadIdx.x; e < to; e += CUDA_THREADS) {
        const size_t at = e / s.hw * s.image + c * s.hw + e % s.hw;
        if (what == CUDA_SUM_SHIFTED) {
            const double d = (double)x[at] - (double)x[c * s.hw];
            a += d;
            b += d * d;
        } else if (what == CUDA_SUM_BACK) {
            const float d = x[at] - m.mean[c];
            float g = dy[at];
            if (m.delta >= 0)
                g = activate_back(d * m.scale[c] + m.beta[c], g, m.delta);
            a += (double)g;
            b += (double)g * (double)d;
        } else {
            a += (double)x[at];
            b += (double)x[at] * (double)x[at];
        }
    }
    a = block_sum(a);
    b = block_sum(b);
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = a;
        out[2 * blockIdx.x + 1] = b;
    }
}

void cuda_sums(struct cuda *be, const struct cuda_shape *s, enum cuda_sum what, const float *x,
               const float *dy, const struct cuda_norm *m, double *part)
{
    const size_t parts = cuda_sum_parts(s);
    const struct cuda_norm none = {};

    LAUNCH_BLOCKS(be, sum_parts, s->c * parts, *s, what, x, dy, m ? *m : none, parts, part);
}

static __global__ void parts_to_floats(size_t n, size_t parts, const double *part, float *out)
{
    for
        EACH(c, n)
        {
            double sum = 0;
            for (size_t i = 0; i < parts; i++)
                sum += part[2 * (c * parts + i)];
            out[c] = (float)sum;
        }
}

void cuda_sums_to_floats(struct cuda *be, const struct cuda_shape *s, const double *part,
                         float *out)
{
    LAUNCH_EACH(be, parts_to_floats, s->c, cuda_sum_parts(s), part, out);
}

static __global__ void parts_to_doubles(size_t n, size_t parts, const double *part, double *sum,
                                        double *sq)
{
    for
        EACH(c, n)
        {
            double a = 0, b = 0;
            for (size_t i = 0; i < parts; i++) {
                a += part[2 * (c * parts + i)];
                b += part[2 * (c * parts + i) + 1];
            }
            sum[c] += a;
            sq[c] += b;
        }
}

void cuda_sums_to_doubles(struct cuda *be, const struct cuda_shape *s, const double *part,
                          double *sum, double *sq)
{
    LAUNCH_EACH(be, parts_to_doubles, s->c, cuda_sum_parts(s), part, sum, sq);
}
