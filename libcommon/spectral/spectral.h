/* SPDX-License-Identifier: Apache-2.0
 *
 * Spectral norms of a network's layers, the nearest matrix within a spectral norm, and which
 * networks the bound on them is for: the hard constraint |W|_2 <= K_W of the second theorem of
 * Tatro et al. 2020 (appendix, "Proximal Alternating Minimization"), and the norms of its bounds
 * on aligned curves. Host code in float64; matrices are (rows,cols) row-major float32 with at least
 * one entry, as a linear layer's weight lies.
 *
 * Squared singular values are eigenvalues of the smaller of W W^T and W^T W by LAPACK's dsyevr,
 * products are BLAS's, both of whichever library liblapack.so.3 and libblas.so.3 are at run time.
 * pipelines/setup/install-packages.sh installs the reference implementations, which give the same
 * bits on every run and at any number of threads. An optimised one (OpenBLAS) is ten times as fast
 * and rounds in its own order: norms differ by 1e-15 of themselves, clipped entries by float32's
 * last bit where they differ at all. Memory: 8 (rows cols + 4 n^2) bytes for n = min(rows, cols),
 * and for clipping 8 max(rows, cols) bytes for each value that is clipped. */
#ifndef MC_SPECTRAL_H
#define MC_SPECTRAL_H

#include "libcommon/graph/graph.h"

/* *norm: the greatest singular value of w, to rounding in float64; 0 for a zero matrix. Returns 0,
 * MC_EINPUT (an entry is not finite), MC_ENOMEM, MC_EFAIL (LAPACK gave up). */
MC_USE_RESULT int mc_spectral_norm(size_t rows, size_t cols, const float *w, double *norm,
                                   struct mc_error *err);

/* Every singular value of w above most (1 + 1e-6) becomes `most`, in place: but for values that lie
 * between the two, the projection onto {W: |W|_2 <= most}, nearest to w in the Frobenius norm.
 * Rounding to float32 adds its own 6e-8 or so of `most`. Untouched bit for bit if there is nothing
 * to clip, which is known without a decomposition if the Frobenius norm is small enough.
 * Returns how many were clipped, or MC_EUSAGE (`most` is not positive and finite), MC_EINPUT (an
 * entry is not finite), MC_ENOMEM, MC_EFAIL (LAPACK gave up); after an error w is untouched. */
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
