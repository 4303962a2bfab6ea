/* SPDX-License-Identifier: Apache-2.0
 *
 * Adversarial examples in a ball about a batch's pixels: random starts, steps, the best of
 * restarts. Masked images stay as they are. */
#include "kernels/cuda/device.cuh"

#define LAST_BLOCK 0xffffffu

static __device__ float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static __device__ struct mc_rng4 draw(const struct cuda_rows *r, uint32_t purpose, size_t i,
                                      uint32_t restart, uint32_t block)
{
    return mc_rng(r->batch->ctl.seed, purpose, r->batch->ctl.epoch, r->ids[i],
                  restart << 24 | block);
}

static __global__ void start_linf(size_t n, size_t image, struct cuda_rows r, float eps,
                                  uint32_t purpose, uint32_t restart, const float *clean, float *x)
{
    for
        EACH(at, n)
        {
            const size_t i = at / image, q = at % image;
            float away = 0;
            if (i >= r.batch->valid) {
                x[at] = clean[at];
                continue;
            }
            away = eps *
                   (2 * mc_rng_unit(draw(&r, purpose, i, restart, (uint32_t)(q / 4)).v[q % 4]) - 1);
            x[at] = clamp(clean[at] + away, 0, 1);
        }
}

/* A block an image. */
static __global__ void start_l2(size_t image, struct cuda_rows r, float eps, uint32_t purpose,
                                uint32_t restart, const float *clean, float *x)
{
    const double two_pi = 6.283185307179586;
    const size_t i = blockIdx.x;
    double norm = 0;

    clean += i * image;
    x += i * image;
    if (i >= r.batch->valid) {
        for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS)
            x[q] = clean[q];
        return;
    }
    for (size_t q = 4 * threadIdx.x; q < image; q += 4 * CUDA_THREADS) {
        const struct mc_rng4 u = draw(&r, purpose, i, restart, (uint32_t)(q / 4));
        for (size_t j = 0; j < 4; j += 2) {
            const double radius = sqrt(-2 * log(1 - (double)mc_rng_unit(u.v[j])));
            const double angle = two_pi * (double)mc_rng_unit(u.v[j + 1]);
            const float a = (float)(radius * cos(angle)), b = (float)(radius * sin(angle));
            if (q + j < image) {
                x[q + j] = a;
                norm += (double)a * (double)a;
            }
            if (q + j + 1 < image) {
                x[q + j + 1] = b;
                norm += (double)b * (double)b;
            }
        }
    }
    norm = block_sum(norm);
    const double u = (double)mc_rng_unit(draw(&r, purpose, i, restart, LAST_BLOCK).v[0]);
    const double length = (double)eps * pow(u, 1 / (double)image);
    const float scale = norm > 0 ? (float)(length / sqrt(norm)) : 0;
    for (size_t q = 4 * threadIdx.x; q < image; q += 4 * CUDA_THREADS)
        for (size_t j = q; j < q + 4 && j < image; j++) /* a thread's own */
            x[j] = clamp(clean[j] + x[j] * scale, 0, 1);
}

void cuda_ball_start(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                     const struct mc_ball *b, uint32_t restart, const float *clean, float *x)
{
    if (b->norm == MC_BALL_LINF)
        LAUNCH_EACH(be, start_linf, n * image, image, *r, b->eps, b->purpose, restart, clean, x);
    else
        LAUNCH_BLOCKS(be, start_l2, n, image, *r, b->eps, b->purpose, restart, clean, x);
}

static __global__ void step_linf(size_t n, size_t image, struct cuda_rows r, float eps, float step,
                                 const float *clean, const float *grad, float *x)
{
    for
        EACH(at, n)
        {
            if (at / image >= r.batch->valid)
                continue;
            const float sign = grad[at] > 0 ? 1.0f : grad[at] < 0 ? -1.0f : 0.0f;
            const float y = clamp(x[at] + step * sign, clean[at] - eps, clean[at] + eps);
            x[at] = clamp(y, 0, 1);
        }
}

/* A block an image. */
static __global__ void step_l2(size_t image, struct cuda_rows r, float eps, float step,
                               const float *clean, const float *grad, float *x)
{
    const size_t i = blockIdx.x;
    double slope = 0, away = 0;

    if (i >= r.batch->valid)
        return;
    clean += i * image;
    grad += i * image;
    x += i * image;
    for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS)
        slope += (double)grad[q] * (double)grad[q];
    slope = block_sum(slope);
    /* in float64: a gradient can be so small that a float holds no step / |g| */
    const double along = slope > 0 ? (double)step / sqrt(slope) : 0;
    for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS) {
        x[q] = (float)((double)x[q] + along * (double)grad[q] - (double)clean[q]);
        away += (double)x[q] * (double)x[q];
    }
    away = sqrt(block_sum(away));
    const float back = away > (double)eps ? (float)((double)eps / away) : 1;
    for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS)
        x[q] = clamp(clean[q] + back * x[q], 0, 1);
}

void cuda_ball_step(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                    const struct mc_ball *b, float step, const float *clean, const float *grad,
                    float *x)
{
    if (b->norm == MC_BALL_LINF)
        LAUNCH_EACH(be, step_linf, n * image, image, *r, b->eps, step, clean, grad, x);
    else
        LAUNCH_BLOCKS(be, step_l2, n, image, *r, b->eps, step, clean, grad, x);
}

/* A block an image. */
static __global__ void keep(size_t image, struct cuda_rows r, int descend, const float *x,
                            float *best_loss, float *best)
{
    const size_t i = blockIdx.x;

    if (i >= r.batch->valid)
        return;
    const float loss = r.loss[i], kept = best_loss[i];
    const int better = kept != kept || (descend ? loss < kept : loss > kept);
    __syncthreads(); /* all have read it */
    if (threadIdx.x == 0 && better)
        best_loss[i] = loss;
    for (size_t q = threadIdx.x; better && q < image; q += CUDA_THREADS)
        best[i * image + q] = x[i * image + q];
}

void cuda_ball_keep(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r, int descend,
                    const float *x, float *best_loss, float *best)
{
    LAUNCH_BLOCKS(be, keep, n, image, *r, descend, x, best_loss, best);
}
