/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/nested_groups.h"

#include "libcommon/base/alloc.h"
#include "tools/align/products.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_size(const struct mc_inside *in, size_t slot)
{
    const struct mc_nesting *n = in->nesting;

    return n->groups[mc_nesting_child(n, in->group, 0, slot)].size;
}

int mc_inside_open(struct mc_inside *in, const struct mc_nesting *nesting,
                   const unsigned char *keep, size_t group, struct mc_error *err)
{
    const size_t U = nesting->groups[group].size, slots = nesting->slots[group];
    int rc = 0;

    *in = (struct mc_inside){
        .nesting = nesting, .keep = keep, .group = group, .units = U, .slots = slots};
    for (size_t c = 0; c < slots; c++)
        in->width += slot_size(in, c);
    if (!(rc = mc_new(&in->assignment, U * U * slots, err)))
        rc = mc_new(&in->best, U * U * in->width, err);
    return rc;
}

void mc_inside_release(struct mc_inside *in)
{
    free(in->assignment);
    free(in->best);
    *in = (struct mc_inside){0};
}

/* Match the units of one inner group, or keep their order (current; NULL: the identity). */
static int match_inner(const struct mc_inside *in, size_t inner, const struct mc_perm *current,
                       const double *matrix, int32_t *best, struct mc_assignment *a,
                       struct mc_error *err)
{
    const size_t K = in->nesting->groups[inner].size;

    if (!in->keep[inner])
        return mc_assign_max(K, matrix, best, a, err);
    *a = (struct mc_assignment){.kept = 1};
    for (size_t i = 0; i < K; i++) {
        best[i] = current ? current->perm[inner][i] : (int32_t)i;
        a->value += matrix[i * K + (size_t)best[i]];
    }
    return 0;
}

static int match_pair(struct mc_inside *in, mc_inside_values *values, const void *arg,
                      const struct mc_perm *current, size_t pair, double *sum, struct mc_error *err)
{
    const size_t h = pair / in->units, u = pair % in->units;
    struct mc_assignment *assignment = in->assignment + pair * in->slots;
    int32_t *best = in->best + pair * in->width;
    int rc = 0;

    if (in->keep[in->group] && h != u)
        return 0;
    for (size_t c = 0; c < in->slots && !rc; c++) {
        const size_t K = slot_size(in, c), inner = mc_nesting_child(in->nesting, in->group, u, c);
        double *matrix = NULL;
        if (!(rc = mc_new(&matrix, K * K, err)) && !(rc = values(arg, in, h, u, c, matrix, err)) &&
            !(rc = match_inner(in, inner, current, matrix, best, &assignment[c], err))) {
            *sum += assignment[c].value;
            for (size_t i = 0; current && i < K; i++)
                *sum -= matrix[i * K + (size_t)current->perm[inner][i]];
            best += K;
        }
        free(matrix);
    }
    return rc;
}

int mc_inside_match(struct mc_inside *in, mc_inside_values *values, const void *arg,
                    const struct mc_perm *current, double *value, int threads, struct mc_error *err)
{
    const size_t pairs = in->units * in->units;
    size_t failed = pairs;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < pairs; i++) {
        struct mc_error local_err = {0};
        double sum = 0;
        const int bad = match_pair(in, values, arg, current, i, &sum, &local_err);
        value[i] += sum;
        if (bad) {
#pragma omp critical
            if (i < failed) {
                failed = i;
                *err = local_err;
            }
        }
    }
    return failed < pairs ? err->code : 0;
}

int mc_inside_exchange(struct mc_inside *in, const int32_t *units, struct mc_perm *p)
{
    int changed = 0;

    for (size_t h = 0; h < in->units; h++) {
        const size_t u = (size_t)units[h];
        int32_t *best = in->best + (h * in->units + u) * in->width;
        for (size_t c = 0; c < in->slots; c++) {
            const size_t group = mc_nesting_child(in->nesting, in->group, u, c);
            for (size_t i = 0; i < p->groups[group].size; i++) {
                int32_t t = p->perm[group][i];
                changed |= t != *best;
                p->perm[group][i] = *best;
                *best++ = t;
            }
        }
    }
    return changed;
}

/* ---- weights --------------------------------------------------------------------------------- */

int mc_inside_weights_open(struct mc_inside_weights *w, const struct mc_inside *in,
                           const struct mc_placed_use *uses, size_t n_uses, struct mc_error *err)
{
    int rc = 0;

    *w = (struct mc_inside_weights){.slots = in->slots};
    if ((rc = mc_new(&w->values, in->slots, err)) || (rc = mc_new(&w->start, in->slots, err)) ||
        (rc = mc_new(&w->packed, in->units * in->slots, err)))
        return rc;
    for (size_t c = 0; c < in->slots; c++) {
        const size_t group = mc_nesting_child(in->nesting, in->group, 0, c);
        for (size_t i = 0; i < n_uses; i++)
            if (uses[i].group == group)
                w->values[c] += mc_unit_values(&uses[i].layout);
        w->start[c] = w->stride;
        w->stride += w->values[c] * slot_size(in, c);
    }
    if (!(rc = mc_new(&w->x, in->units * w->stride, err)))
        rc = mc_new(&w->y, in->units * w->stride, err);
    return rc;
}

void mc_inside_weights_release(struct mc_inside_weights *w)
{
    free(w->values);
    free(w->start);
    free(w->x);
    free(w->y);
    free(w->packed);
    *w = (struct mc_inside_weights){0};
}

/* Write the values of the units in the flat vector x to out (values,K). */
static void pack(const struct mc_unit_layout *layout, const float *x, float *out)
{
    for (size_t q = 0; q < mc_unit_values(layout); q++, out += layout->k) {
        const float *from = x + layout->base + q / layout->m * layout->stride + q % layout->m;
        for (size_t k = 0; k < layout->k; k++)
            out[k] = from[k * layout->m];
    }
}

void mc_inside_weights_pack(struct mc_inside_weights *w, size_t unit, size_t slot,
                            const struct mc_unit_layout *layout, const float *a, const float *b)
{
    size_t *packed = &w->packed[unit * w->slots + slot];
    const size_t here = unit * w->stride + w->start[slot] + *packed * layout->k;

    pack(layout, a, w->x + here);
    pack(layout, b, w->y + here);
    *packed += mc_unit_values(layout);
}

int mc_inside_weights_values(const void *arg, const struct mc_inside *in, size_t h, size_t u,
                             size_t slot, double *matrix, struct mc_error *err)
{
    const struct mc_inside_weights *w = arg;
    const size_t K = slot_size(in, slot);
    const struct mc_unit_layout layout = {.k = K, .m = 1, .slices = w->values[slot], .stride = K};
    struct mc_products products = {.threads = 1};
    int rc = mc_products_of(&products, &layout, w->x + h * w->stride + w->start[slot],
                            w->y + u * w->stride + w->start[slot], 0, matrix, NULL, err);

    free(products.slab);
    return rc;
}
