/* SPDX-License-Identifier: Apache-2.0
 *
 * Spectral norms of a network's layers, the nearest matrix within a spectral norm, and which
 * networks the bound on them is for: the hard constraint |W|_2 <= K_W of the second theorem of
 * Tatro et al. 2020 (appendix, "Proximal Alternating Minimization"), and the norms of its bounds
 * on aligned curves. Host code in float64; matrices are (rows,cols) row-major float32 with at least
 * one entry, as a linear layer's weight lies.
 *
 * Singular values are those of W^T W, which is not formed, on Krylov spaces of 48 vectors that
 * restart with their 24 best (thick-restart Lanczos; Wu and Simon 2000). The start is one fixed
 * pseudo-random direction for all W of a width. As it owes nothing to W, unlike the ones or a unit
 * vector, it is orthogonal to W's first singular vector by accident only: for the value to be
 * missed its share of the start would have to be a millionth of the others'. Deterministic: the
 * same bits on every run, in one thread. Memory: 600 bytes a column, and for clipping 8 bytes a
 * column for each value that is clipped. */
#ifndef MC_SPECTRAL_H
#define MC_SPECTRAL_H

#include "libcommon/graph/graph.h"

/* *norm: the greatest singular value of w, within 1e-7 of itself; where the values lie so close
 * that the search ends before that, a lower bound. 0 for a zero matrix. Takes some 50 to 300
 * products by W^T W. Returns 0, MC_EINPUT (an entry is not finite), MC_ENOMEM. */
MC_USE_RESULT int mc_spectral_norm(size_t rows, size_t cols, const float *w, double *norm,
                                   struct mc_error *err);

/* Every singular value of w above most (1 + 1e-6) becomes `most`, in place: but for values that lie
 * between the two, the projection onto {W: |W|_2 <= most}, nearest to w in the Frobenius norm.
 * Rounding to float32 adds its own 6e-8 or so of `most`. Untouched bit for bit if there is nothing
 * to clip, which is known without a search if the Frobenius norm is small enough. Cost: some ten
 * products by W^T W for each value that is clipped, beside those of two norms.
 * Returns how many were clipped, or MC_EUSAGE (`most` is not positive and finite), MC_EINPUT (an
 * entry is not finite), MC_ENOMEM; after an error w is untouched. */
MC_USE_RESULT int mc_spectral_clip(size_t rows, size_t cols, float *w, double most,
                                   struct mc_error *err);

/* The layers W_1 ... W_L of a plain feed-forward network: one chain of linear layers with at most
 * one ReLU (any delta) between two of them and none at either end, flatten anywhere, one loss head.
 * Nothing else: batch norm, dropout, convolutions, skips. normalise scales the images and is not a
 * layer: the theorem's X_0, which only has to be bounded, are the normalised pixels. */
struct mc_spectral_layers {
    size_t L;
    size_t M;       /* units of the widest hidden layer; 0 if there is none */
    size_t *weight; /* (L) the layers' weights, indices into g->params, in order */
};

/* l: overwritten, release it with mc_spectral_layers_release, also after an error. Returns 0,
 * MC_EUSAGE with the first node that does not belong, MC_ENOMEM. */
MC_USE_RESULT int mc_spectral_layers(const struct mc_graph *g, struct mc_spectral_layers *l,
                                     struct mc_error *err);
void mc_spectral_layers_release(struct mc_spectral_layers *l);

#endif
