/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels for AVX2: channels in blocks of 8. The Makefile sets the target. */
#define ISA avx2
#define BLOCK 8
#include "kernels/cpu/kernels_all.h"
