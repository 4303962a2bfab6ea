/* SPDX-License-Identifier: Apache-2.0
 *
 * The instruction set for loops that are compiled for several. */
#ifndef MC_ISA_H
#define MC_ISA_H

#include "libcommon/base/error.h"

enum mc_isa { MC_ISA_PORTABLE, MC_ISA_AVX2, MC_ISA_AVX512 };

/* *isa: the best set that the processor supports, at most the environment variable MC_ISA
 * ("portable", "avx2", "avx512"). AVX2 includes FMA; AVX-512 means F, BW, DQ and VL. Returns 0, or
 * MC_EUSAGE if MC_ISA has another value. */
MC_USE_RESULT int mc_isa(enum mc_isa *isa, struct mc_error *err);
/* Return 1 if the processor supports a better set. */
int mc_isa_is_lowered(enum mc_isa isa);

#endif
