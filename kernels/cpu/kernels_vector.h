/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on flat vectors, included once per instruction set (see kernels.h). */

static void KERNEL(sgd)(size_t n, const struct cpu_sgd *s)
{
    const struct cpu_sgd t = *s;

#pragma omp parallel for schedule(static) if (n > 8192)
    for (size_t i = 0; i < n; i++) {
        float d = t.coef * (t.grad[i] + t.decay * t.point[i]);
        float v = t.momentum * t.m[i] + d;
        t.m[i] = v;
        t.p[i] -= t.lr * (t.nesterov ? d + t.momentum * v : v);
    }
}

static void KERNEL(lincomb)(size_t n, float *dst, size_t k, const float *const *src,
                            const float *coef)
{
    enum { CHUNK = 2048 };
    const size_t chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < chunks; c++) {
        const size_t from = c * CHUNK, to = from + CHUNK < n ? from + CHUNK : n;
        float sum[CHUNK];
        for (size_t i = from; i < to; i++)
            sum[i - from] = coef[0] * src[0][i];
        for (size_t j = 1; j < k; j++) {
            const float *s = src[j];
            const float w = coef[j];
            for (size_t i = from; i < to; i++)
                sum[i - from] += w * s[i];
        }
        memcpy(dst + from, sum, (to - from) * sizeof *dst);
    }
}

static double KERNEL(sumsq)(size_t n, const float *x, double *part)
{
    size_t chunk = (n + CPU_PARTS - 1) / CPU_PARTS;
    chunk = chunk < 4096 ? 4096 : (chunk + 15) / 16 * 16;
    const size_t chunks = (n + chunk - 1) / chunk;
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < chunks; c++) {
        const size_t from = c * chunk, to = from + chunk < n ? from + chunk : n;
        double s[16] = {0};
        size_t i = from;
        for (; i + 16 <= to; i += 16)
            for (size_t j = 0; j < 16; j++)
                s[j] += (double)x[i + j] * (double)x[i + j];
        for (; i < to; i++)
            s[0] += (double)x[i] * (double)x[i];
        for (size_t j = 1; j < 16; j++)
            s[0] += s[j];
        part[c] = s[0];
    }
    double sum = 0;
    for (size_t c = 0; c < chunks; c++)
        sum += part[c];
    return sum;
}

static void KERNEL(sign_step)(const struct mc_ball *b, size_t n, const float *clean,
                              const float *grad, float *x)
{
    const struct mc_ball ball = *b;

    for (size_t q = 0; q < n; q++)
        x[q] = mc_ball_sign_step(&ball, clean[q], grad[q], x[q]);
}
