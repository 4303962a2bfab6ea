/* SPDX-License-Identifier: Apache-2.0
 *
 * The name, element type and shape of a tensor, without its data. */
#ifndef MC_TENSOR_H
#define MC_TENSOR_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define MC_MAX_DIMS 8
#define MC_ID_LEN 33    /* a content id: 32 hex digits and a final 0 */
#define MC_NAME_MAX 120 /* bytes in the name of a tensor or node, final 0 included */

enum mc_dtype { MC_F32, MC_F64, MC_F16, MC_BF16, MC_I64, MC_I32, MC_U8, MC_N_DTYPES };

/* Row-major; dimension 0 counts the rows. A 0-d tensor has ndim 0 and one element in one row. */
struct mc_tensor {
    char name[MC_NAME_MAX];
    enum mc_dtype dtype;
    int ndim;
    uint64_t shape[MC_MAX_DIMS];
};

/* Bytes per element; the name in streams: "float32", "bfloat16", ... */
size_t mc_dtype_size(enum mc_dtype dtype);
const char *mc_dtype_name(enum mc_dtype dtype);
/* The dtype with that name, or -1. */
int mc_dtype_from_name(const char *name, size_t len);

/* Numbers of rows, of elements per row, of bytes. They do not overflow for a tensor that passes
 * mc_tensor_check. */
uint64_t mc_tensor_rows(const struct mc_tensor *t);
uint64_t mc_tensor_row_elems(const struct mc_tensor *t);
uint64_t mc_tensor_bytes(const struct mc_tensor *t);

/* 0 if ndim <= MC_MAX_DIMS, the name is valid and not empty, and the bytes fit in 2^48; else -1. */
int mc_tensor_check(const struct mc_tensor *t);

/* A tensor with that name, type and shape (ndim dimensions). */
struct mc_tensor mc_tensor_make(const char *name, enum mc_dtype dtype, int ndim,
                                const uint64_t *shape);

/* The shape as text: "(64,32)". Cut if it does not fit. */
#define MC_DIMS_TEXT 64
void mc_dims_text(char out[MC_DIMS_TEXT], int ndim, const uint64_t *shape);

/* Comparison of two char * for qsort and bsearch, byte by byte. */
int mc_by_bytes(const void *a, const void *b);
/* *duplicate: the first in byte order of the names that occur twice, or NULL. The n names are
 * `stride` bytes apart in memory, such as members of structs. Returns 0 or MC_ENOMEM. */
MC_USE_RESULT int mc_duplicate_name(const void *first, size_t n, size_t stride,
                                    const char **duplicate, struct mc_error *err);

#endif
