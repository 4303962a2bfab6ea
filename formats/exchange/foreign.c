/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of a foreign file's tensors. */
#include "formats/exchange/foreign.h"
#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

int mc_foreign_add(struct mc_foreign *f, const struct mc_foreign_tensor *t, struct mc_error *err)
{
    int rc = f->n < MC_FOREIGN_TENSORS
                 ? mc_list_room(&f->tensors, f->n, err)
                 : mc_fail(err, MC_EINPUT, "holds over %d tensors", MC_FOREIGN_TENSORS);

    if (rc)
        free(t->name);
    else
        f->tensors[f->n++] = *t;
    return rc;
}

int mc_foreign_bytes(const struct mc_foreign_tensor *t, unsigned bits, uint64_t *out)
{
    uint64_t n = 1;

    for (int i = 0; i < t->ndim; i++)
        if (__builtin_mul_overflow(n, t->shape[i], &n))
            return -1;
    if (__builtin_mul_overflow(n, (uint64_t)bits, &n) || n % 8)
        return -1;
    *out = n / 8;
    return 0;
}

int mc_foreign_unique(const struct mc_foreign *f, struct mc_error *err)
{
    const char **names = NULL;
    int rc = mc_new(&names, f->n, err);

    for (size_t i = 0; i < f->n && !rc; i++)
        names[i] = f->tensors[i].name;
    if (f->n && !rc)
        qsort(names, f->n, sizeof *names, mc_by_bytes);
    for (size_t i = 1; i < f->n && !rc; i++)
        if (!strcmp(names[i - 1], names[i]))
            rc = mc_fail(err, MC_EINPUT, "%s: contains \"%.80s\" twice", f->file, names[i]);
    free(names);
    return rc;
}

size_t mc_foreign_place(const struct mc_foreign_tensor *t, uint64_t i)
{
    uint64_t at = 0, stride = 1, index[MC_MAX_DIMS];

    if (!t->fortran)
        return (size_t)i;
    for (int k = 0; k < t->ndim; k++) {
        index[k] = i % t->shape[k];
        i /= t->shape[k];
    }
    for (int k = t->ndim - 1; k >= 0; k--) {
        at += index[k] * stride;
        stride *= t->shape[k];
    }
    return (size_t)at;
}

void mc_foreign_release(struct mc_foreign *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->tensors[i].name);
    free(f->tensors);
    free(f->file);
}

void mc_foreign_close(struct mc_foreign *f)
{
    if (f)
        f->close(f);
}
