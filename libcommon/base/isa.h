/* SPDX-License-Identifier: Apache-2.0
 *
 * The instruction set of loops that are compiled for several. */
#ifndef MC_ISA_H
#define MC_ISA_H

#include "libcommon/base/error.h"

enum mc_isa { MC_ISA_PORTABLE, MC_ISA_AVX2, MC_ISA_AVX512 };

/* *isa: the greatest that this processor has and that the environment's MC_ISA ("portable", "avx2",
 * "avx512") does not exclude. AVX2 is with FMA; AVX-512 is F, BW, DQ and VL. Returns 0, or
 * MC_EUSAGE for another value of MC_ISA. */
MC_USE_RESULT int mc_isa(enum mc_isa *isa, struct mc_error *err);

#endif
