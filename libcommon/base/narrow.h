/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion between float32 or float64 and the floats of 16 bits, float16 and bfloat16. */
#ifndef MC_NARROW_H
#define MC_NARROW_H

#include "libcommon/base/tensor.h"

/* 1 for MC_F16 and MC_BF16. */
int mc_is_narrow(enum mc_dtype dtype);
/* 1 if n floats of this type (float64, float32 or narrow) are all finite; if one is below 0, which
 * is not for float64. */
int mc_all_finite(enum mc_dtype dtype, const void *x, size_t n);
int mc_any_below_zero(enum mc_dtype dtype, const void *x, size_t n);
/* Convert n narrow values to float32, which holds every one. `from` may be the start of `to`. */
void mc_widen(enum mc_dtype dtype, const void *from, float *to, size_t n);
/* Round n values to the nearest of the narrow type, ties to even; too large values become infinite
 * and NaN stays NaN. Values from mc_widen get their bits back. `to` may be the start of `from`. */
void mc_narrow(enum mc_dtype dtype, const float *from, void *to, size_t n);
/* The same for float64, to other memory. By way of float32 a value would be rounded twice: wrong by
 * one step if the first rounding ends halfway between two narrow values. */
void mc_narrow_doubles(enum mc_dtype dtype, const double *from, uint16_t *to, size_t n);

#endif
