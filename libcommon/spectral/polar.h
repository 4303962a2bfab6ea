/* SPDX-License-Identifier: Apache-2.0
 *
 * The orthogonal polar factor, by LAPACK's singular value decomposition (dgesdd). */
#ifndef MC_POLAR_H
#define MC_POLAR_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* Singular values of at most this multiple of the largest are those of rounding in float32. */
#define MC_POLAR_FREE 1e-7

/* Set m (K,K) to the orthogonal matrix M for which trace(M^T C) is greatest: U V^T if C = U S V^T.
 * c: C (K,K), row-major, finite. Directions whose singular value is at most MC_POLAR_FREE of the
 * largest are free: C says nothing about them. Among the maps that differ only there, M maximises
 * trace(M^T F). fallback: F (K,K), finite, or NULL for the identity. Where F says nothing either,
 * M is nearest to the identity. *n_free: the number of free directions. *value: trace(M^T C), which
 * is the sum of the singular values. m may be NULL. Memory: 40 K^2 bytes. Returns 0, MC_ENOMEM,
 * MC_EFAIL (LAPACK failed). */
MC_USE_RESULT int mc_polar(size_t K, const double *c, const double *fallback, double *m,
                           double *value, size_t *n_free, struct mc_error *err);

#endif
