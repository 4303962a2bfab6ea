/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels for AVX-512: channels in blocks of 16. The Makefile sets the target. */
#define ISA avx512
#define BLOCK 16
#include "kernels/cpu/kernels_all.h"
