/* SPDX-License-Identifier: Apache-2.0
 *
 * The AVX-512 loops of linear assignment; to be used only where the processor has avx512f. */
#ifndef MC_ASSIGN_AVX512_H
#define MC_ASSIGN_AVX512_H

#include "libcommon/assign/loops_table.h"

#ifdef __x86_64__
extern const struct mc_assign_scan mc_assign_avx512;
#endif

#endif
