/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels for the compiler's default target: channels in blocks of 8. */
#define ISA portable
#define BLOCK 8
#include "kernels/cpu/kernels_all.h"
