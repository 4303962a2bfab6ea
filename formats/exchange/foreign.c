/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/exchange/foreign.h"
#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

int mc_foreign_add(struct mc_foreign *f, const struct mc_foreign_tensor *t, struct mc_error *err)
{
    int rc = f->n < MC_FOREIGN_TENSORS
                 ? mc_list_room(&f->tensors, f->n, err)
                 : mc_fail(err, MC_EINPUT, "at most %d tensors are supported", MC_FOREIGN_TENSORS);

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

void mc_foreign_order_begin(struct mc_foreign_order *o, const struct mc_foreign_tensor *t)
{
    uint64_t stride = 1;

    *o = (struct mc_foreign_order){.shape = {UINT64_MAX}, .stride = {1}, .ndim = 1};
    if (!t->fortran)
        return;
    o->ndim = t->ndim;
    for (int k = t->ndim - 1; k >= 0; k--) {
        o->shape[k] = t->shape[k];
        o->stride[k] = stride;
        stride *= t->shape[k];
    }
}

void mc_foreign_order_next(struct mc_foreign_order *o)
{
    for (int k = 0; k < o->ndim; k++) {
        o->element += o->stride[k];
        if (++o->index[k] < o->shape[k])
            return;
        o->element -= o->index[k] * o->stride[k];
        o->index[k] = 0;
    }
}

int mc_foreign_expect_once(const struct mc_foreign *f, struct mc_error *err)
{
    const char **names = NULL;
    int rc = mc_new(&names, f->n, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < f->n; i++)
        names[i] = f->tensors[i].name;
    qsort(names, f->n, sizeof *names, mc_by_bytes);
    for (size_t i = 1; i < f->n && !rc; i++)
        if (!strcmp(names[i - 1], names[i]))
            rc = mc_fail(err, MC_EINPUT, "%s: holds \"%.80s\" more than once", f->file, names[i]);
    free(names);
    return rc;
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
