/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for arithmetic on flat vectors. Learning rates and coefficients are those of the
 * control values' row. */
#include "kernels/cuda/device.cuh"

#include <cassert>

static const struct mc_ctl *ctl_of(const struct mc_buf *b)
{
    return (const struct mc_ctl *)b->data;
}

static __global__ void next_row(size_t n, struct mc_ctl *ctl)
{
    EACH (i, n)
        ctl[i].row++;
}

void cuda_ctl_next(struct mc_backend *base, struct mc_buf *ctl)
{
    struct cuda *be = cuda_backend(base);

    LAUNCH_EACH(be, next_row, (size_t)1, (struct mc_ctl *)ctl->data);
}

enum { TERMS = 16 };
struct terms {
    const float *x[TERMS + 1];
    size_t n;     /* number of terms: `whole` (0 or 1) with weight 1, then */
    size_t whole; /* the others, with weights coefs[row * k + first], ... */
    size_t k, first;
    const float *coefs;
};

static __global__ void sum_terms(size_t n, float *dst, struct terms t, const struct mc_ctl *ctl)
{
    const float *coefs = t.coefs + (size_t)ctl->row * t.k + t.first;

    EACH (i, n) {
        float sum = (t.whole ? 1.0f : coefs[0]) * t.x[0][i];
        for (size_t j = 1; j < t.n; j++)
            sum += coefs[j - t.whole] * t.x[j][i];
        dst[i] = sum;
    }
}

void cuda_lincomb(struct mc_backend *base, size_t n, struct mc_buf *dst, size_t k,
                  const struct mc_buf *const *src, const struct mc_buf *coefs,
                  const struct mc_buf *ctl)
{
    struct cuda *be = cuda_backend(base);

    /* with more than TERMS terms, the sum so far is a term */
    for (size_t i = TERMS; i < k; i++)
        assert(src[i] != dst);
    for (size_t term = 0; term < k;) {
        struct terms t = {};
        t.k = k;
        t.first = term;
        t.coefs = mc_const_floats(coefs);
        if (term) {
            t.whole = 1;
            t.x[t.n++] = mc_floats(dst);
        }
        for (size_t i = 0; i < TERMS && term < k; i++, term++)
            t.x[t.n++] = mc_const_floats(src[term]);
        LAUNCH_EACH(be, sum_terms, n, mc_floats(dst), t, ctl_of(ctl));
    }
}

struct sgd {
    float *p, *m;
    const float *grad, *point, *lrs, *coefs;
    size_t stride, k;
    float momentum, decay;
    int nesterov;
    int skips; /* if the gradient is NaN, p and m stay */
};

/* Memory traffic: grad once, m and p twice, and the point if it is not p; by packs of W. */
template <class P>
static __global__ void sgd_step(size_t n, struct sgd s, const P *grad, const P *point, P *m, P *p,
                                const struct mc_ctl *ctl)
{
    const float lr = s.lrs[ctl->row];
    const float coef = s.coefs ? s.coefs[(size_t)ctl->row * s.stride + s.k] : 1.0f;

    EACH (i, n) {
        const P g = grad[i], theta = point[i];
        P mean = m[i], to = p[i];
        for (size_t j = 0; j < sizeof(P) / sizeof(float); j++) {
            const float d = coef * (g.v[j] + s.decay * theta.v[j]);
            if (s.skips && d != d)
                continue;
            const float v = s.momentum * mean.v[j] + d;
            mean.v[j] = v;
            to.v[j] -= lr * (s.nesterov ? d + s.momentum * v : v);
        }
        m[i] = mean;
        p[i] = to;
    }
}

template <class P>
static void launch_sgd(struct cuda *be, size_t n, const struct sgd &s, const struct mc_ctl *ctl)
{
    LAUNCH_EACH(be, sgd_step, n * sizeof(float) / sizeof(P), s, (const P *)s.grad,
                (const P *)s.point, (P *)s.m, (P *)s.p, ctl);
}

