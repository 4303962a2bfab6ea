/* SPDX-License-Identifier: Apache-2.0
 *
 * Number formats in which networks are computed. */
#ifndef MC_PRECISION_H
#define MC_PRECISION_H

/* The format of a network's arithmetic. Parameters, gradients, statistics, losses and metrics are
 * always float32 or float64. So are vectors, attacks, joint moments and permutation matrices. */
enum mc_precision {
    MC_PRECISION_F32,
    MC_PRECISION_TF32, /* convolutions and linear layers multiply with 11 bits */
    MC_PRECISION_BF16, /* activations, their gradients and a copy of the weights have 8 bits */
    MC_PRECISION_F16   /* the same with 11 bits and the range of float16 */
};
extern const char *const mc_precision_names[]; /* "f32", ...; ends with NULL */

#endif
