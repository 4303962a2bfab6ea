/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/permutation/maps.h"

#include "libcommon/base/alloc.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 256 /* slices of one product */

/* ---- kinds ----------------------------------------------------------------------------------- */

int mc_map_is_kind_of(enum mc_allows kind, enum mc_allows allowed)
{
    return kind == allowed || allowed == MC_ALLOWS_ORTHOGONAL ||
           (kind == MC_ALLOWS_PERMUTATION && !mc_allows_of_pairs(allowed)) ||
           (kind == MC_ALLOWS_HALF_TURN && allowed == MC_ALLOWS_ROTATION);
}

static int is_signed(size_t K, const float *m, unsigned char *met)
{
    for (size_t i = 0; i < K; i++) {
        size_t n = 0;
        for (size_t j = 0; j < K; j++)
            if (m[i * K + j] != 0) {
                if (fabsf(m[i * K + j]) != 1 || n++ || met[j]++)
                    return 0;
            }
        if (!n)
            return 0;
    }
    return 1;
}

/* mm: M M^T, upper triangle. */
static int is_orthogonal(size_t K, const float *mm)
{
    for (size_t i = 0; i < K; i++)
        for (size_t j = i; j < K; j++)
            if (!(fabsf(mm[i * K + j] - (i == j)) <= MC_MAP_TOLERANCE))
                return 0;
    return 1;
}

static int keeps_ones(size_t K, const float *m)
{
    for (size_t i = 0; i < K; i++) {
        double sum = 0;
        for (size_t j = 0; j < K; j++)
            sum += (double)m[i * K + j];
        if (!(fabs(sum - 1) <= MC_MAP_TOLERANCE))
            return 0;
    }
    return 1;
}

/* m must be orthogonal: the test of the determinant relies on it. */
static int rotates_pairs(size_t K, const float *m)
{
    const size_t half = K / 2;

    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            if (i % half != j % half && m[i * K + j] != 0)
                return 0;
    for (size_t i = 0, j = half; i < half; i++, j++)
        if (!(m[i * K + i] * m[j * K + j] > m[i * K + j] * m[j * K + i]))
            return 0;
    return 1;
}

static int has_sign_per_pair(size_t K, const float *m)
{
    const size_t half = K / 2;

    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            if (i == j ? fabsf(m[i * K + i]) != 1 || m[i * K + i] != m[i % half * (K + 1)]
                       : m[i * K + j] != 0)
                return 0;
    return 1;
}

int mc_map_check(const struct mc_group *g, const float *m, struct mc_error *err)
{
    const size_t K = g->size;
    const int k = (int)K;
    float *mm = NULL;
    int rc = mc_new(&mm, K * K, err), valid;

    if (rc)
        return rc;
    if (g->allows == MC_ALLOWS_SIGNED) {
        valid = is_signed(K, m, (unsigned char *)mm);
    } else {
        cblas_ssyrk(CblasRowMajor, CblasUpper, CblasNoTrans, k, k, 1, m, k, 0, mm, k);
        valid = is_orthogonal(K, mm);
    }
    if (g->allows == MC_ALLOWS_ROTATION)
        valid &= rotates_pairs(K, m);
    if (g->allows == MC_ALLOWS_HALF_TURN)
        valid &= has_sign_per_pair(K, m);
    if (g->allows == MC_ALLOWS_CENTRED)
        valid &= keeps_ones(K, m);
    free(mm);
    return valid ? 0
                 : mc_fail(err, MC_EINPUT, "group \"%s\": the matrix is not %s%s", g->name,
                           mc_allows_names[g->allows],
                           g->allows == MC_ALLOWS_CENTRED ? " (orthogonal, fixing the ones)" : "");
}

void mc_map_transpose(size_t K, float *m)
{
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < i; j++) {
            const float t = m[i * K + j];
            m[i * K + j] = m[j * K + i];
            m[j * K + i] = t;
        }
}

void mc_map_reflect(size_t K, double *m)
{
    const double one = 1 / sqrt((double)K), rest = 1 / (1 - one); /* H = 1 - rest v v^T */

    for (size_t side = 0; side < 2 && K > 1; side++) {
        const size_t along = side ? 1 : K, across = side ? K : 1;
        for (size_t i = 0; i < K; i++) {
            double sum = -m[i * across]; /* v is one everywhere, but one - 1 at 0 */
            for (size_t j = 0; j < K; j++)
                sum += one * m[i * across + j * along];
            for (size_t j = 0; j < K; j++)
                m[i * across + j * along] -= rest * sum * (j ? one : one - 1);
        }
    }
}

void mc_map_from_complement(size_t K, double *m)
{
    for (size_t i = K; i-- > 1;)
        memmove(m + i * K + 1, m + (i - 1) * (K - 1), (K - 1) * sizeof *m);
    for (size_t i = 0; i < K; i++)
        m[i] = m[i * K] = i == 0;
    mc_map_reflect(K, m);
}

/* ---- application ----------------------------------------------------------------------------- */

size_t mc_units_map_scratch(const struct mc_unit_layout *layout)
{
    return layout->k * (layout->m > ROWS ? layout->m : ROWS);
}

/* Slices of one value per unit are the rows of one product. */
void mc_units_map(const struct mc_unit_layout *l, const double *m, double *x, double *scratch)
{
    const int k = (int)l->k, inner = (int)l->m;
    size_t rows = 1;

    for (size_t b = 0; b < l->slices; b += rows) {
        double *to = x + l->base + b * l->stride;
        if (l->m == 1) {
            rows = l->slices - b < ROWS ? l->slices - b : ROWS;
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, k, k, 1, to,
                        (int)l->stride, m, k, 0, scratch, k);
        } else {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, inner, k, 1, m, k, to, inner,
                        0, scratch, inner);
        }
        for (size_t r = 0; r < rows; r++)
            memcpy(to + r * l->stride, scratch + r * l->k, l->k * l->m * sizeof *to);
    }
}
