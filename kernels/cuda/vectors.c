/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points: arithmetic on flat vectors. */
#include "kernels/cuda/cuda.h"

#include <assert.h>

static const struct mc_ctl *ctl_of(const struct mc_buf *b)
{
    return (const struct mc_ctl *)b->data;
}

void cuda_ctl_next(struct mc_backend *be, struct mc_buf *ctl)
{
    cuda_enter(cuda_of(be));
    cuda_next_row(cuda_of(be), (struct mc_ctl *)ctl->data);
}

void cuda_lincomb(struct mc_backend *be, size_t n, struct mc_buf *dst, size_t k,
                  const struct mc_buf *const *src, const struct mc_buf *coefs,
                  const struct mc_buf *ctl)
{
    enum { AT_ONCE = CUDA_TERMS - 1 };

    cuda_enter(cuda_of(be));
    /* more than a handful of terms: the sum so far is a term */
    for (size_t i = AT_ONCE; i < k; i++)
        assert(src[i] != dst);
    for (size_t done = 0; done < k;) {
        struct cuda_terms t = {.k = k, .first = done, .coefs = cuda_const_floats(coefs)};
        if (done) {
            t.whole = 1;
            t.x[t.n++] = cuda_floats(dst);
        }
        for (size_t i = 0; i < AT_ONCE && done < k; i++, done++)
            t.x[t.n++] = cuda_const_floats(src[done]);
        cuda_sum_terms(cuda_of(be), n, cuda_floats(dst), &t, ctl_of(ctl));
    }
}

void cuda_sgd(struct mc_backend *be, size_t n, const struct mc_sgd *s, const struct mc_buf *ctl)
{
    cuda_enter(cuda_of(be));
    cuda_sgd_step(cuda_of(be), n, s, ctl_of(ctl));
}

void cuda_sumsq(struct mc_backend *be, size_t n, const struct mc_buf *x, double scale,
                struct mc_buf *acc, size_t slot)
{
    cuda_enter(cuda_of(be));
    cuda_sum_squares(cuda_of(be), n, cuda_const_floats(x), scale, cuda_of(be)->part,
                     (double *)acc->data + slot);
}

void cuda_gather(struct mc_backend *be, size_t n, struct mc_buf *dst, const struct mc_buf *src,
                 const struct mc_buf *index)
{
    cuda_enter(cuda_of(be));
    cuda_gather_floats(cuda_of(be), n, cuda_floats(dst), cuda_const_floats(src),
                       (const uint32_t *)index->data);
}

void cuda_proximal(struct mc_backend *be, size_t n, struct mc_buf *p, const struct mc_buf *anchor,
                   const struct mc_buf *lrs, double nu, const struct mc_buf *ctl)
{
    cuda_enter(cuda_of(be));
    cuda_proximal_step(cuda_of(be), n, cuda_floats(p), cuda_const_floats(anchor),
                       cuda_const_floats(lrs), nu, ctl_of(ctl));
}
