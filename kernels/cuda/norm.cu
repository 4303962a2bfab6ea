/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch norm with the ReLU after it and an addition between them. First each channel's sums, from
 * which the last block computes its vectors; then elementwise work. A bias before it only moves the
 * mean (cpu/ops/batchnorm.c). */
#include "kernels/cuda/walk.cuh"

/* A channel's vectors, from the batch's sums of d = x - first and d^2, or from the running
 * statistics. */
static __device__ void prepare(const struct cuda_shape &s, uint32_t c, double first, double sum,
                               double sq, const struct cuda_norm_args &a, const struct cuda_norm &m)
{
    const double count = (double)s.batch->valid * (double)s.hw;
    const double lift = a.bias ? (double)a.bias[c] : 0;
    double mean = 0, var = 1;

    if (a.mode == MC_MODE_EVAL) {
        mean = (double)a.running_mean[c] - lift;
        var = (double)a.running_var[c];
    } else if (s.batch->valid) {
        const double d = sum / count;
        var = sq / count - d * d;
        var = var < 0 ? 0 : var;
        mean = first + d;
    }
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

/* Memory traffic: x once. */
template <class T, int W, int LAST>
static __global__ void norm_sums(layout<T, W, LAST> l, struct cuda_place px, const T *x,
                                 struct cuda_norm_args a, struct cuda_norm m, struct cuda_partial o)
{
    walk<T, W, LAST> w(l);
    double ab[LAST ? 2 * W : 2] = {}, first[LAST ? W : 1] = {};
    pack<T, W> u[AHEAD];

    w.only_counted();
    for (int j = 0; j < (LAST ? W : 1); j++)
        first[j] = w.c < l.s.c ? (double)value(x[w.c * l.s.channel + j]) : 0;
    walk_ahead(
        w, [&](const auto &position, int k) { u[k] = position.load(x, px); },
        [&](const auto &, int k) {
            for (int j = 0; j < W; j++) {
                const int channel = LAST ? j : 0;
                const double d = (double)value(u[k].v[j]) - first[channel];
                ab[channel] += d;
                ab[(LAST ? W : 1) + channel] += d * d;
            }
        });
    end_sums(l, ab, o.part, o.arrived, [&](uint32_t c, double sum, double sq) {
        prepare(l.s, c, (double)value(x[c * l.s.channel]), sum, sq, a, m);
    });
}

static __global__ void norm_prepare(uint32_t n, struct cuda_shape s, struct cuda_norm_args a,
                                    struct cuda_norm m)
{
    EACH (c, n)
        prepare(s, c, 0, 0, 0, a, m);
}

/* The layout of the shape's own numbers. */
static struct cuda_place place_of(const struct cuda_shape *s)
{
    const struct cuda_place p = {s->image, s->pixel};
    return p;
}

void cuda_norm_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                       const struct cuda_norm_args *a, const struct cuda_norm *m,
                       const struct cuda_partial *o)
{
    const struct cuda_place p = place_of(s);

    if (a->mode == MC_MODE_EVAL) {
        LAUNCH_EACH(be, norm_prepare, s->c, *s, *a, *m);
        return;
    }
    cuda_report_bytes(cuda_bytes(s));
    WITH_LAYOUT(walks_wide(s, x, &p), s, CUDA_SUM_BLOCKS,
                LAUNCH_BLOCKS(be, norm_sums, l.tiles() * l.parts, l, p, (const T *)x, *a, *m, *o));
}

/* Memory traffic: x, plus, pre and y once each. */
template <class T, int W, int LAST>
static __global__ void norm_apply(layout<T, W, LAST> l, struct cuda_place px, const T *x,
                                  const T *plus, struct cuda_norm m, T *pre, struct cuda_place py,
                                  T *y)
{
    walk<T, W, LAST> w(l);
    const bool in_range = w.c < l.s.c;
    const parameters<W, LAST> mean(m.mean, w.c, in_range), scale(m.scale, w.c, in_range),
        beta(m.beta, w.c, in_range);

    for (; w.more(); w.next()) {
        pack<T, W> u = w.load(x, px), before = u, more = u;
        if (plus)
            more = w.load(plus, px);
        for (int j = 0; j < W; j++) {
            float z = (value(u.v[j]) - mean[j]) * scale[j] + beta[j];
            z = plus ? z + value(more.v[j]) : z;
            set(&before.v[j], z);
            set(&u.v[j], m.delta < 0 ? z : activate(z, m.delta));
        }
        if (pre)
            w.store(pre, px, before);
        w.store(y, py, u);
    }
}

