/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a .npy file: magic, version, and a Python dict of three keys
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (16, 3, 3, 3), }
 *
 * padded with spaces and ended by a newline, so that the data begin at a multiple of 64 bytes. */
#ifndef MC_NPY_H
#define MC_NPY_H

#include "formats/exchange/foreign.h"

#define MC_NPY_LEAD 12      /* bytes that say how long the header is, at most */
#define MC_NPY_HEADER 65536 /* and its longest, many times what three keys need */
#define MC_NPY_WRITTEN 512  /* room for any that is written here */

/* From the file's first MC_NPY_LEAD bytes: where the header begins (10 or 12), and its length.
 * MC_EINPUT: no .npy file, or of a version after 3. */
MC_USE_RESULT int mc_npy_lead(const unsigned char *lead, size_t *begin, size_t *length,
                              struct mc_error *err);
/* dtype, type, fortran, shape and bytes of t, from n bytes of header. A dtype that is no enum
 * mc_dtype, a big-endian one say, is type -1. MC_EINPUT. */
MC_USE_RESULT int mc_npy_parse(struct mc_foreign_tensor *t, const char *text, size_t n,
                               struct mc_error *err);
/* Everything before the data of a float32 tensor; how many bytes. */
size_t mc_npy_header(char out[MC_NPY_WRITTEN], const struct mc_tensor *t);

#endif
