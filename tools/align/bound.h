/* SPDX-License-Identifier: Apache-2.0
 *
 * An upper bound on the loss barrier of the straight line between two networks, derived from the
 * distance of their pre-activations. Source: Tatro et al., "Optimizing Mode Connectivity via Neuron
 * Alignment", NeurIPS 2020, theorem 3.1 and appendix C.1, adapted to cross-entropy.
 *
 * Notation: layers W_1 ... W_L have norms s_i^1, s_i^2 in the two networks and hidden
 * pre-activations f_i^1, f_i^2. Delta_i is the root mean over the images of |f_i^1 - P_i f_i^2|^2.
 * The recursion
 *
 *     d0 = d1 = 0;  for i = 1 ... L-1:  c = (1-t) s_i^1 d0 + t s_i^2 d1
 *                                       d0 = c + t Delta_i,  d1 = c + (1-t) Delta_i
 *
 * bounds the distance of the pre-activations at the line's point t from the first network's (d0)
 * and from the permuted second's (d1). Biases cancel, and a ReLU with any Huber delta is
 * 1-Lipschitz. The logits then differ from the same mixture of the ends' logits by at most (1-t)
 * s_L^1 d0 + t s_L^2 d1. Cross-entropy is convex in the logits and sqrt(2)-Lipschitz, so
 *
 *     loss(t) - (1-t) loss(0) - t loss(1) <= sqrt(2) ((1-t) s_L^1 d0 + t s_L^2 d1)
 *
 * on the images that the distances were measured on, in evaluation mode. The paper's epsilon (the
 * distance of the ends from the truth) is not needed: a barrier is relative to the ends' own
 * losses. */
#ifndef MC_BOUND_H
#define MC_BOUND_H

#include "formats/codecs/moments.h"
#include "formats/codecs/weights.h"

struct mc_bound {
    size_t L;           /* weight layers */
    double (*norm)[2];  /* (L,2): spectral norms at both ends, without biases */
    size_t *weight;     /* (L) indices into the graph's params */
    struct mc_taps pre; /* (L-1) the hidden layers' taps, as in moments made with --at pre */
};

/* Compute the norms of two networks. a and b share one graph that mc_spectral_layers accepts, with
 * hidden layers of at least 2 units (moments omit layers of one unit). out is overwritten; release
 * it with mc_bound_release, also after an error. Returns 0, MC_EINPUT (the message names the unmet
 * condition, or a weight that is not finite), MC_ENOMEM, MC_EFAIL (LAPACK did not converge). */
MC_USE_RESULT int mc_bound_init(struct mc_bound *out, const struct mc_weights *a,
                                const struct mc_weights *b, struct mc_error *err);
void mc_bound_release(struct mc_bound *b);

/* Check that m contains all moments of these networks' pre-activations on the same images, computed
 * in float32. Networks are compared only if the moments record their ids. Returns 0, or MC_EINPUT
 * with what was expected and what m contains. */
MC_USE_RESULT int mc_bound_check(const struct mc_bound *b, const struct mc_moments *m,
                                 const struct mc_weights *first, const struct mc_weights *second,
                                 struct mc_error *err);

/* Write the L-1 values Delta_i to delta. m must have passed mc_bound_check. Cancellation in float64
 * sums of squares costs about 1e-8 of the pre-activations' size. perm: NULL for the identity, or a
 * permutation of the network's groups (mc_perm_check_groups). Returns 0, MC_EINPUT (inconsistent sums or
 * fewer than two images), MC_ENOMEM. */
MC_USE_RESULT int mc_bound_distances(const struct mc_bound *b, const struct mc_moments *m,
                                     const struct mc_perm *perm, double *delta,
                                     struct mc_error *err);

/* The bound on the barrier at t in [0,1], in nats like the losses. 0 at the ends and for a network
 * of one layer. */
double mc_bound_at(const struct mc_bound *b, const double *delta, double t);

#endif
