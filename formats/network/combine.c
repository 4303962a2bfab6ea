/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/network/combine.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/narrow.h"

#include <stdlib.h>

#define CHUNK 8192 /* values; all buffers fit in a core's cache */

struct buffers {
    double sum[CHUNK];
    float x[CHUNK];
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

int mc_round_values(enum mc_dtype type, const double *from, void *to, size_t n,
                    const struct mc_param *p, struct mc_error *err)
{
    float *x = to;

    if (mc_is_narrow(type))
        mc_narrow_doubles(type, from, to, n);
    else
#pragma omp simd
        for (size_t k = 0; k < n; k++)
            x[k] = (float)from[k];
    return mc_all_finite(type, to, n)
               ? 0
               : mc_fail(err, MC_EFAIL, "\"%s\" holds a value that is too large for %s",
                         p->tensor.name, mc_dtype_name(type));
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
#pragma omp simd
            for (size_t k = 0; k < m; k++)
                b->sum[k] /= divisor;
            if (!(rc = mc_round_values(types[i], b->sum, b->x, m, p, err)))
                rc = mc_writer_bytes(w, i, b->x, m * mc_dtype_size(types[i]), err);
        }
    }
    free(b);
    return rc;
}
