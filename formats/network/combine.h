/* SPDX-License-Identifier: Apache-2.0
 *
 * Weighted sums of networks, value by value: one record of each network is in memory. */
#ifndef MC_NETWORK_COMBINE_H
#define MC_NETWORK_COMBINE_H

#include "formats/network/values.h"

/* A summand: a network among the tensors of a stream. */
struct mc_term {
    struct mc_values *values;
    size_t first;  /* index of its first tensor */
    double weight; /* at least 0 */
};

enum mc_combine_rule {
    MC_COMBINE_MEAN, /* the sum is divided by that of the weights. Networks of weight 0 do not
                        count, and -0 remains: the mean of equal networks is that network, bit for
                        bit, as rounding errors of the sum are far below those of float32 */
    MC_COMBINE_POINT /* the sum, starting at 0 */
};

/* Round n values once to the type, and check them: MC_EFAIL if one is not finite in it. */
MC_USE_RESULT int mc_round_values(enum mc_dtype type, const double *from, void *to, size_t n,
                                  const struct mc_param *p, struct mc_error *err);

/* Write the sum of n networks of the graph of w's stream as its tensors 0 to n_tensors - 1, of these
 * types: summed in float64, then rounded once to the type. Terms must be in different mc_values.
 * MC_EFAIL if a sum is not finite in its type. */
MC_USE_RESULT int mc_combine(struct mc_writer *w, const struct mc_term *terms, size_t n,
                             const enum mc_dtype *types, size_t n_tensors,
                             enum mc_combine_rule rule, struct mc_error *err);

#endif
