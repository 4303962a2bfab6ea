/* SPDX-License-Identifier: Apache-2.0
 *
 * Random maps: apart from maps.c, because only they need LAPACK. */
#include "libcommon/permutation/maps.h"
#include "libcommon/permutation/permutation.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586

/* Fill m (K,K) with a uniform orthogonal matrix: the orthogonal factor of normal numbers whose
 * triangular factor has a positive diagonal. */
static int random_orthogonal(size_t K, double *m, uint64_t seed, uint32_t group,
                             struct mc_error *err)
{
    const int k = (int)K;
    const int n_work = 32 * (int)K;
    double *tau = NULL; /* (K); signs (K); work */
    int rc = mc_new(&tau, (2 + 32) * K, err), info;

    if (rc)
        return rc;
    for (size_t i = 0; i < K * K; i += 2) { /* Box and Muller */
        const struct mc_rng4 r = mc_rng(seed, MC_RNG_MAP, group, (uint32_t)(i / 2), 0);
        const double length = sqrt(-2 * log(1 - (double)mc_rng_unit(r.v[0])));
        const double angle = TWO_PI * (double)mc_rng_unit(r.v[1]);
        m[i] = length * cos(angle);
        if (i + 1 < K * K)
            m[i + 1] = length * sin(angle);
    }
    info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, k, k, m, k, tau, tau + 2 * K, n_work);
    for (size_t i = 0; i < K; i++)
        tau[K + i] = m[i * K + i] < 0 ? -1 : 1;
    if (!info)
        info = LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, k, k, k, m, k, tau, tau + 2 * K, n_work);
    for (size_t i = 0; i < K * K; i++)
        m[i] *= tau[K + i / K];
    free(tau);
    return info ? mc_fail(err, MC_EFAIL, "LAPACK cannot orthogonalise %zux%zu (status %d)", K, K,
                          info)
                : 0;
}

static double random_sign(uint64_t seed, uint32_t group, size_t i)
{
    return mc_rng(seed, MC_RNG_MAP, group, (uint32_t)i, 0).v[0] & 1 ? -1 : 1;
}

/* Fill m (K,K), which is zero, with a random map of a kind that is not a permutation. perm: a random
 * permutation. */
static int random_map(enum mc_allows kind, size_t K, const int32_t *perm, double *m, uint64_t seed,
                      uint32_t group, struct mc_error *err)
{
    int rc = 0;

    if (kind == MC_ALLOWS_ORTHOGONAL)
        return random_orthogonal(K, m, seed, group, err);
    if (kind == MC_ALLOWS_CENTRED) {
        rc = random_orthogonal(K - 1, m, seed, group, err);
        mc_map_from_complement(K, m);
        return rc;
    }
    if (kind == MC_ALLOWS_ROTATION) {
        for (size_t i = 0, j = K / 2; j < K; i++, j++) {
            const struct mc_rng4 r = mc_rng(seed, MC_RNG_MAP, group, (uint32_t)i, 0);
            const double angle = TWO_PI * (double)mc_rng_unit(r.v[0]);
            m[i * K + i] = m[j * K + j] = cos(angle);
            m[i * K + j] = -(m[j * K + i] = sin(angle));
        }
        return 0;
    }
    if (kind == MC_ALLOWS_HALF_TURN) {
        for (size_t i = 0, j = K / 2; j < K; i++, j++)
            m[i * K + i] = m[j * K + j] = random_sign(seed, group, i);
        return 0;
    }
    for (size_t i = 0; i < K; i++)
        m[i * K + (size_t)perm[i]] = random_sign(seed, group, i);
    return 0;
}

int mc_perm_random_maps(struct mc_perm *p, const struct mc_group *groups, uint64_t seed,
                        struct mc_error *err)
{
    int rc = 0;

    for (size_t g = 0; g < p->n_groups && !rc; g++) {
        const enum mc_allows kind = groups[g].allows;
        const size_t K = groups[g].size;
        double *m = NULL;
        if (!kind)
            continue;
        if (!(rc = mc_new(&m, K * K, err)) &&
            !(rc = random_map(kind, K, p->perm[g], m, seed, (uint32_t)g, err)))
            rc = mc_perm_set_matrix(p, g, kind, m, err);
        free(m);
    }
    return rc;
}
