/* SPDX-License-Identifier: Apache-2.0
 *
 * Adversarial examples in a ball around a batch's pixels: random starts, steps, the best of
 * restarts. */
#include "kernels/ball.h"
#include "kernels/cpu/cpu.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void start_image(const struct mc_plan *p, size_t i, const struct mc_ball *b,
                        uint32_t restart, size_t n, float *x)
{
    double squares = 0;

    for (size_t q = 0; q < n; q += 4) {
        const struct mc_rng4 r = mc_ball_draw(b, &p->ctl, p->ids[i], restart, (uint32_t)(q / 4));
        float four[4];
        if (b->norm == MC_BALL_L2)
            mc_ball_normal(&r, four);
        for (size_t j = 0; j < 4 && q + j < n; j++)
            x[q + j] = b->norm == MC_BALL_L2 ? four[j] : mc_ball_offset(b, r.v[j]);
    }
    if (b->norm == MC_BALL_LINF)
        return;
    for (size_t q = 0; q < n; q++)
        squares += (double)x[q] * (double)x[q];
    const uint32_t bits = mc_ball_draw(b, &p->ctl, p->ids[i], restart, MC_BALL_RADIUS_BLOCK).v[0];
    const float scale = mc_ball_radius(b, n, squares, bits);
    for (size_t q = 0; q < n; q++)
        x[q] *= scale;
}

void cpu_attack_start(struct mc_plan *p, const struct mc_ball *b, uint32_t restart,
                      const struct mc_buf *clean, struct mc_buf *x)
{
    const size_t n = mc_run_image_floats(&p->run);

    assert(n / 4 < MC_BALL_RADIUS_BLOCK && restart < 256);
    memcpy(x->data, clean->data, p->run.batch * n * sizeof(float));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->valid; i++) {
        const float *from = mc_const_floats(clean) + i * n;
        float *to = mc_floats(x) + i * n;
        start_image(p, i, b, restart, n, to);
        for (size_t q = 0; q < n; q++)
            to[q] = mc_clamp(from[q] + to[q], 0, 1);
    }
}

static void step_l2(const struct mc_ball *b, size_t n, const float *clean, const float *grad,
                    float *x)
{
    double slope = 0, away = 0;

    for (size_t q = 0; q < n; q++)
        slope += (double)grad[q] * (double)grad[q];
    const double along = mc_ball_step_scale(b, slope);
    for (size_t q = 0; q < n; q++) {
        x[q] = (float)((double)x[q] + along * (double)grad[q] - (double)clean[q]);
        away += (double)x[q] * (double)x[q];
    }
    const float back = mc_ball_projection(b, away);
    for (size_t q = 0; q < n; q++)
        x[q] = mc_clamp(clean[q] + back * x[q], 0, 1);
}

void cpu_attack_step(struct mc_plan *p, const struct mc_ball *b, const struct mc_buf *clean,
                     const struct mc_buf *grad, struct mc_buf *x)
{
    const size_t n = mc_run_image_floats(&p->run);

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->valid; i++)
        (b->norm == MC_BALL_LINF ? p->be->k->sign_step
                                 : step_l2)(b, n, mc_const_floats(clean) + i * n,
                                            mc_const_floats(grad) + i * n, mc_floats(x) + i * n);
}

void cpu_attack_keep(struct mc_plan *p, int descend, const struct mc_buf *x,
                     struct mc_buf *best_loss, struct mc_buf *best)
{
    const size_t n = mc_run_image_floats(&p->run);

    for (size_t i = 0; i < p->valid; i++) {
        const float loss = p->loss[i];
        float *record = mc_floats(best_loss) + i;
        if (isnan(*record) || (descend ? loss < *record : loss > *record)) {
            *record = loss;
            memcpy(mc_floats(best) + i * n, mc_const_floats(x) + i * n, n * sizeof(float));
        }
    }
}
