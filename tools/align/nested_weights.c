/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/nested_weights.h"

#include "libcommon/base/alloc.h"
#include "tools/align/products.h"

#include <stdlib.h>

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
        w->stride += w->values[c] * mc_inside_slot_size(in, c);
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
    const size_t K = mc_inside_slot_size(in, slot);
    const struct mc_unit_layout layout = {.k = K, .m = 1, .slices = w->values[slot], .stride = K};
    struct mc_products products = {.threads = 1};
    int rc = mc_products_of(&products, &layout, w->x + h * w->stride + w->start[slot],
                            w->y + u * w->stride + w->start[slot], 0, matrix, NULL, err);

    free(products.slab);
    return rc;
}
