/* SPDX-License-Identifier: Apache-2.0
 *
 * Adversarial examples in a ball (struct mc_ball): arithmetic for one pixel and one image, the same
 * on every device. backend.h defines the result. */
#ifndef MC_BALL_H
#define MC_BALL_H

#include "kernels/backend.h"
#include "libcommon/base/rng.h"

#include <math.h>

#define MC_BALL_RADIUS_BLOCK 0xffffffu /* block of the random number for the radius */

/* Four random numbers of a start. id is the image's key; restart < 256, block < 2^24. */
MC_BOTH_FN struct mc_rng4 mc_ball_draw(const struct mc_ball *b, const struct mc_ctl *ctl,
                                       uint32_t id, uint32_t restart, uint32_t block)
{
    return mc_rng(ctl->seed, b->purpose, ctl->epoch, id, restart << 24 | block);
}

/* l-inf: a pixel's offset from the clean image at the start. */
MC_BOTH_FN float mc_ball_offset(const struct mc_ball *b, uint32_t bits)
{
    return b->eps * (2 * mc_rng_unit(bits) - 1);
}

/* l2: the normal numbers of a block's four pixels. */
MC_BOTH_FN void mc_ball_normal(const struct mc_rng4 *r, float x[4])
{
    const double two_pi = 6.283185307179586;

    for (int j = 0; j < 4; j += 2) {
        const double radius = sqrt(-2 * log(1 - (double)mc_rng_unit(r->v[j])));
        const double angle = two_pi * (double)mc_rng_unit(r->v[j + 1]);
        x[j] = (float)(radius * cos(angle));
        x[j + 1] = (float)(radius * sin(angle));
    }
}

/* l2: the factor for n normal numbers whose squares sum to `squares`. */
MC_BOTH_FN float mc_ball_radius(const struct mc_ball *b, size_t n, double squares, uint32_t bits)
{
    const double length = (double)b->eps * pow((double)mc_rng_unit(bits), 1 / (double)n);
    return squares > 0 ? (float)(length / sqrt(squares)) : 0;
}

/* l-inf: a pixel after a step. */
MC_BOTH_FN float mc_ball_sign_step(const struct mc_ball *b, float clean, float grad, float x)
{
    const float sign = grad > 0 ? 1.0f : grad < 0 ? -1.0f : 0.0f;
    return mc_clamp(mc_clamp(x + b->step * sign, clean - b->eps, clean + b->eps), 0, 1);
}

/* l2: the factor for a gradient whose squares sum to `slope`. In float64: step / |g| can exceed
 * float32's range. */
MC_BOTH_FN double mc_ball_step_scale(const struct mc_ball *b, double slope)
{
    return slope > 0 ? (double)b->step / sqrt(slope) : 0;
}

/* l2: the factor that moves an offset whose squares sum to `away` back into the ball. */
MC_BOTH_FN float mc_ball_projection(const struct mc_ball *b, double away)
{
    const double length = sqrt(away);
    return length > (double)b->eps ? (float)((double)b->eps / length) : 1;
}

#endif
