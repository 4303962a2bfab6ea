/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch norm with the ReLU behind it: a channel's vectors from its sums, by a block, then
 * elementwise. A bias in front moves the mean and nothing else (cpu/norm.c). */
#include "kernels/cuda/device.cuh"

/* A block a channel. */
template <class T>
static __global__ void prepare(struct cuda_shape s, const T *x, const double *part, uint32_t parts,
                               struct cuda_norm_args a, struct cuda_norm m)
{
    const double count = (double)s.batch->valid * (double)s.hw;
    const uint32_t c = blockIdx.x;
    const double lift = a.bias ? (double)a.bias[c] : 0;
    double mean = 0, var = 1;

    if (a.mode == MC_MODE_EVAL) {
        mean = (double)a.running_mean[c] - lift;
        var = (double)a.running_var[c];
    } else if (s.batch->valid) {
        double d, sq;
        channel_sums(part, parts, c, &d, &sq);
        d /= count;
        var = sq / count - d * d;
        var = var < 0 ? 0 : var;
        mean = (double)value(x[c * s.channel]) + d;
    }
    if (threadIdx.x)
        return;
    if (a.mode == MC_MODE_TRAIN && s.batch->valid) {
        const double w = (double)a.momentum;
        const double unbiased = count > 1 ? var * count / (count - 1) : var;
        a.running_mean[c] = (float)((1 - w) * (double)a.running_mean[c] + w * (mean + lift));
        a.running_var[c] = (float)((1 - w) * (double)a.running_var[c] + w * unbiased);
    } else if (a.mode == MC_MODE_REESTIMATE && s.batch->valid) {
        a.acc_sum[c] += count * (mean + lift);
        a.acc_sq[c] += count * (var + (mean + lift) * (mean + lift));
    }
    const double inv = 1 / sqrt(var + (double)a.eps);
    m.mean[c] = (float)mean;
    m.inv[c] = (float)inv;
    m.scale[c] = (float)((double)a.gamma[c] * inv);
    m.beta[c] = a.weight_beta[c];
}

void cuda_norm_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                       const double *part, const struct cuda_norm_args *a,
                       const struct cuda_norm *m)
{
    cuda_moves(16. * s->c * (double)cuda_sum_parts(s));
    WITH_TYPE(s->type, LAUNCH_BLOCKS(be, prepare, s->c, *s, (const T *)x, part,
                                     (uint32_t)cuda_sum_parts(s), *a, *m));
}

/* Of a packed shape's packs P. */
#define PACKS(s) (uint32_t)((s)->n * (s)->image / (sizeof(P) / sizeof(T)))

template <class T, int W>
static __global__ void apply(uint32_t n, struct cuda_shape s, const pack<T, W> *x,
                             struct cuda_norm m, pack<T, W> *pre, pack<T, W> *y)
{
    const uint32_t next = s.channel == 1;

    for
        EACH(i, n)
        {
            const uint32_t c = i * W / s.channel % s.c;
            pack<T, W> a = x[i], before = a;
            for (uint32_t j = 0; j < W; j++) {
                const uint32_t k = c + j * next;
                const float z = (value(a.v[j]) - m.mean[k]) * m.scale[k] + m.beta[k];
                set(&before.v[j], z);
                set(&a.v[j], m.delta < 0 ? z : activate(z, m.delta));
            }
            if (pre)
                pre[i] = before;
            y[i] = a;
        }
}

void cuda_norm_apply(struct cuda *be, const struct cuda_shape *s, const void *x,
                     const struct cuda_norm *m, void *pre, void *y)
{
    cuda_moves(cuda_bytes(s) * (pre ? 3 : 2));
    WITH_PACKS(s->type, cuda_wide(s),
               LAUNCH_EACH(be, apply, PACKS(s), *s, (const P *)x, *m, (P *)pre, (P *)y));
}

/* A block a channel. */
static __global__ void back_prepare(struct cuda_shape s, const double *part, uint32_t parts,
                                    int batch_stats, struct cuda_norm m, double scale,
                                    float *dgamma, float *dbeta, float *dbias)
{
    const double count = (double)s.batch->valid * (double)s.hw;
    const int own = batch_stats && s.batch->valid;
    const uint32_t c = blockIdx.x;
    const double inv = (double)m.inv[c];
    double sum, dot;

    channel_sums(part, parts, c, &sum, &dot);
    if (threadIdx.x)
        return;
    if (dgamma)
        dgamma[c] = (float)(scale * dot * inv);
    if (dbeta)
        dbeta[c] = (float)(scale * sum);
    if (dbias)
        dbias[c] = batch_stats ? 0.0f : (float)(scale * sum * (double)m.scale[c]);
    m.k1[c] = own ? (float)(sum / count) : 0.0f;
    m.k2[c] = own ? (float)(dot * inv * inv / count) : 0.0f;
}

