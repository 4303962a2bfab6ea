/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of a foreign file's tensors. */
#include "formats/exchange/foreign.h"
#include "libcommon/base/alloc.h"

#include <stdlib.h>

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
