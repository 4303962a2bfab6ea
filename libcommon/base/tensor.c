/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, types and sizes of tensors. */
#include "libcommon/base/tensor.h"

#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)1 << 48)

static const struct {
    const char *name;
    size_t size;
} dtypes[MC_N_DTYPES] = {
    [MC_F32] = {"float32", 4},   [MC_F64] = {"float64", 8}, [MC_F16] = {"float16", 2},
    [MC_BF16] = {"bfloat16", 2}, [MC_I64] = {"int64", 8},   [MC_I32] = {"int32", 4},
    [MC_U8] = {"uint8", 1},
};

size_t mc_dtype_size(enum mc_dtype dtype)
{
    return dtypes[dtype].size;
}

const char *mc_dtype_name(enum mc_dtype dtype)
{
    return dtypes[dtype].name;
}

int mc_dtype_from_name(const char *name, size_t len)
{
    for (int i = 0; i < MC_N_DTYPES; i++)
        if (strlen(dtypes[i].name) == len && !memcmp(dtypes[i].name, name, len))
            return i;
    return -1;
}

uint64_t mc_tensor_rows(const struct mc_tensor *t)
{
    return t->ndim ? t->shape[0] : 1;
}

uint64_t mc_tensor_row_elems(const struct mc_tensor *t)
{
    uint64_t n = 1;

    /* look for 0 first: the other dimensions may overflow */
    for (int i = 1; i < t->ndim; i++)
        if (!t->shape[i])
            return 0;
    for (int i = 1; i < t->ndim; i++)
        n *= t->shape[i];
    return n;
}

uint64_t mc_tensor_bytes(const struct mc_tensor *t)
{
    return mc_tensor_rows(t) * mc_tensor_row_elems(t) * mc_dtype_size(t->dtype);
}

int mc_tensor_check(const struct mc_tensor *t)
{
    uint64_t n;
    size_t len = strnlen(t->name, sizeof t->name);

    if (!len || len == sizeof t->name || t->ndim < 0 || t->ndim > MC_MAX_DIMS)
        return -1;
    if ((int)t->dtype < 0 || t->dtype >= MC_N_DTYPES)
        return -1;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)t->name[i] < 0x20 || t->name[i] == 0x7f)
            return -1;
    /* skip dimensions of 0, so that no order of multiplication overflows */
    n = mc_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        if (!t->shape[i])
            continue;
        if (t->shape[i] > MAX_BYTES / n)
            return -1;
        n *= t->shape[i];
    }
    return 0;
}

struct mc_tensor mc_tensor_make(const char *name, enum mc_dtype dtype, int ndim,
                                const uint64_t *shape)
{
    struct mc_tensor t;

    memset(&t, 0, sizeof t);
    snprintf(t.name, sizeof t.name, "%s", name);
    t.dtype = dtype;
    t.ndim = ndim;
    for (int i = 0; i < ndim && i < MC_MAX_DIMS; i++)
        t.shape[i] = shape[i];
    return t;
}

void mc_dims_text(char out[MC_DIMS_TEXT], int ndim, const uint64_t *shape)
{
    size_t n = (size_t)snprintf(out, MC_DIMS_TEXT, "(");

    for (int i = 0; i < ndim && n < 50; i++)
        n += (size_t)snprintf(out + n, MC_DIMS_TEXT - n, "%s%llu", i ? "," : "",
                              (unsigned long long)shape[i]);
    snprintf(out + (n < 60 ? n : 60), 4, ")");
}

int mc_by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int mc_duplicate_name(const void *first, size_t n, size_t stride, const char **duplicate,
                      struct mc_error *err)
{
    const char **sorted = NULL;
    int rc = mc_new(&sorted, n, err);

    *duplicate = NULL;
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (const char *)first + i * stride;
    qsort(sorted, n, sizeof *sorted, mc_by_bytes);
    for (size_t i = 1; i < n && !*duplicate; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            *duplicate = sorted[i];
    free(sorted);
    return 0;
}
