/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a .npy file: magic, version, and a Python dict with three keys
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (16, 3, 3, 3), }
 *
 * It is padded with spaces and ends with a newline, so that the data start at a multiple of 64
 * bytes. */
#ifndef MC_NPY_H
#define MC_NPY_H

#include "formats/exchange/foreign.h"

#define MC_NPY_LEAD 12      /* maximum size of the fields before the header */
#define MC_NPY_HEADER 65536 /* maximum size of the header, much more than three keys need */
#define MC_NPY_WRITTEN 512  /* room for any header that mc_npy_header writes */

/* Parse the first MC_NPY_LEAD bytes: the header's offset (10 or 12) and length. MC_EINPUT if it is
 * not a .npy file, or its version is above 3. */
MC_USE_RESULT int mc_npy_lead(const unsigned char *lead, size_t *begin, size_t *length,
                              struct mc_error *err);
/* Parse n bytes of header into dtype, type, fortran, shape and bytes of t. A dtype that is not an
 * enum mc_dtype (a big-endian one, say) has type -1. MC_EINPUT. */
MC_USE_RESULT int mc_npy_parse(struct mc_foreign_tensor *t, const char *text, size_t n,
                               struct mc_error *err);
/* Write everything before the data of a float32, float16 or bfloat16 tensor. Returns its size. */
size_t mc_npy_header(char out[MC_NPY_WRITTEN], const struct mc_tensor *t);

#endif
