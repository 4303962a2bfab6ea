/* SPDX-License-Identifier: Apache-2.0
 *
 * Adversarial examples in a ball around a batch's pixels: random starts, steps, the best of
 * restarts. Masked images are unchanged. */
#include "kernels/cuda/device.cuh"

extern "C" {
#include "kernels/ball.h"
}

static __global__ void start_linf(size_t n, size_t image, struct cuda_rows r, struct mc_ball b,
                                  uint32_t restart, const float *clean, float *x)
{
    EACH (element, n) {
        const size_t i = element / image, q = element % image;
        if (i >= r.batch->valid) {
            x[element] = clean[element];
            continue;
        }
        const struct mc_rng4 u =
            mc_ball_draw(&b, &r.batch->ctl, r.ids[i], restart, (uint32_t)(q / 4));
        x[element] = mc_clamp(clean[element] + mc_ball_offset(&b, u.v[q % 4]), 0, 1);
    }
}

/* One block per image. */
static __global__ void start_l2(size_t image, struct cuda_rows r, struct mc_ball b,
                                uint32_t restart, const float *clean, float *x)
{
    const size_t i = blockIdx.x;
    double squares = 0;

    clean += i * image;
    x += i * image;
    if (i >= r.batch->valid) {
        for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS)
            x[q] = clean[q];
        return;
    }
    for (size_t q = 4 * threadIdx.x; q < image; q += 4 * CUDA_THREADS) {
        const struct mc_rng4 u =
            mc_ball_draw(&b, &r.batch->ctl, r.ids[i], restart, (uint32_t)(q / 4));
        float four[4];
        mc_ball_normal(&u, four);
        for (size_t j = 0; j < 4 && q + j < image; j++) {
            x[q + j] = four[j];
            squares += (double)four[j] * (double)four[j];
        }
    }
    squares = block_sum(squares);
    const uint32_t bits =
        mc_ball_draw(&b, &r.batch->ctl, r.ids[i], restart, MC_BALL_RADIUS_BLOCK).v[0];
    const float scale = mc_ball_radius(&b, image, squares, bits);
    for (size_t q = 4 * threadIdx.x; q < image; q += 4 * CUDA_THREADS)
        for (size_t j = q; j < q + 4 && j < image; j++) /* pixels of this thread */
            x[j] = mc_clamp(clean[j] + x[j] * scale, 0, 1);
}

void cuda_ball_start(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                     const struct mc_ball *b, uint32_t restart, const float *clean, float *x)
{
    if (b->norm == MC_BALL_LINF)
        LAUNCH_EACH(be, start_linf, n * image, image, *r, *b, restart, clean, x);
    else
        LAUNCH_BLOCKS(be, start_l2, n, image, *r, *b, restart, clean, x);
}

static __global__ void step_linf(size_t n, size_t image, struct cuda_rows r, struct mc_ball b,
                                 const float *clean, const float *grad, float *x)
{
    EACH (element, n) {
        if (element / image < r.batch->valid)
            x[element] = mc_ball_sign_step(&b, clean[element], grad[element], x[element]);
    }
}

/* One block per image. */
static __global__ void step_l2(size_t image, struct cuda_rows r, struct mc_ball b,
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
    const double along = mc_ball_step_scale(&b, slope);
    for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS) {
        x[q] = (float)((double)x[q] + along * (double)grad[q] - (double)clean[q]);
        away += (double)x[q] * (double)x[q];
    }
    const float back = mc_ball_projection(&b, block_sum(away));
    for (size_t q = threadIdx.x; q < image; q += CUDA_THREADS)
        x[q] = mc_clamp(clean[q] + back * x[q], 0, 1);
}

void cuda_ball_step(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                    const struct mc_ball *b, const float *clean, const float *grad, float *x)
{
    if (b->norm == MC_BALL_LINF)
        LAUNCH_EACH(be, step_linf, n * image, image, *r, *b, clean, grad, x);
    else
        LAUNCH_BLOCKS(be, step_l2, n, image, *r, *b, clean, grad, x);
}

/* One block per image. */
static __global__ void keep(size_t image, struct cuda_rows r, int descend, const float *x,
                            float *best_loss, float *best)
{
    const size_t i = blockIdx.x;

    if (i >= r.batch->valid)
        return;
    const float loss = r.loss[i], record = best_loss[i];
    const int better = record != record || (descend ? loss < record : loss > record);
    __syncthreads(); /* all threads have read it */
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