void cuda_norm_back_prepare(struct cuda *be, const struct cuda_shape *s, const double *part,
                            int batch_stats, const struct cuda_norm *m, double scale, float *dgamma,
                            float *dbeta, float *dbias)
{
    cuda_moves(16. * s->c * (double)cuda_sum_parts(s));
    LAUNCH_BLOCKS(be, back_prepare, s->c, *s, part, (uint32_t)cuda_sum_parts(s), batch_stats, *m,
                  scale, dgamma, dbeta, dbias);
}

template <class T, int W>
static __global__ void back(uint32_t n, struct cuda_shape s, const pack<T, W> *x,
                            const pack<T, W> *dy, struct cuda_norm m, int add, pack<T, W> *dx)
{
    const uint32_t counted = s.batch->valid * s.image, next = s.channel == 1;

    for
        EACH(i, n)
        {
            const uint32_t c = i * W / s.channel % s.c;
            const pack<T, W> a = x[i], g = dy[i];
            pack<T, W> to = add ? dx[i] : a;
            for (uint32_t j = 0; j < W; j++) {
                const uint32_t k = c + j * next;
                const float d = value(a.v[j]) - m.mean[k];
                float v = value(g.v[j]);
                if (m.delta >= 0)
                    v = activate_back(d * m.scale[k] + m.beta[k], v, m.delta);
                v = i * W < counted ? m.scale[k] * (v - m.k1[k] - d * m.k2[k]) : 0.0f;
                set_or_add(&to.v[j], add, v);
            }
            dx[i] = to;
        }
}

void cuda_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x, const void *dy,
                    const struct cuda_norm *m, int add, void *dx)
{
    cuda_moves(cuda_bytes(s) * (add ? 4 : 3));
    WITH_PACKS(s->type, cuda_wide(s),
               LAUNCH_EACH(be, back, PACKS(s), *s, (const P *)x, (const P *)dy, *m, add, (P *)dx));
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

/* ---- layer norm: a thread a pixel -------------------------------------------------------------
 */

template <class T>
static __global__ void layer_norm(uint32_t n, struct cuda_shape s, double eps, const T *x,
                                  const float *weight, const float *bias, struct cuda_norm m, T *y)
{
    for
        EACH(i, n)
        {
            const uint32_t at = i / s.hw * s.image + i % s.hw * s.pixel;
            double sum = 0, sq = 0;
            for (uint32_t c = 0; c < s.c; c++)
                sum += (double)value(x[at + c * s.channel]);
            const double mean = sum / s.c;
            for (uint32_t c = 0; c < s.c; c++) {
                const double d = (double)value(x[at + c * s.channel]) - mean;
                sq += d * d;
            }
            m.mean[i] = (float)mean;
            m.inv[i] = (float)(1 / sqrt(sq / s.c + eps));
            for (uint32_t c = 0; c < s.c; c++)
                set(&y[at + c * s.channel],
                    (value(x[at + c * s.channel]) - m.mean[i]) * m.inv[i] * weight[c] + bias[c]);
        }
}

void cuda_layer_norm(struct cuda *be, const struct cuda_shape *s, double eps, const void *x,
                     const float *weight, const float *bias, const struct cuda_norm *m, void *y)
{
    WITH_TYPE(s->type, LAUNCH_EACH(be, layer_norm, s->n * s->hw, *s, eps, (const T *)x, weight,
                                   bias, *m, (T *)y));
}

template <class T>
static __global__ void layer_norm_back(uint32_t n, struct cuda_shape s, const T *x, const T *dy,
                                       const float *weight, struct cuda_norm m, int add, T *dx)
{
    for
        EACH(i, n)
        {
            const uint32_t at = i / s.hw * s.image + i % s.hw * s.pixel;
            const float mean = m.mean[i], inv = m.inv[i];
            double a = 0, b = 0;
            for (uint32_t c = 0; c < s.c; c++) {
                const double g = (double)(value(dy[at + c * s.channel]) * weight[c]);
                a += g;
                b += g * (double)((value(x[at + c * s.channel]) - mean) * inv);
            }
            const float k1 = (float)(a / s.c), k2 = (float)(b / s.c);
            for (uint32_t c = 0; c < s.c; c++) {
                const uint32_t k = at + c * s.channel;
                const float g = value(dy[k]) * weight[c];
                set_or_add(&dx[k], add, (g - k1 - (value(x[k]) - mean) * inv * k2) * inv);
            }
        }
}

void cuda_layer_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const float *weight, const struct cuda_norm *m, int add,
                          void *dx)
{
    WITH_TYPE(s->type, LAUNCH_EACH(be, layer_norm_back, s->n * s->hw, *s, (const T *)x,
                                   (const T *)dy, weight, *m, add, (T *)dx));
}