void cuda_norm_apply(struct cuda *be, const struct cuda_shape *s, const void *x, const void *plus,
                     const struct cuda_norm *m, void *pre, const struct cuda_shape *d, void *y)
{
    const struct cuda_place p = place_of(s), py = place_of(d);
    const int wide = walks_wide(s, x, &p) && walks_wide(s, plus, &p) && walks_wide(s, y, &py);

    cuda_report_bytes(cuda_bytes(s) * (2 + (pre != NULL) + (plus != NULL)));
    WITH_LAYOUT(wide, s, CUDA_LAUNCH_BLOCKS,
                LAUNCH(be, norm_apply, l.tiles() * l.parts, l, p, (const T *)x, (const T *)plus, *m,
                       (T *)pre, py, (T *)y));
}

/* Memory traffic: x and dy once, and plus and dz. */
template <class T, int W, int LAST>
static __global__ void norm_back_sums(layout<T, W, LAST> l, struct cuda_place px, const T *x,
                                      struct cuda_place py, const T *dy, struct cuda_norm m,
                                      struct cuda_norm_grads g, struct cuda_partial o)
{
    const T *plus = (const T *)g.plus;
    T *dz = (T *)g.dz;
    walk<T, W, LAST> w(l);
    const bool in_range = w.c < l.s.c;
    const parameters<W, LAST> mean(m.mean, w.c, in_range), scale(m.scale, w.c, in_range),
        beta(m.beta, w.c, in_range);
    double ab[LAST ? 2 * W : 2] = {};
    pack<T, W> u[AHEAD], v[AHEAD], more[AHEAD];

    if (!dz)
        w.only_counted();
    walk_ahead(
        w,
        [&](const auto &position, int k) {
            u[k] = position.load(x, px);
            v[k] = position.load(dy, py);
            if (plus)
                more[k] = position.load(plus, px);
        },
        [&](const auto &position, int k) {
            const bool counts = position.counts();
            for (int j = 0; j < W; j++) {
                const int channel = LAST ? j : 0;
                const float d = value(u[k].v[j]) - mean[j];
                float back = value(v[k].v[j]);
                if (m.delta >= 0) {
                    const float z = d * scale[j] + beta[j];
                    back = activate_back(plus ? z + value(more[k].v[j]) : z, back, m.delta);
                }
                set(&v[k].v[j], counts ? back : 0);
                if (!counts) /* an image that does not count may hold numbers that are not finite */
                    continue;
                back = dz ? value(v[k].v[j]) : back;
                ab[channel] += (double)back;
                ab[(LAST ? W : 1) + channel] += (double)back * (double)d;
            }
            if (dz)
                position.store(dz, px, v[k]);
        });
    end_sums(l, ab, o.part, o.arrived, [&](uint32_t c, double sum, double dot) {
        const double count = (double)l.s.batch->valid * (double)l.s.hw;
        const int whole = g.batch_stats && l.s.batch->valid;
        const double inv = (double)m.inv[c];
        if (g.dgamma)
            g.dgamma[c] = (float)(dot * inv);
        if (g.dbeta)
            g.dbeta[c] = (float)sum;
        if (g.dbias)
            g.dbias[c] = g.batch_stats ? 0.0f : (float)(sum * (double)m.scale[c]);
        m.k1[c] = whole ? (float)(sum / count) : 0.0f;
        m.k2[c] = whole ? (float)(dot * inv * inv / count) : 0.0f;
    });
}

void cuda_norm_back_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                            const struct cuda_shape *d, const void *dy, const struct cuda_norm *m,
                            const struct cuda_norm_grads *g, const struct cuda_partial *o)
{
    const struct cuda_place p = place_of(s), py = place_of(d);
    const int wide = walks_wide(s, x, &p) && walks_wide(s, g->plus, &p) && walks_wide(s, dy, &py);

    cuda_report_bytes(cuda_bytes(s) * (2 + (g->plus != NULL) + (g->dz != NULL)));
    WITH_LAYOUT(wide, s, CUDA_SUM_BLOCKS,
                LAUNCH_BLOCKS(be, norm_back_sums, l.tiles() * l.parts, l, p, (const T *)x, py,
                              (const T *)dy, *m, *g, *o));
}

