/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/network/combine.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"

#include <stdlib.h>

#define CHUNK 8192 /* values; all buffers fit in a core's cache */

struct buffers {
    double sum[CHUNK];
    float x[CHUNK];
    uint16_t narrow[CHUNK];
};

/* Add m values. Returns 1 if the sum has begun. */
static void add(double *sum, const float *x, size_t m, double weight, int begun)
{
    if (begun)
#pragma omp simd
        for (size_t k = 0; k < m; k++)
            sum[k] += weight * (double)x[k];
    else
#pragma omp simd
        for (size_t k = 0; k < m; k++)
            sum[k] = weight * (double)x[k];
}

/* Round m sums in b->x and check them. Returns their bytes in the type, or NULL. */
static const void *rounded(struct buffers *b, size_t m, const struct mc_param *p,
                           enum mc_dtype type, double divisor, struct mc_error *err)
{
    const int narrow = mc_is_narrow(type);
    const void *values = narrow ? (const void *)b->narrow : b->x;

#pragma omp simd
    for (size_t k = 0; k < m; k++)
        b->sum[k] /= divisor;
    if (narrow)
        mc_narrow_doubles(type, b->sum, b->narrow, m);
    else
#pragma omp simd
        for (size_t k = 0; k < m; k++)
            b->x[k] = (float)b->sum[k];
    if (mc_all_finite(type, values, m))
        return values;
    (void)!mc_fail(err, MC_EFAIL, "\"%s\" holds a value that is too large for %s", p->tensor.name,
                   mc_dtype_name(type));
    return NULL;
}

int mc_combine(struct mc_writer *w, const struct mc_term *terms, size_t n,
               const enum mc_dtype *types, size_t n_tensors, enum mc_combine_rule rule,
               struct mc_error *err)
{
    const int mean = rule == MC_COMBINE_MEAN;
    struct buffers *b = NULL;
    double divisor = mean ? 0 : 1;
    int rc = mc_new(&b, 1, err);

    for (size_t j = 0; j < n && mean; j++)
        divisor += terms[j].weight;
    for (size_t i = 0; i < n_tensors && !rc; i++) {
        const struct mc_param *p = mc_values_param(terms[0].values, terms[0].first + i);
        for (size_t first = 0, m = 0; first < p->count && !rc; first += m) {
            int begun = !mean;
            m = p->count - first < CHUNK ? p->count - first : CHUNK;
            for (size_t k = 0; k < m; k++)
                b->sum[k] = 0;
            for (size_t j = 0; j < n && !rc; j++) {
                rc = mc_values_floats(terms[j].values, terms[j].first + i, b->x, m, err);
                if (rc || (mean && !(terms[j].weight > 0)))
                    continue;
                add(b->sum, b->x, m, terms[j].weight, begun);
                begun = 1;
            }
            if (rc)
                break;
            const void *values = rounded(b, m, p, types[i], divisor, err);
            rc =
                values ? mc_writer_bytes(w, i, values, m * mc_dtype_size(types[i]), err) : MC_EFAIL;
        }
    }
    free(b);
    return rc;
}
