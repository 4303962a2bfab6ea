/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers in matrices and tensors of the emulated device, as floats. Rounds to nearest, ties to
 * even. */
#ifndef MC_EMULATED_NUMBERS_H
#define MC_EMULATED_NUMBERS_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

/* A float32 whose products use 11 bits. */
struct tf32 {
    float whole;
};

static inline float number(float x)
{
    return x;
}

static inline double number(double x)
{
    return x;
}

static inline float number(__half x)
{
    return __half2float(x);
}

static inline float number(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

static inline float number(tf32 x)
{
    uint32_t bits;
    memcpy(&bits, &x.whole, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u)
        bits = (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(&x.whole, &bits, sizeof bits);
    return x.whole;
}

static inline void put(float x, float *to)
{
    *to = x;
}

static inline void put(double x, double *to)
{
    *to = x;
}

static inline void put(float x, __half *to)
{
    *to = __float2half_rn(x);
}

static inline void put(float x, __nv_bfloat16 *to)
{
    *to = __float2bfloat16_rn(x);
}

#endif