/* Memory traffic: x, dy and dx once, and dx twice if it adds. */
template <class T, int W, int LAST>
static __global__ void norm_back(layout<T, W, LAST> l, struct cuda_place px, const T *x,
                                 struct cuda_place py, const T *dy, struct cuda_norm m, int add,
                                 T *dx)
{
    walk<T, W, LAST> w(l);
    const bool in_range = w.c < l.s.c;
    const parameters<W, LAST> mean(m.mean, w.c, in_range), scale(m.scale, w.c, in_range),
        beta(m.beta, w.c, in_range), k1(m.k1, w.c, in_range), k2(m.k2, w.c, in_range);

    for (; w.more(); w.next()) {
        const pack<T, W> u = w.load(x, px), v = w.load(dy, py);
        pack<T, W> to = u;
        const bool counts = w.counts();
        if (add)
            to = w.load(dx, px);
        for (int j = 0; j < W; j++) {
            const float d = value(u.v[j]) - mean[j];
            float back = value(v.v[j]);
            if (m.delta >= 0)
                back = activate_back(d * scale[j] + beta[j], back, m.delta);
            back = counts ? scale[j] * (back - k1[j] - d * k2[j]) : 0.0f;
            set_or_add(&to.v[j], add, back);
        }
        w.store(dx, px, to);
    }
}

void cuda_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                    const struct cuda_shape *d, const void *dy, const struct cuda_norm *m, int add,
                    void *dx)
{
    const struct cuda_place p = place_of(s), py = place_of(d);
    const int wide = walks_wide(s, x, &p) && walks_wide(s, dy, &py) && walks_wide(s, dx, &p);

    cuda_report_bytes(cuda_bytes(s) * (add ? 4 : 3));
    WITH_LAYOUT(wide, s, CUDA_LAUNCH_BLOCKS,
                LAUNCH(be, norm_back, l.tiles() * l.parts, l, p, (const T *)x, py, (const T *)dy,
                       *m, add, (T *)dx));
}

