/* SPDX-License-Identifier: Apache-2.0
 *
 * Spectral norms of a network's layers, and projection onto a spectral norm bound. The second
 * theorem of Tatro et al. 2020 (appendix, "Proximal Alternating Minimization") has the constraint
 * |W|_2 <= K_W and these norms in its bounds on aligned curves. Host code in float64. Matrices are
 * (rows,cols) row-major float32 with at least one entry, like a linear layer's weight.
 *
 * Squared singular values are eigenvalues of the smaller of W W^T and W^T W, computed by LAPACK's
 * dsyevr. Products are BLAS's. The libraries are the liblapack.so.3 and libblas.so.3 found at run
 * time. pipelines/setup/install-packages.sh installs the reference implementations, which return
 * the same bits on every run and with any number of threads. An optimised one (OpenBLAS) is ten
 * times as fast but rounds in another order: norms differ by a relative 1e-15, and a few clipped
 * entries by float32's last bit. Memory: 8 (rows cols + 4 n^2) bytes for n = min(rows, cols);
 * clipping needs another 8 max(rows, cols) bytes per clipped value. */
#ifndef MC_SPECTRAL_H
#define MC_SPECTRAL_H

#include "libcommon/graph/graph.h"

/* *norm: the largest singular value of w, to rounding in float64; 0 for a zero matrix. Returns 0,
 * MC_EINPUT (an entry is not finite), MC_ENOMEM, MC_EFAIL (LAPACK failed). */
MC_USE_RESULT int mc_spectral_norm(size_t rows, size_t cols, const float *w, double *norm,
                                   struct mc_error *err);

/* Set every singular value of w above most (1 + 1e-6) to `most`, in place. Except for values
 * between the two, this is the projection onto {W: |W|_2 <= most}, nearest to w in the Frobenius
 * norm. Rounding to float32 adds about 6e-8 of `most`. If there is nothing to clip, w is unchanged
 * bit for bit; a small Frobenius norm shows this without a decomposition. Returns the number of
 * clipped values, or MC_EUSAGE (`most` is not positive and finite), MC_EINPUT (an entry is not
 * finite), MC_ENOMEM, MC_EFAIL (LAPACK failed). After an error w is unchanged. */
MC_USE_RESULT int mc_spectral_clip(size_t rows, size_t cols, float *w, double most,
                                   struct mc_error *err);

/* The layers W_1 ... W_L of a plain feed-forward network. It must be a chain of linear layers with
 * at most one ReLU (any delta) between two of them and none at either end, flatten anywhere, and
 * one loss head of weight 1, whose cross-entropy then has the Lipschitz constant sqrt(2). Nothing
 * else: no batch norm, dropout, convolutions or skips. normalise scales the images and is not a
 * layer: the theorem's X_0, which must only be bounded, are the normalised pixels. */
struct mc_spectral_layers {
    size_t L;
    size_t M;       /* units of the widest hidden layer; 0 if there is none */
    size_t *weight; /* (L) the layers' weights, indices into g->params, in order */
};

/* l is overwritten; release it with mc_spectral_layers_release, also after an error. Returns 0,
 * MC_EUSAGE with the first unsupported node, MC_ENOMEM. */
MC_USE_RESULT int mc_spectral_layers(const struct mc_graph *g, struct mc_spectral_layers *l,
                                     struct mc_error *err);
void mc_spectral_layers_release(struct mc_spectral_layers *l);

#endif
