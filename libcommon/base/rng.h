/* SPDX-License-Identifier: Apache-2.0
 *
 * Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011). A number depends only on
 * (seed, purpose, a, b, c), never on threads, batch position or device. Header only: all backends
 * compile the same lines. */
#ifndef MC_RNG_H
#define MC_RNG_H

#include "libcommon/base/both.h"

#include <stdint.h>

/* The purpose of the numbers. Never renumber: results depend on the values. */
enum mc_rng_purpose {
    MC_RNG_INIT = 1,      /* initial weights: a = parameter tensor, b = element / 4 */
    MC_RNG_SHUFFLE = 2,   /* order of the samples: a = epoch */
    MC_RNG_AUGMENT = 3,   /* augmentation: a = epoch, b = sample */
    MC_RNG_CURVE_T = 4,   /* t of a batch: a = epoch, b = step */
    MC_RNG_DROPOUT = 5,   /* a = epoch, b = sample, c = node and element */
    MC_RNG_PERMUTE = 6,   /* random permutations: a = group */
    MC_RNG_SYNTH = 7,     /* synthetic images */
    MC_RNG_DATA = 8,      /* shuffling of stored data */
    MC_RNG_BN = 9,        /* augmentation while batch norm is re-estimated */
    MC_RNG_ATTACK = 10,   /* starts of attacks in training: a = epoch, b = sample, c = restart and
                             block */
    MC_RNG_BIRKHOFF = 11, /* draws of permutations: a = outer iteration, b = draw, c = group */
    MC_RNG_ATTACK_MEASURE = 13, /* starts of attacks that measure accuracy */
    MC_RNG_ATTACK_BN = 14,      /* starts of attacks while batch norm is re-estimated */
    MC_RNG_BOOTSTRAP = 15,      /* draws of images: a = resample, b = draw / 4 */
    MC_RNG_MATCH = 16,          /* order of the groups in weight matching: a = sweep */
    MC_RNG_JOINT = 17,          /* random starts of joint assignment: a = group, b = start and
                                   network */
    MC_RNG_MAP = 18,            /* random maps: a = group, b = pair of entries */
};

struct mc_rng4 {
    uint32_t v[4];
};

MC_BOTH_FN struct mc_rng4 mc_rng(uint64_t seed, uint32_t purpose, uint32_t a, uint32_t b,
                                 uint32_t c)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t x0 = c, x1 = b, x2 = a, x3 = purpose;

    for (int i = 0; i < 10; i++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * x0, p1 = (uint64_t)0xCD9E8D57u * x2;
        uint32_t y0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0, y2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x1 = (uint32_t)p1;
        x3 = (uint32_t)p0;
        x0 = y0;
        x2 = y2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct mc_rng4 r = {{x0, x1, x2, x3}};
    return r;
}

/* Uniform in [0, 1) with 24 bits; exact in float32. */
MC_BOTH_FN float mc_rng_unit(uint32_t x)
{
    return (float)(x >> 8) * 0x1p-24f;
}

/* Uniform integer in [0, n), n > 0, by multiplication (bias under n / 2^32). */
MC_BOTH_FN uint32_t mc_rng_below(uint32_t x, uint32_t n)
{
    return (uint32_t)(((uint64_t)x * n) >> 32);
}

#endif