void cuda_sgd(struct mc_backend *base, size_t n, const struct mc_sgd *s, const struct mc_buf *ctl)
{
    struct cuda *be = cuda_backend(base);

    const struct sgd a = {mc_floats(s->p),
                          mc_floats(s->m),
                          mc_const_floats(s->grad),
                          mc_const_floats(s->point),
                          mc_const_floats(s->lrs),
                          mc_const_floats(s->coefs),
                          s->stride,
                          s->k,
                          s->momentum,
                          s->decay,
                          s->nesterov,
                          cuda_skips(be)};
    cuda_report_bytes((s->point == s->p ? 5. : 6.) * 4 * (double)n);
    if (n % 4 == 0)
        launch_sgd<pack<float, 4>>(be, n, a, ctl_of(ctl));
    else
        launch_sgd<pack<float, 1>>(be, n, a, ctl_of(ctl));
}

/* Block i: the i-th of CUDA_PARTS segments; the last block adds them. Memory traffic: x once. */
template <class P>
static __global__ void sum_squares(size_t n, const P *x, struct cuda_partial o, double scale,
                                   double *acc)
{
    const size_t from = n * blockIdx.x / gridDim.x, to = n * (blockIdx.x + 1) / gridDim.x;
    double sum = 0;

    for (size_t i = from + threadIdx.x; i < to; i += CUDA_THREADS) {
        const P u = x[i];
        for (size_t j = 0; j < sizeof(P) / sizeof(float); j++)
            sum += (double)u.v[j] * (double)u.v[j];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        o.part[blockIdx.x] = sum;
    if (!is_last_block(o.arrived, gridDim.x))
        return;
    sum = 0;
    for (size_t i = threadIdx.x; i < gridDim.x; i += CUDA_THREADS)
        sum += o.part[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *acc += scale * sum;
}

void cuda_sumsq(struct mc_backend *base, size_t n, const struct mc_buf *x, double scale,
                struct mc_buf *acc, size_t slot)
{
    struct cuda *be = cuda_side_backend(base);
    const size_t needed = (n + 4095) / 4096, parts = needed < 1            ? 1
                                                     : needed < CUDA_PARTS ? needed
                                                                           : CUDA_PARTS;

    cuda_report_bytes(4. * (double)n);
    if (n % 4 == 0)
        LAUNCH_BLOCKS(be, sum_squares, parts, n / 4, (const PACK(float, 4) *)mc_const_floats(x),
                      cuda_parts(be), scale, mc_doubles(acc) + slot);
    else
        LAUNCH_BLOCKS(be, sum_squares, parts, n, (const PACK(float, 1) *)mc_const_floats(x),
                      cuda_parts(be), scale, mc_doubles(acc) + slot);
    cuda_end_side(be);
}

static __global__ void gather(size_t n, float *dst, const float *src, const uint32_t *index)
{
    EACH (i, n)
        dst[i] = src[index[i]];
}

void cuda_gather(struct mc_backend *base, size_t n, struct mc_buf *dst, const struct mc_buf *src,
                 const struct mc_buf *index)
{
    struct cuda *be = cuda_backend(base);

    LAUNCH_EACH(be, gather, n, mc_floats(dst), mc_const_floats(src), (const uint32_t *)index->data);
}

/* This form leaves p unchanged, to the last bit, if p = anchor. */
static __global__ void proximal_step(size_t n, float *p, const float *anchor, const float *lrs,
                                     double nu, const struct mc_ctl *ctl)
{
    const double r = (double)lrs[ctl->row] / nu, w = r / (1 + r);

    EACH (i, n)
        p[i] = (float)((double)p[i] + w * ((double)anchor[i] - (double)p[i]));
}

void cuda_proximal(struct mc_backend *base, size_t n, struct mc_buf *p, const struct mc_buf *anchor,
                   const struct mc_buf *lrs, double nu, const struct mc_buf *ctl)
{
    struct cuda *be = cuda_backend(base);

    LAUNCH_EACH(be, proximal_step, n, mc_floats(p), mc_const_floats(anchor), mc_const_floats(lrs),
                nu, ctl_of(ctl));
}
