/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of a foreign file's tensors. */
#include "formats/exchange/foreign.h"
#include "formats/stream/list.h"

#include <stdlib.h>

int mc_foreign_add(struct mc_foreign *f, const struct mc_foreign_tensor *t, struct mc_error *err)
{
    struct mc_foreign_tensor *more = NULL;
    int rc = 0;

    if (f->n == MC_FOREIGN_TENSORS)
        rc = mc_fail(err, MC_EINPUT, "%s: holds over %d tensors", f->file, MC_FOREIGN_TENSORS);
    else if (!(more = mc_list_room(f->tensors, f->n, sizeof *more)))
        rc = mc_no_memory(err);
    if (rc) {
        free(t->name);
        return rc;
    }
    f->tensors = more;
    f->tensors[f->n++] = *t;
    return 0;
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
