/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of floats of 16 bits, on their bits: no flag or mode of the processor has an effect. */
#include "libcommon/base/narrow.h"

#include <math.h>
#include <string.h>

/* Layout: sign, exponent, fraction. float32 has 8 and 23 bits, bfloat16 8 and 7, float16 5 and
 * 10. */
#define F32_SIGN 0x80000000u
#define F32_INF 0x7f800000u
#define F64_SIGN 0x8000000000000000u

int mc_is_narrow(enum mc_dtype dtype)
{
    return dtype == MC_F16 || dtype == MC_BF16;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static float from_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31;
    const uint32_t fraction = h & 1023;

    if (exponent == 31)
        return float_of(sign | F32_INF | fraction << 13);
    if (!exponent) /* zero, or fraction * 2^-24 */
        return float_of(sign | bits_of((float)fraction * 0x1p-24f));
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

/* Drop the lowest n bits (1 to 24) of x, rounding to nearest even. A carry moves into the
 * exponent, as it must. */
static uint32_t round_off(uint32_t x, uint32_t n)
{
    const uint32_t half = 1u << (n - 1), rest = x & (2 * half - 1);

    x >>= n;
    return x + (rest > half || (rest == half && (x & 1)));
}

static uint16_t to_f16(float f)
{
    const uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000, x = bits & ~F32_SIGN;

    if (x > F32_INF) { /* NaN: the upper part of its payload, or a quiet one */
        const uint32_t payload = x >> 13 & 1023;
        return (uint16_t)(sign | 0x7c00 | (payload ? payload : 0x200));
    }
    if (x >= 0x47800000) /* 2^16 */
        return (uint16_t)(sign | 0x7c00);
    if (x >= 0x38800000) /* 2^-14, the smallest normal number */
        return (uint16_t)(sign | (round_off(x, 13) - (112 << 10)));
    if (x < 0x33000000) /* 2^-25, half of the smallest number */
        return (uint16_t)sign;
    const uint32_t fraction = (x & 0x7fffff) | 0x800000;
    return (uint16_t)(sign | round_off(fraction, 126 - (x >> 23)));
}

static uint16_t to_bf16(float f)
{
    const uint32_t bits = bits_of(f), x = bits & ~F32_SIGN;
    /* to nearest even; NaN: the upper part of its payload, or a quiet one */
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t nan = bits >> 16 | (uint32_t)((bits >> 16 & 0x7f) == 0) << 6;

    return (uint16_t)(x > F32_INF ? nan : rounded);
}

/* Round to odd: if float32 does not hold d, return the neighbour whose last bit is 1. float32 has
 * at least two more bits than the narrow types, so rounding this again is rounding d once. The
 * result does not depend on the direction of the conversion. */
static float to_odd(double d)
{
    const float f = (float)d;
    const double x = fabs(d), rounded = fabs((double)f);

    return float_of((bits_of(f) - (rounded > x)) | (rounded > x) | (rounded < x));
}

/* ---- arrays ----------------------------------------------------------------------------------- */

void mc_widen(enum mc_dtype dtype, const void *from, float *to, size_t n)
{
    uint16_t h[256];
    float wide[sizeof h / sizeof *h];

    while (n) { /* piece by piece from the end: `from` may be the start of `to` */
        const size_t k = (n - 1) % (sizeof h / sizeof *h) + 1;
        n -= k;
        memcpy(h, (const char *)from + n * sizeof *h, k * sizeof *h);
        if (dtype == MC_F16)
            for (size_t i = 0; i < k; i++)
                wide[i] = from_f16(h[i]);
        else
            for (size_t i = 0; i < k; i++)
                wide[i] = float_of((uint32_t)h[i] << 16);
        memcpy(to + n, wide, k * sizeof *wide);
    }
}

void mc_narrow(enum mc_dtype dtype, const float *from, void *to, size_t n)
{
    uint16_t h[256];

    for (size_t start = 0, k = 0; start < n; start += k) {
        k = n - start < sizeof h / sizeof *h ? n - start : sizeof h / sizeof *h;
        if (dtype == MC_F16)
            for (size_t i = 0; i < k; i++)
                h[i] = to_f16(from[start + i]);
        else
            for (size_t i = 0; i < k; i++)
                h[i] = to_bf16(from[start + i]);
        memcpy((char *)to + start * sizeof *h, h, k * sizeof *h);
    }
}

/* Round n float64 to a type with this number of fraction bits and exponent bias, on their bits.
 * Returns 0 if one is outside the type's normal range, where the result is wrong. */
static inline int round_normal(const double *from, uint16_t *to, size_t n, uint32_t fraction,
                               uint64_t bias)
{
    const uint32_t drop = 52 - fraction;
    const uint64_t rebias = (1023 - bias) << 52, half = (uint64_t)1 << (drop - 1);
    uint64_t outside = 0; /* the sign bit counts */

#pragma omp simd reduction(| : outside)
    for (size_t i = 0; i < n; i++) {
        uint64_t bits, x;
        memcpy(&bits, &from[i], sizeof bits);
        x = (bits & ~F64_SIGN) - rebias;
        outside |= (x - ((uint64_t)1 << 52)) | (((2 * bias + 1) << 52) - 1 - x);
        to[i] = (uint16_t)((bits >> 48 & 0x8000) | (x + half - 1 + (x >> drop & 1)) >> drop);
    }
    return !(outside & F64_SIGN);
}

void mc_narrow_doubles(enum mc_dtype dtype, const double *from, uint16_t *to, size_t n)
{
    for (size_t start = 0, k = 0; start < n; start += k) {
        k = n - start < 32 ? n - start : 32; /* short: a zero makes its piece slow */
        if (dtype == MC_F16 ? round_normal(from + start, to + start, k, 10, 15)
                            : round_normal(from + start, to + start, k, 7, 127))
            continue;
        for (size_t i = start; i < start + k; i++)
            to[i] = dtype == MC_F16 ? to_f16(to_odd(from[i])) : to_bf16(to_odd(from[i]));
    }
}

/* 1 if all n values have a bit of the mask that is 0: their exponent is not that of infinity. */
#define ALL_FINITE(type, mask)                                                                     \
    do {                                                                                           \
        type v, bad = 0;                                                                           \
        for (size_t i = 0; i < n; i++) {                                                           \
            memcpy(&v, (const char *)x + i * sizeof v, sizeof v);                                  \
            bad |= (type)((v & (mask)) == (mask));                                                 \
        }                                                                                          \
        return !bad;                                                                               \
    } while (0)

int mc_all_finite(enum mc_dtype dtype, const void *x, size_t n)
{
    if (dtype == MC_F32)
        ALL_FINITE(uint32_t, F32_INF);
    if (dtype == MC_F64)
        ALL_FINITE(uint64_t, 0x7ff0000000000000u);
    if (dtype == MC_F16)
        ALL_FINITE(uint16_t, 0x7c00);
    ALL_FINITE(uint16_t, 0x7f80);
}

int mc_any_below_zero(enum mc_dtype dtype, const void *x, size_t n)
{
    int below = 0;

    for (size_t i = 0; i < n; i++) { /* the sign, and not -0 */
        uint32_t wide = 0;
        uint16_t narrow = 0;
        if (dtype == MC_F32)
            memcpy(&wide, (const char *)x + i * sizeof wide, sizeof wide);
        else
            memcpy(&narrow, (const char *)x + i * sizeof narrow, sizeof narrow);
        below |= wide > F32_SIGN || narrow > 0x8000;
    }
    return below;
}
