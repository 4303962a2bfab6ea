/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on flat vectors; learning rates and coefficients are those of the control block's row.
 */
#include "kernels/cuda/device.cuh"

static __global__ void next_row(size_t n, struct mc_ctl *ctl)
{
    for
        EACH(i, n)
    ctl[i].row++;
}

void cuda_next_row(struct cuda *be, struct mc_ctl *ctl)
{
    LAUNCH_EACH(be, next_row, (size_t)1, ctl);
}

static __global__ void sum_terms(size_t n, float *dst, struct cuda_terms t,
                                 const struct mc_ctl *ctl)
{
    const float *coefs = t.coefs + (size_t)ctl->row * t.k + t.first;

    for
        EACH(i, n)
        {
            float sum = (t.whole ? 1.0f : coefs[0]) * t.x[0][i];
            for (size_t j = 1; j < t.n; j++)
                sum += coefs[j - t.whole] * t.x[j][i];
            dst[i] = sum;
        }
}

void cuda_sum_terms(struct cuda *be, size_t n, float *dst, const struct cuda_terms *t,
                    const struct mc_ctl *ctl)
{
    LAUNCH_EACH(be, sum_terms, n, dst, *t, ctl);
}

struct sgd {
    float *p, *m;
    const float *grad, *point, *lrs, *coefs;
    size_t stride, k;
    float momentum, decay;
    int nesterov;
};

static __global__ void sgd_step(size_t n, struct sgd s, const struct mc_ctl *ctl)
{
    const float lr = s.lrs[ctl->row];
    const float coef = s.coefs ? s.coefs[(size_t)ctl->row * s.stride + s.k] : 1.0f;

    for
        EACH(i, n)
        {
            const float d = coef * (s.grad[i] + s.decay * s.point[i]);
            const float v = s.momentum * s.m[i] + d;
            s.m[i] = v;
            s.p[i] -= lr * (s.nesterov ? d + s.momentum * v : v);
        }
}

static float *data(const struct mc_buf *b)
{
    return b ? (float *)b->data : NULL;
}

void cuda_sgd_step(struct cuda *be, size_t n, const struct mc_sgd *s, const struct mc_ctl *ctl)
{
    const struct sgd a = {data(s->p),   data(s->m),     data(s->grad), data(s->point),
                          data(s->lrs), data(s->coefs), s->stride,     s->k,
                          s->momentum,  s->decay,       s->nesterov};
    LAUNCH_EACH(be, sgd_step, n, a, ctl);
}

/* Block i: the i-th of CUDA_PARTS segments. */
static __global__ void square_parts(size_t n, const float *x, double *part)
{
    const size_t from = n * blockIdx.x / gridDim.x, to = n * (blockIdx.x + 1) / gridDim.x;
    double sum = 0;

    for (size_t i = from + threadIdx.x; i < to; i += CUDA_THREADS)
        sum += (double)x[i] * (double)x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

/* One block. */
static __global__ void add_parts(size_t n, const double *part, double scale, double *acc)
{
    double sum = 0;

    for (size_t i = threadIdx.x; i < n; i += CUDA_THREADS)
        sum += part[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *acc += scale * sum;
}

void cuda_sum_squares(struct cuda *be, size_t n, const float *x, double scale, double *part,
                      double *acc)
{
    const size_t want = (n + 4095) / 4096, parts = want < 1            ? 1
                                                   : want < CUDA_PARTS ? want
                                                                       : CUDA_PARTS;

    LAUNCH_BLOCKS(be, square_parts, parts, n, x, part);
    LAUNCH_BLOCKS(be, add_parts, 1, parts, part, scale, acc);
}

static __global__ void gather(size_t n, float *dst, const float *src, const uint32_t *index)
{
    for
        EACH(i, n)
    dst[i] = src[index[i]];
}

void cuda_gather_floats(struct cuda *be, size_t n, float *dst, const float *src,
                        const uint32_t *index)
{
    LAUNCH_EACH(be, gather, n, dst, src, index);
}

/* In the form that leaves p = anchor as it is. */
static __global__ void proximal_step(size_t n, float *p, const float *anchor, const float *lrs,
                                     double nu, const struct mc_ctl *ctl)
{
    const double r = (double)lrs[ctl->row] / nu, w = r / (1 + r);

    for
        EACH(i, n)
    p[i] = (float)((double)p[i] + w * ((double)anchor[i] - (double)p[i]));
}

void cuda_proximal_step(struct cuda *be, size_t n, float *p, const float *anchor, const float *lrs,
                        double nu, const struct mc_ctl *ctl)
{
    LAUNCH_EACH(be, proximal_step, n, p, anchor, lrs, nu, ctl);
}
