/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of floats of 16 bits, on their bits: no flag or mode of the processor has an effect. */
#include "libcommon/base/narrow.h"

#include <string.h>

/* Layout: sign, exponent, fraction. float32 has 8 and 23 bits, bfloat16 8 and 7, float16 5 and
 * 10. */
#define F32_SIGN 0x80000000u
#define F32_INF 0x7f800000u

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
    const uint32_t bits = bits_of(f);

    if ((bits & ~F32_SIGN) <= F32_INF)
        return (uint16_t)round_off(bits, 16);
    return (uint16_t)(bits >> 16 | (bits >> 16 & 0x7f ? 0 : 0x40));
}

void mc_widen(enum mc_dtype dtype, const void *from, float *to, size_t n)
{
    const unsigned char *at = from;

    while (n--) { /* from the end: `from` may be the start of `to` */
        uint16_t h;
        memcpy(&h, at + n * sizeof h, sizeof h);
        to[n] = dtype == MC_F16 ? from_f16(h) : float_of((uint32_t)h << 16);
    }
}

void mc_narrow(enum mc_dtype dtype, const float *from, void *to, size_t n)
{
    unsigned char *at = to;

    for (size_t i = 0; i < n; i++) {
        const uint16_t h = dtype == MC_F16 ? to_f16(from[i]) : to_bf16(from[i]);
        memcpy(at + i * sizeof h, &h, sizeof h);
    }
}
