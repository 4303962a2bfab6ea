/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch norm with the activation behind it: a channel's vectors from its sums, then elementwise. A
 * bias in front moves the mean and nothing else (cpu/norm.c). */
#include "device.cuh"

static __device__ void total(const double *part, size_t parts, size_t c, double *a, double *b)
{
    *a = *b = 0;
    for (size_t i = 0; i < parts; i++) {
        *a += part[2 * (c * parts + i)];
        *b += part[2 * (c * parts + i) + 1];
    }
}

static __global__ void prepare(size_t n, struct cuda_shape s, const float *x, const double *part,
                               size_t parts, struct cuda_norm_args a, struct cuda_norm m)
{
    const double count = (double)s.batch->valid * (double)s.hw;

    for
        EACH(c, n)
        {
            const double lift = a.bias ? (double)a.bias[c] : 0;
            double mean = 0, var = 1;
            if (a.mode == MC_MODE_EVAL) {
                mean = (double)a.running_mean[c] - lift;
                var = (double)a.running_var[c];
            } else if (s.batch->valid) {
                double d, sq;
                total(part, parts, c, &d, &sq);
                d /= count;
                var = sq / count - d * d;
                var = var < 0 ? 0 : var;
                mean = (double)x[c * s.hw] + d;
                if (a.mode == MC_MODE_TRAIN) {
                    const double w = (double)a.momentum;
                    const double unbiased = count > 1 ? var * count / (count - 1) : var;
                    a.running_mean[c] =
                        (float)((1 - w) * (double)a.running_mean[c] + w * (mean + lift));
                    a.running_var[c] = (float)((1 - w) * (double)a.running_var[c] + w * unbiased);
                } else if (a.mode == MC_MODE_REESTIMATE) {
                    a.acc_sum[c] += count * (mean + lift);
                    a.acc_sq[c] += count * (var + (mean + lift) * (mean + lift));
                }
            }
            const double inv = 1 / sqrt(var + (double)a.eps);
            m.mean[c] = (float)mean;
            m.inv[c] = (float)inv;
            m.scale[c] = (float)((double)a.gamma[c] * inv);
            m.beta[c] = a.weight_beta[c];
        }
}

void cuda_norm_prepare(struct cuda *be, const struct cuda_shape *s, const float *x,
                       const double *part, const struct cuda_norm_args *a,
                       const struct cuda_norm *m)
{
    LAUNCH_EACH(be, prepare, s->c, *s, x, part, cuda_sum_parts(s), *a, *m);
}

static __global__ void apply(size_t n, struct cuda_shape s, const float *x, struct cuda_norm m,
                             float *pre, float *y)
{
    for
        EACH(i, n)
        {
            const size_t c = i / s.hw % s.c;
            const float z = (x[i] - m.mean[c]) * m.scale[c] + m.beta[c];
            if (pre)
                pre[i] = z;
            y[i] = m.delta < 0 ? z : activate(z, m.delta);
        }
}

void cuda_norm_apply(struct cuda *be, const struct cuda_shape *s, const float *x,
                     const struct cuda_norm *m, float *pre, float *y)
{
    LAUNCH_EACH(be, apply, s->n * s->c * s->hw, *s, x, *m, pre, y);
}

static __global__ void back_prepare(size_t n, struct cuda_shape s, const double *part, size_t parts,
                                    int batch_stats, struct cuda_norm m, float *dgamma,
                                    float *dbeta, float *dbias)
{
    const double count = (double)s.batch->valid * (double)s.hw;
    const int own = batch_stats && s.batch->valid;

    for
        EACH(c, n)
        {
            const double inv = (double)m.inv[c];
            double sum, dot;
            total(part, parts, c, &sum, &dot);
            if (dgamma)
                dgamma[c] = (float)(dot * inv);
            if (dbeta)
                dbeta[c] = (float)sum;
            if (dbias)
                dbias[c] = batch_stats ? 0.0f : (float)(sum * (double)m.scale[c]);
            m.k1[c] = own ? (float)(sum / count) : 0.0f;
            m.k2[c] = own ? (float)(dot * inv * inv / count) : 0.0f;
        }
}

void cuda_norm_back_prepare(struct cuda *be, const struct cuda_shape *s, const double *part,
                            int batch_stats, const struct cuda_norm *m, float *dgamma, float *dbeta,
                            float *dbias)
{
    LAUNCH_EACH(be, back_prepare, s->c, *s, part, cuda_sum_parts(s), batch_stats, *m, dgamma, dbeta,
                dbias);
}

static __global__ void back(size_t n, struct cuda_shape s, const float *x, const float *dy,
                            struct cuda_norm m, int add, float *dx)
{
    const size_t counted = (size_t)s.batch->valid * s.c * s.hw;

    for
        EACH(i, n)
        {
            const size_t c = i / s.hw % s.c;
            const float d = x[i] - m.mean[c];
            float g = dy[i];
            if (m.delta >= 0)
                g = activate_back(d * m.scale[c] + m.beta[c], g, m.delta);
            g = i < counted ? m.scale[c] * (g - m.k1[c] - d * m.k2[c]) : 0.0f;
            dx[i] = add ? dx[i] + g : g;
        }
}

void cuda_norm_back(struct cuda *be, const struct cuda_shape *s, const float *x, const float *dy,
                    const struct cuda_norm *m, int add, float *dx)
{
    LAUNCH_EACH(be, back, s->n * s->c * s->hw, *s, x, dy, *m, add, dx);
}

static __global__ void count_images(size_t n, const struct cuda_batch *batch, double *images)
{
    for
        EACH(i, n)
    images[i] += (double)batch->valid;
}

void cuda_count_images(struct cuda *be, const struct cuda_batch *batch, double *images)
{
    LAUNCH_EACH(be, count_images, (size_t)1, batch, images);
}

static __global__ void pool_moments(size_t n, double pixels, const double *sum, const double *sq,
                                    const double *images, float *mean, float *var)
{
    const double count = *images * pixels;

    for
        EACH(c, n)
        {
            if (!(count > 0))
                continue;
            const double m = sum[c] / count, v = sq[c] / count - m * m;
            mean[c] = (float)m;
            var[c] = (float)((v > 0 ? v : 0) * (count > 1 ? count / (count - 1) : 1));
        }
}

void cuda_pool_moments(struct cuda *be, size_t c, double pixels, const double *sum,
                       const double *sq, const double *images, float *mean, float *var)
{
    LAUNCH_EACH(be, pool_moments, c, pixels, sum, sq, images, mean, var);
}