static __global__ void count_images(size_t n, const struct cuda_batch *batch, double *images)
{
    EACH (i, n)
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

    EACH (c, n) {
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

/* ---- layer norm: one thread per pixel -------------------------------------------------------- */

template <class T>
static __global__ void layer_norm(uint32_t n, struct cuda_shape s, double eps, const T *x,
                                  const float *weight, const float *bias, struct cuda_norm m, T *y)
{
    EACH (i, n) {
        const uint32_t offset = i / s.hw * s.image + i % s.hw * s.pixel;
        double sum = 0, sq = 0;
        for (uint32_t c = 0; c < s.c; c++)
            sum += (double)value(x[offset + c * s.channel]);
        const double mean = sum / s.c;
        for (uint32_t c = 0; c < s.c; c++) {
            const double d = (double)value(x[offset + c * s.channel]) - mean;
            sq += d * d;
        }
        m.mean[i] = (float)mean;
        m.inv[i] = (float)(1 / sqrt(sq / s.c + eps));
        for (uint32_t c = 0; c < s.c; c++)
            set(&y[offset + c * s.channel],
                (value(x[offset + c * s.channel]) - m.mean[i]) * m.inv[i] * weight[c] + bias[c]);
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
    EACH (i, n) {
        const uint32_t offset = i / s.hw * s.image + i % s.hw * s.pixel;
        const float mean = m.mean[i], inv = m.inv[i];
        double a = 0, b = 0;
        for (uint32_t c = 0; c < s.c; c++) {
            const double g = (double)(value(dy[offset + c * s.channel]) * weight[c]);
            a += g;
            b += g * (double)((value(x[offset + c * s.channel]) - mean) * inv);
        }
        const float k1 = (float)(a / s.c), k2 = (float)(b / s.c);
        for (uint32_t c = 0; c < s.c; c++) {
            const uint32_t k = offset + c * s.channel;
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

/* ---- group norm: one block per group of an image --------------------------------------------- */

/* Offset of number e of group g of image i. *c: its channel. */
static __device__ uint32_t group_at(const struct cuda_shape *s, uint32_t groups, uint32_t i,
                                    uint32_t g, uint32_t e, uint32_t *c)
{
    *c = g * (s->c / groups) + e / s->hw;
    return i * s->image + *c * s->channel + e % s->hw * s->pixel;
}

template <class T>
static __global__ void group_norm(struct cuda_shape s, double eps, const T *x, const float *weight,
                                  const float *bias, struct cuda_norm m, T *y)
{
    const uint32_t groups = m.groups, i = blockIdx.x / groups, g = blockIdx.x % groups;
    const uint32_t n = s.c / groups * s.hw;
    uint32_t c;
    double sum = 0, sq = 0;

    for (uint32_t e = threadIdx.x; e < n; e += CUDA_THREADS)
        sum += (double)value(x[group_at(&s, groups, i, g, e, &c)]);
    const double mean = block_sum(sum) / n;
    for (uint32_t e = threadIdx.x; e < n; e += CUDA_THREADS) {
        const double d = (double)value(x[group_at(&s, groups, i, g, e, &c)]) - mean;
        sq += d * d;
    }
    const float shift = (float)mean, inv = (float)(1 / sqrt(block_sum(sq) / n + eps));
    if (threadIdx.x == 0) {
        m.mean[blockIdx.x] = shift;
        m.inv[blockIdx.x] = inv;
    }
    for (uint32_t e = threadIdx.x; e < n; e += CUDA_THREADS) {
        const uint32_t offset = group_at(&s, groups, i, g, e, &c);
        set(&y[offset], (value(x[offset]) - shift) * inv * weight[c] + bias[c]);
    }
}

void cuda_group_norm(struct cuda *be, const struct cuda_shape *s, double eps, const void *x,
                     const float *weight, const float *bias, const struct cuda_norm *m, void *y)
{
    cuda_report_bytes(2 * cuda_bytes(s));
    WITH_TYPE(s->type, LAUNCH_BLOCKS(be, group_norm, (size_t)s->n * m->groups, *s, eps,
                                     (const T *)x, weight, bias, *m, (T *)y));
}

template <class T>
static __global__ void group_norm_back(struct cuda_shape s, const T *x, const T *dy,
                                       const float *weight, struct cuda_norm m, int add, T *dx)
{
    const uint32_t groups = m.groups, i = blockIdx.x / groups, g = blockIdx.x % groups;
    const uint32_t n = s.c / groups * s.hw;
    const float mean = m.mean[blockIdx.x], inv = m.inv[blockIdx.x];
    uint32_t c;
    double a = 0, b = 0;

    for (uint32_t e = threadIdx.x; e < n; e += CUDA_THREADS) {
        const uint32_t offset = group_at(&s, groups, i, g, e, &c);
        const double d = (double)(value(dy[offset]) * weight[c]);
        a += d;
        b += d * (double)((value(x[offset]) - mean) * inv);
    }
    const float k1 = (float)(block_sum(a) / n), k2 = (float)(block_sum(b) / n);
    for (uint32_t e = threadIdx.x; e < n; e += CUDA_THREADS) {
        const uint32_t offset = group_at(&s, groups, i, g, e, &c);
        const float z = (value(x[offset]) - mean) * inv;
        set_or_add(&dx[offset], add, (value(dy[offset]) * weight[c] - k1 - z * k2) * inv);
    }
}

void cuda_group_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const float *weight, const struct cuda_norm *m, int add,
                          void *dx)
{
    cuda_report_bytes((add ? 4 : 3) * cuda_bytes(s));
    WITH_TYPE(s->type, LAUNCH_BLOCKS(be, group_norm_back, (size_t)s->n * m->groups, *s,
                                     (const T *)x, (const T *)dy, weight, *m, add, (T *)dx));
}

/* One block per channel. */
template <class T>
static __global__ void group_norm_sums(struct cuda_shape s, const T *x, const T *dy,
                                       struct cuda_norm m, float *dweight, float *dbias)
{
    const uint32_t c = blockIdx.x, g = c / (s.c / m.groups);
    double a = 0, b = 0;

    for (uint32_t e = threadIdx.x; e < s.batch->valid * s.hw; e += CUDA_THREADS) {
        const uint32_t i = e / s.hw, unit = i * m.groups + g;
        const uint32_t offset = i * s.image + c * s.channel + e % s.hw * s.pixel;
        const float d = value(dy[offset]);
        a += (double)d;
        b += (double)(d * ((value(x[offset]) - m.mean[unit]) * m.inv[unit]));
    }
    a = block_sum(a);
    b = block_sum(b);
    if (threadIdx.x == 0) {
        dbias[c] = (float)a;
        dweight[c] = (float)b;
    }
}

void cuda_group_norm_sums(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const struct cuda_norm *m, float *dweight, float *dbias)
{
    cuda_report_bytes(2 * cuda_bytes(s));
    WITH_TYPE(s->type, LAUNCH_BLOCKS(be, group_norm_sums, (size_t)s->c, *s, (const T *)x,
                                     (const T *)dy, *m, dweight, dbias));
}
