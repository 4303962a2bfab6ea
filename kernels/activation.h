/* SPDX-License-Identifier: Apache-2.0
 *
 * The activations of MC_EACH_ACTIVATION and the functions in their formulas, for one number: the
 * same arithmetic on every device. Formulas use no branches and no library functions, so that
 * compilers vectorize them. They keep NaN, and infinities behave as in PyTorch. */
#ifndef MC_ACTIVATION_H
#define MC_ACTIVATION_H

#include "libcommon/base/both.h"
#include "libcommon/graph/graph.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* e^x to two units in the last place; 0 below -87, infinity above 88 (Cephes' expf). */
MC_BOTH_FN float mc_exp(float x)
{
    const float c = mc_clamp(x, -87, 88);
    const float shifted = c * 1.44269504f + 12582912.0f; /* its last bits are the nearest integer */
    const float n = shifted - 12582912.0f;
    const float r = (c - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f, power;
    uint32_t bits;

    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&power, &bits, sizeof power);
    return x < -87 ? 0 : x > 88 ? INFINITY : p * power;
}

MC_BOTH_FN float mc_sigmoid(float x)
{
    return 1 / (1 + mc_exp(-x));
}

/* The normal distribution function, relative error 2e-6: erfc(z) = t exp(P(t) - z^2). P was fitted
 * by tests/parity/make_activation_fits.py. */
MC_BOTH_FN float mc_normal(float x)
{
    const float z = (x < 0 ? -x : x) * 0.70710678f, t = 1 / (1 + 0.5f * z);
    float p = 0.081146937f;

    p = p * t - 0.56736702f;
    p = p * t + 1.5000861f;
    p = p * t - 1.8100988f;
    p = p * t + 0.87149082f;
    p = p * t - 0.24397813f;
    p = p * t + 0.44117222f;
    p = p * t + 0.99272648f;
    p = 0.5f * t * mc_exp(p * t - 1.2651787f - z * z);
    return x < 0 ? p : 1 - p;
}

/* tanh to two units in the last place. Near 0 a polynomial, fitted by the same script, avoids
 * cancellation. */
MC_BOTH_FN float mc_tanh(float x)
{
    const float a = x < 0 ? -x : x, z = a * a, far = 1 - 2 / (1 + mc_exp(2 * a));
    float q = -0.00610494151f;

    q = q * z + 0.0210036355f;
    q = q * z - 0.0538524958f;
    q = q * z + 0.133327822f;
    q = q * z - 0.333333291f;
    return a < 0.625f ? x + x * z * q : x < 0 ? -far : far;
}

/* mc_value_NAME(x, factor) and mc_slope_NAME(x, factor), for each row. */
#define ACTIVATION(NAME, name, key, meaning, text, value, slope)                                   \
    MC_BOTH_FN float mc_value_##name(float x, float factor)                                        \
    {                                                                                              \
        (void)factor;                                                                              \
        return value;                                                                              \
    }                                                                                              \
    MC_BOTH_FN float mc_slope_##name(float x, float factor)                                        \
    {                                                                                              \
        (void)factor;                                                                              \
        return slope;                                                                              \
    }
MC_EACH_ACTIVATION(ACTIVATION)
#undef ACTIVATION

/* The same by operation; NaN for one that is not in the list. */
#define MC_VALUE_OF(NAME, name, ...) op == MC_OP_##NAME ? mc_value_##name(x, factor):
#define MC_SLOPE_OF(NAME, name, ...) op == MC_OP_##NAME ? mc_slope_##name(x, factor):
MC_BOTH_FN float mc_activation(enum mc_op op, float factor, float x)
{
    return MC_EACH_ACTIVATION(MC_VALUE_OF) NAN;
}

MC_BOTH_FN float mc_activation_slope(enum mc_op op, float factor, float x)
{
    return MC_EACH_ACTIVATION(MC_SLOPE_OF) NAN;
}

#endif
