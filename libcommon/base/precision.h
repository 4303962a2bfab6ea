/* SPDX-License-Identifier: Apache-2.0
 *
 * What networks are computed in. */
#ifndef MC_PRECISION_H
#define MC_PRECISION_H

/* What a network is computed in. Parameters, their gradients, statistics, losses, metrics and all
 * vectors are float32 or float64 in each; so are attacks, joint moments and permutations'
 * matrices. */
enum mc_precision {
    MC_PRECISION_F32,
    MC_PRECISION_TF32, /* convolutions and linear layers multiply 11 bits */
    MC_PRECISION_BF16, /* activations, their gradients and a copy of the weights: 8 bits */
    MC_PRECISION_F16   /* 11 bits, and the range of float16 */
};
extern const char *const mc_precision_names[]; /* "f32", ...; ends with NULL */

#endif
