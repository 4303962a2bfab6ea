/* SPDX-License-Identifier: Apache-2.0
 *
 * An upper bound on the loss barrier of the straight line between two networks, from the distance
 * of their pre-activations: Tatro et al., "Optimizing Mode Connectivity via Neuron Alignment",
 * NeurIPS 2020, theorem 3.1 and appendix C.1, in the form that a cross-entropy allows.
 *
 * For layers W_1 ... W_L of norms s_i^1, s_i^2 in the two networks, hidden pre-activations f_i^1,
 * f_i^2 and Delta_i the root mean over the images of |f_i^1 - P_i f_i^2|^2, the recursion
 *
 *     d0 = d1 = 0;  for i = 1 ... L-1:  c = (1-t) s_i^1 d0 + t s_i^2 d1
 *                                       d0 = c + t Delta_i,  d1 = c + (1-t) Delta_i
 *
 * bounds how far the pre-activations of the line's point at t are from the first network's (d0) and
 * from the permuted second's (d1). Biases cancel, and a ReLU with any Huber delta is 1-Lipschitz.
 * The logits are then at most (1-t) s_L^1 d0 + t s_L^2 d1 from the same mixture of the ends'
 * logits. Cross-entropy is convex in the logits and sqrt(2)-Lipschitz, so
 *
 *     loss(t) - (1-t) loss(0) - t loss(1) <= sqrt(2) ((1-t) s_L^1 d0 + t s_L^2 d1)
 *
 * on the images that the distances are of, in evaluation mode. The paper's epsilon, how far the
 * ends are from the truth, is not needed: a barrier is measured from the ends' own losses. */
#ifndef MC_BOUND_H
#define MC_BOUND_H

#include "formats/codecs/moments.h"
#include "formats/codecs/weights.h"

struct mc_bound {
    size_t L;           /* layers with weights */
    double (*norm)[2];  /* (L,2): spectral norms of their weights, without biases, at both ends */
    size_t *weight;     /* (L) indices into the graph's params */
    struct mc_taps pre; /* (L-1) where moments --at pre see the hidden layers, in order */
};

/* The networks' part. a, b: of one graph, the kind that mc_spectral_layers takes, with a loss of
 * weight 1 and hidden layers of two units or more (one alone is in no moments). b: overwritten,
 * release it with mc_bound_release, also after an error. Returns 0, MC_EUSAGE with what is not so,
 * MC_EINPUT (a weight is not finite), MC_ENOMEM, MC_EFAIL (LAPACK gave up). */
MC_USE_RESULT int mc_bound_init(struct mc_bound *out, const struct mc_weights *a,
                                const struct mc_weights *b, struct mc_error *err);
void mc_bound_release(struct mc_bound *b);

/* Are these all moments of these networks' pre-activations on the same images, computed in float32?
 * MC_EINPUT with what they are instead. Networks are compared where the moments name theirs. */
MC_USE_RESULT int mc_bound_check(const struct mc_bound *b, const struct mc_moments *m,
                                 const struct mc_weights *first, const struct mc_weights *second,
                                 struct mc_error *err);

/* delta: (L-1) Delta_i, from moments that mc_bound_check passes; with the float64 cancellation of
 * sums of squares, some 1e-8 of the pre-activations' size. perm NULL: the identity; else one of the
 * network's groups (mc_perm_fits). Returns 0, MC_EINPUT (no numbers have these sums; fewer than two
 * images), MC_ENOMEM. */
MC_USE_RESULT int mc_bound_distances(const struct mc_bound *b, const struct mc_moments *m,
                                     const struct mc_perm *perm, double *delta,
                                     struct mc_error *err);

/* The bound on the barrier at t in [0,1], in nats, as losses are; 0 at the ends and in a network of
 * one layer. */
double mc_bound_at(const struct mc_bound *b, const double *delta, double t);

#endif
