/* SPDX-License-Identifier: Apache-2.0
 *
 * Adversarial examples in a ball about a batch's pixels: random starts, steps, the best of
 * restarts. */
#include "kernels/cpu/cpu.h"

#include "libcommon/base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define LAST_BLOCK 0xffffffu

static size_t image_floats(const struct mc_plan *p)
{
    return (size_t)p->nodes[0].n->c * p->nodes[0].hw;
}

static float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static struct mc_rng4 draw(const struct mc_plan *p, const struct mc_ball *b, size_t i,
                           uint32_t restart, uint32_t block)
{
    return mc_rng(p->ctl.seed, b->purpose, p->ctl.epoch, p->ids[i], restart << 24 | block);
}

static void start_linf(const struct mc_plan *p, size_t i, const struct mc_ball *b, uint32_t restart,
                       size_t n, float *x)
{
    for (size_t q = 0; q < n; q += 4) {
        const struct mc_rng4 r = draw(p, b, i, restart, (uint32_t)(q / 4));
        for (size_t j = 0; j < 4 && q + j < n; j++)
            x[q + j] = b->eps * (2 * mc_rng_unit(r.v[j]) - 1);
    }
}

static void start_l2(const struct mc_plan *p, size_t i, const struct mc_ball *b, uint32_t restart,
                     size_t n, float *x)
{
    const double two_pi = 6.283185307179586;
    double norm = 0;

    for (size_t q = 0; q < n; q += 4) {
        const struct mc_rng4 r = draw(p, b, i, restart, (uint32_t)(q / 4));
        for (size_t j = 0; j < 4; j += 2) {
            const double radius = sqrt(-2 * log(1 - (double)mc_rng_unit(r.v[j])));
            const double angle = two_pi * (double)mc_rng_unit(r.v[j + 1]);
            if (q + j < n)
                x[q + j] = (float)(radius * cos(angle));
            if (q + j + 1 < n)
                x[q + j + 1] = (float)(radius * sin(angle));
        }
    }
    for (size_t q = 0; q < n; q++)
        norm += (double)x[q] * (double)x[q];
    const double u = (double)mc_rng_unit(draw(p, b, i, restart, LAST_BLOCK).v[0]);
    const double length = (double)b->eps * pow(u, 1 / (double)n);
    const float scale = norm > 0 ? (float)(length / sqrt(norm)) : 0;
    for (size_t q = 0; q < n; q++)
        x[q] *= scale;
}

void cpu_attack_start(struct mc_plan *p, const struct mc_ball *b, uint32_t restart,
                      const struct mc_buf *clean, struct mc_buf *x)
{
    const size_t n = image_floats(p);

    assert(n / 4 < LAST_BLOCK && restart < 256);
    memcpy(x->data, clean->data, p->batch * n * sizeof(float));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->valid; i++) {
        const float *from = cpu_const_floats(clean) + i * n;
        float *to = cpu_floats(x) + i * n;
        if (b->norm == MC_BALL_LINF)
            start_linf(p, i, b, restart, n, to);
        else
            start_l2(p, i, b, restart, n, to);
        for (size_t q = 0; q < n; q++)
            to[q] = clamp(from[q] + to[q], 0, 1);
    }
}

static void step_linf(const struct mc_ball *b, float step, size_t n, const float *clean,
                      const float *grad, float *x)
{
    for (size_t q = 0; q < n; q++) {
        const float sign = grad[q] > 0 ? 1.0f : grad[q] < 0 ? -1.0f : 0.0f;
        const float y = clamp(x[q] + step * sign, clean[q] - b->eps, clean[q] + b->eps);
        x[q] = clamp(y, 0, 1);
    }
}

static void step_l2(const struct mc_ball *b, float step, size_t n, const float *clean,
                    const float *grad, float *x)
{
    double slope = 0, away = 0;

    for (size_t q = 0; q < n; q++)
        slope += (double)grad[q] * (double)grad[q];
    /* in float64: a gradient can be so small that a float holds no step / |g| */
    const double along = slope > 0 ? (double)step / sqrt(slope) : 0;
    for (size_t q = 0; q < n; q++) {
        x[q] = (float)((double)x[q] + along * (double)grad[q] - (double)clean[q]);
        away += (double)x[q] * (double)x[q];
    }
    away = sqrt(away);
    const float back = away > (double)b->eps ? (float)((double)b->eps / away) : 1;
    for (size_t q = 0; q < n; q++)
        x[q] = clamp(clean[q] + back * x[q], 0, 1);
}

void cpu_attack_step(struct mc_plan *p, const struct mc_ball *b, int descend,
                     const struct mc_buf *clean, const struct mc_buf *grad, struct mc_buf *x)
{
    const size_t n = image_floats(p);
    const float step = descend ? -b->step : b->step;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->valid; i++)
        (b->norm == MC_BALL_LINF ? step_linf : step_l2)(b, step, n, cpu_const_floats(clean) + i * n,
                                                        cpu_const_floats(grad) + i * n,
                                                        cpu_floats(x) + i * n);
}

void cpu_attack_keep(struct mc_plan *p, int descend, const struct mc_buf *x,
                     struct mc_buf *best_loss, struct mc_buf *best)
{
    const size_t n = image_floats(p);

    for (size_t i = 0; i < p->valid; i++) {
        const float loss = p->loss[i];
        float *kept = cpu_floats(best_loss) + i;
        if (isnan(*kept) || (descend ? loss < *kept : loss > *kept)) {
            *kept = loss;
            memcpy(cpu_floats(best) + i * n, cpu_const_floats(x) + i * n, n * sizeof(float));
        }
    }
}
