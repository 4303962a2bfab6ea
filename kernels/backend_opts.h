/* SPDX-License-Identifier: Apache-2.0
 *
 * How a backend is to compute: what the programs' common options say and mc_backend_open takes. */
#ifndef MC_BACKEND_OPTS_H
#define MC_BACKEND_OPTS_H

/* What a network is computed in. Parameters, their gradients, statistics, losses, metrics and all
 * vectors are float32 or float64 in each; so are attacks, joint moments and permutations' matrices.
 */
enum mc_precision {
    MC_PRECISION_F32,
    MC_PRECISION_TF32, /* convolutions and linear layers multiply 11 bits */
    MC_PRECISION_BF16, /* activations, their gradients and a copy of the weights: 8 bits */
    MC_PRECISION_F16   /* 11 bits, and the range of float16 */
};
extern const char *const mc_precision_names[]; /* "f32", ...; ends with NULL */

/* All zero is the default. */
struct mc_backend_opts {
    const char *device;          /* "auto" (as NULL), "cpu", "cuda", "cuda:1" */
    int threads;                 /* 0: all cores */
    enum mc_precision precision; /* the CPU has MC_PRECISION_F32 only */
    int any_order; /* sums may be taken in any order where that is faster: a rerun then gives other
                      bytes. The CPU's order is always the same */
};

#endif
