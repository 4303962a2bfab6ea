/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes: the bytes of n values, sorted by their place in the value. Byte k of value i is byte k * n + i
 * of the planes. The exponents of floats are then together, which makes them compressible. */
#ifndef MC_PLANES_H
#define MC_PLANES_H

#include <stddef.h>

/* Split n values of `width` bytes (2, 4 or 8) into planes; join planes into values. The arrays must not
 * overlap. */
void mc_planes_split(size_t width, size_t n, const void *values, void *planes);
void mc_planes_join(size_t width, size_t n, const void *planes, void *values);

#endif
