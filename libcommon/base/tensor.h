/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tensor is called, what its elements are and how large it is. No data. */
#ifndef MC_TENSOR_H
#define MC_TENSOR_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define MC_MAX_DIMS 8
#define MC_ID_LEN 33    /* a stream's content id: 32 hex digits and a final 0 */
#define MC_NAME_MAX 120 /* bytes of a tensor's or a node's name with its final 0 */

enum mc_dtype { MC_F32, MC_F64, MC_F16, MC_BF16, MC_I64, MC_I32, MC_U8, MC_N_DTYPES };

/* Row-major; dimension 0 counts the rows. A 0-d tensor has ndim 0 and one element in one row. */
struct mc_tensor {
    char name[MC_NAME_MAX];
    enum mc_dtype dtype;
    int ndim;
    uint64_t shape[MC_MAX_DIMS];
};

/* Bytes of one element; the name in streams: "float32", "bfloat16", ... */
size_t mc_dtype_size(enum mc_dtype dtype);
const char *mc_dtype_name(enum mc_dtype dtype);
/* The dtype called so, or -1. */
int mc_dtype_from_name(const char *name, size_t len);

/* Rows, and elements of one row; the product of all dimensions does not overflow for a tensor that
 * mc_tensor_check accepted. */
uint64_t mc_tensor_rows(const struct mc_tensor *t);
uint64_t mc_tensor_row_elems(const struct mc_tensor *t);
uint64_t mc_tensor_bytes(const struct mc_tensor *t);

/* 0 if ndim <= MC_MAX_DIMS, the name is not empty and its bytes fit in 2^48; else -1. */
int mc_tensor_check(const struct mc_tensor *t);

/* Describe a tensor; shape has ndim entries. */
struct mc_tensor mc_tensor_make(const char *name, enum mc_dtype dtype, int ndim,
                                const uint64_t *shape);

/* The order of names (of char *, for qsort and bsearch). */
int mc_by_bytes(const void *a, const void *b);
/* *twice: a name that two of n names have, the first in their order, or NULL. They lie `stride`
 * bytes apart from `first` on, as members of structs. MC_ENOMEM. */
MC_USE_RESULT int mc_name_twice(const void *first, size_t n, size_t stride, const char **twice,
                                struct mc_error *err);

#endif
